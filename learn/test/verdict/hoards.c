// try omp-axpy: verdict: crashed | Aborted
#include <stdlib.h>

enum { PIECE = 1 << 30, PIECES = 16 };

void axpy(float *out, const float *x, const float *y, int n) {
  for (int i = 0; i < PIECES; i++) {
    volatile char *piece = malloc(PIECE);
    if (piece == NULL) abort();
    *piece = 1;
  }
  for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
