/* out[i] = 2.5 x[i] + y[i], i = 0 .. n - 1 */
void axpy(float *out, const float *x, const float *y, int n);
