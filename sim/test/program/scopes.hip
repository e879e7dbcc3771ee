#include "../device_code.h"

/* A value for all that atomics return, in order. */
static inline __device__ unsigned fold(unsigned sum, unsigned value) { return sum * 31 + value; }

/* Every operation and ordering of one scope, on words that belong to the work item. */
template <int scope>
static inline __device__ unsigned every_order(unsigned *p, unsigned long *q, float *f, double *d, unsigned x) {
  unsigned sum = 0, expected = 3;
  __hip_atomic_store(p, x, __ATOMIC_RELAXED, scope);
  __hip_atomic_store(q, (unsigned long)x << 20, __ATOMIC_RELEASE, scope);
  sum = fold(sum, __hip_atomic_fetch_add(p, 5u, __ATOMIC_RELAXED, scope));
  sum = fold(sum, __hip_atomic_fetch_sub(p, 9u, __ATOMIC_ACQUIRE, scope));
  sum = fold(sum, __hip_atomic_fetch_and(p, 0xfffffu, __ATOMIC_RELEASE, scope));
  sum = fold(sum, __hip_atomic_fetch_or(p, 0x101u, __ATOMIC_ACQ_REL, scope));
  sum = fold(sum, __hip_atomic_fetch_xor(p, 0x999u, __ATOMIC_SEQ_CST, scope));
  sum = fold(sum, __hip_atomic_fetch_min(p, 77777u, __ATOMIC_ACQ_REL, scope));
  sum = fold(sum, __hip_atomic_fetch_max((int *)p, 55555, __ATOMIC_SEQ_CST, scope));
  sum = fold(sum, __hip_atomic_exchange(p, 3u, __ATOMIC_SEQ_CST, scope));
  sum = fold(sum, __hip_atomic_compare_exchange_strong(p, &expected, x, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE, scope));
  sum = fold(sum, __hip_atomic_compare_exchange_weak(p, &expected, 4u, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, scope));
  sum = fold(sum, (unsigned)(__hip_atomic_fetch_add(q, 1ul << 33, __ATOMIC_SEQ_CST, scope) >> 7));
  sum = fold(sum, (unsigned)(__hip_atomic_fetch_max((long *)q, -1l, __ATOMIC_RELAXED, scope) >> 15));
  __hip_atomic_store(f, 1.5f, __ATOMIC_SEQ_CST, scope);
  __hip_atomic_store(d, 0.5, __ATOMIC_RELAXED, scope);
  __hip_atomic_fetch_add(f, 2.25f, __ATOMIC_SEQ_CST, scope);
  __hip_atomic_fetch_min(f, 3.0f, __ATOMIC_RELAXED, scope);
  __hip_atomic_fetch_add(d, 0.125, __ATOMIC_RELAXED, scope);
  __hip_atomic_fetch_max(d, 0.25, __ATOMIC_ACQUIRE, scope);
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  sum = fold(sum, (unsigned)(__hip_atomic_load(f, __ATOMIC_ACQUIRE, scope) * 4));
  sum = fold(sum, (unsigned)(__hip_atomic_load(d, __ATOMIC_SEQ_CST, scope) * 8));
  return fold(sum, __hip_atomic_load(p, __ATOMIC_RELAXED, scope));
}

/* Results: n words; the work items' own words start at 512. */
#define SCOPE(name, scope)                                                                                                \
  KERNEL void global_##name(const unsigned *a, const unsigned *unused, unsigned *c, int n) {                              \
    (void)unused;                                                                                                         \
    int i = item_x();                                                                                                     \
    unsigned *own = c + 512 + i * 8;                                                                                      \
    if (i < n) c[i] = every_order<scope>(own, (unsigned long *)(own + 2), (float *)(own + 1), (double *)(own + 4), a[i]); \
  }                                                                                                                       \
  KERNEL void lds_##name(const unsigned *a, const unsigned *unused, unsigned *c, int n) {                                 \
    __shared__ unsigned p[64];                                                                                            \
    __shared__ unsigned long q[64];                                                                                       \
    __shared__ float f[64];                                                                                               \
    __shared__ double d[64];                                                                                              \
    (void)unused;                                                                                                         \
    int i = item_x(), t = lane_x();                                                                                       \
    if (i < n) c[i] = every_order<scope>(&p[t], &q[t], &f[t], &d[t], a[i]);                                               \
  }
SCOPE(one, __HIP_MEMORY_SCOPE_SINGLETHREAD)
SCOPE(wave, __HIP_MEMORY_SCOPE_WAVEFRONT)
SCOPE(group, __HIP_MEMORY_SCOPE_WORKGROUP)
SCOPE(agent, __HIP_MEMORY_SCOPE_AGENT)
SCOPE(system, __HIP_MEMORY_SCOPE_SYSTEM)

/* Every workgroup adds to the same words at once. */
KERNEL void contended(const unsigned *a, const unsigned *unused, unsigned *c, int n) {
  (void)unused;
  int i = item_x();
  if (i >= n) return;
  for (int k = 0; k < 8; k++) {
    __hip_atomic_fetch_add(&c[k], a[i] + (unsigned)k, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_xor(&c[8 + (i + k) % 4], a[i], __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_SYSTEM);
    __hip_atomic_fetch_add((unsigned long *)&c[12], (unsigned long)a[i], __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_add((float *)&c[14], (float)(a[i] & 7), __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_AGENT); /* exact below 2^24 */
  }
}

/* Each workgroup waits for the one before it, and passes the sum of its elements on. */
KERNEL void chain(const unsigned *a, const unsigned *unused, unsigned *c, int n) {
  (void)unused;
  int g = group_x();
  if (lane_x() != 0 || g >= n) return;
  unsigned *flag = c + 1024;
  while (g > 0 && __hip_atomic_load(&flag[g - 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
  c[g] = a[g] + (g > 0 ? c[g - 1] : 0);
  __hip_atomic_store(&flag[g], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

typedef __amdgpu_buffer_rsrc_t buffer;
static inline __device__ buffer buffer_of(const void *base, int bytes) {
  return __builtin_amdgcn_make_buffer_rsrc((void *)base, 0, bytes, 0x27000);
}

/* Copies 64 rows of 20 words with loads and stores that mask what lies beyond n words. */
KERNEL void masked_copy(const unsigned *a, const unsigned *unused, unsigned *c, int n) {
  (void)unused;
  typedef unsigned four __attribute__((ext_vector_type(4)));
  buffer from = buffer_of(a, n * 4), to = buffer_of(c, n * 4 - 8);
  for (int k = 0; k < 20; k += 4) {
    int offset = (item_x() * 20 + k) * 4;
    four v = __builtin_amdgcn_raw_buffer_load_b128(from, offset, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b128(v + 1u, to, offset, 0, 0);
  }
}

/* Memory to LDS, past the registers, by global and by buffer addresses. */
typedef __attribute__((address_space(3))) void *lds_pointer;
KERNEL void staged(const unsigned *a, const unsigned *b, unsigned *c, int n) {
  __shared__ unsigned here[2][64];
  int i = item_x(), t = lane_x();
  __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void *)(a + (i < n ? i : 0)), (lds_pointer)&here[0][0], 4,
                                   0, 0);
  __builtin_amdgcn_raw_ptr_buffer_load_lds(buffer_of(b, n * 4), (lds_pointer)&here[1][0], 4, i * 4, 0, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  sync();
  c[i] = here[0][63 - t] * 3 + here[1][63 - t];
}
