enum { TILE = 16 };

void transpose(float *out, const float *in, int rows, int columns) {
  long count = (long)rows * columns;
#pragma omp target teams distribute parallel for collapse(2) map(to : in[0 : count]) map(from : out[0 : count])
  for (int r = 0; r < rows; r += TILE)
    for (int c = 0; c < columns; c += TILE) {
      float tile[TILE][TILE];
      int high = rows - r < TILE ? rows - r : TILE, wide = columns - c < TILE ? columns - c : TILE;
      for (int i = 0; i < high; i++)
        for (int j = 0; j < wide; j++) tile[j][i] = in[(long)(r + i) * columns + c + j];
      for (int j = 0; j < wide; j++)
        for (int i = 0; i < high; i++) out[(long)(c + j) * rows + r + i] = tile[j][i];
    }
}
