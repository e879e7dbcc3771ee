#include <omp.h>

void axpy(float *out, const float *x, const float *y, int n) {
#pragma omp target teams num_teams(1) map(to : x[0 : n], y[0 : n]) map(from : out[0 : n])
#pragma omp parallel
  {
    int chunk = n / omp_get_num_threads(), begin = omp_get_thread_num() * chunk;  // your part: every element, for any number
    for (int i = begin; i < begin + chunk; i++) out[i] = 2.5f * x[i] + y[i];
  }
}
