/* Shadow runs (TANDEM_VERIFY): each run of a plan is repeated on the host by the op's reference kernel, the oracle, and the
 * results are compared. If the plan's kernel is the oracle on the host, there is nothing to compare. */
#ifndef TANDEM_DISPATCH_SHADOW_H
#define TANDEM_DISPATCH_SHADOW_H

#include "op.h"

typedef struct tdm_shadow tdm_shadow;

/* Can the plan, whose kernel is chosen, be compared with something? */
bool tdm_shadow_applies(const tdm_plan *plan);
/* Makes plan->shadow with the plan; leaves it NULL if there is nothing to compare. */
tdm_status tdm_shadow_open(tdm_plan *plan);
void tdm_shadow_close(tdm_plan *plan);
/* One run: launch(plan, pointers, stream) on the device, the oracle on copies of the inputs, and the comparison. */
typedef tdm_status (*tdm_launch_fn)(const tdm_plan *plan, const void *const *pointers, tdm_stream *stream);
tdm_status tdm_shadow_run(const tdm_plan *plan, const void *const *pointers, tdm_stream *stream, tdm_launch_fn launch);

#endif
