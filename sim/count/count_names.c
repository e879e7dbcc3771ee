#include "sim/include/gfxsim_counters.h"

const char *gfxsim_class_name(gfxsim_class class_of) {
  static const char *const names[] = {"SALU", "branch", "SMEM", "VALU", "MFMA", "LDS", "VMEM", "internal"};
  _Static_assert(sizeof names / sizeof names[0] == GFXSIM_CLASS_COUNT, "a name for each");
  return names[class_of];
}

const char *gfxsim_pipe_name(gfxsim_pipe pipe) {
  static const char *const names[] = {"MFMA", "VALU", "SALU", "LDS", "issue", "vL1D", "L2", "fabric", "MALL", "HBM"};
  _Static_assert(sizeof names / sizeof names[0] == GFXSIM_PIPE_COUNT, "a name for each");
  return names[pipe];
}

const char *gfxsim_estimate_name(gfxsim_estimate estimate) {
  static const char *const names[] = {"instructions", "MFMA FLOPs", "bytes", "LDS clocks"};
  _Static_assert(sizeof names / sizeof names[0] == GFXSIM_ESTIMATE_COUNT, "a name for each");
  return names[estimate];
}
