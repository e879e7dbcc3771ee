// try omp-axpy: verdict: the kernel is missing | no function named axpy
void saxpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
