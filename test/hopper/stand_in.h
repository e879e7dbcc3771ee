/* offload/device/wgmma.h for a test on the host: the same names, executed by the stand-in (hopper.h). A file that is
 * compiled with -include of this one does not read the other. */
#ifndef TANDEM_OFFLOAD_DEVICE_WGMMA_H
#define TANDEM_OFFLOAD_DEVICE_WGMMA_H

#include <math.h>

#include "hopper.h"
#include "offload/device/wgmma_sizes.h"
#include "src/base/elem.h"
#include "tandem/tandem.h"

#define WG_UNROLL
#define WG_NO_UNROLL
#define WG_GLOBAL
#define WG_AT(type, address) (*(type __attribute__((may_alias)) *)hopper_memory(address))
#define WG_AT_ONCE(type, address) WG_AT(type, address)
#define WG_FEWER_REGISTERS(count) ((void)0)
#define WG_MORE_REGISTERS(count) ((void)0)

#define WG_FUNCTION(name, type, pointer)                                                                             \
  static void name##_body(const type *pointer);                                                                      \
  static void name##_run(const void *argument) { name##_body(argument); }                                            \
  __attribute__((constructor)) static void name##_register(void) { hopper_register(WG_COLUMNS, #name, name##_run); } \
  static void name##_body(const type *pointer)

TDM_INLINE wg_address wg_memory_begin(void) { return HOPPER_BEGIN; }
TDM_INLINE const void *wg_memory_pointer(void) { return hopper_memory(HOPPER_BEGIN); }
TDM_INLINE const void *wg_again(const void *pointer) { return pointer; }
TDM_INLINE int wg_thread(void) { return hopper_thread(); }
TDM_INLINE int wg_thread_again(void) { return hopper_thread(); }
TDM_INLINE int wg_block(void) { return hopper_block(); }
TDM_INLINE int wg_blocks(void) { return hopper_blocks(); }
TDM_INLINE int wg_cluster_rank(void) { return hopper_rank(); }
TDM_INLINE int wg_cluster(void) { return hopper_block() / hopper_cluster_size(); }
TDM_INLINE int wg_clusters(void) { return hopper_blocks() / hopper_cluster_size(); }

TDM_INLINE void wg_sync_wave(void) { hopper_sync_wave(); }
TDM_INLINE void wg_sync_threads(int threads) { hopper_sync_threads(1, threads); }
TDM_INLINE void wg_sync_at(int id, int threads) { hopper_sync_threads(id, threads); }
TDM_INLINE void wg_arrive_at(int id, int threads) { hopper_arrive_threads(id, threads); }
TDM_INLINE bool wg_any_at(int id, int threads, bool value) { return hopper_any_of_threads(id, threads, value); }
TDM_INLINE void wg_cluster_sync(void) { hopper_sync_cluster(); }

TDM_INLINE uint32_t wg_word_xor(uint32_t x, int distance) { return hopper_lane(x, (hopper_thread() % 32) ^ distance); }
TDM_INLINE float wg_lane(float x, int lane) { return tdm_from_bits(hopper_lane(tdm_bits(x), lane)); }
TDM_INLINE float wg_lane_xor(float x, int distance) { return tdm_from_bits(wg_word_xor(tdm_bits(x), distance)); }
TDM_INLINE bool wg_any(bool value) { return hopper_any(value); }
TDM_INLINE float wg_exp2(float x) { return exp2f(x); }
TDM_INLINE float wg_larger(float a, float b) { return fmaxf(a, b); }

TDM_INLINE void wg_barrier_init(wg_address barrier, int count) { hopper_barrier_init(barrier, count); }
TDM_INLINE void wg_barriers_made(void) {}
TDM_INLINE void wg_expect(wg_address barrier, int bytes) { hopper_barrier_expect(barrier, bytes); }
TDM_INLINE void wg_arrive(wg_address barrier, int rank) { hopper_barrier_arrive(barrier, rank); }
TDM_INLINE void wg_wait(wg_address barrier, int parity) { hopper_barrier_wait(barrier, parity); }

/* The other blocks' memory: the rank in the upper bits. */
TDM_INLINE wg_address wg_address_in(wg_address at, int rank) { return at | (uint32_t)rank << 24; }
TDM_INLINE float wg_load_from(wg_address there, int offset) {
  return *(float *)hopper_memory_of((int)(there >> 24), (there & 0xffffff) + (uint32_t)offset);
}
TDM_INLINE void wg_store_float(wg_address at, int offset, float x) { WG_AT(float, at + (uint32_t)offset) = x; }

TDM_INLINE void wg_copy(wg_address to, const void *map, wg_address barrier, int x, int y, int z) {
  hopper_copy(to, map, barrier, x, y, z, 0, 1u << hopper_rank());
}
TDM_INLINE void wg_copy_to_both(wg_address to, const void *map, wg_address barrier, int x, int y, int z) {
  hopper_copy(to, map, barrier, x, y, z, 0, 3);
}
TDM_INLINE void wg_copy_4(wg_address to, const void *map, wg_address barrier, int x, int y, int z, int w) {
  hopper_copy(to, map, barrier, x, y, z, w, 1u << hopper_rank());
}
TDM_INLINE void wg_written(void) {}
TDM_INLINE void wg_prefetch(const void *at) { (void)at; }

TDM_INLINE void wg_fence(void) {}
TDM_INLINE void wg_commit(void) { hopper_commit(); }
TDM_INLINE void wg_wait_all(void) { hopper_wait_products(0); }
TDM_INLINE void wg_wait_but_one(void) { hopper_wait_products(1); }
TDM_INLINE void wg_settle(float *sums, int count) { (void)sums, (void)count; }
TDM_INLINE void wg_multiply(float *sums, uint64_t a, uint64_t b, bool add, int n, bool a_by_k, bool b_by_k, tdm_type type) {
  hopper_multiply(sums, a, b, add, n, a_by_k, b_by_k, type);
}
TDM_INLINE void wg_settle_words(uint32_t *words, int count) { (void)words, (void)count; }
TDM_INLINE void wg_multiply_words(float *sums, const uint32_t *a, uint64_t b, int n, bool b_by_k, tdm_type type) {
  hopper_multiply_words(sums, a, b, n, b_by_k, type);
}

TDM_INLINE void wg_pick(float *to, const float *sums, int held, int number, int count) {
  (void)held;
  for (int i = 0; i < count; i++) to[i] = sums[number * count + i];
}

#endif
