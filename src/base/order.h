/* Which output tile a workgroup computes: the order of tiles over the XCDs (chiplets) of a GPU, each of which has its own L2.
 * Shared by C on the host and HIP on the device; no libc. docs/order.md explains and measures it.
 *
 * Workgroup ids go to the XCDs round-robin (id mod xcds), says AMD (docs/guide/09-chiplets.md); no manual promises it.
 *   remap  gives each XCD `chunk` consecutive tiles of every round of xcds x chunk tiles:
 *                               id   0 1 2 3 4 5 6 7   8 9 10 11 12        xcds 2, chunk 2, 13 tiles
 *            2 XCDs in turn:   xcd   0 1 0 1 0 1 0 1   0 1  0  1  0
 *            chunks of 2:     tile   0 2 1 3 4 6 5 7   8 10 9 11 12
 *   group  walks tiles through bands of `window` tile rows, column by column within a band:
 *            window 2, 3 x 4 tiles:   0 2 4 6
 *                                     1 3 5 7
 *                                     8 9 a b    the last band has the rows that are left
 * Both are bijections for every count (test/plan/test_tile_order.c). window 1 with chunk 1 is row-major with the ids unchanged.
 */
#ifndef TANDEM_BASE_ORDER_H
#define TANDEM_BASE_ORDER_H

#ifdef __HIP__
#define TDM_ORDER_FUNCTION static inline __attribute__((host, device))
#else
#define TDM_ORDER_FUNCTION static inline
#endif

typedef struct tdm_order {
  unsigned tiles_m, tiles_n, count; /* of one matrix; of all matrices, below 2^31 */
  unsigned xcds;
  unsigned window; /* 1 .. tiles_m tile rows (GROUP_M) */
  unsigned chunk;  /* 1 .. tiles of an XCD's equal share */
} tdm_order;

typedef struct tdm_tile {
  unsigned m, n, matrix;
} tdm_tile;

/* What the tuner tries, and the test proves; chunk 0 is the largest. Host only. */
#ifndef __HIP__
static const unsigned tdm_order_windows[] = {1, 2, 3, 4, 5, 6, 7, 8, 16};
static const unsigned tdm_order_chunks[] = {1, 8, 16, 25, 32, 64, 128, 216, 0};
enum {
  TDM_ORDER_WINDOWS = sizeof tdm_order_windows / sizeof tdm_order_windows[0],
  TDM_ORDER_CHUNKS = sizeof tdm_order_chunks / sizeof tdm_order_chunks[0],
};
#endif

/* chunk 0: each XCD's share is contiguous. A window or chunk beyond its range becomes the largest. Sizes and xcds are at
 * least 1, and tiles_m * tiles_n * matrices is below 2^31. */
TDM_ORDER_FUNCTION tdm_order tdm_order_make(unsigned tiles_m, unsigned tiles_n, unsigned matrices, unsigned xcds,
                                            unsigned window, unsigned chunk) {
  tdm_order order;
  order.tiles_m = tiles_m;
  order.tiles_n = tiles_n;
  order.count = tiles_m * tiles_n * matrices;
  unsigned share = (order.count - 1) / xcds + 1;
  order.xcds = xcds;
  order.window = window < 1 ? 1 : window > tiles_m ? tiles_m : window;
  order.chunk = chunk < 1 || chunk > share ? share : chunk;
  return order;
}

/* (Divisions take a GPU about 30 instructions, so those whose result is often 0 or known are skipped.)
 *
 * The position of workgroup `id` in a sequence of `count`. The last round may be short. Its tiles are dealt evenly: the
 * first size % xcds XCDs take one more, which is how many workgroups of the round they have. */
TDM_ORDER_FUNCTION unsigned tdm_order_remap(unsigned id, unsigned count, unsigned xcds, unsigned chunk) {
  unsigned xcd = id % xcds, local = id / xcds; /* the local-th workgroup of its XCD */
  unsigned round = local < chunk ? 0 : local / chunk, first = round * chunk * xcds;
  unsigned left = count - first, full = chunk * xcds;
  if (left >= full) return first + xcd * chunk + (local - round * chunk);
  unsigned more = left % xcds;
  return first + xcd * (left / xcds) + (xcd < more ? xcd : more) + (local - round * chunk);
}

/* The tile at a position of one matrix's sequence. */
TDM_ORDER_FUNCTION tdm_tile tdm_order_group(unsigned position, unsigned tiles_m, unsigned tiles_n, unsigned window) {
  unsigned of_band = window * tiles_n, band = position < of_band ? 0 : position / of_band, first = band * window;
  unsigned height = tiles_m - first < window ? tiles_m - first : window;
  unsigned within = position - first * tiles_n;
  tdm_tile tile;
  tile.m = first + within % height;
  tile.n = within / height;
  tile.matrix = 0;
  return tile;
}

/* The tile at a position of the sequence of all matrices, one after the other. */
TDM_ORDER_FUNCTION tdm_tile tdm_order_at(tdm_order order, unsigned position) {
  unsigned tiles = order.tiles_m * order.tiles_n, matrix = position < tiles ? 0 : position / tiles;
  tdm_tile tile = tdm_order_group(position - matrix * tiles, order.tiles_m, order.tiles_n, order.window);
  tile.matrix = matrix;
  return tile;
}

/* The tile of workgroup id, 0 <= id < order.count, with the matrices one after the other. id is the linear number of the
 * launch. */
TDM_ORDER_FUNCTION tdm_tile tdm_order_tile(tdm_order order, unsigned id) {
  return tdm_order_at(order, tdm_order_remap(id, order.count, order.xcds, order.chunk));
}

#endif
