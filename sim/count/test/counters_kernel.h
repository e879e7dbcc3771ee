/* The kernels of the test of counters, and how one is counted. */
#ifndef SIM_TEST_COUNTERS_KERNEL_H
#define SIM_TEST_COUNTERS_KERNEL_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/include/gfxsim_counters.h"

typedef struct request {
  const char *kernel, *overrides, *workgroups; /* overrides: of the chip, with the comma in front */
  uint32_t grid, block, stride, lds;
  int threads;
} request;

extern const char *chip_name;
extern uint8_t object_data[1 << 20]; /* the code object, which main assembles */
extern size_t object_bytes;

/* For assemble(): all kernels of the chip, whose name is the argument. */
void write_kernels(FILE *file, const void *argument);
/* What a launch counted; the texts of instructions are gone. Ends the program where it can't. */
gfxsim_counters count(request r);
void fatal(const char *what);

#endif
