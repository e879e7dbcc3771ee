/* out[i][j] = e^in[i][j] / sum over l of e^in[i][l]: softmax of each row of in [rows, columns]. Launched with a workgroup of
 * 256 for each row: blockIdx.x. */
extern "C" __global__ void softmax(float *out, const float *in, int rows, int columns);
