/* *out = the sum of x[i] y[i], i = 0 .. n - 1 */
void dot(float *out, const float *x, const float *y, int n);
