// try omp-dot: verdict: race | the same memory at the same time | race_sum.c:5
void dot(float *out, const float *x, const float *y, int n) {
  float sum = 0;
#pragma omp parallel for
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  *out = sum;
}
