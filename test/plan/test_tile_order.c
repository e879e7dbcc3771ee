/* src/base/order.h: every order is a bijection, over all the counts and shapes that kernels and the tuner use, and does what it
 * promises. A tile order is a grouping after a remap, so each is proved alone and the two together are tried at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/base/order.h"

enum { MOST = 4096, MOST_SIDE = 64 };

static const unsigned xcd_counts[] = {1, 2, 4, 6, 8, 16, 32};
enum { XCD_COUNTS = sizeof xcd_counts / sizeof xcd_counts[0] };

/* ---- Remap ---- */

/* An XCD's workgroups, in turn, must get neighbouring tiles until its chunk of a round is full. */
static void check_remap(unsigned count, unsigned xcds, unsigned chunk) {
  static unsigned char seen[MOST];
  unsigned last[32] = {0};
  memset(seen, 0, count);
  for (unsigned id = 0; id < count; id++) {
    unsigned tile = tdm_order_remap(id, count, xcds, chunk), xcd = id % xcds;
    bool starts = id / xcds % chunk == 0;
    if (tile >= count || seen[tile]++ || (!starts && tile != last[xcd] + 1))
      fail_msg("count %u, xcds %u, chunk %u: workgroup %u gets tile %u", count, xcds, chunk, id, tile);
    last[xcd] = tile;
  }
}

static void remap_is_a_bijection(void **state) {
  (void)state;
  for (unsigned count = 1; count <= MOST; count++)
    for (int x = 0; x < XCD_COUNTS; x++)
      for (int c = 0; c < TDM_ORDER_CHUNKS; c++) {
        tdm_order order = tdm_order_make(count, 1, 1, xcd_counts[x], 1, tdm_order_chunks[c]);
        check_remap(count, order.xcds, order.chunk);
      }
}

/* Chunks that no tuner uses, where counts are small enough for all of them. */
static void remap_of_every_chunk(void **state) {
  (void)state;
  for (unsigned count = 1; count <= 200; count++)
    for (int x = 0; x < XCD_COUNTS; x++)
      for (unsigned chunk = 1; chunk <= (count - 1) / xcd_counts[x] + 1; chunk++) check_remap(count, xcd_counts[x], chunk);
}

/* The remap of one piece for each XCD, as it is usually written. */
static void whole_shares(void **state) {
  (void)state;
  for (unsigned count = 1; count <= MOST; count += 7)
    for (int x = 0; x < XCD_COUNTS; x++) {
      unsigned xcds = xcd_counts[x];
      tdm_order order = tdm_order_make(count, 1, 1, xcds, 1, 0);
      for (unsigned id = 0; id < count; id++) {
        unsigned xcd = id % xcds, more = count % xcds;
        assert_int_equal(tdm_order_remap(id, count, xcds, order.chunk),
                         xcd * (count / xcds) + (xcd < more ? xcd : more) + id / xcds);
      }
    }
}

/* No intermediate result leaves 32 bits. */
static void largest_launch(void **state) {
  (void)state;
  const unsigned count = 0x7fffffff, chunks[] = {1, 3, 216, 1 << 20, 0};
  for (int x = 0; x < XCD_COUNTS; x++)
    for (int c = 0; c < 5; c++) {
      tdm_order order = tdm_order_make(count, 1, 1, xcd_counts[x], 1, chunks[c]);
      for (unsigned back = 1; back < 5000; back++) {
        uint64_t id = count - back, xcds = order.xcds, chunk = order.chunk;
        uint64_t first = id / (chunk * xcds) * (chunk * xcds), size = count - first;
        if (size > chunk * xcds) size = chunk * xcds;
        uint64_t xcd = id % xcds, more = xcd < size % xcds ? xcd : size % xcds;
        uint64_t tile = first + xcd * (size / xcds) + more + (id - first) / xcds;
        assert_int_equal(tdm_order_remap((unsigned)id, count, order.xcds, order.chunk), tile);
      }
    }
}

/* ---- Grouping ---- */

static void check_group(unsigned tiles_m, unsigned tiles_n, unsigned window) {
  static unsigned char seen[MOST_SIDE][MOST_SIDE];
  memset(seen, 0, sizeof seen);
  for (unsigned position = 0; position < tiles_m * tiles_n; position++) {
    tdm_tile tile = tdm_order_group(position, tiles_m, tiles_n, window);
    unsigned band = position / (window * tiles_n);
    if (tile.m >= tiles_m || tile.n >= tiles_n || seen[tile.m][tile.n]++ || tile.m / window != band)
      fail_msg("%ux%u tiles, window %u: position %u is tile %u, %u", tiles_m, tiles_n, window, position, tile.m, tile.n);
  }
}

static void group_is_a_bijection(void **state) {
  (void)state;
  for (unsigned tiles_m = 1; tiles_m <= MOST_SIDE; tiles_m++)
    for (unsigned tiles_n = 1; tiles_n <= MOST_SIDE; tiles_n++)
      for (unsigned window = 1; window <= tiles_m; window++) check_group(tiles_m, tiles_n, window);
}

/* The picture in src/base/order.h. */
static void picture(void **state) {
  (void)state;
  const unsigned tiles[3][4] = {{0, 2, 4, 6}, {1, 3, 5, 7}, {8, 9, 10, 11}};
  for (unsigned position = 0; position < 12; position++) {
    tdm_tile tile = tdm_order_group(position, 3, 4, 2);
    assert_int_equal(tiles[tile.m][tile.n], position);
  }
  const unsigned dealt[] = {0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12};
  for (unsigned id = 0; id < 13; id++) assert_int_equal(tdm_order_remap(id, 13, 2, 2), dealt[id]);
}

/* ---- Together ---- */

static void check_order(tdm_order order, unsigned char *seen) {
  memset(seen, 0, order.count);
  for (unsigned id = 0; id < order.count; id++) {
    tdm_tile tile = tdm_order_tile(order, id);
    unsigned at = (tile.matrix * order.tiles_m + tile.m) * order.tiles_n + tile.n;
    if (tile.m >= order.tiles_m || tile.n >= order.tiles_n || at >= order.count || seen[at]++)
      fail_msg("%ux%u tiles, %u in all, xcds %u, window %u, chunk %u: workgroup %u gets tile %u, %u of matrix %u",
               order.tiles_m, order.tiles_n, order.count, order.xcds, order.window, order.chunk, id, tile.m, tile.n,
               tile.matrix);
  }
}

static void orders_at_random(void **state) {
  (void)state;
  static unsigned char seen[MOST * 4];
  srand(1);
  for (int n = 0; n < 20000; n++) {
    unsigned tiles_m = 1 + (unsigned)rand() % MOST_SIDE, tiles_n = 1 + (unsigned)rand() % MOST_SIDE;
    unsigned matrices = 1 + (unsigned)rand() % 4, xcds = xcd_counts[rand() % XCD_COUNTS];
    check_order(tdm_order_make(tiles_m, tiles_n, matrices, xcds, tdm_order_windows[rand() % TDM_ORDER_WINDOWS],
                               tdm_order_chunks[rand() % TDM_ORDER_CHUNKS]),
                seen);
  }
}

static void row_major(void **state) {
  (void)state;
  tdm_order order = tdm_order_make(5, 7, 2, 8, 1, 1);
  for (unsigned id = 0; id < order.count; id++) {
    tdm_tile tile = tdm_order_tile(order, id);
    assert_int_equal((tile.matrix * 5 + tile.m) * 7 + tile.n, id);
  }
}

static void limits(void **state) {
  (void)state;
  tdm_order order = tdm_order_make(5, 7, 1, 8, 100, 100);
  assert_int_equal(order.window, 5);
  assert_int_equal(order.chunk, 5); /* 35 tiles over 8 XCDs */
  order = tdm_order_make(5, 7, 1, 8, 0, 0);
  assert_int_equal(order.window, 1);
  assert_int_equal(order.chunk, 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(remap_is_a_bijection),
      cmocka_unit_test(remap_of_every_chunk),
      cmocka_unit_test(whole_shares),
      cmocka_unit_test(largest_launch),
      cmocka_unit_test(group_is_a_bijection),
      cmocka_unit_test(picture),
      cmocka_unit_test(orders_at_random),
      cmocka_unit_test(row_major),
      cmocka_unit_test(limits),
  };
  return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
