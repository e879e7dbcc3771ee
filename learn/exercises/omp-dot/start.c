void dot(float *out, const float *x, const float *y, int n) {
  float sum = 0;  // your part: which copy is added to inside the region, and how does it come back?
#pragma omp target teams distribute parallel for map(to : x[0 : n], y[0 : n])
  for (int i = 0; i < n; i++) sum += x[i] * y[i];
  *out = sum;
}
