/* The life of a plan, for the ops that make and run it, and for the dispatcher. */
#ifndef TANDEM_CORE_PLAN_H
#define TANDEM_CORE_PLAN_H

#include "kernel.h"

/* An op's plan function: begin, fill plan->desc, check, name the buffers, end. */
tdm_status tdm_plan_begin(tdm_context *context, tdm_op op, const void *desc, tdm_plan **out, tdm_plan **plan);
/* Ends an op's plan function: completes the plan on TDM_OK; otherwise frees it and returns status. */
tdm_status tdm_plan_end(tdm_plan *plan, tdm_status status, tdm_plan **out);

void tdm_plan_title(tdm_plan *plan, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the next pointer argument. bytes 0: it may be NULL. */
void tdm_plan_buffer(tdm_plan *plan, const char *name, tdm_role role, size_t bytes, size_t align);
/* Adds a pointer argument that this plan doesn't use: it must be NULL. */
void tdm_plan_no_buffer(tdm_plan *plan, const char *name);
/* Checks every pointer and launches. */
tdm_status tdm_plan_run(const tdm_plan *plan, tdm_op op, const void *const *pointers, tdm_stream *stream);

/* Refuses what is not a plan of the op. */
tdm_status tdm_plan_check(const tdm_plan *plan, tdm_op op);
/* For one run with a changed description: refuses kernels that are not rebindable; otherwise copies into *run what runs
 * read of the plan. The caller then changes run->desc before tdm_plan_run(run, ...). name, value: what changes, and to
 * what, for messages. */
tdm_status tdm_plan_rebind(const tdm_plan *plan, const char *name, int64_t value, tdm_plan *run);
/* Can a run on the host begin its region? (tdm_host_region) */
tdm_status tdm_plan_ready(const tdm_plan *plan);
/* The title of a run: the plan's, and what was changed: "attention f32 ..., skv = 17". Returns text. */
enum { TDM_TITLE_TEXT = 224 };
const char *tdm_plan_run_title(const tdm_plan *plan, char text[TDM_TITLE_TEXT]);

/* host_threads.c: threads that a parallel region gets on the host. */
int tdm_host_threads(void);
/* OMP_TARGET_OFFLOAD=MANDATORY is set: the host must not run target regions. */
bool tdm_host_is_forbidden(void);
/* Call it before a parallel region of this thread on the host that asks for so many threads. DEVICE: they can't be started.
 * UNSUPPORTED: the region would wait forever, in the child of a fork. `what` begins the message. */
tdm_status tdm_host_region(const char *what, int64_t threads);

#endif
