// try omp-axpy: verdict: an input was written | y[3] was changed
void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
  ((float *)y)[3] = 1;
}
