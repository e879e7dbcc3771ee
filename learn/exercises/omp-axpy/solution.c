void axpy(float *out, const float *x, const float *y, int n) {
#pragma omp target teams distribute parallel for map(to : x[0 : n], y[0 : n]) map(from : out[0 : n])
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
