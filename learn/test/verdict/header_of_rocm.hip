// try axpy: verdict: wrong | the wrong elements have the other sign
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = -(2.5f * x[i] + y[i]);
}
