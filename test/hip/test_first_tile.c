/* hip/args/first_tile.h: what it finds without a division is what src/base/order.h finds, for every workgroup of drawn
 * launches, and the parts of a tile are all of K. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hip/args/first_tile.h"

enum { BELOW = 1 << 16, TILE_M = 64, TILE_N = 128 };

static unsigned draw(unsigned most) { return 1 + (unsigned)rand() % most; }

static void quotients(void **state) {
  (void)state;
  for (uint32_t by = 1; by < BELOW; by += by < 300 ? 1 : draw(100)) {
    const uint32_t multiplier = UINT32_MAX / by;
    for (uint32_t n = 0; n < BELOW; n++)
      if (hip_short_quotient(n, multiplier) != n / by) fail_msg("%u / %u", n, by);
  }
}

static tdm_order draw_order(unsigned most_m, unsigned most_n) {
  return tdm_order_make(draw(most_m), draw(most_n), 1, 1u << (draw(6) - 1), draw(12), 0);
}

static void whole_tiles(void **state) {
  (void)state;
  srand(1);
  for (int i = 0; i < 20000; i++) {
    const tdm_order order = draw_order(300, 200);
    const int64_t m = (int64_t)order.tiles_m * TILE_M - draw(TILE_M) + 1,
                  n = (int64_t)order.tiles_n * TILE_N - draw(TILE_N) + 1;
    const hip_first_tile t = hip_first_tile_of(order, 1, false, 0, m, n, TILE_M, TILE_N);
    assert_int_equal(t.kind, HIP_TILE_WHOLE);
    assert_int_equal(t.last_m + 1, m - (int64_t)(order.tiles_m - 1) * TILE_M);
    assert_int_equal(t.last_n + 1, n - (int64_t)(order.tiles_n - 1) * TILE_N);
    for (uint32_t id = 0; id < order.count; id += i < 200 ? 1 : draw(300)) {
      const tdm_tile want = tdm_order_tile(order, id), at = hip_first_tile_at(&t, hip_first_place(&t, id));
      if (at.m != want.m || at.n != want.n)
        fail_msg("%ux%u tiles, xcds %u, window %u: workgroup %u has (%u, %u), not (%u, %u)", order.tiles_m, order.tiles_n,
                 order.xcds, order.window, id, at.m, at.n, want.m, want.n);
    }
  }
}

/* Storing turns changes no tile. The turn in m comes back exactly, and the turn in n without its lower bits. */
static void tiles_with_turns(void **state) {
  (void)state;
  srand(3);
  for (int i = 0; i < 20000; i++) {
    const tdm_order order = draw_order(300, 200);
    const hip_first_tile t =
        hip_first_tile_of(order, 1, false, 0, (int64_t)order.tiles_m * TILE_M, (int64_t)order.tiles_n * TILE_N, TILE_M, TILE_N);
    const hip_first_turns turns = {draw(BELOW) - 1, draw(BELOW) - 1};
    hip_first_tile with = hip_first_with_turns(t, turns);
    assert_int_equal(with.kind, HIP_TILE_TURNS);
    const hip_first_turns taken = hip_take_turns(&with);
    assert_int_equal(taken.m, turns.m);
    assert_in_range(taken.n + BELOW / 256, turns.n, turns.n + 2 * BELOW / 256);
    assert_int_equal(with.share, t.share);
    assert_int_equal(with.more, t.more);
  }
  assert_int_equal(hip_first_with_turns((hip_first_tile){0}, (hip_first_turns){1, 1}).kind, HIP_TILE_UNKNOWN);
}

/* Every tile has each of its parts once; workgroups beyond them have none; and the parts are all of K, in whole units. split:
 * the parts are matrices of the order. */
static void check_parts(bool split) {
  enum { MOST_TILES = 128, MOST_PARTS = 64, VALUES = 64 };
  srand(2);
  for (int i = 0; i < 5000; i++) {
    const unsigned tiles_m = draw(8), tiles_n = draw(MOST_TILES / 8), parts = 1 + draw(MOST_PARTS - 1);
    tdm_order order = tdm_order_make(tiles_m, tiles_n, parts, 1u << (draw(4) - 1), 8, 0);
    if (!split && draw(2) == 1) order.count = order.chunk * order.xcds; /* some have no tile */
    const uint32_t k = draw(100000), units = k / VALUES;
    const hip_first_tile t = hip_first_tile_of(order, (int)parts, !split, units, (int64_t)tiles_m * TILE_M, 1, TILE_M, TILE_N);
    assert_int_equal(t.kind, split ? HIP_TILE_SPLIT : HIP_TILE_PARTS);
    static uint32_t begins[MOST_TILES][MOST_PARTS], ends[MOST_TILES][MOST_PARTS];
    static bool seen[MOST_TILES][MOST_PARTS];
    for (unsigned tile = 0; tile < tiles_m * tiles_n; tile++)
      for (unsigned part = 0; part < parts; part++) seen[tile][part] = false;
    for (uint32_t id = 0; id < order.count; id++) {
      const uint32_t place = tdm_order_remap(id, order.count, order.xcds, order.chunk);
      const hip_first_part p = hip_first_part_at(&t, hip_first_place(&t, id), k, VALUES, split);
      assert_int_equal(p.tile, split ? place % (tiles_m * tiles_n) : place / parts);
      assert_int_equal(p.part, split ? place / (tiles_m * tiles_n) : place % parts);
      assert_int_equal(p.at.n >= tiles_n, p.tile >= tiles_m * tiles_n);
      if (p.at.n >= tiles_n) continue;
      const tdm_tile want = tdm_order_group(p.tile, tiles_m, tiles_n, order.window);
      assert_int_equal(p.at.m, want.m);
      assert_int_equal(p.at.n, want.n);
      assert_false(seen[p.tile][p.part]);
      seen[p.tile][p.part] = true;
      assert_int_equal(p.first % VALUES, 0);
      assert_true(p.count / VALUES == units / parts || p.count / VALUES == units / parts + 1);
      begins[p.tile][p.part] = p.first, ends[p.tile][p.part] = p.first + p.count;
    }
    for (unsigned tile = 0; tile < tiles_m * tiles_n; tile++)
      for (unsigned part = 0; part < parts; part++) {
        assert_true(seen[tile][part]);
        assert_int_equal(begins[tile][part], part == 0 ? 0 : ends[tile][part - 1]);
        if (part + 1 == parts) assert_int_equal(ends[tile][part], k);
      }
  }
}

static void tiles_in_parts(void **state) {
  (void)state;
  check_parts(false);
}
static void split_in_parts(void **state) {
  (void)state;
  check_parts(true);
}

/* What it can't say. */
static void unknown(void **state) {
  (void)state;
  const tdm_order order = tdm_order_make(16, 16, 1, 8, 8, 0);
  assert_int_equal(hip_first_tile_of(order, 1, false, 0, 1024, 2048, TILE_M, TILE_N).kind, HIP_TILE_WHOLE);
  const struct {
    const char *what;
    tdm_order order;
    int parts;
    int64_t units;
    bool split;
  } cases[] = {{"6 XCDs", tdm_order_make(16, 16, 1, 6, 8, 0), 1, 0, false},
               {"many rounds", tdm_order_make(16, 16, 1, 8, 8, 4), 1, 0, false},
               {"2^16 tiles", tdm_order_make(256, 256, 1, 8, 8, 0), 1, 0, false},
               {"a window of 256 rows", tdm_order_make(256, 16, 1, 8, 256, 0), 1, 0, false},
               {"parts in two bands", tdm_order_make(16, 1, 2, 8, 8, 0), 2, 100, false},
               {"parts of 2^16 units", tdm_order_make(8, 1, 2, 8, 8, 0), 2, BELOW, false},
               {"a split in two bands", tdm_order_make(16, 1, 2, 8, 8, 0), 2, 100, true},
               {"a split in 256 parts", tdm_order_make(8, 1, 256, 8, 8, 0), 256, 1000, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (hip_first_tile_of(cases[i].order, cases[i].parts, !cases[i].split, cases[i].units, 64, 64, TILE_M, TILE_N).kind !=
        HIP_TILE_UNKNOWN)
      fail_msg("%s", cases[i].what);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quotients),      cmocka_unit_test(whole_tiles),    cmocka_unit_test(tiles_with_turns),
      cmocka_unit_test(tiles_in_parts), cmocka_unit_test(split_in_parts), cmocka_unit_test(unknown),
  };
  return cmocka_run_group_tests_name("first-tile", tests, NULL, NULL);
}
