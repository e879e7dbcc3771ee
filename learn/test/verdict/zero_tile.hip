// try gemm: verdict: can't be launched | must be two positive numbers
TILE(16, 0)
extern "C" __global__ void gemm(float *out, const half *a, const half *b, int m, int n, int k) {
  if (m + n + k == 0) out[0] = a[0] * b[0];
}
