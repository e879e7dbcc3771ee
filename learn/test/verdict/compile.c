// try omp-axpy: verdict: does not compile | compile.c:3: | undeclared
void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < m; i++) out[i] = 2.5f * x[i] + y[i];
}
