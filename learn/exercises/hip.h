/* HIP's words for kernels, in front of every file of an exercise: with them the file compiles without ROCm. */
#ifndef LEARN_HIP_H
#define LEARN_HIP_H

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

/* __launch_bounds__(threads) or (threads, waves per SIMD). In these exercises the first number is the size of the workgroup. */
#define __launch_bounds__(...) LEARN_BOUNDS(__VA_ARGS__, LEARN_BOUNDS_2, LEARN_BOUNDS_1)(__VA_ARGS__)
#define LEARN_BOUNDS(first, second, which, ...) which
#define LEARN_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, learn_workgroup<threads>())))
#define LEARN_BOUNDS_2(threads, waves) \
  __attribute__((amdgpu_flat_work_group_size(1, learn_workgroup<threads>()), amdgpu_waves_per_eu(waves)))
/* The compiler would replace a larger one without a word. */
template <long threads>
constexpr int learn_workgroup() {
  static_assert(threads >= 1 && threads <= 1024, "__launch_bounds__: a workgroup has 1 to 1024 work-items");
  return (int)threads;
}

/* TILE(rows, columns), once in a file: how much of the output a workgroup makes, where the exercise leaves it open. */
#define TILE(rows, columns)                                                                          \
  extern "C" {                                                                                       \
  extern __device__ __attribute__((visibility("default"))) const int learn_tile[2];                  \
  __device__ __attribute__((used, visibility("default"))) const int learn_tile[2] = {rows, columns}; \
  }

#define LEARN_INDEX(name, function)                                                         \
  struct learn_##name {                                                                     \
    __declspec(property(get = get_x)) unsigned x;                                           \
    __declspec(property(get = get_y)) unsigned y;                                           \
    static inline __device__ unsigned get_x() { return __builtin_amdgcn_##function##_x(); } \
    static inline __device__ unsigned get_y() { return __builtin_amdgcn_##function##_y(); } \
  };                                                                                        \
  static const __device__ learn_##name name
LEARN_INDEX(threadIdx, workitem_id);
LEARN_INDEX(blockIdx, workgroup_id);
LEARN_INDEX(blockDim, workgroup_size);

/* The numbers of workgroups: the first of the arguments that every kernel gets beside its own (LLVM, "AMDGPU usage", code
 * object V5, hidden_block_count_x). */
struct learn_gridDim {
  __declspec(property(get = get_x)) unsigned x;
  __declspec(property(get = get_y)) unsigned y;
  static inline __device__ unsigned get(int n) {
    return ((const __attribute__((address_space(4))) unsigned *)__builtin_amdgcn_implicitarg_ptr())[n];
  }
  static inline __device__ unsigned get_x() { return get(0); }
  static inline __device__ unsigned get_y() { return get(1); }
};
static const __device__ learn_gridDim gridDim;

/* Waits until all of the workgroup is here. What it wrote to LDS before can be read afterwards. */
static inline __device__ void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

static inline __device__ int learn_lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); }

/* The value of another lane of the wave; of its own, where there is no such lane. */
template <class T>
static inline __device__ T __shfl(T x, int lane) {
  static_assert(sizeof(T) == 4, "__shfl: here for types of 4 bytes");
  return __builtin_bit_cast(T, __builtin_amdgcn_ds_bpermute((lane & 63) * 4, __builtin_bit_cast(int, x)));
}
template <class T>
static inline __device__ T __shfl_xor(T x, int mask) {
  return __shfl(x, learn_lane() ^ mask);
}
template <class T>
static inline __device__ T __shfl_down(T x, int by) {
  return __shfl(x, learn_lane() + by < 64 ? learn_lane() + by : learn_lane());
}
template <class T>
static inline __device__ T __shfl_up(T x, int by) {
  return __shfl(x, learn_lane() >= by ? learn_lane() - by : learn_lane());
}
static constexpr __device__ int warpSize = 64;

/* Adds to memory that other work-items add to; the value before. */
static inline __device__ float atomicAdd(float *to, float x) {
  return __hip_atomic_fetch_add(to, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
static inline __device__ int atomicAdd(int *to, int x) {
  return __hip_atomic_fetch_add(to, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

static inline __device__ float expf(float x) { return __builtin_expf(x); }
static inline __device__ float __expf(float x) { return __builtin_expf(x); }
static inline __device__ float logf(float x) { return __builtin_logf(x); }
static inline __device__ float rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
static inline __device__ float fabsf(float x) { return __builtin_fabsf(x); }
static inline __device__ float fminf(float a, float b) { return __builtin_fminf(a, b); }
static inline __device__ float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline __device__ float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
static inline __device__ float sqrtf(float x) { return __builtin_sqrtf(x); }
static inline __device__ int min(int a, int b) { return a < b ? a : b; }
static inline __device__ int max(int a, int b) { return a > b ? a : b; }

typedef float float4 __attribute__((ext_vector_type(4)));
typedef _Float16 half;
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));

#endif
