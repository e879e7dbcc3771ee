/* The matrix units of AMD's gfx942 (mma.h): v_mfma_f32_16x16x16_f16 and v_mfma_f32_16x16x16_bf16, 16 clocks each. Which
 * lane holds what, as github.com/ROCm/amd_matrix_instruction_calculator prints it (matrix_calculator.py -a cdna3 -i
 * v_mfma_f32_16x16x16_f16 --register-layout --A-matrix, and so on); the instructions themselves are in AMD's "CDNA3
 * Instruction Set Architecture", chapter "Matrix Arithmetic Instructions":
 *
 *   A[i][k]: lane 16 (k / 4) + i, half word k % 4        B[k][j]: the same with j for i
 *   D[i][j]: lane 16 (i / 4) + j, register i % 4
 *
 * The code computes the transposed sums, D = B^T A^T. A lane then has four neighbouring columns of one row. It stores them
 * in one access, and they are its part of an operand of attention's second product. Any order of k is right as long as a
 * and b have the same one. So a lane's operand is 16 contiguous bytes of its line, one ds_read_b128, for two instructions:
 * lane 16 g + i has k = 8 g to 8 g + 7 of line i, and the first instruction takes the first four. */
#ifndef TANDEM_OFFLOAD_DEVICE_MMA_AMD_H
#define TANDEM_OFFLOAD_DEVICE_MMA_AMD_H

/* Where a lane's sums are. */
TDM_INLINE int mma_row(int lane) { return lane % 16; }
TDM_INLINE int mma_column(int thread) { return thread % MMA_LANES / 16 * 4; }

typedef uint32_t mma_words __attribute__((vector_size(16), may_alias));
typedef uint32_t mma_two_words __attribute__((vector_size(8), may_alias));

/* Transposes a 4 x 4 block of half words. rows01 holds rows 0 and 1, rows23 rows 2 and 3. Returns column j, the first row's
 * element first. */
TDM_INLINE mma_two_words mma_transpose(mma_words rows01, mma_words rows23, int j) {
  uint32_t a = rows01[j / 2], b = rows01[2 + j / 2], c = rows23[j / 2], d = rows23[2 + j / 2];
  if (j % 2 == 0) return (mma_two_words){(a & 0xffff) | b << 16, (c & 0xffff) | d << 16};
  return (mma_two_words){a >> 16 | (b & 0xffff0000), c >> 16 | (d & 0xffff0000)};
}

/* Probabilities as the type that is multiplied. There is no instruction for bf16. A NaN need not stay NaN, because its
 * row's sum is NaN too, and the row is divided by it. */
TDM_INLINE uint32_t mma_two(float low, float high, tdm_type type) {
  if (type == TDM_F16) return tdm_f32_to_two(low, high, type);
  uint32_t a = tdm_bits(low), b = tdm_bits(high); /* to nearest even */
  return (a + 0x7fff + (a >> 16 & 1)) >> 16 | ((b + 0x7fff + (b >> 16 & 1)) & 0xffff0000);
}

#if MMA_ON_CHIP

#define MMA_TEAM __attribute__((address_space(3)))

/* A lane's operand; `at` is where its 16 bytes begin. */
TDM_INLINE mma_operand mma_load(mma_address at) {
  mma_words x = *(const MMA_TEAM mma_words *)at;
  return (mma_operand){{x[0], x[1], x[2], x[3]}};
}

TDM_INLINE void mma_put(mma_address at, mma_words x) { *(MMA_TEAM mma_words *)at = x; }
TDM_INLINE void mma_put_half(mma_address at, mma_two_words x) { *(MMA_TEAM mma_two_words *)at = x; }

/* Loads before this stay before what follows; otherwise the compiler would move them down to their use. */
TDM_INLINE void mma_keep_order(void) { __builtin_amdgcn_sched_barrier(0); }

typedef _Float16 mma_f16 __attribute__((ext_vector_type(4)));
typedef short mma_bf16 __attribute__((ext_vector_type(4)));

/* sums += 16 lines of a times 16 of b, over half of their k: part 0 or 1. Keep two parts on the same sums apart, because
 * the second waits for the first. */
TDM_INLINE mma_sums mma_multiply(mma_sums sums, mma_operand a, mma_operand b, int half, int part, tdm_type type) {
  (void)half; /* there is one */
  mma_two_words x = {b.word[2 * part], b.word[2 * part + 1]}, y = {a.word[2 * part], a.word[2 * part + 1]};
  if (type == TDM_F16) {
    mma_f16 first, second;
    __builtin_memcpy(&first, &x, sizeof x);
    __builtin_memcpy(&second, &y, sizeof y);
    return __builtin_amdgcn_mfma_f32_16x16x16f16(first, second, sums, 0, 0, 0);
  }
  mma_bf16 first, second;
  __builtin_memcpy(&first, &x, sizeof x);
  __builtin_memcpy(&second, &y, sizeof y);
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(first, second, sums, 0, 0, 0);
}

/* Is it true in any lane of the wave? */
TDM_INLINE bool mma_any(bool value) { return __builtin_amdgcn_ballot_w64(value) != 0; }

/* 2^x within 1 ULP; 0 if the result would be subnormal. */
TDM_INLINE float mma_exp2(float x) { return __builtin_amdgcn_exp2f(x); }

/* 1 / x within 1 ULP. */
TDM_INLINE float mma_reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }

#else /* only compiled, as in mma.h */

TDM_INLINE mma_operand mma_load(mma_address at) { return (void)at, (mma_operand){{0}}; }
TDM_INLINE void mma_put(mma_address at, mma_words x) { (void)at, (void)x; }
TDM_INLINE void mma_put_half(mma_address at, mma_two_words x) { (void)at, (void)x; }
TDM_INLINE void mma_keep_order(void) {}

#endif

#endif
