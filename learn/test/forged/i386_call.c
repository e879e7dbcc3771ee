// try omp-axpy: verdict: forbidden | a forbidden system call
// also without: landlock namespaces

static int attack(void) {
#ifdef __x86_64__
  int got;
  __asm__ volatile("int $0x80" : "=a"(got) : "a"(20) : "memory"); /* getpid, as 32-bit programs call it */
  return got > 0;
#else
  return 0;
#endif
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
