/* out[j] = the sum of column j of in [rows, columns]. Launched with a workgroup of one wave for each 64 columns: blockIdx.x. */
extern "C" __global__ void column_sum(float *out, const float *in, int rows, int columns);
