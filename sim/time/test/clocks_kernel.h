/* Small kernels whose clocks follow from what was published, and how one is timed. */
#ifndef SIM_TEST_CLOCKS_KERNEL_H
#define SIM_TEST_CLOCKS_KERNEL_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/include/gfxsim_counters.h"
#include "sim/include/gfxsim_time.h"

extern const char *chip_name;
extern uint8_t object_data[4 << 20];
extern size_t object_bytes;

typedef struct timing_request {
  const char *kernel;
  const char *overrides; /* of the chip, with the comma in front; NULL: none */
  uint32_t grid, block, lds;
  gfxsim_timing timing; /* what is asked for */
} timing_request;

/* For assemble(): all kernels of the chip, whose name is the argument. */
void write_kernels(FILE *file, const void *argument);
/* Fills r->timing; what gfxsim_run returned. */
gfxsim_status predict(timing_request *r);
/* Clocks from one repetition of the body of NAME_few and NAME_many to the next, for the wave that ends last. Ends the program
 * where it can't. */
double clocks_each(const char *name, uint32_t block);
void fatal(const char *what);

#endif
