// try omp-axpy: verdict: outside of its memory | index
void axpy(float *out, const float *x, const float *y, int n) {
  float tile[16];
  for (int b = 0; b < n; b += 16) {
    for (int i = 0; i <= 16; i++) tile[i] = 0;
    for (int i = b; i < n && i < b + 16; i++) out[i] = 2.5f * x[i] + y[i] + tile[i - b];
  }
}
