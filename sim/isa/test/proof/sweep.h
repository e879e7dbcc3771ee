/* Every instruction of a code object, as the simulator decodes it. */
#ifndef SIM_TEST_SWEEP_H
#define SIM_TEST_SWEEP_H
#include "sim/isa/inst.h"

/* Calls each(instruction, user) from the first byte of the code to its last. False (and words on stderr) where the file can't
 * be loaded. */
bool sweep(const char *file, void (*each)(const inst *i, void *user), void *user);
/* The chip of a file ("gfx950"); NULL where it can't be read. */
const char *sweep_chip(const char *file);

#endif
