// try gemm: verdict: can't be launched | TILE(rows, columns) is missing
extern "C" __global__ void gemm(float *out, const half *a, const half *b, int m, int n, int k) {
  if (m + n + k == 0) out[0] = a[0] * b[0];
}
