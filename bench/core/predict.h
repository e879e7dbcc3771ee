/* Predicting instead of timing: a second run of a plan on a simulated device, in the order of a model's clocks. It follows the
 * run that was counted and checked, because its results are wrong: matrix instructions take time and compute nothing, and of a
 * large launch only the first rounds of workgroups run. docs/gfxsim-time.md has the model, and its errors.
 *
 *   bench_count_run(... &counts ...)                    count.h
 *   bench_predict_run(context, c, plan, pointers, &limits, &counts, reason, sizeof reason)
 *   bench_predicted_clocks(&counts) */
#ifndef TANDEM_BENCH_CORE_PREDICT_H
#define TANDEM_BENCH_CORE_PREDICT_H

#include "bench/core/count.h"
#include "bench/core/measure.h"

/* The first round starts on empty caches, and in the second workgroups begin while others end. So two are the least that show
 * how further ones go on. */
enum { BENCH_ROUNDS = 2 };
#define BENCH_ROUNDS_HELP \
  "Predictions: rounds of workgroups that run, of launches with more; 0: all; default 2, for workgroups that do equal work"

/* About how long one core of the host needs to predict what was counted. */
double bench_predict_seconds(const bench_counts *counts, uint32_t rounds);

/* Runs the plan again, and adds each launch's prediction to what bench_count_run counted. Where it would take too long, one
 * round runs. Where that would take too long no launch has a prediction, the reason says why, and that is no failure. false:
 * the run failed; the reason. */
bool bench_predict_run(tdm_context *context, const tdm_case *c, const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS],
                       const bench_limits *limits, bench_counts *counts, char *reason, size_t size);

/* ---- Of all launches of a run; negative: not predicted ---- */

double bench_predicted_clocks(const bench_counts *counts);
double bench_predicted_seconds(const bench_counts *counts); /* by the model of frequency */
/* The share of these clocks in which the chip's matrix units work. */
double bench_predicted_share(const bench_counts *counts);
/* The share in the hot loop of the launch with the most clocks, of the SIMDs that are in it. */
double bench_predicted_loop(const bench_counts *counts);

/* The least clocks that any kernel could take on the chip: the case's FLOP at the rate of its matrix units, or its bytes at the
 * peak of HBM, whichever is more. floor: "mfma" or "hbm". Negative: there is no such chip. */
double bench_ideal_clocks(const tdm_case *c, const char *chip, const char **floor);
/* What predicted clocks went to: "1 launch 24 %, waves: vmcnt 61 % barrier 12 %, 16 workgroups on 256 CUs". */
void bench_put_causes(char *text, size_t size, const bench_counts *counts);

#endif
