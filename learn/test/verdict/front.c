// try omp-axpy: verdict: outside of its memory | write, 4 bytes in front of out
void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
  out[-1] = 1;
}
