/* Two warpgroups of a block multiply, again and again, 64 lines each by the same 256 lines, from shared memory. Compiled to
 * sm_90a alone. */
#include "bench/core/ceiling_hopper.h"
#include "offload/device/wgmma.h"

enum {
  HELD = HOPPER_COLUMNS / 2,
  GROUPS = HOPPER_THREADS / WG_THREADS,
  OPERAND_BYTES = (GROUPS * WG_LINES + HOPPER_COLUMNS) * WG_LINE_BYTES
};

/* Numbers from 1 to 2 with either sign, whose bits differ from word to word: with zeros a GPU would save power, and time. */
TDM_INLINE uint32_t any_two(uint32_t seed, tdm_type type) {
  uint32_t bits = (seed + 1) * 0x9e3779b1u;
  bits ^= bits >> 15;
  return type == TDM_F16 ? (bits & 0x83ff83ff) | 0x3c003c00 : (bits & 0x807f807f) | 0x3f803f80;
}

/* The zeros come from memory and the sums may be stored, so the compiler keeps the loop. */
TDM_INLINE void chains(const hopper_chains_args *args, tdm_type type) {
  const int thread = wg_thread();
  const wg_address begin = (wg_memory_begin() + WG_ATOM_BYTES - 1) & ~(wg_address)(WG_ATOM_BYTES - 1);
  for (int i = thread; i < OPERAND_BYTES / 4; i += HOPPER_THREADS)
    WG_AT(uint32_t, begin + i * 4) = any_two((uint32_t)i, type) | args->from[i % HOPPER_ZEROS];
  __asm__ volatile("fence.proxy.async;" : : : "memory"); /* the matrix unit reads what the threads wrote */
  wg_sync_threads(HOPPER_THREADS);
  const uint64_t descriptor = wg_descriptor(true);
  const wg_address a = begin + thread / WG_THREADS * WG_BLOCK_BYTES, b = begin + GROUPS * WG_BLOCK_BYTES;
  float sums[HELD];
  WG_UNROLL
  for (int i = 0; i < HELD; i++) sums[i] = 0;
  WG_NO_UNROLL
  for (int step = 0; step < args->steps; step++) {
    wg_fence();
    WG_UNROLL
    for (int k = 0; k < HOPPER_STEP_K / WG_K; k++)
      wg_multiply(sums, wg_descriptor_at(descriptor, a) + (uint64_t)(k * wg_next_k(true)),
                  wg_descriptor_at(descriptor, b) + (uint64_t)(k * wg_next_k(true)), true, HOPPER_COLUMNS, true, true, type);
    wg_commit();
    wg_wait_but_one();
  }
  wg_wait_all();
  wg_settle(sums, HELD);
  float sum = 0;
  WG_UNROLL
  for (int i = 0; i < HELD; i++) sum += sums[i];
  if (sum == __builtin_inff()) *(WG_GLOBAL float *)args->to = sum;
}

WG_FUNCTION(bench_hopper_f16, hopper_chains_args, args) { chains(args, TDM_F16); }
WG_FUNCTION(bench_hopper_bf16, hopper_chains_args, args) { chains(args, TDM_BF16); }
