/* Chunks of an operand across k, transposed in registers before they are written to LDS. There they are as along k.
 *
 * A lane loads a dword, two lines, of each of 8 k, and makes a chunk of each line: 8 v_perm_b32. So a load moves 4 bytes a lane
 * and not 16, but all loads together as many cache lines. Without this a wave transposes what it reads, by
 * ds_read_b64_tr_b16. It needs two of them for 16 bytes, and LDS's queue has a place for each as long as for a read of all 16:
 * 1024x1024x2048 bf16 tn by 64x64 took 23,472 predicted clocks, where nt took 20,387. It takes 21,930.
 *
 * Exchanging dwords between lanes instead, after loads of 16 bytes (v_permlane32_swap_b32, v_permlane16_swap_b32), took 22,721:
 * each of 16 such instructions has two results and takes 8 clocks. */
#ifndef TANDEM_HIP_ENGINE_TRANSPOSE_H
#define TANDEM_HIP_ENGINE_TRANSPOSE_H

#include "lines.h"

enum {
  CHUNK_VALUES = CHUNK_BYTES / 2,
  ROWS_OF_LOAD = CHUNK_VALUES / 2, /* in four dwords of a lane, which take the place of a chunk in loads */
};

/* Is an operand's form in memory other than the one in LDS? */
template <typename T>
DEVICE bool transposes(form f) {
  return T::TRANSPOSES && !f.along_k;
}
/* What LDS has of an operand. */
template <typename T>
DEVICE form lds_form(form f) {
  f.along_k = f.along_k || T::TRANSPOSES;
  return f;
}

/* A lane's n-th two lines and their chunk of k. A load has whole rows of the tile: of as many chunks of k as fit in a wave. */
DEVICE constexpr int k_chunks_of_load(form f) { return 2 * WAVE / f.lines; }
DEVICE int transposed_line(form f) { return lane_index() % (f.lines / 2) * 2; }
DEVICE int transposed_k(int n, form f) {
  return ((n * f.waves + wave_index()) * k_chunks_of_load(f) + lane_index() / (f.lines / 2)) * CHUNK_VALUES;
}
/* The wave that has a value of k. */
DEVICE int wave_of_k(int k, form f) { return k / CHUNK_VALUES / k_chunks_of_load(f) % f.waves; }

/* Where in a stage element n of a row is. */
DEVICE uint32_t element_place(int row, int n, form f) {
  return (uint32_t)(row * row_bytes(f) + place_of((uint32_t)row, n / CHUNK_VALUES, f) * CHUNK_BYTES + n % CHUNK_VALUES * 2);
}

/* Two lines' chunks, made in steps: one makes a dword of each. */
typedef struct two_chunks {
  u32x4 of[2];
} two_chunks;
enum { CHUNK_STEPS = 4 }; /* a dword each */
template <int STEP>
DEVICE void transpose_step(two_chunks *to, const uint32_t *rows) {
  to->of[0][STEP] = in_order(halves_of(rows[2 * STEP], rows[2 * STEP + 1], false));
  to->of[1][STEP] = in_order(halves_of(rows[2 * STEP], rows[2 * STEP + 1], true));
}

#endif
