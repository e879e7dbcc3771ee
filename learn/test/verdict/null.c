// try omp-axpy: a NULL pointer
void axpy(float *out, const float *x, const float *y, int n) {
  (void)out, (void)x, (void)y;
  *(volatile int *)8 = n;
}
