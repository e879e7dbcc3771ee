/* What gfxsim consists of: the families of instructions, which the decoder finds here, and what watches a launch. So decoder
 * and machine name no instruction, no check and no counter. */
#include "sim/check/happens_before.h"
#include "sim/check/uninitialised.h"
#include "sim/count/count.h"
#include "sim/isa/op/ops.h"
#include "sim/time/timed.h"

const family *const built_in_families[] = {
#define FAMILY_NAME(name) &family_##name,
#include "sim/isa/op/families.def"
#undef FAMILY_NAME
    NULL};

const watcher *const built_in_watchers[] = {&uninit_watcher, &count_watcher, &hb_watcher, &time_watcher, NULL};
_Static_assert(sizeof built_in_watchers / sizeof built_in_watchers[0] - 1 <= WATCHERS_MOST,
               "launch.watcher has a place for each");

gfxsim_status (*const built_in_time_run)(launch *run) = time_launch;
