/* The matrix units of NVIDIA's GPUs from sm_80 on (mma.h). For the instructions, and for which lane holds what, see
 * NVIDIA's PTX ISA, "mma.m16n8k16", "ldmatrix", "cp.async", "vote.sync", "ex2" and "rcp".
 *
 * A lane's operand is a word of each of four blocks of 8 x 8: line lane / 4, k = 2 (lane % 4) and the next one. The blocks
 * of a: k 0 to 7 of the lines 0 to 7 and 8 to 15, then k 8 to 15 of both. The blocks of b: lines 0 to 7 with k 0 to 7 and 8
 * to 15, then lines 8 to 15, so that an instruction takes a pair of registers. */
#ifndef TANDEM_OFFLOAD_DEVICE_MMA_NVIDIA_H
#define TANDEM_OFFLOAD_DEVICE_MMA_NVIDIA_H

/* Where a lane's sums are. */
TDM_INLINE int mma_row(int lane) { return lane / 4; }
TDM_INLINE int mma_column(int thread) { return thread % 4 * 2; }

TDM_INLINE void mma_keep_order(void) {} /* only AMD needs it */

/* Probabilities, which may be NaN, as the type that is multiplied. */
TDM_INLINE uint32_t mma_two(float low, float high, tdm_type type) { return tdm_f32_to_two(low, high, type); }

#if MMA_ON_CHIP

/* Copies 16 bytes; all of them are 16-byte aligned. mma_copied closes a group of copies. */
TDM_INLINE void mma_copy(mma_address to, const char *from) {
  __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory");
}
/* bytes: how many of the 16 are read; the others become 0. */
TDM_INLINE void mma_copy_some(mma_address to, const char *from, int bytes) {
  __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(to), "l"(from), "r"(bytes) : "memory");
}
/* Copies 4 bytes, or writes 0 if it is not wanted; then `from` may be any address. */
TDM_INLINE void mma_copy_word(mma_address to, const char *from, bool wanted) {
  __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" : : "r"(to), "l"(from), "r"(wanted ? 4 : 0) : "memory");
}
TDM_INLINE void mma_copied(void) { __asm__ volatile("cp.async.commit_group;" : : : "memory"); }
/* Waits for the thread's own groups: all, or all but the last. */
TDM_INLINE void mma_wait_all(void) { __asm__ volatile("cp.async.wait_group 0;" : : : "memory"); }
TDM_INLINE void mma_wait_but_one(void) { __asm__ volatile("cp.async.wait_group 1;" : : : "memory"); }
TDM_INLINE void mma_wait_but_two(void) { __asm__ volatile("cp.async.wait_group 2;" : : : "memory"); }

/* Lane l gives the address of the row of 16 bytes that is row l % 8 of block l / 8. transposed: rows run along the lines,
 * not along k. */
TDM_INLINE mma_operand mma_load(mma_address row, bool transposed) {
  mma_operand x;
  if (transposed)
    __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x.word[0]), "=r"(x.word[1]), "=r"(x.word[2]), "=r"(x.word[3])
                     : "r"(row)
                     : "memory");
  else
    __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x.word[0]), "=r"(x.word[1]), "=r"(x.word[2]), "=r"(x.word[3])
                     : "r"(row)
                     : "memory");
  return x;
}

/* sums += a (16 lines) times 8 lines of b, its half 0 or 1. */
#define MMA_INSTRUCTION(type)                                                    \
  __asm__("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                 \
          ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
          : "+f"(s0), "+f"(s1), "+f"(s2), "+f"(s3)                               \
          : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[2 * half]), "r"(b.word[2 * half + 1]))
TDM_INLINE mma_sums mma_multiply(mma_sums sums, mma_operand a, mma_operand b, int half, int part, tdm_type type) {
  (void)part; /* there is one */
  float s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  if (type == TDM_F16)
    MMA_INSTRUCTION("f16");
  else
    MMA_INSTRUCTION("bf16");
  return (mma_sums){s0, s1, s2, s3};
}
#undef MMA_INSTRUCTION

/* Transposes a block of 8 x 8 half words. Lane 4 g + t gives the two at row g from column 2 t on, and gets those of the
 * transposed block. */
TDM_INLINE uint32_t mma_transposed(uint32_t two) {
  uint32_t other;
  __asm__("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(other) : "r"(two));
  return other;
}

/* Waits for the lanes of the wave: what they wrote or copied before, and waited for, is visible after it. */
TDM_INLINE void mma_sync_wave(void) { __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory"); }

/* Is it true in any lane of the wave? The matrix instructions need all lanes on one path. */
TDM_INLINE bool mma_any(bool value) { return __nvvm_vote_any_sync(0xffffffff, value); }

/* 2^x within 2^-22; 0 if the result would be subnormal. */
TDM_INLINE float mma_exp2(float x) { return __nvvm_ex2_approx_ftz_f(x); }

/* 1 / x within 2^-23. */
TDM_INLINE float mma_reciprocal(float x) { return __nvvm_rcp_approx_ftz_f(x); }

#else /* on hosts, where tests run kernels with these copies, which are done at once, or define what is left */

TDM_INLINE void mma_copy_some(mma_address to, const char *from, int bytes) {
  for (int i = 0; i < 16; i++) ((char *)to)[i] = i < bytes ? from[i] : 0;
}
TDM_INLINE void mma_copy(mma_address to, const char *from) { mma_copy_some(to, from, 16); }
TDM_INLINE void mma_copy_word(mma_address to, const char *from, bool wanted) {
  for (int i = 0; i < 4; i++) ((char *)to)[i] = wanted ? from[i] : 0;
}
TDM_INLINE void mma_copied(void) {}
TDM_INLINE void mma_wait_all(void) {}
TDM_INLINE void mma_wait_but_one(void) {}
TDM_INLINE void mma_wait_but_two(void) {}
#ifndef MMA_STAND_IN
TDM_INLINE mma_operand mma_load(mma_address row, bool transposed) { return (void)row, (void)transposed, (mma_operand){{0}}; }
TDM_INLINE uint32_t mma_transposed(uint32_t two) { return two; }
TDM_INLINE void mma_sync_wave(void) {}
#endif

#endif

#endif
