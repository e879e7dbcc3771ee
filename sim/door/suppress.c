#include "suppress.h"

#include <stdlib.h>
#include <string.h>

/* One row for each known pattern of LLVM's device runtime, by the function that has it. A finding counts unless the access that
 * is at fault lies in that function. */
typedef struct row {
  gfxsim_kind kind;
  const char *function, *store; /* store: how the instruction that is at fault begins */
  bool at_entry;                /* the kernel's entry calls it, and it is inlined there */
  const char *reason;
} row;

static const row rows[] = {
    /* LLVM 19, offload/DeviceRTL/src/State.cpp and Kernel.cpp: state::init stores the team's state, then
     * synchronize::threadsAligned(atomic::relaxed), a barrier without a release, so no s_waitcnt comes before it. */
    {GFXSIM_RACE_LDS, "__kmpc_target_init", "ds_write", true,
     "__kmpc_target_init: LDS race: LLVM's runtime stores the team's state and meets a barrier without s_waitcnt"},
};

/* "__omp_offloading_..._l16" and "..._l16_2" are regions whose directive is on line 16; 0: no such name. */
static int directive_line(const char *kernel) {
  if (strncmp(kernel, "__omp_offloading_", 17) != 0) return 0;
  for (const char *at = kernel + strlen(kernel); at > kernel; at--)
    if (at[0] == 'l' && at[-1] == '_' && at[1] >= '0' && at[1] <= '9') return atoi(at + 1);
  return 0;
}

/* The runtime has no debug information, so what is inlined from it has the line of the call: the kernel's entry, which is the
 * directive, in no function of the program. With -g the entry is a function of its own, KERNEL_debug__, which is inlined there:
 * the line of the region's first statement, "in" the directive's. What the program does lies in functions within that one. */
static bool lies_at_entry(const char *kernel, const char *source) {
  const char *within = strstr(source, " in "), *call = within != NULL ? within + 4 : source;
  const char *colon = strrchr(call, ':');
  return colon != NULL && strstr(call, " in ") == NULL && directive_line(kernel) > 0 &&
         atoi(colon + 1) == directive_line(kernel);
}

static bool lies_in(const row *r, const gfxsim_report *report, const char *instruction, const char *function,
                    const char *source) {
  if (strncmp(instruction, r->store, strlen(r->store)) != 0) return false;
  return strcmp(function, r->function) == 0 ||
         (r->at_entry && strcmp(function, report->kernel) == 0 && lies_at_entry(report->kernel, source));
}

const char *suppress_reason(const gfxsim_report *report) {
  for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
    const row *r = &rows[n];
    if (report->kind == r->kind &&
        (lies_in(r, report, report->instruction, report->function, report->source) ||
         lies_in(r, report, report->other_instruction, report->other_function, report->other_source)))
      return r->reason;
  }
  return NULL;
}
