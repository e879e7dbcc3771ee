/* The body of a kernel on Hopper's matrix units. A file that includes it has said what follows the sums of a tile:
 *
 *   static void wg_end(wg_part *x, const wg_args *args, wg_address buffer, int lane, int columns, bool swapped, wg_kind kind);
 *
 * and lists its kernels with WG_KERNEL. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_KERNEL_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_KERNEL_H

#include "wgmma_end.h"

TDM_INLINE void wg_finish_tile(const float *sums, const wg_args *args, wg_tile tile, wg_address buffer, int rank, int wave,
                               int lane, wg_kind kind) {
  const int columns = wg_chunk(kind.n, kind.weights), splits = args->splits;
  const bool swapped = kind.weights == 2 ? kind.swapped : args->swapped != 0;
  if (!(kind.weights == 2 && kind.swapped) && wg_is_short(args, tile, kind)) {
    wg_end_short(sums, args, tile, buffer, wave, lane, kind);
    return;
  }
  wg_part x = wg_first_part(args, tile, tile.p0 + wave * 16, lane, columns, swapped);
  WG_NO_UNROLL
  for (int chunk = 0; chunk < kind.n / columns; chunk++) {
    if (wg_is_mine(chunk, splits, rank)) {
      wg_put_chunk(buffer, sums, chunk, lane, kind);
      wg_sync_wave();
      wg_end(&x, args, buffer, lane, columns, swapped, kind);
      wg_sync_wave(); /* the buffer may be written again */
    }
    wg_next_part(&x, columns, swapped);
  }
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
  const int bytes = args->out == TDM_F32 ? 4 : 2, lines = (kind.n * bytes + 127) / 128, rows = args->groups * WG_LINES;
  for (int i = thread; i < rows * lines; i += args->groups * WG_THREADS) {
    const int64_t row = tile.p0 + i / lines, column = tile.q0 + i % lines * 128 / bytes;
    if (row < args->lines && column < args->columns)
      wg_prefetch((const char *)args->residual + (tile.batch * args->stride_r + row * args->ldr + column) * bytes);
  }
}

TDM_INLINE void wg_multiply_all(const wg_args *args, int thread, wg_kind kind) {
  const wg_places at = wg_places_of(args, kind);
  const int rank = wg_cluster_rank();
  const wg_steps steps = wg_steps_of(args, rank);
  enum { MOST = 128 };
  const int held = kind.n / 2 * kind.weights;
  wg_turn turn = {0, 0};
  WG_NO_UNROLL
  for (int unit = wg_cluster(); unit < args->units; unit += wg_clusters()) {
    if (args->residual != NULL && args->splits == 1 && !args->swapped)
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
    WG_FEWER_REGISTERS(56);
    if (thread % 32 == 0) wg_copy_all(wg_again(args), maps, (thread - workers) / 32, kind);
    wg_sync_wave();
    if (args->splits > 1) { /* as often as wg_add_splits */
      wg_cluster_sync();
      wg_cluster_sync();
    }
  } else {
    WG_MORE_REGISTERS(224);
    wg_multiply_all(wg_again(args), thread, kind);
  }
  wg_cluster_sync(); /* the other blocks may still arrive at this one's barriers, and copy to it */
}

/* name, and what wg_kind has. */
#define WG_KERNEL(name, ...) \
  WG_FUNCTION(name, wg_args, args) { wg_body(args, (wg_kind){__VA_ARGS__}); }

#endif
