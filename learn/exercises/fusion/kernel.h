/* out[i][j] = s[i][j] w[j] / sqrt(mean over j of s[i][j]^2 + 1e-5) with s = x + r: x, r, out [rows, columns], columns at most
 * 2048. Launched with a workgroup for each row: blockIdx.x. */
extern "C" __global__ void add_norm(float *out, const float *x, const float *r, const float *w, int rows, int columns);
