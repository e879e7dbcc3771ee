// try omp-axpy: not right: n 16384
static float deeper(const float *x, int i) {
  volatile float room[4096];
  room[i % 4096] = x[i % 7];
  return room[i % 4096] + deeper(x, i + 1);
}

void axpy(float *out, const float *x, const float *y, int n) { out[0] = deeper(x, n) + y[0]; }
