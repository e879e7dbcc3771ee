/* tandem-estimates: how well the estimates of HIP's kernels choose, by the clocks that `tandem-bench --shapes FILE --device
 * sim:CHIP --all-kernels` predicted for each kernel of a case; and the search for better numbers (hip/host/cost.h). It contains
 * the library's own estimates, and runs no kernel. docs/tuning.md has the commands. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/score/score.h"
#include "bench/shapes/journal.h"
#include "bench/shapes/kernels.h"
#include "case/help.h"
#include "hip/host/cost.h"
#include "output.h"

/* The numbers one after the other. */
static const char *const names[] = {"latency", "overlap", "hbm"};
enum { NUMBERS = sizeof names / sizeof names[0], PASSES = 8 };
_Static_assert(sizeof(hip_cost_numbers) == NUMBERS * sizeof(double), "the numbers are an array");
static double *number(int i) { return (double *)&tdm_hip_cost_numbers + i; }

typedef struct one_case {
  bench_shape shape;
  double launch;         /* clocks of one, which predicted clocks have and estimates leave out */
  const json_t *kernels; /* bench/shapes/kernels.h */
  double best;           /* predicted clocks */
} one_case;

typedef struct set {
  one_case *of;
  int count;
  tdm_context *context;
} set;

typedef struct quality {
  int good;
  double mean, worst; /* of the best kernel's clocks over the chosen one's */
} quality;

static int complain(const char *text) {
  fprintf(stderr, "tandem-estimates: %s\n", text);
  return EXIT_USAGE;
}

/* ---- Reading ---- */

static bool add_row(set *s, const json_t *row, char *error, size_t size) {
  one_case one = {.kernels = json_object_get(row, "kernels"), .best = INFINITY};
  const json_t *kernel;
  size_t i;
  one.launch = json_number_value(json_object_get(row, "launch_clocks"));
  json_array_foreach(one.kernels, i, kernel) {
    double clocks = json_number_value(json_object_get(kernel, "clocks_predicted"));
    if (clocks > 0) one.best = fmin(one.best, clocks);
  }
  if (json_array_size(one.kernels) < 2 || !isfinite(one.best)) return true; /* nothing was chosen among, or predicted */
  if (!bench_shape_parse(&one.shape, bench_json_text(row, "case"), error, size)) return false;
  one_case *more = realloc(s->of, (size_t)(s->count + 1) * sizeof *more);
  if (more == NULL) return false;
  s->of = more;
  s->of[s->count++] = one;
  return true;
}

static bool read_set(set *s, char *const *paths, int count, json_t *keep, char *error, size_t size) {
  const char *device = "";
  snprintf(error, size, "no memory"); /* unless something else is found */
  for (int p = 0; p < count; p++) {
    json_t *rows = bench_journal_rows(paths[p], false, error, size);
    const json_t *row;
    size_t i;
    if (rows == NULL || json_array_append_new(keep, rows) != 0) return false;
    if (json_array_size(rows) == 0 && access(paths[p], R_OK) != 0) { /* to a journal that has not begun this is no error */
      snprintf(error, size, "'%s': can't be read: %s", paths[p], strerror(errno));
      return false;
    }
    json_array_foreach(rows, i, row) {
      if (device[0] != '\0' && strcmp(device, bench_json_text(row, "device")) != 0) {
        snprintf(error, size, "'%s': is of %s, and a file before it of %s", paths[p], bench_json_text(row, "device"), device);
        return false;
      }
      device = bench_json_text(row, "device");
      if (!add_row(s, row, error, size)) return false;
    }
  }
  snprintf(error, size, "no case has several kernels with predicted clocks");
  if (s->count == 0) return false;
  const tdm_options options = {.device = device, .tuned = "none"};
  if (tdm_open(&options, &s->context) == TDM_OK) return true;
  snprintf(error, size, "%s", tdm_last_error());
  return false;
}

/* ---- Judging ---- */

/* The chosen kernel's predicted clocks. One that was left out takes at least its bound, which is above the best ones. */
static double chosen_clocks(const set *s, const one_case *one, char *name, size_t size) {
  tdm_plan *plan = NULL;
  double clocks = INFINITY;
  const json_t *kernel;
  size_t i;
  name[0] = '\0';
  if (one->shape.c.op->plan(s->context, &one->shape.c, &plan) != TDM_OK) return clocks;
  snprintf(name, size, "%s", tdm_plan_kernel(plan));
  tdm_plan_free(plan);
  json_array_foreach(one->kernels, i, kernel) {
    if (strcmp(bench_json_text(kernel, "kernel"), name) != 0) continue;
    clocks = json_number_value(json_object_get(kernel, "clocks_predicted"));
    if (!(clocks > 0)) clocks = fmax(one->best, json_number_value(json_object_get(kernel, "clocks_at_least")));
  }
  return clocks;
}

static quality judge(const set *s, bool print) {
  quality q = {.worst = 1};
  double logs = 0;
  char name[96];
  for (int i = 0; i < s->count; i++) {
    double ratio = s->of[i].best / chosen_clocks(s, &s->of[i], name, sizeof name);
    q.good += ratio >= score_well_predicted();
    q.worst = fmin(q.worst, ratio);
    logs += log(fmax(ratio, 1e-3)); /* 0: a kernel that the file does not have */
    if (print && ratio < score_well_predicted()) printf("  %.2f %s: %s\n", ratio, s->of[i].shape.title, name);
  }
  q.mean = exp(logs / s->count);
  return q;
}

static void show(const char *when, const set *s, quality q) {
  printf("%s: the chosen kernel is within %.1f %% of the best in %d of %d cases; geometric mean %.3f, worst %.2f\n", when,
         100 / score_well_predicted() - 100, q.good, s->count, q.mean, q.worst);
  for (int i = 0; i < NUMBERS; i++) printf("  %s %.4g\n", names[i], *number(i));
}

/* Each kernel's predicted clocks, its estimate with the launch, and the estimate's share of the predicted clocks. */
static void list(const set *s) {
  for (int i = 0; i < s->count; i++) {
    const one_case *one = &s->of[i];
    tdm_plan *plan = NULL;
    const json_t *kernel;
    size_t k;
    printf("%s\n", one->shape.title);
    if (one->shape.c.op->plan(s->context, &one->shape.c, &plan) != TDM_OK) {
      printf("  %s\n", tdm_last_error());
      continue;
    }
    json_array_foreach(one->kernels, k, kernel) {
      const char *name = bench_json_text(kernel, "kernel");
      double clocks = json_number_value(json_object_get(kernel, "clocks_predicted"));
      double estimate = bench_estimate_of(tdm_plan_explain(plan), name);
      printf("  %s %-20s", strcmp(name, tdm_plan_kernel(plan)) == 0 ? "chosen" : "      ", name);
      if (clocks > 0)
        printf(" %9.0f", clocks);
      else
        printf(" %9s", "left out");
      if (estimate < 0)
        printf(" no estimate\n");
      else if (clocks > 0)
        printf(" %9.0f %5.2f\n", estimate + one->launch, (estimate + one->launch) / clocks);
      else
        printf(" %9.0f\n", estimate + one->launch);
    }
    tdm_plan_free(plan);
  }
}

/* One number after the other, by steps, as long as that makes the choices better. */
static void fit(const set *s) {
  static const double steps[] = {0.1, 0.5, 0.8, 0.9, 1.1, 1.25, 2, 10};
  static const double least_gain = 1e-4; /* in the mean: less is noise of ties */
  quality best = judge(s, false);
  bool better = true;
  for (int pass = 0; pass < PASSES && better; pass++) {
    better = false;
    for (int i = 0; i < NUMBERS; i++)
      for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        double before = *number(i);
        *number(i) *= steps[k];
        quality q = judge(s, false);
        if (q.mean > best.mean + least_gain && !(strcmp(names[i], "hbm") == 0 && *number(i) > 1)) {
          best = q;
          better = true;
        } else {
          *number(i) = before;
        }
      }
  }
}

int main(int argc, char **argv) {
  output_begin("tandem-estimates");
  char error[2048] = "";
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    printf(
        "Usage: tandem-estimates check|list|fit FILE.json...\n\nFILE is what tandem-bench --shapes --device sim:CHIP "
        "--all-kernels "
        "--json wrote.\n"
        "check says how often the estimates of HIP's kernels choose well, by the clocks that are predicted in it; list "
        "prints\n"
        "each kernel's predicted clocks and estimate; fit looks for better numbers (docs/tuning.md).\n");
    help_exit_status(stdout);
    return EXIT_PASSED;
  }
  set s = {.count = 0};
  if (argc < 3 || (strcmp(argv[1], "check") != 0 && strcmp(argv[1], "list") != 0 && strcmp(argv[1], "fit") != 0))
    return complain("must be: tandem-estimates check|list|fit FILE.json...");
  json_t *keep = json_array();
  int code = EXIT_PASSED;
  if (!read_set(&s, argv + 2, argc - 2, keep, error, sizeof error)) {
    code = complain(error);
  } else {
    bool fits = strcmp(argv[1], "fit") == 0;
    if (strcmp(argv[1], "list") == 0) list(&s);
    show("now", &s, judge(&s, !fits));
    if (fits) fit(&s);
    if (fits) show("fitted", &s, judge(&s, false));
    quality q = judge(&s, false);
    if (strcmp(argv[1], "check") == 0 && q.good < SCORE_GOAL * s.count) code = EXIT_FAILED;
    tdm_close(s.context);
  }
  free(s.of);
  json_decref(keep);
  return code;
}
