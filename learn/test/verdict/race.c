// try omp-axpy: verdict: race | the same memory at the same time | race.c:9
#include <omp.h>

void axpy(float *out, const float *x, const float *y, int n) {
  int mine = 0;  // of all threads: the last one that writes it
#pragma omp parallel
  {
    int threads = omp_get_num_threads();
    mine = omp_get_thread_num();
#pragma omp barrier
    for (int i = mine; i < n; i += threads) out[i] = 2.5f * x[i] + y[i];
  }
}
