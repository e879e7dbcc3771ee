/* The predictions of ladders: what is read, what is refused, and what holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bench/ladder/ladder.h"

static ladder_prediction parse(const char *line) {
  char error[700] = "";
  ladder_prediction p;
  if (!ladder_parse(&p, line, (int)strlen(line), error, sizeof error)) fail_msg("%s", error);
  return p;
}

static void refuses(const char *line, const char *words) {
  char error[700] = "";
  ladder_prediction p;
  assert_false(ladder_parse(&p, line, (int)strlen(line), error, sizeof error));
  if (strstr(error, words) == NULL) fail_msg("'%s': said '%s', not '%s'", line, error, words);
}

static void reads_each_form(void **state) {
  (void)state;
  ladder_prediction p = parse("loads = 3 to 4.5");
  assert_true(p.kind == LADDER_COUNTER && !p.before && p.divisor < 0 && p.low == 3 && p.high == 4.5 && p.device[0] == '\0');
  p = parse("gfx942 512x512x64: loads / before = 0.1 to 0.2");
  assert_true(p.before && strcmp(p.device, "gfx942") == 0 && strcmp(p.shape, "512x512x64") == 0);
  p = parse("lds_conflicts / lds_clocks = 0 to 0.5");
  assert_true(!p.before && p.divisor >= 0 && p.divisor != p.counter);
  p = parse("gfx950: floor = vL1D");
  assert_true(p.kind == LADDER_FLOOR && strcmp(p.floor, "vL1D") == 0);
  assert_true(parse("8x8: caught").kind == LADDER_CAUGHT && parse("right").kind == LADDER_RIGHT);
}

static void refuses_what_is_none(void **state) {
  (void)state;
  refuses("", "must be [DEVICE] [SHAPE]");
  refuses("loads = 3", "must be [DEVICE] [SHAPE]");
  refuses("loads = 4 to 3", "must be [DEVICE] [SHAPE]");
  refuses("loads = nan to nan", "must be [DEVICE] [SHAPE]");
  refuses("loads = 3 to 4 or so", "must be [DEVICE] [SHAPE]");
  refuses("lods = 3 to 4", "a counter must be of loads load_lines");
  refuses("loads / befor = 3 to 4", "a counter must be of loads load_lines");
  refuses("floor = L7", "must be a pipe");
  refuses("64x64x64: predicted = 3 to 4", "the ladder's own shape alone");
  refuses("gfx942 gfx950: right", "must be [DEVICE] [SHAPE]");
  char longest[300];
  memset(longest, 'x', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  refuses(longest, "too long");
}

static void knows_its_devices(void **state) {
  (void)state;
  ladder_prediction chip = parse("gfx942: right"), omp = parse("omp: right"), all = parse("right");
  assert_true(ladder_about(&chip, "sim:gfx942") && !ladder_about(&chip, "sim:gfx950") && !ladder_about(&chip, "host"));
  assert_true(ladder_about(&omp, "omp:1") && !ladder_about(&omp, "host"));
  assert_true(ladder_about(&all, "sim:gfx950") && ladder_about(&all, "host"));
}

static bench_row counted(uint64_t loads) {
  bench_row row = {.simulated = true};
  row.counts.launches = 1;
  row.counts.launch[0].c = (gfxsim_counters){.workgroups = 8, .workgroups_run = 8, .floor = GFXSIM_PIPE_LDS};
  row.counts.launch[0].c.load.accesses = loads;
  row.counts.launch[0].c.bound[GFXSIM_PIPE_LDS] = 100;
  return row;
}

static ladder_verdict verdict(const char *line, const bench_row *row, const bench_row *before) {
  char measured[96];
  ladder_prediction p = parse(line);
  return ladder_judge(&p, row, before, measured, sizeof measured);
}

static void judges(void **state) {
  (void)state;
  bench_row row = counted(30), before = counted(60), none = counted(0);
  assert_int_equal(verdict("loads = 30 to 30", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("loads = 31 to 40", &row, NULL), LADDER_NOT_HELD);
  assert_int_equal(verdict("loads / before = 0.5 to 0.5", &row, &before), LADDER_HELD);
  assert_int_equal(verdict("loads / before = 0.51 to 0.6", &row, &before), LADDER_NOT_HELD);
  assert_int_equal(verdict("loads / before = 0 to 1", &row, NULL), LADDER_NO_FIGURE);
  assert_int_equal(verdict("loads / before = 0 to 1", &row, &none), LADDER_NO_FIGURE);
  assert_int_equal(verdict("time = 0 to 1", &row, NULL), LADDER_NO_FIGURE);
  assert_int_equal(verdict("floor = LDS", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("floor = MFMA", &row, NULL), LADDER_NOT_HELD);
  assert_int_equal(verdict("caught", &row, NULL), LADDER_NOT_HELD);
  assert_int_equal(verdict("right", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("hbm_bytes = 0 to 0", &row, NULL), LADDER_HELD);
  row.counts.launch[0].c.workgroups_run = 4; /* a part: what is beyond the vL1D is not modelled */
  assert_int_equal(verdict("hbm_bytes = 0 to 0", &row, NULL), LADDER_NO_FIGURE);
  row.outcome = BENCH_FAILED;
  snprintf(row.reason, sizeof row.reason, "hipErrorLaunchFailure");
  assert_int_equal(verdict("caught", &row, NULL), LADDER_NOT_HELD); /* it failed, but not by its result */
  snprintf(row.reason, sizeof row.reason, "wrong: c[0][0]");
  assert_int_equal(verdict("caught", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("right", &row, NULL), LADDER_NOT_HELD);
  assert_int_equal(verdict("loads = 30 to 30", &row, NULL), LADDER_NO_FIGURE);
}

static bench_row predicted(uint64_t loads, uint64_t clocks, double share) {
  bench_row row = counted(loads);
  row.counts.launch[0].timing = (gfxsim_timing){.clocks = clocks, .mfma_share = share, .loop = {true, .mfma_share = 0.9}};
  return row;
}

/* A figure of the model that was not asked for is no failure; of a device without one it is. */
static void judges_predicted_clocks(void **state) {
  (void)state;
  bench_row row = predicted(30, 500, 0.25), before = predicted(30, 1000, 0.5), none = counted(30);
  assert_int_equal(verdict("predicted = 500 to 500", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("predicted / before = 0.5 to 0.5", &row, &before), LADDER_HELD);
  assert_int_equal(verdict("predicted / before = 0.6 to 2", &row, &before), LADDER_NOT_HELD);
  assert_int_equal(verdict("predicted_share = 0.25 to 0.25", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("predicted_loop_share = 0.9 to 0.9", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("predicted / before = 0 to 9", &row, &none), LADDER_NOT_PREDICTED);
  assert_int_equal(verdict("predicted / before = 0 to 9", &none, &before), LADDER_NOT_PREDICTED);
  assert_int_equal(verdict("predicted = 0 to 9", &none, NULL), LADDER_NOT_PREDICTED);
  assert_int_equal(verdict("loads / before = 1 to 1", &none, &before), LADDER_HELD);
  row.counts.launch[0].timing.loop.found = false;
  assert_int_equal(verdict("predicted_loop_share = 0 to 1", &row, NULL), LADDER_NO_FIGURE);
  none.simulated = false;
  assert_int_equal(verdict("predicted = 0 to 9", &none, NULL), LADDER_NO_FIGURE);
  row.counts.launches = 2; /* the share of both together; the second one is twice as long */
  row.counts.launch[1] = row.counts.launch[0];
  row.counts.launch[1].timing.clocks = 1000;
  row.counts.launch[1].timing.mfma_share = 1;
  assert_int_equal(verdict("predicted = 1500 to 1500", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("predicted_share = 0.75 to 0.75", &row, NULL), LADDER_HELD);
}

/* For two launches, counts are added, what is allocated is the larger one's, and the floor is that of the longer one. */
static void joins_launches(void **state) {
  (void)state;
  bench_row row = counted(30);
  gfxsim_counters *first = &row.counts.launch[0].c, *second = &row.counts.launch[1].c;
  row.counts.launches = 2;
  *second = *first;
  second->floor = GFXSIM_PIPE_MFMA;
  second->bound[GFXSIM_PIPE_MFMA] = 300;
  first->occupancy = (gfxsim_occupancy){.vgprs = 64, .lds_bytes = 1024, .waves_per_simd = 8};
  second->occupancy = (gfxsim_occupancy){.vgprs = 128, .lds_bytes = 512, .waves_per_simd = 4};
  assert_int_equal(verdict("loads = 60 to 60", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("clocks = 400 to 400", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("vgprs = 128 to 128", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("lds_bytes = 1024 to 1024", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("waves_per_simd = 4 to 4", &row, NULL), LADDER_HELD);
  assert_int_equal(verdict("floor = MFMA", &row, NULL), LADDER_HELD);
}

static void reads_the_lines_of_a_step(void **state) {
  (void)state;
  char error[800];
  ladder_prediction list[LADDER_MAX_PREDICTIONS];
  ladder_step step = {.file = "ladder/op/f.hip", .predict = "right\nloads = 1 to 2"};
  assert_int_equal(ladder_predictions(&step, list, error, sizeof error), 2);
  assert_true(list[0].kind == LADDER_RIGHT && list[1].high == 2);
  step.predict = "right\nwrong";
  assert_int_equal(ladder_predictions(&step, list, error, sizeof error), -1);
  assert_non_null(strstr(error, "ladder/op/f.hip: predict: 'wrong'"));
  step.predict = "right\nright\nright\nright\nright\nright\nright\nright\nright";
  assert_int_equal(ladder_predictions(&step, list, error, sizeof error), -1);
  assert_non_null(strstr(error, "more than 8"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads_each_form),          cmocka_unit_test(refuses_what_is_none),
                                     cmocka_unit_test(knows_its_devices),        cmocka_unit_test(judges),
                                     cmocka_unit_test(judges_predicted_clocks),  cmocka_unit_test(joins_launches),
                                     cmocka_unit_test(reads_the_lines_of_a_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
