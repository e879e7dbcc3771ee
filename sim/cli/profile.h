/* Showing counters. */
#ifndef GFXSIM_CLI_PROFILE_H
#define GFXSIM_CLI_PROFILE_H
#include "sim/include/gfxsim_counters.h"

/* As text to stdout, or as JSON to a file. Prints what is wrong to stderr before it returns false. */
bool profile_show(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const char *json);
bool profile_write_json(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const char *file);

#endif
