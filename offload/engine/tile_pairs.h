/* Panels of 16-bit elements, for the levels whose instructions multiply pairs of them and add both products to an f32: a word
 * of a panel has two neighbouring elements along k, as they are in memory. tile.h includes this file.
 *
 *   AVX512-BF16   both panels [word][o within the micro tile]
 *   AMX           A in blocks of 16 words along k, [block][row][word of the block], which are the tiles of A; B as above. Both
 *                 are filled with zeros to whole blocks. */
#ifndef TANDEM_OFFLOAD_ENGINE_TILE_PAIRS_H
#define TANDEM_OFFLOAD_ENGINE_TILE_PAIRS_H

#include <immintrin.h>

enum { PAIRS = 2 * TDM_LANES }; /* elements of a vector of words */

/* The first `count` of PAIRS elements along k, where count may be any number. The others are 0, and are not read. */
TDM_INLINE tdm_vec pairs_along(const void *base, int64_t at, int64_t count) {
  const uint16_t *from = (const uint16_t *)base + at;
  if (count >= PAIRS) return (tdm_vec)_mm512_loadu_si512(from);
  return (tdm_vec)_mm512_maskz_loadu_epi16(count <= 0 ? 0 : (1u << count) - 1, from);
}

/* Words of elements of rows k and k + 1, which are `ld` elements apart: the first `count` of TDM_LANES columns. depth: the
 * rows that are there; 1: the second elements are 0. */
TDM_INLINE tdm_vec pairs_across(const void *base, int64_t at, int64_t ld, int64_t count, int64_t depth) {
  const uint16_t *from = (const uint16_t *)base + at;
  __mmask16 low = (__mmask16)(count >= TDM_LANES ? 0xffff : count <= 0 ? 0 : (1u << count) - 1), high = depth > 1 ? low : 0;
  __m512i first = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(depth > 0 ? low : 0, from));
  __m512i second = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(high, from + (high != 0 ? ld : 0)));
  return (tdm_vec)_mm512_or_si512(first, _mm512_slli_epi32(second, 16));
}

/* ---- Packing. Words of the K step at k0, which has k_count elements; micro panel by micro panel. ---- */

#ifdef TDM_LEVEL_AMX
enum { WORD_BLOCK = TDM_LANES }; /* words along k of a tile: a step has whole blocks of them */
#else
enum { WORD_BLOCK = 1 };
#endif

TDM_INLINE int64_t pairs_words(int64_t k_count) {
  int64_t words = (k_count + 1) / 2;
  return (words + WORD_BLOCK - 1) / WORD_BLOCK * WORD_BLOCK;
}

/* TDM_LANES words of TDM_LANES outer indices: block[i] has the words of index o + i, or of word i if `turned`. */
TDM_INLINE void pairs_block(tdm_vec block[TDM_LANES], const tile_operand *x, int64_t o, int64_t k, int64_t left, bool turned) {
  if (x->k_contiguous) {
    TDM_UNROLL
    for (int i = 0; i < TDM_LANES; i++)
      block[i] = pairs_along(x->base, x->first + (o + i) * x->ld + k, o + i < x->outer ? left : 0);
  } else {
    TDM_UNROLL
    for (int i = 0; i < TDM_LANES; i++)
      block[i] = pairs_across(x->base, x->first + (k + 2 * i) * x->ld + o, x->ld, x->outer - o, left - 2 * i);
  }
  if (x->k_contiguous == turned) tdm_vec_transpose(block);
}

/* [word][o]. A panel whose width is no multiple of a vector is written from beginning to end, so that the next row overwrites
 * the surplus of each row. */
TDM_INLINE void pairs_pack_words(float *panel, const tile_operand *x, int64_t o0, int micros, int64_t k0, int64_t k_count,
                                 int width) {
  int64_t words = pairs_words(k_count);
  for (int micro = 0; micro < micros; micro++) {
    float *to = panel + micro * TILE_STEP(width);
    int64_t o = o0 + (int64_t)micro * width;
    if (!x->k_contiguous) {
      for (int64_t w = 0; w < words; w++)
        for (int c = 0; c < width; c += TDM_LANES)
          tdm_vec_store(to + w * width + c, pairs_across(x->base, x->first + (k0 + 2 * w) * x->ld + o + c, x->ld,
                                                         x->outer - o - c, k_count - 2 * w));
      continue;
    }
    for (int64_t w = 0; w < words; w += TDM_LANES)
      for (int c = 0; c < width; c += TDM_LANES) {
        tdm_vec block[TDM_LANES];
        pairs_block(block, x, o + c, k0 + 2 * w, k_count - 2 * w, true);
        for (int64_t i = 0; i < tdm_min(TDM_LANES, words - w); i++) tdm_vec_store(to + (w + i) * width + c, block[i]);
      }
  }
}

#ifdef TDM_LEVEL_AMX

/* A: [block][row][word]. */
TDM_INLINE void pairs_pack_rows(float *panel, const tile_operand *x, int64_t o0, int micros, int64_t k0, int64_t k_count) {
  for (int micro = 0; micro < micros; micro++)
    for (int64_t w = 0; w < pairs_words(k_count); w += WORD_BLOCK)
      for (int r = 0; r < MICRO_M; r += TDM_LANES) {
        float *to = panel + micro * TILE_STEP(MICRO_M) + w * MICRO_M + r * WORD_BLOCK;
        tdm_vec block[TDM_LANES];
        pairs_block(block, x, o0 + (int64_t)micro * MICRO_M + r, k0 + 2 * w, k_count - 2 * w, false);
        for (int i = 0; i < TDM_LANES; i++) tdm_vec_store(to + i * WORD_BLOCK, block[i]);
      }
}

#endif

__attribute__((noinline, unused)) static void pairs_pack_a(float *panel, const tile_operand *x, int64_t o0, int micros,
                                                           int64_t k0, int64_t k_count) {
#ifdef TDM_LEVEL_AMX
  pairs_pack_rows(panel, x, o0, micros, k0, k_count);
#else
  pairs_pack_words(panel, x, o0, micros, k0, k_count, MICRO_M);
#endif
}

__attribute__((noinline, unused)) static void pairs_pack_b(float *panel, const tile_operand *x, int64_t o0, int micros,
                                                           int64_t k0, int64_t k_count) {
  pairs_pack_words(panel, x, o0, micros, k0, k_count, MICRO_N);
}

/* ---- Multiplication ---- */

#ifndef TDM_LEVEL_AMX
/* sum + both products of each word. */
TDM_INLINE tdm_vec pairs_add(tdm_vec sum, tdm_vec a, tdm_vec b) {
  return (tdm_vec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}

/* A word in each lane. */
TDM_INLINE tdm_vec pairs_spread(const float *word) {
  int bits;
  memcpy(&bits, word, sizeof bits);
  return (tdm_vec)_mm512_set1_epi32(bits);
}
#endif

#endif
