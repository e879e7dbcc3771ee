/* What gfxsim_run needs of a prediction, whose model stands above it (sim/time). */
#include <stdlib.h>

#include "sim/include/gfxsim_time.h"

void gfxsim_timing_release(gfxsim_timing *timing) {
  free(timing->instructions);
  free(timing->waves);
  timing->instructions = NULL;
  timing->waves = NULL;
  timing->instruction_count = 0;
  timing->wave_count = 0;
}
