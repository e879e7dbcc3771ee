// try omp-rmsnorm: verdict: race | the same memory at the same time
#include <math.h>

void rmsnorm(float *out, const float *x, const float *w, int rows, int columns) {
  long count = (long)rows * columns;
#pragma omp target teams distribute map(to : x[0 : count], w[0 : columns]) map(from : out[0 : count])
  for (int i = 0; i < rows; i++) {
    const float *row = x + (long)i * columns;
    float sum = 0;
#pragma omp parallel for
    for (int j = 0; j < columns; j++) sum += row[j] * row[j];
    float scale = 1 / sqrtf(sum / columns + 1e-5f);
#pragma omp parallel for
    for (int j = 0; j < columns; j++) out[(long)i * columns + j] = row[j] * scale * w[j];
  }
}
