// try axpy: verdict: right, but a target is missed | bytes of scratch per lane                    8016   target: at most 0, missed
extern "C" __global__ __launch_bounds__(256) void axpy(float *out, const float *x, const float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float own[2000];
  own[i % 2000] = 2.5f;
  if (i < n) out[i] = own[i % 2000] * x[i] + y[i];
}
