/* The staged engine's schedules (offload/engine/gpu_shape.h): with any number of teams each K step of each tile is computed
 * once, and a tile's parts are as many as its last team expects, each in a place of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "offload/engine/gpu_parts.h"

/* What a tile has so far. */
typedef struct tile_state {
  int steps, parts;
} tile_state;

static void check_turn(const gpu_product *x, const gpu_choice *choice, tile_state *tile, char *slots, gpu_turn turn,
                       int worker) {
  const gpu_schedule *s = &choice->schedule;
  const int begins = turn.tile * s->steps;
  if (turn.tile < 0 || turn.tile >= choice->grid.tiles || turn.first < 0 || turn.first >= turn.end || turn.end > s->steps)
    fail_msg("%lld x %lld x %lld: turn of tile %d: steps %d to %d", (long long)x->m, (long long)x->n, (long long)x->k,
             turn.tile, turn.first, turn.end);
  tile[turn.tile].steps += turn.end - turn.first;
  tile[turn.tile].parts++;
  if (turn.end - turn.first == s->steps) return;
  assert_true(turn.tile < s->streamed);
  int64_t slot = gpu_part_slot(s, worker, begins);
  assert_true(slot >= 0 && slot < 2 * (int64_t)s->workers);
  assert_int_equal(slots[slot]++, 0);
  const int first = gpu_share_owner(s, begins), last = gpu_share_owner(s, begins + s->steps - 1);
  assert_true(worker >= first && worker <= last);
  /* gpu_add_parts expects the first part in the order of k at the first worker's slot, and the others 2 apart. */
  assert_true((turn.first == 0) == (worker == first));
  if (worker != first) assert_int_equal(slot, 2 * (int64_t)worker);
}

static void check_schedule(const gpu_product *x, const gpu_choice *choice, int teams) {
  const gpu_schedule *s = &choice->schedule;
  const gpu_staged_job job = {.grid = choice->grid, .schedule = *s};
  tile_state *tile = calloc((size_t)choice->grid.tiles + 1, sizeof *tile);
  char *slots = calloc(2 * (size_t)s->workers, 1);
  assert_non_null(tile);
  assert_non_null(slots);
  for (int team = 0; team < teams && team < s->workers; team++) {
    gpu_worker worker;
    gpu_turn turn;
    gpu_worker_begin(&worker, s, team);
    while (gpu_next_turn(&worker, &job, teams, &turn)) check_turn(x, choice, tile, slots, turn, worker.number);
  }
  for (int i = 0; i < choice->grid.tiles; i++) {
    assert_int_equal(tile[i].steps, s->steps);
    int parts = i < s->streamed ? gpu_share_owner(s, (i + 1) * s->steps - 1) - gpu_share_owner(s, i * s->steps) + 1 : 1;
    assert_int_equal(tile[i].parts, parts);
  }
  free(tile);
  free(slots);
}

static void every_step_once(void **state) {
  (void)state;
  static const int sizes[] = {0, 1, 9, 16, 63, 64, 65, 123, 512, 1000, 2049}, depths[] = {0, 1, 16, 33, 500, 7108};
  static const int splits[] = {0, 1, 2, 3, 7, 50}, counts[] = {1, 2, 13, 131, 1000};
  for (size_t m = 0; m < sizeof sizes / sizeof *sizes; m++)
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
      for (size_t k = 0; k < sizeof depths / sizeof *depths; k++)
        for (size_t split = 0; split < sizeof splits / sizeof *splits; split++)
          for (int weights = 1; weights <= 2; weights++) {
            const gpu_product x = {.m = sizes[m],
                                   .n = sizes[n],
                                   .k = depths[k],
                                   .batch = 1 + (int64_t)(m + n) % 3,
                                   .weights = weights,
                                   .staged = true,
                                   .chain = (m + n) % 2 == 0,
                                   .line_a = depths[k],
                                   .bytes = 1e6};
            gpu_choice choice = gpu_choose(&x, splits[split]);
            assert_true(choice.clocks > 0 && choice.clocks < 1e12);
            for (size_t t = 0; t < sizeof counts / sizeof *counts; t++) check_schedule(&x, &choice, counts[t]);
          }
}

/* The staged engine has 32 bits for the distance of lines in a tile; the other one takes what does not fit. */
static void far_lines(void **state) {
  (void)state;
  gpu_product x = {.m = 200, .n = 300, .k = 40, .batch = 1, .weights = 1, .staged = true, .bytes = 1e6};
  x.line_a = (INT64_C(1) << 32) / 200;
  assert_true(gpu_choose(&x, 0).kind < TILE_WHOLE);
  x.line_a = (INT64_C(1) << 32) / 16;
  assert_int_equal(gpu_choose(&x, 0).kind, TILE_WHOLE);
  x.line_a = 0, x.line_b = (INT64_C(1) << 32) / 100;
  gpu_choice choice = gpu_choose(&x, 0);
  assert_true(choice.kind < TILE_WHOLE && gpu_shape_columns(gpu_shape_of(choice.kind)) == 64);
  x.staged = false;
  assert_int_equal(gpu_choose(&x, 7).kind, TILE_WHOLE);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_step_once), cmocka_unit_test(far_lines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
