/* Predicts the clocks of a run on a simulated device. */
#include "predict.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/chip.h"
#include "sim/cli/timeline.h"
#include "sim/time/timing_json.h"

/* Processor seconds of one core of an AMD EPYC that other work shared, for an instruction of a wave and for each line of 128
 * bytes that a load or a store touches. Steps 1, 2, 3, 5, 8 and 10 of gemm's ladder take 0.26 to 0.46 us an instruction. */
static const double INSTRUCTION_SECONDS = 0.43e-6, LINE_SECONDS = 0.14e-6;

typedef struct predicting {
  bench_counts *counts;
  int launches, timed;
  bool other, memory, failed;
  const char *file; /* of the picture; NULL: none */
  timeline picture;
  uint64_t drawn; /* clocks of the launch that it shows */
} predicting;

static bool add_event(const gfxsim_time_event *e, void *user) {
  predicting *p = user;
  return timeline_event(&p->picture, e);
}

/* The picture of the longest launch stays; the next launch begins another one. */
static bool draw(predicting *p, const gfxsim_timing *t) {
  bool longest = t->clocks > p->drawn;
  if (longest) p->drawn = t->clocks;
  return timeline_close(&p->picture, longest ? t : NULL) && timeline_open(&p->picture, p->file, NULL);
}

static void timed(const char *kernel, const gfxsim_timing *t, void *user) {
  predicting *p = user;
  bench_launch *launch = &p->counts->launch[p->timed];
  if (p->timed >= p->counts->launches || strcmp(launch->kernel, kernel) != 0) {
    p->other = true;
    return;
  }
  p->timed++;
  if (p->file != NULL && !draw(p, t)) p->failed = true;
  launch->timing = *t;
  launch->timing.instructions = NULL;
  launch->timing.waves = NULL;
  if (json_object_set_new(launch->json, "time", timing_json(kernel, t)) != 0) p->memory = false;
}

static void counted(const char *kernel, const gfxsim_counters *c, void *user) {
  predicting *p = user;
  (void)kernel;
  p->launches++;
  p->failed = p->failed || c == NULL;
}

static double instructions_of(const gfxsim_counters *c) {
  double all = 0;
  for (int k = 0; k < GFXSIM_CLASS_COUNT; k++) all += (double)c->classes[k];
  return all;
}

/* Of the launch's workgroups, those that run. */
static double share_of(const gfxsim_counters *c, uint32_t rounds) {
  chip chip;
  if (rounds == 0 || c->workgroups == 0 || chip_find(c->chip, &chip) != GFXSIM_OK) return 1;
  double run = (double)rounds * chip.xcds * chip.cus_per_xcd * c->occupancy.workgroups_per_cu;
  return run < (double)c->workgroups ? run / (double)c->workgroups : 1;
}

double bench_predict_seconds(const bench_counts *counts, uint32_t rounds) {
  double seconds = 0;
  for (int i = 0; i < counts->launches; i++) {
    const gfxsim_counters *c = &counts->launch[i].c;
    double lines = (double)c->load.lines128 + (double)c->store.lines128;
    seconds += share_of(c, rounds) * (instructions_of(c) * INSTRUCTION_SECONDS + lines * LINE_SECONDS);
  }
  return seconds;
}

/* Do the workgroups of a case do unequal work? Then the rounds that run are of the whole grid, and later ones take as long as
 * those on average. */
static bool is_unequal(const tdm_case *c) { return strcmp(c->op->name, "attention") == 0 && c->causal; }

static void forget(bench_counts *counts) {
  for (int i = 0; i < counts->launches; i++) {
    counts->launch[i].timing = (gfxsim_timing){0};
    json_object_del(counts->launch[i].json, "time");
  }
}

bool bench_predict_run(tdm_context *context, const tdm_case *c, const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS],
                       const bench_limits *limits, bench_counts *counts, char *reason, size_t size) {
  predicting p = {.counts = counts, .memory = true, .file = limits->timeline};
  __typeof__(gfxsim_count) *count;
  __typeof__(gfxsim_time_launches) *predict;
  const char *device = tdm_context_device(context);
  uint32_t rounds = limits->rounds;
  if (limits->predict > 0 && rounds != 1 && bench_predict_seconds(counts, rounds) > limits->predict) rounds = 1;
  double seconds = bench_predict_seconds(counts, rounds);
  reason[0] = '\0';
  if (limits->predict > 0 && seconds > limits->predict) {
    snprintf(reason, size, "not predicted: would take about %.0f s", seconds);
    return true;
  }
  if (!bench_can_count(device, reason, size) || !bench_find_in_simulator(device, "gfxsim_count", &count) ||
      !bench_find_in_simulator(device, "gfxsim_time_launches", &predict)) {
    snprintf(reason, size, "not predicted: the gfxsim behind %s is of another version", device);
    return false;
  }
  gfxsim_time_watch watch = {.timing_bytes = sizeof(gfxsim_timing),
                             .timed = timed,
                             .user = &p,
                             .skip_matrix = c->fill == CASE_REAL, /* others are chosen for what their values make a kernel do */
                             .warm = limits->warm_caches,
                             .model = limits->model,
                             .spread = is_unequal(c) && rounds > 0,
                             .rounds = rounds,
                             .trace_cus = limits->timeline != NULL ? "0" : NULL,
                             .event = limits->timeline != NULL ? add_event : NULL};
  if (p.file != NULL && !timeline_open(&p.picture, p.file, NULL)) {
    snprintf(reason, size, "not predicted: %s can't be written", p.file);
    return false;
  }
  count(&(gfxsim_counting){.counters_bytes = sizeof(gfxsim_counters), .counted = counted, .user = &p});
  predict(&watch);
  tdm_status status = case_run(c, plan, pointers, NULL);
  if (status == TDM_OK) status = tdm_stream_sync(context, NULL);
  predict(NULL);
  count(NULL);
  timeline_close(&p.picture, NULL);
  if (status != TDM_OK)
    snprintf(reason, size, "not predicted: %s", tdm_last_error());
  else if (p.failed || p.other || p.launches != counts->launches || p.timed != p.launches)
    snprintf(reason, size, "not predicted: the run's launches failed, or are not those that were counted");
  else if (!p.memory)
    snprintf(reason, size, "no memory for the prediction");
  if (reason[0] == '\0') return true;
  forget(counts);
  return false;
}

/* ---- Of all launches ---- */

double bench_predicted_clocks(const bench_counts *counts) {
  double clocks = 0;
  for (int i = 0; i < counts->launches; i++) {
    if (counts->launch[i].timing.clocks == 0) return -1;
    clocks += (double)counts->launch[i].timing.clocks;
  }
  return counts->launches > 0 ? clocks : -1;
}

double bench_predicted_seconds(const bench_counts *counts) {
  double all = 0;
  if (bench_predicted_clocks(counts) < 0) return -1;
  for (int i = 0; i < counts->launches; i++) {
    if (counts->launch[i].timing.microseconds <= 0) return -1;
    all += 1e-6 * counts->launch[i].timing.microseconds;
  }
  return all;
}

double bench_predicted_share(const bench_counts *counts) {
  double busy = 0, clocks = bench_predicted_clocks(counts);
  for (int i = 0; i < counts->launches; i++)
    busy += counts->launch[i].timing.mfma_share * (double)counts->launch[i].timing.clocks;
  return clocks > 0 ? busy / clocks : -1;
}

double bench_predicted_loop(const bench_counts *counts) {
  const gfxsim_timing *longest = NULL;
  for (int i = 0; i < counts->launches; i++)
    if (longest == NULL || counts->launch[i].timing.clocks > longest->clocks) longest = &counts->launch[i].timing;
  return longest != NULL && longest->clocks > 0 && longest->loop.found ? longest->loop.mfma_share : -1;
}
