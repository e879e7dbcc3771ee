/* out[i][j] = the dot product of row i of a [rows, k] and row j of b [columns, k]; k is a multiple of 64. Launched with a
 * workgroup of one wave for each element of out, in one dimension: the kernel decides which element it computes. Workgroup id
 * runs on XCD id % xcds. */
extern "C" __global__ void scores(float *out, const float *a, const float *b, int rows, int columns, int k, int xcds);
