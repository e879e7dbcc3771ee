/* Showing a prediction of time. */
#ifndef GFXSIM_CLI_TIME_H
#define GFXSIM_CLI_TIME_H
#include "sim/include/gfxsim_counters.h"
#include "sim/include/gfxsim_time.h"

/* As text to stdout, or as JSON to a file. Prints what is wrong to stderr before it returns false. */
bool time_show(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const gfxsim_timing *t, const char *json);
/* The numbers of the model, to stdout. */
void time_show_parameters(void);

#endif
