/* Figures above a ceiling: the ceiling is measured again, the largest measurement counts for all rows, nothing falls. The
 * machine is a script of measurements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>

#include "bench/core/judge.h"

typedef struct machine {
  double flops[8], copy[8]; /* of each measurement of that part, one after the other; the last one for all others */
  int products, moves;      /* measurements so far */
  int last;                 /* how many the lists have, less 1 */
  size_t bytes;             /* of the last copy */
  int fails;                /* the measurement that fails; 0: none */
} machine;

static tdm_status measure(void *of, int parts, size_t bytes, bench_ceiling *ceiling) {
  machine *m = of;
  *ceiling = (bench_ceiling){0};
  if (m->fails > 0 && m->products + m->moves == m->fails) return TDM_ERROR_MEMORY;
  if ((parts & BENCH_PRODUCTS) != 0) ceiling->flops = m->flops[m->products < m->last ? m->products : m->last], m->products++;
  if ((parts & BENCH_MOVES) == 0) return TDM_OK;
  ceiling->copy = ceiling->read = m->copy[m->moves < m->last ? m->moves : m->last], m->moves++;
  ceiling->copy_by = m->moves == 1 ? "first" : "later";
  m->bytes = bytes;
  return TDM_OK;
}

static bench_row row_of(double flops, double bytes, double seconds) {
  bench_row row = {.flops = flops, .bytes = bytes, .written = bytes / 2, .rotation = (size_t)bytes};
  row.time.median = seconds;
  return row;
}

static bench_judge judge_of(machine *m) {
  return (bench_judge){.measure = measure, .machine = m, .bytes = 4096, .least = 1024, .alarms = true};
}

/* The clock rises from 1e12 to 1.5e12 FLOP a second, and falls again. */
static void test_raised(void **state) {
  (void)state;
  machine m = {.flops = {1e12, 0.9e12, 1.5e12, 1.2e12}, .copy = {1e11}, .last = 3};
  for (int i = 1; i < 4; i++) m.copy[i] = m.copy[0];
  bench_judge j = judge_of(&m);
  assert_int_equal(bench_judge_open(&j), TDM_OK);
  bench_row before = row_of(0.9e12, 8, 1), above = row_of(1.4e12, 8, 1), after = row_of(0.5e12, 8, 1);
  assert_int_equal(bench_judge_row(&j, &before), TDM_OK);
  assert_true(before.ceiling.flops == 1e12 && !before.alarm && m.products == 1 && !j.raised);
  assert_int_equal(bench_judge_row(&j, &above), TDM_OK); /* the second measurement is the lower one: a third is made */
  assert_true(above.ceiling.flops == 1.5e12 && !above.alarm && m.products == 3 && m.moves == 1 && j.raised);
  assert_true(above.time.median == 1);
  assert_int_equal(bench_judge_row(&j, &after), TDM_OK);
  assert_true(after.ceiling.flops == 1.5e12 && m.products == 3);
  bench_judge_again(&j, &before);
  assert_true(before.ceiling.flops == 1.5e12 && !before.alarm);
}

static void test_alarm(void **state) {
  (void)state;
  machine m = {.flops = {1e12}, .copy = {1e11, 1.1e11}, .last = 1};
  m.flops[1] = 1e12;
  bench_judge j = judge_of(&m);
  assert_int_equal(bench_judge_open(&j), TDM_OK);
  bench_row row = row_of(2e12, 8, 1);
  assert_int_equal(bench_judge_row(&j, &row), TDM_OK);
  assert_true(row.alarm && m.products == 1 + BENCH_JUDGE_TRIES && m.moves == 1);
  /* By its bytes: 2 * written over the copy. */
  row = row_of(8, 1.08e11, 1);
  assert_int_equal(bench_judge_row(&j, &row), TDM_OK);
  assert_true(!row.alarm && m.moves == 2 && row.ceiling.copy == 1.1e11 && row.ceiling.read == 1.1e11);
  assert_string_equal(row.ceiling.copy_by, "later");
  row = row_of(8, 2e11, 1);
  assert_int_equal(bench_judge_row(&j, &row), TDM_OK);
  assert_true(row.alarm && m.moves == 2 + BENCH_JUDGE_TRIES);
  /* A row without a result, and a device whose caches hold more than its ceilings say. */
  row.outcome = BENCH_FAILED;
  assert_int_equal(bench_judge_row(&j, &row), TDM_OK);
  assert_false(row.alarm);
  j.alarms = false;
  row.outcome = BENCH_OK;
  assert_int_equal(bench_judge_row(&j, &row), TDM_OK);
  assert_true(!row.alarm && m.moves == 2 + BENCH_JUDGE_TRIES);
}

/* Each size has a copy of its own. */
static void test_footprints(void **state) {
  (void)state;
  machine m = {.flops = {1e12, 1e12, 1e12, 1e12}, .copy = {9e11, 5e11, 1e11, 6e11}, .last = 3};
  bench_judge j = judge_of(&m);
  j.by_footprint = true;
  assert_int_equal(bench_judge_open(&j), TDM_OK);
  bench_row small = row_of(8, 100, 1), large = row_of(8, 3 << 20, 1), again = row_of(8, 2 << 20, 1);
  assert_int_equal(bench_judge_row(&j, &small), TDM_OK);
  assert_true(m.bytes == 512 && small.ceiling.copy == 5e11 && small.ceiling.flops == 1e12); /* the least */
  assert_int_equal(bench_judge_row(&j, &large), TDM_OK);
  assert_true(m.bytes == 1 << 20 && large.ceiling.copy == 1e11 && m.moves == 3 && !j.raised); /* 2 MiB in two arrays */
  assert_int_equal(bench_judge_row(&j, &again), TDM_OK);
  assert_true(again.ceiling.copy == 1e11 && m.moves == 3);
  /* In place: the same array is read and written. */
  bench_row in_place = row_of(8, 4 << 20, 1);
  in_place.rotation = 2 << 20;
  assert_int_equal(bench_judge_footprint(&j, &in_place), 21);
  assert_int_equal(bench_judge_footprint(&j, &large), 21);
  /* What is above it raises the copy of this size, and of smaller ones that were slower. */
  again.time.median = (2 << 20) / 4e11;
  assert_int_equal(bench_judge_row(&j, &again), TDM_OK);
  assert_true(!again.alarm && again.ceiling.copy == 6e11 && m.moves == 4 && m.bytes == 1 << 20 && j.raised);
  bench_judge_again(&j, &large);
  bench_judge_again(&j, &small);
  assert_true(large.ceiling.copy == 6e11 && small.ceiling.copy == 6e11 && j.at[10].copy == 5e11 && j.ceiling.copy == 9e11);
}

/* What can't be measured leaves the ceilings as they were. */
static void test_failure(void **state) {
  (void)state;
  machine m = {.flops = {1e12, 3e12}, .copy = {1e11, 1e11}, .last = 1, .fails = 2};
  bench_judge j = judge_of(&m);
  assert_int_equal(bench_judge_open(&j), TDM_OK);
  bench_row row = row_of(2e12, 8, 1);
  assert_int_equal(bench_judge_row(&j, &row), TDM_ERROR_MEMORY);
  assert_true(row.alarm && row.ceiling.flops == 1e12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_raised), cmocka_unit_test(test_alarm),
                                     cmocka_unit_test(test_footprints), cmocka_unit_test(test_failure)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
