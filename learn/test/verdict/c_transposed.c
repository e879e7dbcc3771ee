// try omp-tiles: verdict: wrong | the output is transposed
#include <string.h>

void transpose(float *out, const float *in, int rows, int columns) { memcpy(out, in, sizeof(float) * rows * columns); }
