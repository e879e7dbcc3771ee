/* Micro tiles of 32 x 32 by AMX's tiles of 16 rows of 64 bytes: sums in tiles 0 to 3, A in 4 and 5, B in 6 and 7. A product
 * adds 16 words of k to 16 x 16 sums. tile.h includes this file. The unit test compiles it with an emulation of the tiles in C
 * (TDM_AMX_EMULATED: test/amx/tiles.h). */
#ifndef TANDEM_OFFLOAD_ENGINE_TILE_AMX_H
#define TANDEM_OFFLOAD_ENGINE_TILE_AMX_H

#ifdef TDM_AMX_EMULATED
#include "test/amx/tiles.h"
#else
#define AMX_CONFIGURE(config) _tile_loadconfig(config)
#define AMX_RELEASE() _tile_release()
#define AMX_LOAD(tile, from, stride) _tile_loadd(tile, from, stride)
#define AMX_STORE(tile, to, stride) _tile_stored(tile, to, stride)
#ifdef TDM_LEVEL_AMX_F16
#define AMX_PRODUCT(sums, a, b) _tile_dpfp16ps(sums, a, b)
#else
#define AMX_PRODUCT(sums, a, b) _tile_dpbf16ps(sums, a, b)
#endif
#endif

enum { AMX_ROWS = 16, AMX_BYTES = 64, AMX_WORDS = AMX_BYTES / 4, AMX_TILES = 8 };
_Static_assert(AMX_WORDS == TDM_LANES && MICRO_M == 2 * AMX_ROWS && MICRO_N == 2 * AMX_WORDS, "2 x 2 tiles");

/* The operand of LDTILECFG. */
typedef struct amx_config {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} amx_config;

/* A thread's tiles belong to it from here to the end of the products: while they are in use, a switch of threads saves 8 KiB
 * more. */
static inline void amx_begin(void) {
  amx_config config = {.palette = 1};
  for (int i = 0; i < AMX_TILES; i++) {
    config.row_bytes[i] = AMX_BYTES;
    config.rows[i] = AMX_ROWS;
  }
  AMX_CONFIGURE(&config);
}
#define TILE_BEGIN_PRODUCTS() amx_begin()
#define TILE_END_PRODUCTS() AMX_RELEASE()

/* sums += A micro panel * B micro panel, over `words` words, in whole blocks: the panels are filled with zeros. gcc's tile
 * instructions don't tell the compiler that they use memory, so it is told before and after them. */
TDM_INLINE void tile_multiply(tile_sums sums, const float *a, int a_row, int a_k, const float *b, int b_k, int64_t words) {
  float *c = (float *)sums;
  const int b_stride = MICRO_N * 4, c_stride = MICRO_N * 4;
  (void)a_row, (void)a_k, (void)b_k;
  __asm__ volatile("" ::: "memory");
  AMX_LOAD(0, c, c_stride);
  AMX_LOAD(1, c + AMX_WORDS, c_stride);
  AMX_LOAD(2, c + AMX_ROWS * MICRO_N, c_stride);
  AMX_LOAD(3, c + AMX_ROWS * MICRO_N + AMX_WORDS, c_stride);
  for (int64_t w = 0; w < words; w += AMX_WORDS) {
    AMX_LOAD(4, a + w * MICRO_M, AMX_BYTES);
    AMX_LOAD(6, b + w * MICRO_N, b_stride);
    AMX_PRODUCT(0, 4, 6);
    AMX_LOAD(7, b + w * MICRO_N + AMX_WORDS, b_stride);
    AMX_PRODUCT(1, 4, 7);
    AMX_LOAD(5, a + w * MICRO_M + AMX_ROWS * AMX_WORDS, AMX_BYTES);
    AMX_PRODUCT(2, 5, 6);
    AMX_PRODUCT(3, 5, 7);
  }
  AMX_STORE(0, c, c_stride);
  AMX_STORE(1, c + AMX_WORDS, c_stride);
  AMX_STORE(2, c + AMX_ROWS * MICRO_N, c_stride);
  AMX_STORE(3, c + AMX_ROWS * MICRO_N + AMX_WORDS, c_stride);
  __asm__ volatile("" ::: "memory");
}

#endif
