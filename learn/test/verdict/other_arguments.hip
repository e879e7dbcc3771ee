// try axpy: verdict: the kernel is missing | C++'s name of a function with other arguments
__global__ void axpy(double *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.5f * x[i] + y[i];
}
