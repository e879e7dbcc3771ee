/* The numbers of the model. */
#ifndef GFXSIM_TIME_PARAMETERS_H
#define GFXSIM_TIME_PARAMETERS_H
#include "sim/base/chip.h"

typedef struct time_parameters {
#define PARAMETER(name, unit, gfx942, gfx950, kind, source) double name;
#include "parameters.def"
#undef PARAMETER
} time_parameters;

/* Of the chip; whatever its overrides, those of its name. */
time_parameters parameters_of(const chip *chip);
/* Puts the numbers of "NAME=VALUE,NAME=VALUE" in place of fitted ones; text NULL: none. */
gfxsim_status parameters_change(time_parameters *p, const char *text);

#endif
