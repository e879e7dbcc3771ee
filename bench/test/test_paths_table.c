/* The table of paths side by side: which devices stand in it, and what it says of several launches, of samples and of failures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/report/report.h"

static bench_run run;
static bench_row row[4];

static void add_launch(bench_row *r, const char *chip, gfxsim_pipe floor, double clocks, uint32_t vgprs) {
  gfxsim_counters *c = &r->counts.launch[r->counts.launches++].c;
  snprintf(c->chip, sizeof c->chip, "%s", chip);
  c->workgroups = c->workgroups_run = 4;
  c->waves = 8;
  c->classes[GFXSIM_CLASS_VALU] = 100;
  c->classes[GFXSIM_CLASS_VMEM] = 7;
  c->classes[GFXSIM_CLASS_SMEM] = 2;
  c->hbm_read = 64;
  c->hbm_written = 32;
  c->occupancy = (gfxsim_occupancy){.vgprs = vgprs, .sgprs = 48, .lds_bytes = 512, .scratch_bytes = 16, .waves_per_simd = 6};
  c->floor = floor;
  c->bound[floor] = clocks;
  c->tail = 1;
}

static bench_row *add_row(const char *device, const char *kernel) {
  bench_row *r = &row[run.rows++];
  *r = (bench_row){.simulated = true, .by = "tandem", .outcome = BENCH_OK};
  snprintf(r->title, sizeof r->title, "add --dtype f32 8x8");
  snprintf(r->device, sizeof r->device, "%s", device);
  snprintf(r->kernel, sizeof r->kernel, "%s", kernel);
  snprintf(run.devices.name[run.devices.count++], CASE_DEVICE_NAME, "%s", device);
  return r;
}

static int begin(void **state) {
  (void)state;
  run = (bench_run){.row = row};
  return 0;
}

/* The caller frees it. */
static char *print(void) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  bench_print_paths(out, &run, TABLE_MARKDOWN);
  assert_int_equal(fclose(out), 0);
  return text;
}

static void assert_line(const char *line, bool there) {
  char *text = print();
  bool found = strstr(text, line) != NULL;
  if (found != there) print_error("%s'%s' in:\n%s\n", there ? "no " : "", line, text);
  free(text);
  assert_true(found == there);
}

static void test_launches_are_summed(void **state) {
  (void)state;
  add_launch(add_row("omp:0", "omp_gpu"), "gfx942", GFXSIM_PIPE_ISSUE, 300, 40);
  bench_row *two = add_row("hip:0", "hip_split");
  add_launch(two, "gfx942", GFXSIM_PIPE_MFMA, 100, 128);
  add_launch(two, "gfx942", GFXSIM_PIPE_HBM, 50, 24);
  assert_line("\nThe paths on gfx942 side by side", true);
  assert_line("| add f32 8x8 | omp:0 | omp_gpu | 1 | 8 | 100 | 0 | 0 | 9 | 0 | 96 | 40 | 48 | 512 | 16 | 6 | issue | 300 |  |",
              true);
  assert_line(
      "| add f32 8x8 | hip:0 | hip_split | 2 | 16 | 200 | 0 | 0 | 18 | 0 | 192 | 128, 24 | 48 | 512 | 16 | 6 | MFMA, HBM |"
      " 150 | 0.500 |",
      true);
}

/* Predicted clocks stand beside the bounds, and only where they were asked for. */
static void test_predicted_clocks(void **state) {
  (void)state;
  bench_row *slow = add_row("omp:0", "omp_gpu"), *fast = add_row("hip:0", "hip_split");
  add_launch(slow, "gfx942", GFXSIM_PIPE_ISSUE, 300, 40);
  add_launch(fast, "gfx942", GFXSIM_PIPE_MFMA, 150, 128);
  assert_line("predicted", false);
  run.limits.time = true;
  slow->counts.launch[0].timing.clocks = 9000;
  assert_line("| MFMA | 150 | 0.500 | not predicted |  |", true);
  fast->counts.launch[0].timing.clocks = 6000;
  assert_line("| issue | 300 |  | 9000 |  |", true);
  assert_line("| MFMA | 150 | 0.500 | 6000 | 0.667 |", true);
  assert_line("Predicted clocks are a model's", true);
}

static void test_a_sample_has_no_bytes(void **state) {
  (void)state;
  add_launch(add_row("omp:0", "omp_gpu"), "gfx942", GFXSIM_PIPE_ISSUE, 300, 40);
  bench_row *part = add_row("hip:0", "hip_blocks");
  add_launch(part, "gfx942", GFXSIM_PIPE_VALU, 100, 40);
  part->counts.launch[0].c.workgroups_run = 1;
  part->counts.launch[0].c.lds.unmodelled = 1;
  assert_line("| not modelled | not modelled | 40 |", true);
  part->counts.launch[0].c.lds.conflict_clocks = 6; /* at least */
  assert_line("| 6 and not modelled | not modelled | 40 |", true);
}

static void test_only_paths_of_one_chip(void **state) {
  (void)state;
  add_launch(add_row("hip:0", "hip_blocks"), "gfx942", GFXSIM_PIPE_ISSUE, 300, 40);
  assert_line("The paths", false);
  add_launch(add_row("sim:gfx950", "hip_blocks"), "gfx950", GFXSIM_PIPE_ISSUE, 300, 40);
  assert_line("The paths", false);
  add_launch(add_row("omp:0", "omp_gpu"), "gfx942", GFXSIM_PIPE_ISSUE, 300, 40);
  assert_line("The paths on gfx942", true);
  assert_line("sim:gfx950", false);
}

/* Its other cases tell which chip it is. A device without any count is not known to be of a chip. */
static void test_a_path_that_fails(void **state) {
  (void)state;
  add_launch(add_row("omp:0", "omp_gpu"), "gfx942", GFXSIM_PIPE_ISSUE, 300, 40);
  bench_row_fail(add_row("hip:0", ""), BENCH_UNSUPPORTED, "a reason");
  assert_line("The paths", false);
  bench_row *other = add_row("hip:0", "hip_blocks");
  run.devices.count--;
  snprintf(other->title, sizeof other->title, "add --dtype f32 9x9");
  add_launch(other, "gfx942", GFXSIM_PIPE_ISSUE, 300, 40);
  assert_line("| add f32 8x8 | hip:0 | unsupported |  |", true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_launches_are_summed, begin),   cmocka_unit_test_setup(test_predicted_clocks, begin),
      cmocka_unit_test_setup(test_a_sample_has_no_bytes, begin), cmocka_unit_test_setup(test_only_paths_of_one_chip, begin),
      cmocka_unit_test_setup(test_a_path_that_fails, begin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
