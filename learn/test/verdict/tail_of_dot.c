// try omp-dot --seed 1: verdict: wrong | at most 0 away | the tail is left out: this is the result without the last 3 of x's 1000003
void dot(float *out, const float *x, const float *y, int n) {
  float sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n / 8 * 8; i++) sum += x[i] * y[i];
  *out = sum;
}
