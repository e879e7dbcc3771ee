// try omp-axpy --seconds 1: verdict: does not end | longer than 1 s
void axpy(float *out, const float *x, const float *y, int n) {
  for (volatile int i = 0; i < n; i = 0) out[i] = 2.5f * x[i] + y[i];
}
