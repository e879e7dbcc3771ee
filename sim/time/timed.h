/* What the machine uses of the model of time, by sim/built_in.c. */
#ifndef GFXSIM_TIME_TIMED_H
#define GFXSIM_TIME_TIMED_H
#include "sim/machine/watch.h"

/* Runs all workgroups of a launch in the order of the model's time. */
gfxsim_status time_launch(launch *run);
/* Tells the model what each instruction asks of memory. */
extern const watcher time_watcher;

#endif
