/* NVIDIA's matrix instructions for wave_stand_in.h; included by offload/device/mma.h. */
#ifndef TANDEM_TEST_PLAN_MMA_STAND_IN_H
#define TANDEM_TEST_PLAN_MMA_STAND_IN_H

#include <math.h>

static inline int mma_own_lane(void) { return wave_team.now % WAVE_LANES; }
static inline uint16_t mma_half_of(uint32_t word, int i) { return (uint16_t)(word >> 16 * i); }

/* ldmatrix.x4: lane l gives the address of row l % 8 of block l / 8. A lane gets, of each block, two elements of row l / 4; or,
 * transposed, of column l / 4. */
static inline mma_operand mma_load(mma_address row, bool transposed) {
  mma_operand x;
  wave_exchange(&row, sizeof row);
  const int lane = mma_own_lane();
  for (int block = 0; block < 4; block++) {
    uint16_t two[2];
    for (int i = 0; i < 2; i++) {
      const int r = transposed ? lane % 4 * 2 + i : lane / 4, c = transposed ? lane / 4 : lane % 4 * 2 + i;
      mma_address from;
      memcpy(&from, wave_given(block * 8 + r), sizeof from);
      two[i] = ((const uint16_t *)from)[c];
    }
    x.word[block] = two[0] | (uint32_t)two[1] << 16;
  }
  return x;
}

static inline uint32_t mma_transposed(uint32_t two) {
  uint32_t x = 0, word;
  wave_exchange(&two, sizeof two);
  const int lane = mma_own_lane();
  for (int i = 0; i < 2; i++) { /* row l / 4 of the result: column l / 4 of rows 2 (l % 4) + i */
    const int row = lane % 4 * 2 + i, column = lane / 4;
    memcpy(&word, wave_given(row * 4 + column / 2), sizeof word);
    x |= (uint32_t)mma_half_of(word, column % 2) << 16 * i;
  }
  return x;
}

static inline void mma_sync_wave(void) { wave_exchange("", 1); }

static inline float mma_element(uint32_t word, int i, tdm_type type) {
  return type == TDM_F16 ? tdm_f16_to_f32(mma_half_of(word, i)) : tdm_bf16_to_f32(mma_half_of(word, i));
}

/* mma.m16n8k16: words of a: (row g, k 2 t), (row g + 8, k 2 t), and the same with k + 8; of b: (k 2 t, column g), and k + 8. */
static inline mma_sums mma_multiply(mma_sums sums, mma_operand a, mma_operand b, int half, int part, tdm_type type) {
  struct {
    mma_operand a, b;
  } own = {a, b}, row, column;
  (void)part;
  wave_exchange(&own, sizeof own);
  const int lane = mma_own_lane();
  for (int e = 0; e < 4; e++) {
    float sum = sums[e];
    for (int k = 0; k < 16; k++) {
      memcpy(&row, wave_given(lane / 4 * 4 + k % 8 / 2), sizeof row);
      memcpy(&column, wave_given((lane % 4 * 2 + e % 2) * 4 + k % 8 / 2), sizeof column);
      sum +=
          mma_element(row.a.word[k / 8 * 2 + e / 2], k % 2, type) * mma_element(column.b.word[2 * half + k / 8], k % 2, type);
    }
    sums[e] = sum;
  }
  return sums;
}

static inline bool mma_any(bool value) {
  bool any = false;
  wave_exchange(&value, sizeof value);
  for (int i = 0; i < WAVE_LANES; i++) any |= *(const bool *)wave_given(i);
  return any;
}
static inline float mma_exp2(float x) { return exp2f(x); }
static inline float mma_reciprocal(float x) { return 1 / x; }

#endif
