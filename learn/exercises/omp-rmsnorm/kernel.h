/* out[i][j] = x[i][j] / sqrt(mean of the squares of row i + 1e-5) w[j]; x, out [rows, columns], w [columns] */
void rmsnorm(float *out, const float *x, const float *w, int rows, int columns);
