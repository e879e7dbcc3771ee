#include "sim/include/gfxsim_time.h"

const char *gfxsim_cause_name(gfxsim_cause cause) {
  static const char *const names[] = {"issued",  "dependency", "vmcnt",      "lgkmcnt",
                                      "barrier", "pipe busy",  "other wave", "pause"};
  _Static_assert(sizeof names / sizeof names[0] == GFXSIM_CAUSE_COUNT, "a name for each");
  return names[cause];
}
