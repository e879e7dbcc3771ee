/* HIP's words for kernels, in front of every file of an exercise: with them the file compiles without ROCm. */
#ifndef LEARN_HIP_H
#define LEARN_HIP_H

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

/* __launch_bounds__(threads) or (threads, waves per SIMD). In these exercises the first number is the size of the workgroup. */
#define __launch_bounds__(...) LEARN_BOUNDS(__VA_ARGS__, LEARN_BOUNDS_2, LEARN_BOUNDS_1)(__VA_ARGS__)
#define LEARN_BOUNDS(first, second, which, ...) which
#define LEARN_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define LEARN_BOUNDS_2(threads, waves) __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))

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

/* Waits until all of the workgroup is here. What it wrote to LDS before can be read afterwards. */
static inline __device__ void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* The value of lane (this lane ^ mask) of the wave. */
static inline __device__ float __shfl_xor(float x, int mask) {
  int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane ^ mask) * 4, __builtin_bit_cast(int, x)));
}

static inline __device__ float expf(float x) { return __builtin_expf(x); }
static inline __device__ float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
static inline __device__ float sqrtf(float x) { return __builtin_sqrtf(x); }
static inline __device__ int min(int a, int b) { return a < b ? a : b; }
static inline __device__ int max(int a, int b) { return a > b ? a : b; }

typedef float float4 __attribute__((ext_vector_type(4)));
typedef _Float16 half;
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));

#endif
