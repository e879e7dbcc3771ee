/* Findings of gfxsim on their way to the tally, and those that do not count. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "state.h"
#include "suppress.h"

typedef struct writer {
  char *at;
  size_t room;
} writer;

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int wrote = vsnprintf(w->at, w->room, format, args);
  va_end(args);
  size_t used = wrote < 0 ? 0 : (size_t)wrote < w->room ? (size_t)wrote : w->room - 1;
  w->at += used;
  w->room -= used;
}

static void put_place(writer *w, const char *before, uint64_t pc, const char *instruction, const char *source,
                      const char *function) {
  put(w, "  %s pc 0x%" PRIx64 ": %s\n", before, pc, instruction);
  if (function[0] != '\0') put(w, "    in %s\n", function);
  if (source[0] != '\0') put(w, "    at %s\n", source);
}

/* As `gfxsim run` prints them. */
static void write_text(const gfxsim_report *r, int number, char *text, size_t bytes) {
  writer w = {text, bytes};
  put(&w, "%s: %s\n  kernel %s", gfxsim_kind_name(r->kind), r->message, r->kernel);
  put(&w, hsa_device_count() > 1 ? ", device %d\n" : "\n", number);
  put_place(&w, "instruction", r->pc, r->instruction, r->source, r->function);
  if (r->other_instruction[0] != '\0')
    put_place(&w, "the other", r->other_pc, r->other_instruction, r->other_source, r->other_function);
  put(&w, "  workgroup %u,%u,%u, wave %d", r->workgroup[0], r->workgroup[1], r->workgroup[2], r->wave);
  if (r->lane >= 0) put(&w, ", lane %d", r->lane);
  if (r->address != 0) put(&w, ", address 0x%" PRIx64, r->address);
  put(&w, r->fatal ? "; the launch ended there\n" : "\n");
}

void hsa_found(const gfxsim_report *report, void *user) {
  device *d = user;
  char text[TALLY_TEXT];
  write_text(report, d->number, text, sizeof text);
  hsa_found_row(gfxsim_kind_name(report->kind), report->kernel, report->pc, text);
  d->run.other = true;
  if (report->fatal) d->run = (fatal_report){true, true, report->kind, report->address};
}

bool hsa_suppressed(const gfxsim_report *report, void *user) {
  device *d = user;
  const char *reason = suppress_reason(report);
  if (reason == NULL) return false;
  d->run.other = true;
  tally_count(&hsa_tally()->suppressed, reason);
  return true;
}

void hsa_run_begin(device *d) { d->run = (fatal_report){0}; }
fatal_report hsa_run_end(const device *d) { return d->run; }
