/* out[i] = log(sum over j of e^x[i][j]): x [rows, columns], columns at most 4096. Launched with a workgroup for each row:
 * blockIdx.x. */
extern "C" __global__ void log_sum_exp(float *out, const half *x, int rows, int columns);
