/* out[i] = the sum over j of in[i][j] w[j]: in [rows, columns], w [columns] in f32. columns is a multiple of 32. Launched with
 * a workgroup of one wave for each 64 rows: blockIdx.x. */
extern "C" __global__ void matrix_vector(float *out, const float *in, const float *w, int rows, int columns);
