// try axpy: verdict: the kernel is missing | no kernel named axpy | it has saxpy
extern "C" __global__ void saxpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.5f * x[i] + y[i];
}
