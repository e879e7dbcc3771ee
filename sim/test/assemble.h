/* Assembles what a test writes. */
#ifndef SIM_TEST_ASSEMBLE_H
#define SIM_TEST_ASSEMBLE_H
#include <stdint.h>
#include <stdio.h>

/* Calls write(file, argument) to fill a source file, has clang make a code object of it, and returns its bytes in data, at most
 * `room`. 0: it failed, and stderr says why. The files are gone afterwards. */
size_t assemble(char *clang, const char *chip, void (*write)(FILE *file, const void *argument), const void *argument,
                uint8_t *data, size_t room);

#endif
