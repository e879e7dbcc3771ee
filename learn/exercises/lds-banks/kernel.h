/* out[j][i] = in[i][j]: in [rows, columns], out [columns, rows]. A workgroup of 256 transposes a tile of 32 x 32; blockIdx.x
 * counts tiles of columns, blockIdx.y tiles of rows. */
extern "C" __global__ void transpose(float *out, const float *in, int rows, int columns);
