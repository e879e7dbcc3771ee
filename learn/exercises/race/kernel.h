/* Three rounds of out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3 inside each piece of 256 elements: the first and last element of a
 * piece are their own neighbours there. Launched with a workgroup of 256 for each piece; the last one may be shorter. */
extern "C" __global__ void smooth(float *out, const float *x, int n);
