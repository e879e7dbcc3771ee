/* The chip that is simulated: a row of the table in src/base/chip.h, of which any number may be overridden. */
#ifndef GFXSIM_CHIP_H
#define GFXSIM_CHIP_H
#include "sim/include/gfxsim.h"
#include "src/base/chip.h"
#include "types.h"

typedef tdm_chip chip;

/* Finds the row and applies the overrides after its name. */
gfxsim_status chip_find(const char *text, chip *found);
/* The name of a machine number; NULL where the table has none. */
const char *chip_of_machine(u32 machine);

#endif
