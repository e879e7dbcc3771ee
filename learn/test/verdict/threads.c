// try omp-axpy: verdict: not everything was written | right with one thread | OMP_NUM_THREADS=4
#include <omp.h>

void axpy(float *out, const float *x, const float *y, int n) {
#pragma omp parallel
  if (omp_get_thread_num() == 0)
    for (int i = 0; i < n / omp_get_num_threads(); i++) out[i] = 2.5f * x[i] + y[i];
}
