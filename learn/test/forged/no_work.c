// try omp-axpy: verdict: not everything was written
// also without: landlock namespaces seccomp

static int attack(void) { return 0; }

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
