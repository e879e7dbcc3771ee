/* From a wave that did something wrong to the caller's callback. */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"
#include "wave.h"

const char *gfxsim_kind_name(gfxsim_kind kind) {
  static const char *const names[] = {
      [GFXSIM_UNIMPLEMENTED_INSTRUCTION] = "unimplemented",
      [GFXSIM_BAD_PC] = "bad pc",
      [GFXSIM_OUT_OF_BOUNDS] = "out of bounds",
      [GFXSIM_AFTER_FREE] = "use after free",
      [GFXSIM_MISALIGNED] = "misaligned",
      [GFXSIM_TRAP] = "trap",
      [GFXSIM_BUDGET] = "budget",
  };
  return names[kind];
}

static uint64_t file_pc(const launch *run, u64 pc) { return pc - run->kernel->object->image->base; }

void wave_fault(wave *w, const inst *i, gfxsim_kind kind, int lane, u64 address, const char *format, ...) {
  launch *run = w->group->launch;
  char message[256];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  w->state = WAVE_FAULT;
  gfxsim_report report = {.kind = kind,
                          .kernel = run->kernel->name,
                          .instruction = i != NULL ? i->text : "",
                          .message = message,
                          .pc = file_pc(run, i != NULL ? i->pc : w->pc),
                          .workgroup = {w->group->id[0], w->group->id[1], w->group->id[2]},
                          .wave = w->index,
                          .lane = lane,
                          .address = address};
  pthread_mutex_lock(&run->report_lock);
  if (!atomic_exchange(&run->stop, true)) {
    atomic_store(&run->status, kind == GFXSIM_UNIMPLEMENTED_INSTRUCTION ? GFXSIM_UNIMPLEMENTED : GFXSIM_FAULT);
    snprintf(run->message, sizeof run->message, "kernel %s, pc 0x%llx, %s: %s: %s", report.kernel,
             (unsigned long long)report.pc, report.instruction, gfxsim_kind_name(kind), message);
    if (run->device->options.report != NULL) run->device->options.report(&report, run->device->options.user);
  }
  pthread_mutex_unlock(&run->report_lock);
}
