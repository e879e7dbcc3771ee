// try omp-axpy: verdict: wrong | the output is shifted by 1 element: each place has what belongs after it
void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) {
    int from = i + 1 < n ? i + 1 : i;
    out[i] = 2.5f * x[from] + y[from];
  }
}
