/* Calls of programs that were built with -fgpu-default-stream=per-thread: stream 0 is the thread's own. */
#include "hip_state.h"

HIP_API hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t handle);
HIP_API hipError_t hipLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t lds, hipStream_t handle);
HIP_API hipError_t hipLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **args, unsigned lds,
                                              hipStream_t handle);
HIP_API hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t call, void *data);
HIP_API hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                    hipMemcpyKind kind, hipStream_t handle);

static hipStream_t own(hipStream_t handle) { return handle != NULL ? handle : hipStreamPerThread; }

HIP_API hipError_t hipMemcpy_spt(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
  return hipMemcpyWithStream(to, from, bytes, kind, hipStreamPerThread);
}
HIP_API hipError_t hipMemcpyAsync_spt(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t handle) {
  return hipMemcpyAsync(to, from, bytes, kind, own(handle));
}
HIP_API hipError_t hipMemcpy2DAsync_spt(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                        size_t height, hipMemcpyKind kind, hipStream_t handle) {
  return hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, own(handle));
}
HIP_API hipError_t hipMemset_spt(void *to, int value, size_t bytes) {
  hipError_t error = hipMemsetAsync(to, value, bytes, hipStreamPerThread);
  return error == hipSuccess ? hipStreamSynchronize(hipStreamPerThread) : error;
}
HIP_API hipError_t hipMemsetAsync_spt(void *to, int value, size_t bytes, hipStream_t handle) {
  return hipMemsetAsync(to, value, bytes, own(handle));
}
HIP_API hipError_t hipStreamSynchronize_spt(hipStream_t handle) { return hipStreamSynchronize(own(handle)); }
HIP_API hipError_t hipStreamQuery_spt(hipStream_t handle) { return hipStreamQuery(own(handle)); }
HIP_API hipError_t hipStreamWaitEvent_spt(hipStream_t handle, hipEvent_t event, unsigned flags) {
  return hipStreamWaitEvent(own(handle), event, flags);
}
HIP_API hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t handle) { return hipEventRecord(event, own(handle)); }
HIP_API hipError_t hipLaunchHostFunc_spt(hipStream_t handle, hipHostFn_t call, void *data) {
  return hipLaunchHostFunc(own(handle), call, data);
}
HIP_API hipError_t hipLaunchKernel_spt(const void *host, dim3 grid, dim3 block, void **args, size_t lds, hipStream_t handle) {
  return hipLaunchKernel(host, grid, block, args, lds, own(handle));
}
HIP_API hipError_t hipLaunchCooperativeKernel_spt(const void *host, dim3 grid, dim3 block, void **args, unsigned lds,
                                                  hipStream_t handle) {
  return hipLaunchCooperativeKernel(host, grid, block, args, lds, own(handle));
}
