/* out[i] = the sum of row i of in [rows, columns]. Launched with a workgroup for each row: blockIdx.x. */
extern "C" __global__ void row_sum(float *out, const float *in, int rows, int columns);
