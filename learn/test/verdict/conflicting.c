// try omp-axpy: verdict: does not compile | conflicting types for
void axpy(float *out, const float *x, const float *y, long n) {
  for (long i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
