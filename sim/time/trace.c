/* The format: Google, "Trace Event Format", complete events (X), asynchronous ones (b, e) and metadata (M). A clock is a
 * microsecond of the format. A CU is a process; its tracks are its waves, and each SIMD's VALU and matrix unit. What memory
 * does goes on beside: asynchronous events. */
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

enum { CHECK_EVENTS = 1 << 14, UNIT_TRACKS = 1 << 20, ISSUE = 4 };
#define DISK_LEFT (UINT64_C(64) << 20)

typedef struct track {
  uint32_t process;
  uint64_t number, workgroup;
  uint32_t wave, simd;
  const char *unit; /* NULL: a wave */
} track;

bool trace_open(trace *t, const char *file) {
  *t = (trace){0};
  t->open = result_open(&t->to, file, t->error, sizeof t->error);
  if (!t->open) return false;
  fputs(
      "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"what\": \"predicted by gfxsim; a microsecond here is a clock\"}, "
      "\"traceEvents\": [\n",
      t->to.to);
  return true;
}

/* The folder's disk keeps some room. */
static bool has_room(trace *t) {
  struct statvfs disk;
  if (++t->events % CHECK_EVENTS != 0 || t->to.descriptor < 0) return true;
  long written = ftell(t->to.to);
  if (fstatvfs(fileno(t->to.to), &disk) != 0 || disk.f_blocks == 0) return true; /* a pipe, for example */
  if ((uint64_t)disk.f_bavail * disk.f_frsize >= DISK_LEFT && !ferror(t->to.to)) return true;
  snprintf(t->error, sizeof t->error, "the disk is full after %ld MB: trace fewer CUs, or run fewer workgroups", written >> 20);
  return false;
}

static bool name_track(trace *t, track new) {
  for (int n = t->track_count - 1; n >= 0; n--)
    if (t->tracks[n].number == new.number && t->tracks[n].process == new.process) return true;
  if (t->track_count == t->track_capacity) {
    int capacity = t->track_capacity > 0 ? 2 * t->track_capacity : 64;
    track *grown = realloc(t->tracks, (size_t)capacity * sizeof *grown);
    if (grown == NULL) {
      snprintf(t->error, sizeof t->error, "no memory for the names of its tracks");
      return false;
    }
    t->tracks = grown;
    t->track_capacity = capacity;
  }
  t->tracks[t->track_count++] = new;
  return true;
}

/* The disassembler's text has no character that JSON must escape, except for tabs. */
static void put_text(FILE *to, const char *text) {
  for (; *text != '\0'; text++)
    if (*text == '\t')
      fputc(' ', to);
    else if (*text != '"' && *text != '\\')
      fputc(*text, to);
}

static void span(const trace *t, uint32_t process, uint64_t track, const char *name, const char *kind, uint64_t from,
                 uint64_t to, uint64_t pc) {
  FILE *f = t->to.to;
  fputs("{\"name\": \"", f);
  put_text(f, name);
  fprintf(f,
          "\", \"cat\": \"%s\", \"ph\": \"X\", \"ts\": %" PRIu64 ", \"dur\": %" PRIu64 ", \"pid\": %u, \"tid\": %" PRIu64
          ", \"args\": {\"pc\": \"0x%" PRIx64 "\"}},\n",
          kind, from, to - from, process, track, pc);
}

static void flight(const trace *t, uint32_t process, uint64_t track, const gfxsim_time_event *e) {
  for (int end = 0; end < 2; end++)
    fprintf(t->to.to,
            "{\"name\": \"%s\", \"cat\": \"%s\", \"ph\": \"%c\", \"id\": %" PRIu64 ", \"ts\": %" PRIu64
            ", \"pid\": %u, \"tid\": %" PRIu64 "},\n",
            e->unit, e->unit, end == 0 ? 'b' : 'e', t->events, end == 0 ? e->issued : e->done, process, track);
}

bool trace_event(trace *t, const gfxsim_time_event *e) {
  if (!has_room(t)) return false;
  uint32_t process = e->xcd << 16 | e->cu;
  uint64_t own = UNIT_TRACKS + e->workgroup * 16 + e->wave;
  if (!name_track(t, (track){process, own, e->workgroup, e->wave, e->simd, NULL})) return false;
  if (e->issued > e->waited) span(t, process, own, gfxsim_cause_name(e->cause), "wait", e->waited, e->issued, e->pc);
  span(t, process, own, e->text, e->unit, e->issued, e->issued + ISSUE, e->pc);
  bool matrix = strcmp(e->unit, "MFMA") == 0, vector = strcmp(e->unit, "VALU") == 0;
  if (matrix || vector) {
    uint64_t unit = e->simd * 2 + (matrix ? 0 : 1);
    if (!name_track(t, (track){process, unit, 0, 0, e->simd, matrix ? "matrix unit" : "VALU"})) return false;
    span(t, process, unit, e->text, e->unit, e->issued, e->done, e->pc);
  } else if (strcmp(e->unit, "LDS") == 0 || strcmp(e->unit, "VMEM") == 0 || strcmp(e->unit, "SMEM") == 0) {
    flight(t, process, own, e);
  }
  return true;
}

static void write_names(const trace *t) {
  FILE *f = t->to.to;
  for (int n = 0; n < t->track_count; n++) {
    const track *k = &t->tracks[n];
    char name[64];
    if (k->unit != NULL)
      snprintf(name, sizeof name, "SIMD %u, %s", k->simd, k->unit);
    else
      snprintf(name, sizeof name, "workgroup %" PRIu64 ", wave %u, SIMD %u", k->workgroup, k->wave, k->simd);
    fprintf(f,
            "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %u, \"args\": {\"name\": \"XCD %u, CU %u\"}},\n"
            "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %u, \"tid\": %" PRIu64 ", \"args\": {\"name\": \"%s\"}},\n",
            k->process, k->process >> 16, k->process & 0xffff, k->process, k->number, name);
  }
  fputs("{\"name\": \"end\", \"ph\": \"M\", \"pid\": 0, \"args\": {}}\n]}\n", f); /* no comma after the last */
}

bool trace_close(trace *t, bool keep) {
  bool good = true;
  if (t->open && keep) {
    write_names(t);
    good = result_finish(&t->to, t->error, sizeof t->error);
  } else if (t->open) {
    result_drop(&t->to);
  }
  free(t->tracks);
  t->tracks = NULL;
  t->open = false;
  return good;
}
