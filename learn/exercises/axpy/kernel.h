/* out[i] = 2.5 x[i] + y[i], i = 0 .. n - 1. Launched with enough workgroups for one element per work-item. */
extern "C" __global__ void axpy(float *out, const float *x, const float *y, int n);
