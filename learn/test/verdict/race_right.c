// try omp-axpy: verdict: race | the results were right this time | race_right.c:8
static int done;

void axpy(float *out, const float *x, const float *y, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    out[i] = 2.5f * x[i] + y[i];
    done++;  // nobody reads it
  }
}
