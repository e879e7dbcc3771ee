/* out = silu(x wg) * (x wu), silu(t) = t / (1 + e^-t): x [m, k], wg and wu [k, n], out [m, n] */
void swiglu(float *out, const float *x, const float *wg, const float *wu, int m, int n, int k);
