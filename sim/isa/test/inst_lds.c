/* LDS loads and stores. A row writes the 16 bytes a, b to its own 16 bytes of LDS, from 1024 on, and changes or reads them.
 * Expectations: CDNA 4 ISA, descriptions of DS_*; of transposing reads 11.4 and what sim/isa/op/lds_transpose.c cites. */
#include "sim/test/expect.h"

#define SLOT " v_and_b32 v20, 63, v0\n v_lshlrev_b32 v20, 4, v20\n ds_write_b128 v20, v[2:5] offset:1024\n"
#define WAIT "\n s_waitcnt lgkmcnt(0)"

/* Bytes [at, at + count) of a, b. */
static u64 slice(u64 a, u64 b, int at, int count) {
  u8 bytes[24] = {0};
  u64 value = 0;
  memcpy(bytes, &a, 8);
  memcpy(bytes + 8, &b, 8);
  memcpy(&value, bytes + at, (size_t)count);
  return value;
}

EXPECT(u8_at3, slice(a, b, 3, 1))
EXPECT(i8_at3, (u32)(i8)slice(a, b, 3, 1))
EXPECT(u16_at6, slice(a, b, 6, 2))
EXPECT(i16_at6, (u32)(i16)slice(a, b, 6, 2))
EXPECT(u8_low, (old & 0xffff0000) | slice(a, b, 3, 1))
EXPECT(u8_high, (old & 0xffff) | slice(a, b, 3, 1) << 16)
EXPECT(i8_low, (old & 0xffff0000) | (u16)(i8)slice(a, b, 3, 1))
EXPECT(i8_high, (old & 0xffff) | (u64)(u16)(i8)slice(a, b, 3, 1) << 16)
EXPECT(u16_low, (old & 0xffff0000) | slice(a, b, 6, 2))
EXPECT(u16_high, (old & 0xffff) | slice(a, b, 6, 2) << 16)
EXPECT(b32_at4, slice(a, b, 4, 4))
EXPECT(b64_at4, slice(a, b, 4, 8))
EXPECT(two_words, slice(a, b, 12, 4) | slice(a, b, 4, 4) << 32)
EXPECT(far_words, (u32)a | b << 32)
EXPECT(own_word, (u32)a)
EXPECT(byte_of_low, (a & ~UINT64_C(0xff00)) | (c & 0xff) << 8)
EXPECT(byte_of_high, (a & ~UINT64_C(0xff00)) | (c >> 16 & 0xff) << 8)
EXPECT(word_of_low, (a & UINT64_C(0xffffffff0000ffff)) | (c & 0xffff) << 16)
EXPECT(word_of_high, (a & UINT64_C(0xffffffff0000ffff)) | (c >> 16 & 0xffff) << 16)
EXPECT(b32_at4_stored, (u32)a | c << 32)
EXPECT(b64_stored, c)
EXPECT(two_stored, (c >> 32) | c << 32)

static void b96_at4(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)exec;
  for (int n = 0; n < 3; n++) result[n] = (u32)slice(wave[lane].a, wave[lane].b, 4 + 4 * n, 4);
}
static void b128(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)exec;
  memcpy(result, &wave[lane].a, 16);
}
static void b128_swapped(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)exec;
  memcpy(result, &wave[lane].b, 8);
  memcpy(result + 2, &wave[lane].a, 8);
}
static void b96_stored(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)exec;
  memcpy(result, &wave[lane].a, 4);
  memcpy(result + 1, wave[lane].c, 12);
}
static void b128_stored(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)exec;
  memcpy(result, wave[lane].c, 16);
}

/* ---- Transposing reads: element k of lane r is element (k, r) of the row of 16 lanes, its matrix 16 elements wide ---- */

static u32 bits_at(const u8 *bytes, u32 at, u32 width) {
  u32 value = 0;
  for (u32 n = 0; n < width; n++) value |= (u32)(bytes[(at + n) / 8] >> (at + n) % 8 & 1) << n;
  return value;
}
static void transposed(const test_item wave[TEST_LANES], int lane, u32 width, u32 bytes, u32 result[4]) {
  u8 matrix[16 * 12];
  u32 rows = bytes * 8 / width, column = (u32)lane % 16;
  for (u32 r = 0; r < 16; r++) memcpy(matrix + r * bytes, &wave[(u32)lane / 16 * 16 + r].a, bytes);
  memset(result, 0, bytes);
  for (u32 k = 0; k < rows; k++) result[k * width / 32] |= bits_at(matrix, (k * 16 + column) * width, width) << k * width % 32;
  for (u32 k = 0; k < rows && width == 6; k++) /* one that straddles two dwords */
    if (k * width % 32 > 26)
      result[k * width / 32 + 1] |= bits_at(matrix, (k * 16 + column) * width, width) >> (32 - k * width % 32);
}
#define TRANSPOSED(symbol, width, bytes)                                                    \
  static void symbol(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) { \
    (void)exec;                                                                             \
    transposed(wave, lane, width, bytes, result);                                           \
  }
TRANSPOSED(tr_b16, 16, 8)
TRANSPOSED(tr_b8, 8, 8)
TRANSPOSED(tr_b4, 4, 8)
TRANSPOSED(tr_b6, 6, 12)
/* They need all lanes on. */
#define ALL_ON(text, moves) " s_mov_b64 exec, -1\n" SLOT text WAIT "\n s_and_b64 exec, s[18:19], s[16:17]\n" moves

#define READ(text, symbol) {SLOT " " text WAIT, VECTOR32, symbol}
#define READ64(text, symbol) {SLOT " " text WAIT, VECTOR64, symbol}
#define WROTE(text, symbol) {SLOT " " text "\n ds_read_b64 v[10:11], v20 offset:1024" WAIT, VECTOR64, symbol}

static const instruction_test tests[] = {
    READ("ds_nop\n ds_read_u8 v10, v20 offset:1027", u8_at3),
    READ("ds_read_i8 v10, v20 offset:1027", i8_at3),
    READ("ds_read_u16 v10, v20 offset:1030", u16_at6),
    READ("ds_read_i16 v10, v20 offset:1030", i16_at6),
    READ("ds_read_u8_d16 v10, v20 offset:1027", u8_low),
    READ("ds_read_u8_d16_hi v10, v20 offset:1027", u8_high),
    READ("ds_read_i8_d16 v10, v20 offset:1027", i8_low),
    READ("ds_read_i8_d16_hi v10, v20 offset:1027", i8_high),
    READ("ds_read_u16_d16 v10, v20 offset:1030", u16_low),
    READ("ds_read_u16_d16_hi v10, v20 offset:1030", u16_high),
    READ("ds_read_b32 v10, v20 offset:1028", b32_at4),
    READ64("ds_read_b64 v[10:11], v20 offset:1028", b64_at4), /* aligned to 4, as unaligned access mode allows */
    {SLOT " ds_read_b96 v[10:12], v20 offset:1028" WAIT, VECTOR96, .wide = b96_at4},
    {SLOT " ds_read_b128 v[10:13], v20 offset:1024" WAIT, VECTOR128, .wide = b128},
    READ64("v_add_u32 v20, 1024, v20\n ds_read2_b32 v[10:11], v20 offset0:3 offset1:1", two_words),
    {SLOT " v_add_u32 v20, 1024, v20\n ds_read2_b64 v[10:13], v20 offset0:1 offset1:0" WAIT, VECTOR128, .wide = b128_swapped},
    READ64("v_lshrrev_b32 v20, 2, v20\n ds_write_b32 v20, v2 offset:256\n ds_write_b32 v20, v4 offset:768\n"
           " ds_read2st64_b32 v[10:11], v20 offset0:1 offset1:3",
           far_words),
    {SLOT " ds_write_b64 v20, v[4:5]\n ds_write_b64 v20, v[2:3] offset:1024\n"
          " ds_read2st64_b64 v[10:13], v20 offset0:0 offset1:2" WAIT,
     VECTOR128, .wide = b128_swapped},
    WROTE("ds_write_b8 v20, v6 offset:1025", byte_of_low),
    WROTE("ds_write_b8_d16_hi v20, v6 offset:1025", byte_of_high),
    WROTE("ds_write_b16 v20, v6 offset:1026", word_of_low),
    WROTE("ds_write_b16_d16_hi v20, v6 offset:1026", word_of_high),
    WROTE("ds_write_b32 v20, v6 offset:1028", b32_at4_stored),
    WROTE("ds_write_b64 v20, v[6:7] offset:1024", b64_stored),
    {SLOT " ds_write_b96 v20, v[6:8] offset:1028\n ds_read_b128 v[10:13], v20 offset:1024" WAIT, VECTOR128, .wide = b96_stored},
    {SLOT " ds_write_b128 v20, v[6:9] offset:1024\n ds_read_b128 v[10:13], v20 offset:1024" WAIT, VECTOR128,
     .wide = b128_stored},
    {SLOT " v_add_u32 v21, 1024, v20\n ds_write2_b32 v21, v6, v7 offset0:1 offset1:0\n ds_read_b64 v[10:11], v21" WAIT,
     VECTOR64, two_stored},
    {SLOT " v_add_u32 v21, 1024, v20\n ds_write2_b64 v21, v[4:5], v[2:3] offset0:0 offset1:1\n ds_read_b128 v[10:13], v21" WAIT,
     VECTOR128, .wide = b128_swapped},
    READ64("v_lshrrev_b32 v20, 2, v20\n ds_write2st64_b32 v20, v2, v4 offset0:1 offset1:3\n"
           " ds_read_b32 v10, v20 offset:256\n ds_read_b32 v11, v20 offset:768",
           far_words),
    {SLOT " ds_write2st64_b64 v20, v[4:5], v[2:3] offset0:0 offset1:3\n ds_read_b64 v[10:11], v20\n"
          " ds_read_b64 v[12:13], v20 offset:1536" WAIT,
     VECTOR128, .wide = b128_swapped},
    {" v_and_b32 v20, 63, v0\n v_lshlrev_b32 v20, 2, v20\n s_mov_b32 m0, 0xabcd0100\n ds_write_addtid_b32 v2 offset:64\n"
     " ds_read_b32 v10, v20 offset:320" WAIT,
     VECTOR32, own_word},
    {" v_and_b32 v20, 63, v0\n v_lshlrev_b32 v20, 2, v20\n s_mov_b32 m0, 0xabcd0100\n ds_write_b32 v20, v2 offset:320\n"
     " ds_read_addtid_b32 v10 offset:64" WAIT,
     VECTOR32, own_word},
    {ALL_ON(" ds_read_b64_tr_b16 v[22:23], v20 offset:1024", " v_mov_b64 v[10:11], v[22:23]"), VECTOR64, .wide = tr_b16,
     .chip = "gfx950"},
    {ALL_ON(" ds_read_b64_tr_b8 v[22:23], v20 offset:1024", " v_mov_b64 v[10:11], v[22:23]"), VECTOR64, .wide = tr_b8,
     .chip = "gfx950"},
    {ALL_ON(" ds_read_b64_tr_b4 v[22:23], v20 offset:1024", " v_mov_b64 v[10:11], v[22:23]"), VECTOR64, .wide = tr_b4,
     .chip = "gfx950"},
    {ALL_ON(" ds_read_b96_tr_b6 v[22:24], v20 offset:1024", " v_mov_b64 v[10:11], v[22:23]\n v_mov_b32 v12, v24"), VECTOR96,
     .wide = tr_b6, .chip = "gfx950"},
};
TABLE(lds);
