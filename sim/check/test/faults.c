/* Runs a kernel of fault/. Usage: faults FILE.hsaco SOURCE.hip planted|clean
 *
 * Planted: there must be a report, and each must have the kind that a comment `// fault: KIND` of the source names, and that
 * comment's line. Clean: there must be none. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/include/gfxsim_counters.h"
#include "sim/include/gfxsim_time.h"

enum { ELEMENTS = 4096, LINES_MOST = 256, LINE_MOST = 256 };

typedef struct expectation {
  const char *name; /* of the source, without folders */
  int count, line[LINES_MOST];
  char kind[LINES_MOST][32];
  int reports, wrong;
} expectation;

static bool read_marks(const char *path, expectation *e) {
  static const char mark[] = "// fault: ";
  FILE *file = fopen(path, "r");
  char text[LINE_MOST];
  if (file == NULL) return false;
  e->name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
  for (int line = 1; fgets(text, sizeof text, file) != NULL; line++) {
    const char *found = strstr(text, mark);
    if (found == NULL || e->count == LINES_MOST) continue;
    e->line[e->count] = line;
    snprintf(e->kind[e->count], sizeof e->kind[0], "%.*s", (int)strcspn(found + strlen(mark), "\n"), found + strlen(mark));
    e->count++;
  }
  fclose(file);
  return e->count > 0;
}

/* The source is "file:line", with what inlined it after " in ". */
static bool names_line(const expectation *e, const char *source, int line) {
  char place[LINE_MOST];
  int length = snprintf(place, sizeof place, "%s:%d", e->name, line);
  const char *at = strstr(source, place);
  return at != NULL && (at[length] == '\0' || at[length] == ' ');
}

static void check_report(const gfxsim_report *r, void *user) {
  expectation *e = user;
  bool known = false;
  for (int n = 0; n < e->count && !known; n++)
    known = strcmp(gfxsim_kind_name(r->kind), e->kind[n]) == 0 && names_line(e, r->source, e->line[n]);
  e->reports++;
  e->wrong += !known;
  fprintf(stderr, "%s: %s: %s (%s) at %s, workgroup %u, wave %d, lane %d, %llu times%s%s\n", known ? "marked" : "not marked",
          gfxsim_kind_name(r->kind), r->message, r->instruction, r->source, r->workgroup[0], r->wave, r->lane,
          (unsigned long long)r->count, r->other_source[0] != '\0' ? ", with " : "", r->other_source);
}

static int stop(const char *what) {
  fprintf(stderr, "faults: %s: %s\n", what, gfxsim_last_error());
  return 1;
}

/* The host may write constants of the code object, as hipMemcpyToSymbol does. Kernels of code.h have some. */
static bool write_constants(gfxsim_device *device, gfxsim_object *object) {
  uint64_t address;
  size_t bytes;
  int wrote = 12345, read = 0;
  if (gfxsim_variable_find(object, "constant_table", &address, &bytes) != GFXSIM_OK) return true; /* not of code.h */
  return gfxsim_write(device, address, &wrote, sizeof wrote) == GFXSIM_OK &&
         gfxsim_read(device, address, &read, sizeof read) == GFXSIM_OK && read == wrote;
}

static int run(expectation *e, bool planted, bool timed, const void *data, size_t bytes) {
  static int input[ELEMENTS];
  gfxsim_device *device;
  gfxsim_object *object;
  gfxsim_kernel *kernel;
  struct {
    uint64_t in, out, unwritten;
    int32_t n;
  } args = {.n = 64};
  for (int i = 0; i < ELEMENTS; i++) input[i] = i;
  const char *chip = gfxsim_object_chip(data, bytes);
  gfxsim_options options = {
      .threads = 1, .budget = 1 << 16, .checked = GFXSIM_CHECK_BARRIER, .report = check_report, .user = e};
  if (chip == NULL || gfxsim_open(chip, &options, &device) != GFXSIM_OK) return stop("open");
  if (gfxsim_load(device, data, bytes, &object) != GFXSIM_OK) return stop("load");
  if (!write_constants(device, object)) return stop("write_constants");
  if (gfxsim_kernel_find(object, "fault", &kernel) != GFXSIM_OK) return stop("find");
  if (gfxsim_alloc(device, sizeof input, &args.in) != GFXSIM_OK || gfxsim_alloc(device, sizeof input, &args.out) != GFXSIM_OK ||
      gfxsim_alloc(device, sizeof input, &args.unwritten) != GFXSIM_OK ||
      gfxsim_write(device, args.in, input, sizeof input) != GFXSIM_OK)
    return stop("alloc");
  gfxsim_launch launch = {
      .grid = {2, 1, 1}, .block = {128, 1, 1}, .args = &args, .arg_bytes = offsetof(__typeof__(args), n) + sizeof args.n};
  gfxsim_counters counters = {0};
  gfxsim_timing timing = {0};
  if (timed) {
    launch.counters = &counters;
    launch.timing = &timing;
  }
  gfxsim_status want = planted ? GFXSIM_FAULT : GFXSIM_OK, status = gfxsim_run(kernel, &launch);
  if (status != want) fprintf(stderr, "faults: the launch's status is %d: must be %d\n", status, want);
  if (status != GFXSIM_OK && status != GFXSIM_FAULT) return stop("run");
  if (planted && e->reports == 0) fprintf(stderr, "faults: nothing was reported\n");
  gfxsim_counters_release(&counters);
  gfxsim_timing_release(&timing);
  gfxsim_close(device);
  return status != want || e->wrong > 0 || (e->reports > 0) != planted;
}

int main(int argc, char **argv) {
  static uint8_t data[1 << 20];
  expectation e = {0};
  bool planted = argc >= 4 && strcmp(argv[3], "planted") == 0, timed = argc == 5 && strcmp(argv[4], "timed") == 0;
  if (argc != (timed ? 5 : 4) || (!planted && strcmp(argv[3], "clean") != 0) || !read_marks(argv[2], &e))
    return fprintf(stderr, "usage: faults FILE.hsaco SOURCE.hip planted|clean [timed]; the source must have a mark\n"), 2;
  FILE *file = fopen(argv[1], "rb");
  if (file == NULL) return fprintf(stderr, "faults: can't open %s\n", argv[1]), 2;
  size_t bytes = fread(data, 1, sizeof data, file);
  fclose(file);
  return run(&e, planted, timed, data, bytes);
}
