void dot(float *out, const float *x, const float *y, int n) {
  float sum = 0;
#pragma omp target teams distribute parallel for map(to : x[0 : n], y[0 : n]) map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  *out = sum;
}
