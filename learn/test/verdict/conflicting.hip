// try axpy: verdict: does not compile | conflicting types for 'axpy'
extern "C" __global__ void axpy(float *out, const float *x, const float *y, long n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.5f * x[i] + y[i];
}
