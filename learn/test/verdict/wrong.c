// try omp-axpy: verdict: wrong | out[0] =
void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2 * x[i] + y[i];
}
