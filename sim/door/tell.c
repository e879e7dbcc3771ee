#include "tell.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suppress.h"

static tally *counts;
static bool own_counts; /* no tool prints the counts: this process does */

tally *door_tally(void) {
  if (counts == NULL) counts = tally_open(&own_counts);
  return counts;
}

void door_unserved(const char *format, ...) {
  char text[TALLY_NAME];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  tally_count(&door_tally()->unserved, text);
}

void door_note(const char *format, ...) {
  char text[TALLY_NAME];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  tally_count(&door_tally()->notes, text);
  if (own_counts) fprintf(stderr, "gfxsim: %s\n", text);
}

/* The same finding of another launch is counted, not kept again. */
static void found_row(const char *kind, const char *kernel, uint64_t pc, const char *text) {
  char key[TALLY_KEY];
  snprintf(key, sizeof key, "%s|0x%" PRIx64 "|%s", kind, pc, kernel);
  tally_find(door_tally(), key, text);
  if (own_counts) fputs(text, stderr);
}

void door_found_text(const char *kind, const char *kernel, const char *message) {
  char text[TALLY_TEXT];
  snprintf(text, sizeof text, "%s: %s\n  kernel %s\n", kind, message, kernel);
  found_row(kind, kernel, 0, text);
}

/* ---- Findings of gfxsim ---- */

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
static void write_text(const gfxsim_report *r, int device, char *text, size_t bytes) {
  writer w = {text, bytes};
  put(&w, "%s: %s\n  kernel %s", gfxsim_kind_name(r->kind), r->message, r->kernel);
  if (device >= 0) put(&w, ", device %d", device);
  put(&w, "\n");
  put_place(&w, "instruction", r->pc, r->instruction, r->source, r->function);
  if (r->other_instruction[0] != '\0')
    put_place(&w, "other access", r->other_pc, r->other_instruction, r->other_source, r->other_function);
  put(&w, "  workgroup %u,%u,%u, wave %d", r->workgroup[0], r->workgroup[1], r->workgroup[2], r->wave);
  if (r->lane >= 0) put(&w, ", lane %d", r->lane);
  if (r->has_address) put(&w, ", address 0x%" PRIx64, r->address);
  put(&w, r->fatal ? "; the launch ended there\n" : "\n");
}

void door_found(const gfxsim_report *report, int device) {
  char text[TALLY_TEXT];
  write_text(report, device, text, sizeof text);
  found_row(gfxsim_kind_name(report->kind), report->kernel, report->pc, text);
}

bool door_suppressed(const gfxsim_report *report) {
  const char *reason = suppress_reason(report);
  if (reason != NULL) tally_count(&door_tally()->suppressed, reason);
  return reason != NULL;
}

static void add_measure(const char *name, const gfxsim_counters *c, const gfxsim_timing *t) {
  _Static_assert((int)GFXSIM_CLASS_COUNT == (int)TALLY_CLASSES, "tally.h has a count for each class");
  tally_kernel *row = tally_kernel_of(door_tally(), name);
  if (row == NULL) return;
  atomic_fetch_add(&row->launches, 1);
  atomic_fetch_add(&row->workgroups, c->workgroups);
  atomic_fetch_add(&row->waves, c->waves);
  for (int n = 0; n < GFXSIM_CLASS_COUNT; n++) atomic_fetch_add(&row->classes[n], c->classes[n]);
  atomic_fetch_add(&row->lds_conflict_clocks, c->lds.conflict_clocks);
  atomic_fetch_add(&row->loaded, c->load.asked);
  atomic_fetch_add(&row->stored, c->store.asked);
  atomic_fetch_add(&row->mfma_flops, c->mfma_flops);
  atomic_fetch_add(&row->clocks, t->clocks);
  atomic_fetch_add(&row->matrix_clocks, (uint64_t)((double)t->clocks * t->mfma_share));
}

void door_measure_begin(door_measure *m, unsigned long profile, gfxsim_launch *launch) {
  *m = (door_measure){0};
  if (profile >= DOOR_PROFILE_COUNTS) launch->counters = &m->counters;
  if (profile >= DOOR_PROFILE_TIME) launch->timing = &m->timing;
}

void door_measure_end(door_measure *m, const char *kernel, const gfxsim_launch *launch, gfxsim_status status) {
  if (launch->counters != NULL && status == GFXSIM_OK) add_measure(kernel, &m->counters, &m->timing);
  gfxsim_counters_release(&m->counters);
  gfxsim_timing_release(&m->timing);
}

/* ---- Options, from the environment that `gfxsim exec` sets ---- */

static bool number_of(const char *name, unsigned long least, unsigned long most, unsigned long *value) {
  const char *text = getenv(name);
  if (text == NULL || text[0] == '\0') return true;
  char *end;
  *value = strtoul(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && *value >= least && *value <= most) return true;
  char message[256];
  snprintf(message, sizeof message, "%s = %.100s: must be %lu to %lu; no device is opened", name, text, least, most);
  door_found_text("bad option", "(none)", message);
  return false;
}

bool door_options_read(door_options *o) {
  const char *chip = getenv("GFXSIM_CHIP");
  *o = (door_options){.chip = chip != NULL && chip[0] != '\0' ? chip : "gfx942", .devices = 1};
  return number_of("GFXSIM_DEVICES", 1, DOOR_DEVICES_MOST, &o->devices) &&
         number_of("GFXSIM_UNCHECKED", 0, GFXSIM_CHECK_ALL, &o->unchecked) &&
         number_of("GFXSIM_THREADS", 0, 1024, &o->threads) && number_of("GFXSIM_PROFILE", 0, DOOR_PROFILE_TIME, &o->profile) &&
         number_of("GFXSIM_TURN", 0, INT32_MAX, &o->turn) && number_of("GFXSIM_SEED", 0, INT64_MAX, &o->seed);
}

bool door_xnack(void) {
  const char *xnack = getenv("HSA_XNACK");
  return xnack != NULL && strcmp(xnack, "1") == 0;
}
