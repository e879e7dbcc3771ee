/* The table of kernels, and the choice among them. */
#ifndef TANDEM_DISPATCH_DISPATCH_H
#define TANDEM_DISPATCH_DISPATCH_H

#include "src/core/plan.h"

/* choose.c: chooses plan->kernel and plan->tuning, and writes plan->explain. */
tdm_status tdm_plan_choose(tdm_plan *plan);
/* Adds to plan->explain which runs launch the kernel's fallback; after its prepare, which may let arrays begin anywhere. */
void tdm_plan_say_fallback(tdm_plan *plan);

/* The rows of an op: the reference first. Of two with the same estimate, or with none, the later one is chosen. */
enum { TDM_MOST_KERNELS = 64 }; /* of an op, steps of ladders included; test/plan/test_tuned.c proves it */
typedef struct tdm_op_kernels {
  int count;
  const tdm_kernel *row[TDM_MOST_KERNELS];
} tdm_op_kernels;
void tdm_kernels_of(tdm_op op, tdm_op_kernels *all);
/* Can the row run on the device: is it of its backend, and does runs_on agree? If not, writes the reason. */
bool tdm_kernel_runs_on(const tdm_kernel *kernel, const tdm_context *context, char *reason, size_t size);
/* The op's row of this name; NULL if it has none. */
const tdm_kernel *tdm_kernel_find(tdm_op op, const char *name, int length);
/* false: no kernel is named for the op. context->kernel was checked when the context was opened. */
bool tdm_named_kernel(const char *kernels, tdm_op op, tdm_choice *named);
/* "CHOICE" or "OP=CHOICE,OP=CHOICE", as in options.kernel: refuses names that are not kernels. NULL is allowed. */
tdm_status tdm_check_kernel_names(const char *kernels);
/* Adds rows to the table, before the built-in ones: the checker's own test plants kernels with bugs. */
void tdm_kernels_extend(const tdm_kernel *const *rows, int count);

#endif
