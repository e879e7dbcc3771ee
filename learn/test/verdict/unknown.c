// try omp-axpy: verdict: does not compile | undefined reference to
float helper(float x);

void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = helper(x[i]) + y[i];
}
