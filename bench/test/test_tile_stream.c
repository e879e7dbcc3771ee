/* The simulation of `tandem-bench order` where the answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <math.h>

#include "bench/order/tile_stream.h"

static chip find(const char *name) {
  chip c;
  assert_int_equal(chip_find(name, &c), GFXSIM_OK);
  return c;
}

static order_result simulate(const order_problem *p, const char *chip_name, unsigned xcds, unsigned window, unsigned chunk) {
  chip c = find(chip_name);
  unsigned tiles_m = (unsigned)((p->m + p->tile_m - 1) / p->tile_m), tiles_n = (unsigned)((p->n + p->tile_n - 1) / p->tile_n);
  order_result result;
  assert_true(order_simulate(p, &c, tdm_order_make(tiles_m, tiles_n, 1, xcds, window, chunk), &result));
  return result;
}

static void assert_near(double got, double want, double within) {
  if (!(fabs(got - want) <= within)) fail_msg("%g, must be %g, give or take %g", got, want, within);
}

static order_problem square(uint64_t n, unsigned tile) {
  return (order_problem){
      .m = n, .n = n, .k = 512, .tile_m = tile, .tile_n = tile, .tile_k = 64, .element_bytes = 2, .resident = 1};
}

/* One workgroup finds nothing in any cache. */
static void one_tile(void **state) {
  (void)state;
  order_problem p = square(256, 256);
  order_result r = simulate(&p, "gfx950", 8, 1, 1);
  assert_true(r.l2_hit == 0 && r.mall_hit == 0);
  assert_true(r.hbm_read == 2 * 256 * 512 * 2 && r.fabric_read == r.hbm_read && r.written == 256 * 256 * 2);
}

/* On one XCD the 4 x 4 tiles read 32 slices a step, of which 8 differ. */
static void one_xcd(void **state) {
  (void)state;
  order_problem p = square(1024, 256);
  order_result r = simulate(&p, "gfx950,xcds=1", 1, 1, 1);
  assert_near(r.l2_hit, 0.75, 1e-12);
  assert_true(r.mall_hit == 0 && r.hbm_read == 2 * 1024 * 512 * 2);
}

/* Row-major on four XCDs gives each a column of the 4 x 4 tiles: 5 of 8 slices differ. In shares of 2 x 2 it is 4 of 8. What
 * the XCDs' L2s read more than once comes from the memory-side cache. */
static void four_xcds(void **state) {
  (void)state;
  order_problem p = square(1024, 256);
  const double once = 2 * 1024 * 512 * 2;
  order_result r = simulate(&p, "gfx950,xcds=4", 4, 1, 1);
  assert_near(r.l2_hit, 3. / 8, 1e-12);
  assert_true(r.hbm_read == once && r.fabric_read == 4 * 5. / 8 * once);
  assert_near(r.mall_hit, 1 - 8. / 20, 1e-12);
  r = simulate(&p, "gfx950,xcds=4", 4, 2, 4);
  assert_near(r.l2_hit, 1. / 2, 1e-12);
  assert_near(r.mall_hit, 1 - 8. / 16, 1e-12);
}

/* Neighbours in K share a line when a K step is shorter than one: 32 x 2 bytes. */
static void short_steps(void **state) {
  (void)state;
  order_problem p = square(256, 256);
  p.tile_k = 32;
  order_result r = simulate(&p, "gfx950", 8, 1, 1);
  assert_near(r.l2_hit, 0.5, 1e-12);
  assert_true(r.hbm_read == 2 * 256 * 512 * 2);
}

/* Lines are counted whole where tiles and steps are cut off. */
static void partial_tiles(void **state) {
  (void)state;
  order_problem p = {.m = 300,
                     .n = 200,
                     .k = 100,
                     .tile_m = 256,
                     .tile_n = 128,
                     .tile_k = 64,
                     .element_bytes = 2,
                     .resident = 1,
                     .exact = true};
  order_result r = simulate(&p, "gfx950", 8, 2, 0);
  assert_true(r.hbm_read == (300 + 200) * 2 * 128); /* 200 bytes of k: 2 lines */
  assert_true(r.written == 300 * 4 * 128);          /* 400 bytes of n: 4 lines */
}

/* A sample of the sets stands for all, also where both caches are too small and where rows fall into few sets. */
static void sample_for_all(void **state) {
  (void)state;
  const char *const chips[] = {"gfx950,l2_bytes=1048576,mall_bytes=8388608", "gfx950,l2_bytes=1048576,mall_bytes=4194304"};
  order_problem p = square(4096, 128);
  p.skew = 3;
  for (int n = 0; n < 8; n++) {
    const char *c = chips[n & 1];
    unsigned window = (n & 2) != 0 ? 8 : 1;
    p.plain = (n & 4) != 0;
    p.exact = false;
    order_result part = simulate(&p, c, 8, window, 0);
    p.exact = true;
    order_result all = simulate(&p, c, 8, window, 0);
    assert_true(all.hbm_read > 1.1 * 2 * 4096 * 512 * 2);
    assert_near(part.l2_hit, all.l2_hit, 0.01);
    assert_near(part.mall_hit, all.mall_hit, 0.01);
    assert_near(part.hbm_read / all.hbm_read, 1, 0.02);
    assert_near(part.written / all.written, 1, 1e-12);
  }
}

/* 128 rows of 2048 lines: plain bits put a column of A into one set of the L2 and a few of the memory side's; folded bits
 * don't. */
static void rows_in_one_set(void **state) {
  (void)state;
  order_problem p = {
      .m = 128, .n = 2048, .k = 131072, .tile_m = 128, .tile_n = 128, .tile_k = 64, .element_bytes = 2, .resident = 1};
  order_result folded = simulate(&p, "gfx950,xcds=1", 1, 1, 1);
  assert_near(folded.l2_hit, 15. / 32, 1e-12); /* A once for all 16 */
  p.plain = true;
  assert_true(simulate(&p, "gfx950,xcds=1", 1, 1, 1).l2_hit < 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_tile),        cmocka_unit_test(one_xcd),       cmocka_unit_test(four_xcds),
      cmocka_unit_test(short_steps),     cmocka_unit_test(partial_tiles), cmocka_unit_test(sample_for_all),
      cmocka_unit_test(rows_in_one_set),
  };
  return cmocka_run_group_tests_name("bench-order", tests, NULL, NULL);
}
