/* What HIP's headers would give: the kernels of these tests are compiled without ROCm. */
#ifndef SIM_TEST_DEVICE_H
#define SIM_TEST_DEVICE_H
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define KERNEL extern "C" __global__

static inline __device__ int lane_x() { return (int)__builtin_amdgcn_workitem_id_x(); }
static inline __device__ int lane_y() { return (int)__builtin_amdgcn_workitem_id_y(); }
static inline __device__ int group_x() { return (int)__builtin_amdgcn_workgroup_id_x(); }
static inline __device__ int group_y() { return (int)__builtin_amdgcn_workgroup_id_y(); }
static inline __device__ int item_x() { return group_x() * (int)__builtin_amdgcn_workgroup_size_x() + lane_x(); }

/* Barrier with the waits that LDS needs: what __syncthreads() is. */
static inline __device__ void sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#endif
