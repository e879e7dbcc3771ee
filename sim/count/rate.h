/* What one instruction costs its pipe. */
#ifndef GFXSIM_RATE_H
#define GFXSIM_RATE_H
#include "sim/base/chip.h"
#include "sim/include/gfxsim_counters.h"
#include "sim/isa/inst.h"

gfxsim_class rate_class(const inst *i);
/* Clocks of a SIMD's VALU or matrix unit; 0 for the other classes. */
u32 rate_clocks(const chip *chip, const inst *i);

#endif
