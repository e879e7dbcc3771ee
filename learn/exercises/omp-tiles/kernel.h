/* out[j][i] = in[i][j]: in [rows, columns], out [columns, rows] */
void transpose(float *out, const float *in, int rows, int columns);
