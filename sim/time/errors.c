/* The errors that predictions had. A file of its own: tandem-bench, which loads gfxsim, has it too (timing_json.c). */
#include "sim/include/gfxsim_time.h"

static const gfxsim_time_error errors[] = {
#define ERROR(class, figures, median, worst) {#class, figures, median, worst},
#include "errors.def"
#undef ERROR
};

bool gfxsim_time_error_at(int index, gfxsim_time_error *row) {
  if (index < 0 || (size_t)index >= sizeof errors / sizeof errors[0]) return false;
  *row = errors[index];
  return true;
}
