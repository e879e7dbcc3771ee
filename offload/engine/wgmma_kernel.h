/* The body of a kernel on Hopper's matrix units. A file that includes it has said what an op makes of a part of the sums:
 *
 *   static void wg_chain(wg_part *x, const wg_args *args, int vectors, wg_kind kind);
 *
 * and lists its kernels with WG_KERNEL. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_KERNEL_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_KERNEL_H

#include "wgmma_end.h"

TDM_INLINE void wg_take_chunk(wg_four *to, const float *sums, int chunk, int weight, wg_kind kind) {
  float v[4 * WG_VECTORS];
  wg_pick_chunk(v, sums, chunk, weight, kind);
  WG_UNROLL
  for (int i = 0; i < wg_chunk(kind.n, kind.weights) / 2; i++) to[i / 4][i % 4] = v[i];
}

/* The words of the bias that the short way needs for a chunk. columns_left: from the chunk's first column on. */
TDM_INLINE void wg_read_bias(wg_part *x, const uint16_t *bias, int columns, int columns_left) {
  WG_UNROLL
  for (int g = 0; g < columns / 8; g++)
    if (g * 8 < columns_left) x->bias[g] = *(const WG_GLOBAL wg_word *)(bias + g * 8);
}

TDM_INLINE void wg_finish_short(const float *sums, const wg_args *args, wg_tile tile, wg_address buffer, int wave, int lane,
                                wg_kind kind) {
  const int columns = wg_chunk(kind.n, kind.weights), together = wg_line_columns(kind.n) / columns;
  const int line0 = tile.p0 + wave * 16, columns_left = args->columns - tile.q0;
  const wg_lines lines = wg_lines_of(args, tile, line0, buffer, lane, kind);
  const wg_address first = buffer + lane / 4 * WG_LINE_PITCH + lane % 4 * 4;
  const uint16_t *bias = (const uint16_t *)args->bias + tile.q0 + lane % 4 * 2;
  wg_part x = {.order = WG_SHORT_WAY};
  wg_read_steps(&x, args);
  const bool adds = args->ahead != WG_NOTHING, has_bias = args->bias != NULL;
  if (adds) wg_read_lines(&x, &lines, 0, kind);
  if (has_bias) wg_read_bias(&x, bias, columns, columns_left);
  WG_NO_UNROLL
  for (int chunk = 0; chunk < kind.n / columns; chunk++) {
    const int column = chunk * columns;
    x.words = first + chunk % together * columns * 2;
    if (adds && chunk % together == 0) {
      wg_put_lines(&x, &lines, kind);
      wg_sync_wave();
      if (column + together * columns < kind.n) wg_read_lines(&x, &lines, column + together * columns, kind);
    }
    wg_take_chunk(x.v, sums, chunk, 0, kind);
    if (kind.weights == 2) wg_take_chunk(x.up, sums, chunk, 1, kind);
    wg_chain(&x, args, columns / 8, kind);
    if (has_bias) wg_read_bias(&x, bias + column + columns, columns, columns_left - column - columns);
    WG_UNROLL
    for (int g = 0; g < columns / 8; g++) WG_UNROLL
    for (int h = 0; h < 2; h++)
      WG_AT(wg_word, wg_word_at(&x, g, h)) = tdm_f32_to_two(x.v[g][2 * h], x.v[g][2 * h + 1], kind.type);
    if ((chunk + 1) % together != 0) continue;
    wg_sync_wave();
    wg_store_lines(&lines, column + columns - together * columns, kind);
    wg_sync_wave(); /* the buffer may be written again */
  }
}

TDM_INLINE void wg_finish_long(const float *sums, const wg_args *args, wg_tile tile, wg_address buffer, int rank, int wave,
                               int lane, wg_kind kind) {
  const int columns = wg_chunk(kind.n, kind.weights), splits = args->splits;
  const bool swapped = kind.weights == 2 ? kind.swapped : args->swapped != 0;
  const int first = splits > 1 ? rank : 0; /* of the chunks that wg_add_splits has added */
  wg_part x = wg_part_of(args, tile, tile.p0 + wave * 16, first, lane, columns, swapped);
  wg_read_steps(&x, args);
  wg_read_ahead(&x, args, columns / 8, kind.type);
  WG_NO_UNROLL
  for (int chunk = first; chunk < kind.n / columns; chunk += splits) {
    wg_put_chunk(buffer, sums, chunk, lane, kind);
    wg_sync_wave();
    wg_take(x.v, &x, buffer, 0, lane, columns, swapped);
    if (kind.weights == 2) wg_take(x.up, &x, buffer, 1, lane, columns, swapped);
    wg_chain(&x, args, columns / 8, kind);
    wg_store(&x, args, columns / 8);
    wg_next_part(&x, columns * splits, swapped);
    if (chunk + splits < kind.n / columns) wg_read_ahead(&x, args, columns / 8, kind.type);
    wg_sync_wave(); /* the buffer may be written again */
  }
}

TDM_INLINE void wg_finish_tile(const float *sums, const wg_args *args, wg_tile tile, wg_address buffer, int rank, int wave,
                               int lane, wg_kind kind) {
  if (!(kind.weights == 2 && kind.swapped) && args->short_way)
    wg_finish_short(sums, args, tile, buffer, wave, lane, kind);
  else
    wg_finish_long(sums, args, tile, buffer, rank, wave, lane, kind);
}

TDM_INLINE void wg_end_tile(float *sums, const wg_args *args, int unit, wg_kind kind) {
  const wg_places at = wg_places_of(args, kind);
  const int thread = wg_thread_again(), wave = thread / 32, lane = thread % 32, rank = wg_cluster_rank();
  if (args->splits > 1) wg_add_splits(sums, args, at.stage, rank, thread, kind);
  wg_finish_tile(sums, args, wg_tile_of(args, unit, rank, kind), at.full + WG_BARRIERS_BYTES + wave * WG_BUFFER_BYTES, rank,
                 wave, lane, kind);
}

/* What the end of the tile will add, from memory to the L2 while the products are made. */
TDM_INLINE void wg_prefetch_tile(const wg_args *args, wg_tile tile, int thread, wg_kind kind) {
  const bool residual = args->ahead == WG_RESIDUAL;
  const char *base = residual ? args->residual : args->c;
  const int64_t stride = residual ? args->stride_r : args->stride_c, ld = residual ? args->ldr : args->ldc;
  const int bytes = args->out == TDM_F32 ? 4 : 2, lines = (kind.n * bytes + 127) / 128, rows = args->groups * WG_LINES;
  for (int i = thread; i < rows * lines; i += args->groups * WG_THREADS) {
    const int64_t row = tile.p0 + i / lines, column = tile.q0 + i % lines * 128 / bytes;
    if (row < args->lines && column < args->columns) wg_prefetch(base + (tile.batch * stride + row * ld + column) * bytes);
  }
}

TDM_INLINE void wg_multiply_all(const wg_args *args, int thread, wg_kind kind) {
  const wg_places at = wg_places_of(args, kind);
  const int rank = wg_cluster_rank();
  const wg_steps steps = wg_steps_of(args, rank);
  enum { MOST = 128 };
  const int held = kind.n / 2 * kind.weights;
  wg_turn turn = {0, 0};
  if (args->apart && thread >= WG_THREADS) wg_wait(at.full + (args->stages - 1) * 8, 0);
  WG_NO_UNROLL
  for (int unit = wg_cluster(); unit < args->units; unit += wg_clusters()) {
    if (args->ahead != WG_NOTHING && args->splits == 1 && !args->swapped)
      wg_prefetch_tile(args, wg_tile_of(args, unit, rank, kind), thread, kind);
    float sums[MOST];
    WG_UNROLL
    for (int i = 0; i < held; i++) sums[i] = 0;
    turn = wg_tile_sums(sums, args, &at, turn, steps, thread / WG_THREADS, thread % 32, kind);
    wg_settle(sums, held);
    wg_end_tile(sums, wg_again(args), unit, kind);
  }
}

/* The launch's arguments in shared memory. Reading them where they are, through an address, takes longer than a part of a
 * tile's end. Tensor maps are read there. */
TDM_INLINE const wg_args *wg_shared_args(const wg_args *maps, int thread) {
  const int words = sizeof(wg_args) / 4;
  for (int i = thread; i < words; i += 2 * WG_THREADS)
    if (thread < 2 * WG_THREADS) WG_AT(uint32_t, wg_memory_begin() + i * 4) = ((const uint32_t *)maps)[i];
  return wg_memory_pointer();
}

TDM_INLINE void wg_body(const wg_args *maps, wg_kind kind) {
  const int thread = wg_thread();
  const wg_args *args = wg_shared_args(maps, thread);
  if (thread == 0) {
    const wg_places at = wg_places_of(maps, kind);
    for (int i = 0; i < maps->stages; i++) {
      wg_barrier_init(at.full + i * 8, 1);
      wg_barrier_init(at.empty + i * 8, maps->groups * 4 * maps->sharers);
    }
    wg_barriers_made();
  }
  wg_cluster_sync();
  const int workers = args->groups * WG_THREADS;
  if (thread >= workers) {
    WG_FEWER_REGISTERS(40);
    if (thread % 32 == 0) wg_copy_all(wg_again(args), maps, (thread - workers) / 32, kind);
    wg_sync_wave();
    if (args->splits > 1) { /* as often as wg_add_splits */
      wg_cluster_sync();
      wg_cluster_sync();
    }
  } else {
    WG_MORE_REGISTERS(232);
    wg_multiply_all(wg_again(args), thread, kind);
  }
  wg_cluster_sync(); /* the other blocks may still arrive at this one's barriers, and copy to it */
}

/* name, and what wg_kind has. */
#define WG_KERNEL(name, ...) \
  WG_FUNCTION(name, wg_args, args) { wg_body(args, (wg_kind){__VA_ARGS__}); }

#endif
