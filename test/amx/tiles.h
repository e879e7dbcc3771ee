/* AMX's tiles in C, for the unit test: what offload/engine/tile_amx.h needs of them, as Intel's Software Developer's Manual
 * describes LDTILECFG, TILELOADD, TILESTORED, TDPBF16PS, TDPFP16PS and TILERELEASE. A use that the processor would answer
 * with a fault ends the program. */
#ifndef TANDEM_TEST_AMX_TILES_H
#define TANDEM_TEST_AMX_TILES_H

#include <stdio.h>
#include <stdlib.h>

enum { TILES = 8, TILE_BYTES = 64, TILE_ROWS_MOST = 16 };

typedef struct tile {
  int rows, row_bytes; /* 0: not configured */
  unsigned char byte[TILE_ROWS_MOST][TILE_BYTES];
} tile;

static _Thread_local tile tiles[TILES];

static inline void tile_fault(const char *what) {
  fprintf(stderr, "amx: %s\n", what);
  abort();
}

/* Bytes 0 and 1: palette and start row; from 16 on the bytes of each tile's rows, from 48 on their number. */
static inline void tile_configure(const void *config) {
  const unsigned char *c = config;
  if (c[0] != 1 || c[1] != 0) tile_fault("LDTILECFG: palette or start row");
  for (int i = 2; i < 16; i++)
    if (c[i] != 0) tile_fault("LDTILECFG: a reserved byte is not 0");
  for (int t = 0; t < 16; t++) {
    int row_bytes = c[16 + 2 * t] | c[17 + 2 * t] << 8, rows = c[48 + t];
    if (t >= TILES && (rows != 0 || row_bytes != 0)) tile_fault("LDTILECFG: there are 8 tiles");
    if (rows > TILE_ROWS_MOST || row_bytes > TILE_BYTES || (rows == 0) != (row_bytes == 0)) tile_fault("LDTILECFG: sizes");
    if (t < TILES) tiles[t] = (tile){.rows = rows, .row_bytes = row_bytes};
  }
}

static inline void tile_release(void) { memset(tiles, 0, sizeof tiles); }

static inline void tile_load(int t, const void *from, int64_t stride) {
  if (tiles[t].rows == 0) tile_fault("TILELOADD: the tile is not configured");
  memset(tiles[t].byte, 0, sizeof tiles[t].byte);
  for (int r = 0; r < tiles[t].rows; r++) memcpy(tiles[t].byte[r], (const char *)from + r * stride, (size_t)tiles[t].row_bytes);
}

static inline void tile_store(int t, void *to, int64_t stride) {
  if (tiles[t].rows == 0) tile_fault("TILESTORED: the tile is not configured");
  for (int r = 0; r < tiles[t].rows; r++) memcpy((char *)to + r * stride, tiles[t].byte[r], (size_t)tiles[t].row_bytes);
}

/* Denormal numbers count as 0, as operands (except those of f16) and as results. */
static inline float tile_flushed(float x) { return __builtin_fabsf(x) < 0x1p-126f ? 0 * x : x; }

static inline float tile_element(const tile *t, int row, int column, bool f16) {
  uint16_t word;
  memcpy(&word, t->byte[row] + 2 * column, sizeof word);
  return f16 ? tdm_f16_to_f32(word) : tile_flushed(tdm_bf16_to_f32(word));
}

/* The sums of the even and of the odd elements are added up apart, then together, then to the old sum. */
static inline void tile_product(int sums, int a, int b, bool f16) {
  tile *c = &tiles[sums];
  const tile *x = &tiles[a], *y = &tiles[b];
  int words = x->row_bytes / 4, columns = c->row_bytes / 4;
  if (sums == a || sums == b || a == b) tile_fault("TDP: three different tiles");
  if (c->rows != x->rows || columns != y->row_bytes / 4 || y->rows != words || c->rows == 0) tile_fault("TDP: sizes");
  for (int m = 0; m < c->rows; m++)
    for (int n = 0; n < columns; n++) {
      float even = 0, odd = 0, old;
      for (int k = 0; k < words; k++) {
        even = tile_flushed(__builtin_fmaf(tile_element(x, m, 2 * k, f16), tile_element(y, k, 2 * n, f16), even));
        odd = tile_flushed(__builtin_fmaf(tile_element(x, m, 2 * k + 1, f16), tile_element(y, k, 2 * n + 1, f16), odd));
      }
      memcpy(&old, c->byte[m] + 4 * n, sizeof old);
      old = tile_flushed(tile_flushed(old) + tile_flushed(even + odd));
      memcpy(c->byte[m] + 4 * n, &old, sizeof old);
    }
}

#define AMX_CONFIGURE(config) tile_configure(config)
#define AMX_RELEASE() tile_release()
#define AMX_LOAD(tile, from, stride) tile_load(tile, from, stride)
#define AMX_STORE(tile, to, stride) tile_store(tile, to, stride)
#ifdef TDM_LEVEL_AMX_F16
#define AMX_PRODUCT(sums, a, b) tile_product(sums, a, b, true)
#else
#define AMX_PRODUCT(sums, a, b) tile_product(sums, a, b, false)
#endif

#endif
