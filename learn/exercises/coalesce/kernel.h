/* out[i][j] = factor[i] in[i][j]; in, out [rows, columns]. Launched with enough workgroups for one element per work-item. */
extern "C" __global__ void scale_rows(float *out, const float *in, const float *factor, int rows, int columns);
