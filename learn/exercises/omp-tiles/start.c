enum { TILE = 16 };

void transpose(float *out, const float *in, int rows, int columns) {
  long count = (long)rows * columns;
#pragma omp target teams distribute parallel for collapse(2) map(to : in[0 : count]) map(from : out[0 : count])
  for (int r = 0; r < rows; r += TILE)
    for (int c = 0; c < columns; c += TILE) {
      float tile[TILE][TILE];
      for (int i = 0; i < TILE; i++)  // your part: tiles at the edges
        for (int j = 0; j < TILE; j++) tile[j][i] = in[(long)(r + i) * columns + c + j];
      for (int j = 0; j < TILE; j++)
        for (int i = 0; i < TILE; i++) out[(long)(c + j) * rows + r + i] = tile[j][i];
    }
}
