/* gemm in f32 on GPUs for small K and whole tiles: the kernel of gpu_small_k.c. All of K of 128 rows of A stays in team memory
 * while a team moves along n, so that only B is loaded. What is left are the products and the bytes of C; with k = 32 they take
 * about as long.
 *
 * So stores have to go on beside products. 32 stores of a thread in one go fill the queue in which reads of the panels wait.
 * Therefore a tile's last 8 k are multiplied vector by vector of the columns, not k by k: when a vector of all rows is
 * complete, it is stored while the next one is multiplied. 32768x32768x32 takes 1.40 ms on an H200 and not 1.76.
 *
 * In the panels of B the neighbours of a pair change places. A value of B is then never in the same bank of registers as the
 * sum that it is added to; a multiply-add whose three operands are in one bank takes a clock longer (7 % of the time). */
#ifndef TANDEM_OFFLOAD_GEMM_GPU_SMALL_K_H
#define TANDEM_OFFLOAD_GEMM_GPU_SMALL_K_H

#include "gpu.h"

/* How often teams wait, and whether stores are spread. For k up to 16 C's bytes are the limit, and it makes no difference. */
typedef enum small_k_way {
  SMALL_K_PLAIN,    /* steps of 8 k */
  SMALL_K_SPREAD,   /* the same with stores spread: k of 24 and more */
  SMALL_K_ONE_STEP, /* and k = 32 as one step: a barrier costs 600 clocks of a tile's 5600 */
} small_k_way;

enum {
  SMALL_K_MOST = 64,
  SMALL_K_TAIL = 8, /* k that are multiplied vector by vector */
};

TDM_INLINE small_k_way small_k_way_of(int64_t k) {
  return k == 32 ? SMALL_K_ONE_STEP : k >= 24 ? SMALL_K_SPREAD : SMALL_K_PLAIN;
}
/* k between two barriers; k of A's panel. */
TDM_INLINE int small_k_step(small_k_way way) { return way == SMALL_K_ONE_STEP ? 32 : 8; }
TDM_INLINE int small_k_most(small_k_way way) { return way == SMALL_K_ONE_STEP ? 32 : SMALL_K_MOST; }

/* Floats of team memory: a panel of A, and two of B. */
#define SMALL_K_FLOATS(way) ((way) == SMALL_K_ONE_STEP ? (32 + 2 * 32) * GPU_TILE : (SMALL_K_MOST + 2 * 8) * GPU_TILE)

enum { SMALL_K_VECTORS = 8 }; /* of a thread in the largest step: a fourth of its k */

TDM_INLINE gpu_vec small_k_swapped(gpu_vec v) { return (gpu_vec){v[1], v[0], v[3], v[2]}; }

/* A thread's vectors of some k of 128 lines: neighbouring k of one line, or 4 lines of every fourth k. */
TDM_INLINE gpu_spot small_k_spot(int thread, bool by_k) {
  return by_k ? (gpu_spot){thread, 0} : (gpu_spot){thread % 32 * 4, thread / 32};
}
TDM_INLINE const float *small_k_from(const gpu_operand *x, const void *base, int batch, int outer0, int thread, bool by_k) {
  const gpu_spot spot = small_k_spot(thread, by_k);
  return (const float *)base + batch * x->stride + (outer0 + spot.outer) * x->outer_step + spot.k * x->k_step;
}
/* count: of vectors, a constant. apart: elements from one to the next. */
TDM_INLINE void small_k_fetch(gpu_vec *x, const float *at, int64_t apart, int count) {
  TDM_UNROLL
  for (int v = 0; v < count; v++) x[v] = *(const TDM_GLOBAL gpu_vec *)(at + v * apart);
}
/* to: the panel. */
TDM_INLINE void small_k_put(float *to, const gpu_vec *x, int count, int thread, bool by_k, bool swapped) {
  const gpu_spot spot = small_k_spot(thread, by_k);
  to += spot.k * GPU_PITCH + (by_k && swapped ? spot.outer ^ 1 : spot.outer);
  TDM_UNROLL
  for (int v = 0; v < count; v++) {
    if (by_k) {
      TDM_UNROLL
      for (int e = 0; e < 4; e++) to[(4 * v + e) * GPU_PITCH] = x[v][e];
    } else {
      *(gpu_vec *)(to + 4 * v * GPU_PITCH) = swapped ? small_k_swapped(x[v]) : x[v];
    }
  }
}

TDM_INLINE gpu_values small_k_read(const float *a, const float *b) {
  gpu_values x;
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS / 4; i++) x.a[i] = *(const gpu_vec *)(a + gpu_row_of(4 * i));
  TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) x.b[j] = small_k_swapped(*(const gpu_vec *)(b + gpu_column_of(j)));
  return x;
}

/* No store moves across it. Without it ptxas puts stores of a vector one after the other. */
TDM_INLINE void small_k_keep_order(void) {
#if defined(__NVPTX__)
  __nvvm_bar_warp_sync(0xffffffff);
#endif
}

/* Multiplies pairs of k from number `from` of a step on, without its last pair. a, b: of number `from`, whose values are x.
 * Returns the values after that. */
TDM_INLINE gpu_values small_k_pairs(gpu_sums sums, gpu_values x, const float *a, const float *b, int from, int end) {
  TDM_NO_UNROLL
  for (int k = from; k < end; k += 2) {
    gpu_values y = small_k_read(a + GPU_PITCH, b + GPU_PITCH);
    gpu_multiply(sums, x);
    x = small_k_read(a + 2 * GPU_PITCH, b + 2 * GPU_PITCH);
    gpu_multiply(sums, y);
    a += 2 * GPU_PITCH;
    b += 2 * GPU_PITCH;
  }
  return x;
}

/* The first pair of a tile. */
TDM_INLINE gpu_values small_k_first_pair(gpu_sums sums, gpu_values x, const float *a, const float *b) {
  gpu_values y = small_k_read(a + GPU_PITCH, b + GPU_PITCH);
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) sums[i][j] = x.a[i / 4][i % 4] * x.b[j];
  x = small_k_read(a + 2 * GPU_PITCH, b + 2 * GPU_PITCH);
  gpu_multiply(sums, y);
  return x;
}

/* The values of k number z % SMALL_K_TAIL and vector z / SMALL_K_TAIL of the columns. */
typedef struct small_k_values {
  gpu_vec a[GPU_ROWS / 4], b;
} small_k_values;
TDM_INLINE small_k_values small_k_read_vector(const float *a, const float *b, int z) {
  const int k = z % SMALL_K_TAIL;
  small_k_values x;
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS / 4; i++) x.a[i] = *(const gpu_vec *)(a + k * GPU_PITCH + gpu_row_of(4 * i));
  x.b = small_k_swapped(*(const gpu_vec *)(b + k * GPU_PITCH + gpu_column_of(z / SMALL_K_TAIL)));
  return x;
}

/* Multiplies a tile's last k, and stores all vectors but the last. a, b: of the first of these k, whose values are in `first`.
 * ahead: how many k a value is read before it is used; together: stores that may stand one after the other. Constants. */
TDM_INLINE void small_k_tail(gpu_sums sums, gpu_values first, const float *a, const float *b, float *c, int64_t ldc, int ahead,
                             int together) {
  small_k_values x[4];
  TDM_UNROLL
  for (int i = 0; i < GPU_ROWS / 4; i++) x[0].a[i] = first.a[i];
  x[0].b = first.b[0];
  TDM_UNROLL
  for (int z = 1; z < ahead; z++) x[z] = small_k_read_vector(a, b, z);
  TDM_UNROLL
  for (int j = 0; j < GPU_VECTORS; j++) TDM_UNROLL
  for (int row = 0; row < SMALL_K_TAIL; row++) { /* row: the k, and the row that is stored beside it */
    const int z = j * SMALL_K_TAIL + row, next = z + ahead, now = z % (ahead + 1);
    if (next < SMALL_K_TAIL * GPU_VECTORS) x[next % (ahead + 1)] = small_k_read_vector(a, b, next);
    TDM_UNROLL
    for (int i = 0; i < GPU_ROWS; i++) sums[i][j] += x[now].a[i / 4][i % 4] * x[now].b;
    if (j == 0) continue;
    gpu_store_streaming(c + gpu_row_of(row) * ldc + gpu_column_of(j - 1), sums[row][j - 1]);
    if (row % together == together - 1) small_k_keep_order();
  }
}

/* A team's tiles are neighbours along n, then along m, then in the batch. After its last tile comes the first one of its row
 * again, so that every step loads another. */
TDM_INLINE void small_k_body(const gemm_gpu_arrays *arrays, const gemm_gpu_work *work, float *memory, tdm_position self,
                             bool a_by_k, bool b_by_k, small_k_way way) {
  const gpu_job *job = &work->job;
  const gpu_grid grid = job->grid;
  const int step = small_k_step(way), count = step / 4, thread = self.thread, k_end = job->k;
  const bool spread = way != SMALL_K_PLAIN;
  const int per_matrix = grid.tiles_m * grid.tiles_n, share = grid.tiles / self.teams, more = grid.tiles % self.teams;
  int tile = self.team * share + (self.team < more ? self.team : more), left = share + (self.team < more), buffer = 0;
  float *panel_b = memory + small_k_most(way) * GPU_PITCH;
  const float *read_a = memory + gpu_row(thread), *read_b = panel_b + gpu_column(thread);
  const int64_t ldc = work->d.ldc, apart = b_by_k ? 4 : 4 * job->b.k_step, step_b = step * job->b.k_step,
                tile_step = GPU_TILE * job->b.outer_step;
  TDM_NO_UNROLL
  while (left > 0) { /* a row of tiles, or the team's part of it */
    const int in_matrix = tile % per_matrix;
    const gpu_place place = {tile / per_matrix, in_matrix / grid.tiles_n * GPU_TILE, in_matrix % grid.tiles_n * GPU_TILE};
    int tiles = (grid.n - place.n0) / GPU_TILE;
    if (tiles > left) tiles = left;
    left -= tiles;
    tile += tiles;
    gpu_vec next[SMALL_K_VECTORS];
    TDM_SYNC_BLOCK(); /* nobody reads the panels any more */
    const float *from_a = small_k_from(&job->a, arrays->a, place.batch, place.m0, thread, a_by_k);
    TDM_NO_UNROLL
    for (int k = 0; k < k_end; k += 8) {
      small_k_fetch(next, from_a, a_by_k ? 4 : 4 * job->a.k_step, 2);
      small_k_put(memory + k * GPU_PITCH, next, 2, thread, a_by_k, false);
      from_a += 8 * job->a.k_step;
    }
    const float *tile_b = small_k_from(&job->b, arrays->b, place.batch, place.n0, thread, b_by_k);
    small_k_fetch(next, tile_b, apart, count);
    small_k_put(panel_b + buffer, next, count, thread, b_by_k, true);
    TDM_SYNC_BLOCK(); /* the panels are complete */
    gpu_values x = small_k_read(read_a, read_b + buffer), y;
    float *c = (float *)arrays->c + place.batch * work->d.stride_c + (place.m0 + gpu_row(thread)) * ldc + place.n0 +
               gpu_column(thread);
    TDM_NO_UNROLL
    for (; tiles > 0; tiles--) {
      gpu_sums sums;
      const float *from = tile_b;
      if (tiles > 1) tile_b += tile_step;
      int done = 0; /* of the step */
      if (spread) {
        x = small_k_first_pair(sums, x, read_a, read_b + buffer);
        done = 2;
      } else {
        TDM_UNROLL
        for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
        for (int j = 0; j < GPU_VECTORS; j++) sums[i][j] = (gpu_vec){0};
      }
      TDM_NO_UNROLL
      for (int k = 0; k < k_end; k += step) {
        const bool last = k + step == k_end;
        from = last ? tile_b : from + step_b;
        small_k_fetch(next, from, apart, count);
        if (spread && last) break;
        const float *a = read_a + (k + done) * GPU_PITCH, *b = read_b + buffer + done * GPU_PITCH;
        x = small_k_pairs(sums, x, a, b, done, step - 2);
        done = 0;
        y = small_k_read(read_a + (k + step - 1) * GPU_PITCH, read_b + buffer + (step - 1) * GPU_PITCH);
        gpu_multiply(sums, x);
        buffer ^= step * GPU_PITCH;
        small_k_put(panel_b + buffer, next, count, thread, b_by_k, true);
        TDM_SYNC_BLOCK(); /* the next panel is complete, and nobody reads this one any more */
        x = small_k_read(read_a + (last ? 0 : k + step) * GPU_PITCH, read_b + buffer);
        gpu_multiply(sums, y);
      }
      if (spread) {
        const int k = k_end - step, tail = step - SMALL_K_TAIL;
        const float *a = read_a + k * GPU_PITCH, *b = read_b + buffer;
        x = small_k_pairs(sums, x, a + done * GPU_PITCH, b + done * GPU_PITCH, done, tail);
        small_k_tail(sums, x, a + tail * GPU_PITCH, b + tail * GPU_PITCH, c, ldc, way == SMALL_K_ONE_STEP ? 3 : 1,
                     way == SMALL_K_ONE_STEP ? 1 : 2);
        buffer ^= step * GPU_PITCH;
        small_k_put(panel_b + buffer, next, count, thread, b_by_k, true);
        TDM_SYNC_BLOCK(); /* as above */
        x = small_k_read(read_a, read_b + buffer);
      }
      TDM_UNROLL
      for (int i = 0; i < GPU_ROWS; i++) TDM_UNROLL
      for (int j = spread ? GPU_VECTORS - 1 : 0; j < GPU_VECTORS; j++)
        gpu_store_streaming(c + gpu_row_of(i) * ldc + gpu_column_of(j), sums[i][j]);
      c += GPU_TILE;
    }
  }
}

#endif
