// try omp-axpy: verdict: outside of its memory | 0 bytes after the end of | (16384 elements of f32): its element 16384
void axpy(float *out, const float *x, const float *y, int n) {
#pragma omp parallel for
  for (int i = 0; i <= n; i++) out[i] = 2.5f * x[i] + y[i];
}
