/* A prediction of time as text and as JSON. */
#include "time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "files/result.h"
#include "sim/time/timing_json.h"
#include "sim/time/timing_rows.h"

enum { LINES_MOST = 16 };

/* ---- Text ---- */

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

static void print_errors(void) {
  gfxsim_time_error e;
  printf("\nerrors of predictions that others' measurements were held against afterwards (bench/TIMING.md, set P)\n");
  for (int n = 0; gfxsim_time_error_at(n, &e); n++)
    if (e.count > 0)
      printf("  %14s  median %.1f %%, worst %.1f %%, of %d figures\n", e.figures, e.median, e.worst, e.count);
    else
      printf("  %14s  not known: no figure could be predicted\n", e.figures);
}

static void print_head(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const gfxsim_timing *t) {
  printf("kernel %s on %s: %" PRIu64 " workgroups of %u waves, %u of them on a CU; %s\n", kernel->name, t->chip,
         c->workgroups_run, c->occupancy.waves, c->occupancy.workgroups_per_cu,
         t->warm ? "the memory-side cache is warm" : "all caches are cold");
  if (t->extrapolated > 0)
    printf("of %" PRIu64 " workgroups only these run; later rounds are taken for equal to %s (--rounds)\n", c->workgroups,
           t->spread ? "their average" : "the last one");
  else if (c->workgroups_run < c->workgroups)
    printf("of %" PRIu64 " workgroups only these run, and the prediction is of a launch of these alone\n", c->workgroups);
  printf("\npredicted, by a model\n");
  printf("  %14" PRIu64 "  clocks of the launch, of which %" PRIu64 " before its first wave\n", t->clocks, t->launch_clocks);
  if (kernel->preload_dwords > 0)
    printf("  %14s  what the first %u dwords of the argument take to be in registers when a wave begins\n", "not modelled",
           kernel->preload_dwords);
  printf("  %14.1f  microseconds at %.2f GHz, which a second model predicts\n", t->microseconds, t->frequency_ghz);
  printf("  %14.1f  %% of the clocks of all matrix units are busy\n", 100 * t->mfma_share);
  printf("  %14.1f  %% of the clocks of SIMDs with waves: none issues\n", 100 * t->no_wave);
  if (t->loop.found)
    printf("\nhot loop, pc 0x%" PRIx64 " to 0x%" PRIx64
           " (%s)\n  %14.1f  clocks an iteration; a wave runs %.1f\n"
           "  %14.1f  %% of its clocks the matrix unit is busy\n",
           t->loop.begin, t->loop.end, timing_source(c, t->loop.begin), t->loop.clocks, t->loop.iterations,
           100 * t->loop.mfma_share);
  if (t->model != NULL)
    printf("\nby a model with other numbers, whose errors are not known: %s\n", t->model);
  else
    print_errors();
  double floor = c->bound[c->floor];
  printf("\nbound, from counts: %.0f clocks of %s: %.1f %% of the prediction\n", floor, gfxsim_pipe_name(c->floor),
         percent(floor, (double)t->clocks));
}

static void print_causes(const gfxsim_timing *t) {
  uint64_t all = 0;
  for (int k = 0; k < GFXSIM_CAUSE_COUNT; k++) all += t->wave_clocks[k];
  printf("\nclocks of waves, by cause\n");
  for (int k = 0; k < GFXSIM_CAUSE_COUNT; k++)
    if (t->wave_clocks[k] > 0)
      printf("  %14" PRIu64 "  %5.1f %%  %s\n", t->wave_clocks[k], percent((double)t->wave_clocks[k], (double)all),
             gfxsim_cause_name((gfxsim_cause)k));
}

static bool print_lines(const gfxsim_counters *c, const gfxsim_timing *t) {
  int lines;
  line_time *row = timing_lines(c, t, &lines);
  if (row == NULL) return complain("time: no memory");
  if (lines > 1 || (lines == 1 && row[0].source[0] != '\0')) printf("\nclocks of waves, by source line\n");
  for (int n = 0; n < lines && n < LINES_MOST && (lines > 1 || row[0].source[0] != '\0'); n++) {
    printf("  %14" PRIu64 "  %s:", row[n].all, row[n].source[0] != '\0' ? row[n].source : "?");
    for (int k = 0; k < GFXSIM_CAUSE_COUNT; k++)
      if (percent((double)row[n].clocks[k], (double)row[n].all) >= 1)
        printf(" %s %.0f %%", gfxsim_cause_name((gfxsim_cause)k), percent((double)row[n].clocks[k], (double)row[n].all));
    putchar('\n');
  }
  free(row);
  return true;
}

static void print_waits(const gfxsim_timing *t) {
  bool any = false;
  for (int n = 0; n < t->instruction_count; n++) {
    const gfxsim_time_instruction *i = &t->instructions[n];
    if (strncmp(i->text, "s_waitcnt", 9) != 0 || i->clocks[GFXSIM_CAUSE_VMCNT] == 0) continue;
    if (!any) printf("\nwaits for memory\n");
    any = true;
    printf("  pc 0x%" PRIx64 "  %-36s  %8.1f clocks, with %.1f in flight, %" PRIu64 " times\n", i->pc, i->text,
           (double)i->clocks[GFXSIM_CAUSE_VMCNT] / (double)i->count, (double)i->in_flight / (double)i->count, i->count);
  }
}

void time_show_parameters(void) {
  gfxsim_time_parameter row;
  printf("%-18s %8s %8s  %-14s %-7s %s\n", "parameter", "gfx942", "gfx950", "unit", "", "source, or what it was fitted to");
  for (int n = 0; gfxsim_time_parameter_at(n, &row); n++)
    printf("%-18s %8g %8g  %-14s %-7s %s\n", row.name, row.gfx942, row.gfx950, row.unit, row.fitted ? "fitted" : "source",
           row.source);
}

/* ---- JSON ---- */

static bool write_json(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const gfxsim_timing *t, const char *file) {
  json_t *root = timing_json(kernel->name, t);
  char error[256];
  result_file to;
  if (!timing_rows_json(root, c, t)) {
    json_decref(root);
    return complain("time: no memory for JSON");
  }
  bool good = result_open(&to, file, error, sizeof error);
  if (good && json_dumpf(root, to.to, JSON_INDENT(1)) != 0 && !ferror(to.to)) {
    result_drop(&to);
    snprintf(error, sizeof error, "no memory for the text");
    good = false;
  } else if (good) {
    good = result_finish(&to, error, sizeof error);
  }
  json_decref(root);
  return good || complain("time: --json %s: %s", file, error);
}

bool time_show(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const gfxsim_timing *t, const char *json) {
  if (json != NULL) return write_json(kernel, c, t, json);
  print_head(kernel, c, t);
  print_causes(t);
  print_waits(t);
  return print_lines(c, t);
}
