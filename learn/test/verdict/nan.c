// try omp-axpy: verdict: NaN | out[5] =
void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = i == 5 ? (x[i] - x[i]) / (x[i] - x[i]) : 2.5f * x[i] + y[i];
}
