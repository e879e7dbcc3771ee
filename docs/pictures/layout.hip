/* For test_layout.c: the kernels' own device code, executed for each formula of layout.h. One wave. */
#include "hip/device/lds.h"
#include "hip/device/mfma.h"

/* A chunk of A and of B for each lane; the result as registers x lanes. */
template <int side>
DEVICE void multiply(const u32x4 *a, const u32x4 *b, float *d) {
  int lane = lane_index();
  mfma_sums<side> sums = {};
  sums = mfma(a[lane], b[lane], sums, TDM_F16);
  for (int r = 0; r < side * side / WAVE; r++) d[r * WAVE + lane] = sums[r];
}
KERNEL void multiply_16(const u32x4 *a, const u32x4 *b, float *d) { multiply<16>(a, b, d); }
KERNEL void multiply_32(const u32x4 *a, const u32x4 *b, float *d) { multiply<32>(a, b, d); }

/* A ds_read_b128 of a fragment: the byte in LDS that each lane read from, and the chunk, so that the read is kept. */
KERNEL void read_lds(uint32_t *byte, u32x4 *chunk, int swizzled) {
  SHARED static char tile[16 * ROW_BYTES] __attribute__((aligned(128)));
  int lane = lane_index(), row = lane % 16, c = lane / 16;
  int offset = swizzled ? chunk_offset(row, c) : row * ROW_BYTES + c * CHUNK_BYTES;
  u32x4 words = lds_read_unordered(lds_address((LDS char *)tile) + (uint32_t)offset, 0);
  asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(words));
  byte[lane] = (uint32_t)offset;
  chunk[lane] = words;
}

/* A load of 4 bytes a lane. */
KERNEL void read_memory(const uint32_t *from, const uint32_t *word, float *to) {
  int lane = lane_index();
  to[lane] = ((const float *)from)[word[lane]];
}
