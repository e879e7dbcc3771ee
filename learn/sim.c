/* The simulator as the machine, with all of its checks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "gfxsim_counters.h"
#include "gfxsim_time.h"
#include "machine.h"

/* Blocks that a wave may run: four for each of the 32768 elements of the longest vector, were one work-item to do it all. */
enum { BUDGET = 1 << 17 };

static gfxsim_device *device;
static gfxsim_kernel *kernel;
static const learn_exercise *exercise;
static learn_outcome *outcome; /* of the launch that runs */
static gfxsim_kind worst;      /* the gravest of its findings, which the outcome tells */
static bool found;

static bool failed(learn_outcome *o) {
  learn_found(o, LEARN_FAILED, "gfxsim: %s", gfxsim_last_error());
  return false;
}

/* ---- Findings ---- */

typedef struct meaning {
  gfxsim_kind kind;
  learn_verdict verdict;
} meaning;

/* The cause before its consequences: a value that was not waited for may be an address, too. Then what ends a launch, so that
 * the verdict does not depend on how far others got. */
static const meaning meanings[] = {
    {GFXSIM_WAIT, LEARN_WAIT},          {GFXSIM_OUT_OF_BOUNDS, LEARN_BOUNDS},
    {GFXSIM_AFTER_FREE, LEARN_BOUNDS},  {GFXSIM_MISALIGNED, LEARN_MISALIGNED},
    {GFXSIM_RACE_LDS, LEARN_RACE},      {GFXSIM_RACE_GLOBAL, LEARN_RACE},
    {GFXSIM_BARRIER, LEARN_BARRIER},    {GFXSIM_UNINITIALISED, LEARN_UNDEFINED},
    {GFXSIM_BUDGET, LEARN_ENDLESS},     {GFXSIM_TRAP, LEARN_CRASH},
    {GFXSIM_BAD_PC, LEARN_CRASH},       {GFXSIM_UNIMPLEMENTED_INSTRUCTION, LEARN_FAILED},
    {GFXSIM_HOST_MEMORY, LEARN_FAILED},
};

static int rank(gfxsim_kind kind) {
  int n = 0;
  while (meanings[n].kind != kind) n++;
  return n;
}

static void add_place(learn_outcome *o, const char *before, const char *source, const char *instruction) {
  learn_add(o, "\n  %s %s%s%s", before, source, source[0] != '\0' ? ": " : "", instruction);
}

static void report(const gfxsim_report *r, void *user) {
  (void)user;
  learn_outcome *o = outcome;
  char place[256];
  if (found && rank(worst) <= rank(r->kind)) return;
  found = true;
  worst = r->kind;
  /* An address in global memory that is no kernel's to write has a better name than a place beside an array. */
  bool outside =
      r->kind == GFXSIM_OUT_OF_BOUNDS && r->space == GFXSIM_SPACE_GLOBAL && r->access_error != GFXSIM_ACCESS_READ_ONLY;
  if (outside) {
    learn_place(exercise, o, r->address, place, sizeof place);
    learn_found(o, LEARN_BOUNDS, "%s of %u bytes, %s", r->writes ? "write" : "read", r->bytes, place);
  } else {
    learn_found(o, meanings[rank(r->kind)].verdict, "%s: %s", gfxsim_kind_name(r->kind), r->message);
  }
  if (r->lane >= 0)
    learn_add(o, "\n  by work-item %d of workgroup %u,%u,%u (wave %d, lane %d)", 64 * r->wave + r->lane, r->workgroup[0],
              r->workgroup[1], r->workgroup[2], r->wave, r->lane);
  else
    learn_add(o, "\n  by wave %d of workgroup %u,%u,%u", r->wave, r->workgroup[0], r->workgroup[1], r->workgroup[2]);
  add_place(o, "at", r->source, r->instruction);
  if (r->other_instruction[0] != '\0') add_place(o, "and", r->other_source, r->other_instruction);
  if (r->count > 1) learn_add(o, "\n  %" PRIu64 " times", r->count);
  if (r->kind == GFXSIM_BUDGET) learn_add(o, "\n  (a basic block is code without a branch, not a workgroup)");
}

/* ---- The kernel ---- */

/* A kernel whose arguments differ from kernel.h is another function to C++, with another name. */
static bool find_kernel(gfxsim_object *object, const learn_exercise *e, learn_outcome *o) {
  gfxsim_kernel_info info;
  if (gfxsim_kernel_find(object, e->kernel, &kernel) == GFXSIM_OK) return true;
  learn_found(o, LEARN_SYMBOL, "the file has no kernel named %s", e->kernel);
  for (int k = 0; k < gfxsim_kernel_count(object); k++) {
    gfxsim_kernel_describe(gfxsim_kernel_at(object, k), &info);
    bool other = strncmp(info.name, "_Z", 2) == 0 && strstr(info.name, e->kernel) != NULL;
    learn_add(o, "\n  it has %s%s", info.name,
              other ? ": C++'s name of a function with other arguments; write extern \"C\" in front of it" : "");
  }
  return false;
}

static bool describe(gfxsim_object *object, learn_launch *launch, learn_outcome *o) {
  gfxsim_kernel_info info;
  uint64_t address;
  size_t bytes;
  gfxsim_kernel_describe(kernel, &info);
  launch->block = info.max_workgroup;
  if (gfxsim_variable_find(object, "learn_tile", &address, &bytes) != GFXSIM_OK) {
    if (exercise->tile)
      learn_found(o, LEARN_LAUNCH, "TILE(rows, columns) is missing: how much of the output a workgroup makes");
    return !exercise->tile;
  }
  if (bytes != sizeof launch->tile || gfxsim_read(device, address, launch->tile, bytes) != GFXSIM_OK || launch->tile[0] < 1 ||
      launch->tile[1] < 1) {
    learn_found(o, LEARN_LAUNCH, "TILE(rows, columns): must be two positive numbers");
    return false;
  }
  return true;
}

static bool load(const learn_exercise *e, const char *chip, const learn_code *code, learn_launch *launch, learn_outcome *o) {
  gfxsim_options options = {.budget = BUDGET, .reports = 1000, .report = report, .checked = GFXSIM_CHECK_BARRIER};
  gfxsim_object *object;
  exercise = e;
  if (gfxsim_open(chip, &options, &device) != GFXSIM_OK || gfxsim_load(device, code->data, code->bytes, &object) != GFXSIM_OK)
    return failed(o);
  return find_kernel(object, e, o) && describe(object, launch, o);
}

bool learn_inspect(const learn_exercise *e, const char *chip, const learn_code *code, learn_launch *launch, learn_outcome *o) {
  bool good = load(e, chip, code, launch, o);
  gfxsim_close(device);
  device = NULL;
  return good;
}

static bool open_chip(const learn_request *r, const learn_code *code, learn_launch *launch, learn_outcome *o) {
  char chip[128];
  const char *cut = r->exercise->cut;
  snprintf(chip, sizeof chip, "%s%s%s", r->device + strlen("sim:"), cut != NULL ? "," : "", cut != NULL ? cut : "");
  return load(r->exercise, chip, code, launch, o);
}

/* ---- Memory and launches ---- */

static bool alloc(size_t bytes, uint64_t *address, learn_outcome *o) {
  return gfxsim_alloc(device, bytes, address) == GFXSIM_OK || failed(o);
}

static bool release(uint64_t address, learn_outcome *o) { return gfxsim_free(device, address) == GFXSIM_OK || failed(o); }

static bool write_memory(uint64_t address, const void *host, size_t bytes, learn_outcome *o) {
  return gfxsim_write(device, address, host, bytes) == GFXSIM_OK || failed(o);
}

static bool read_memory(uint64_t address, void *host, size_t bytes, learn_outcome *o) {
  return gfxsim_read(device, address, host, bytes) == GFXSIM_OK || failed(o);
}

static double fabric_read(const gfxsim_counters *c) {
  double sum = 0;
  for (int x = 0; x < c->xcds; x++) sum += (double)c->l2[x].fabric_read;
  return sum;
}

static void keep(const gfxsim_counters *c, learn_outcome *o) {
  const gfxsim_timing *t = &(gfxsim_timing){0}; /* predict_kernel has it */
#define LEARN_COUNTER(name, unit, text, value) o->counter[LEARN_##name] = value;
#include "counters.def"
#undef LEARN_COUNTER
  snprintf(o->floor, sizeof o->floor, "%s", gfxsim_pipe_name(c->floor));
  o->counted = true;
}

static bool run_kernel(const uint32_t grid[3], uint32_t block, const void *args, size_t bytes, gfxsim_counters *counters,
                       gfxsim_timing *timing, learn_outcome *o) {
  gfxsim_launch launch = {.grid = {grid[0], grid[1], grid[2]},
                          .block = {block, 1, 1},
                          .args = args,
                          .arg_bytes = bytes,
                          .counters = counters,
                          .timing = timing};
  outcome = o;
  found = false;
  gfxsim_status status = gfxsim_run(kernel, &launch);
  if (status == GFXSIM_OK || found) return status == GFXSIM_OK;
  if (status == GFXSIM_INVALID)
    learn_found(o, LEARN_LAUNCH, "%s", gfxsim_last_error());
  else
    failed(o);
  return false;
}

static bool launch_kernel(const learn_exercise *e, const uint32_t grid[3], uint32_t block, const void *args, size_t bytes,
                          learn_outcome *o) {
  gfxsim_counters counters = {0};
  (void)e;
  bool judged = o->shape == 0, good = run_kernel(grid, block, args, bytes, judged ? &counters : NULL, NULL, o);
  if (good && judged) keep(&counters, o);
  gfxsim_counters_release(&counters);
  return good;
}

/* In a launch of its own, because waves run in another order, and caches count other hits. */
static bool predict_kernel(const learn_exercise *e, const uint32_t grid[3], uint32_t block, const void *args, size_t bytes,
                           learn_outcome *o) {
  gfxsim_counters counters = {0};
  gfxsim_timing timing = {0};
  (void)e;
  bool good = run_kernel(grid, block, args, bytes, &counters, &timing, o);
  if (good) o->counter[LEARN_PREDICTED] = (double)timing.clocks;
  gfxsim_counters_release(&counters);
  gfxsim_timing_release(&timing);
  return good;
}

const learn_machine learn_simulator = {0, open_chip, alloc, release, write_memory, read_memory, launch_kernel, predict_kernel};
