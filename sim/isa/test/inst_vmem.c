/* Global, flat and scratch loads and stores. A row's 16 bytes a, b lie in memory: the item's own slot among the results, 16
 * bytes of LDS, or 16 of the lane's scratch. Expectations: CDNA 4 ISA, descriptions of GLOBAL_*, FLAT_*, SCRATCH_*. */
#include "sim/test/expect.h"

#define END " s_waitcnt vmcnt(0) lgkmcnt(0)\n"

static u64 slice(u64 a, u64 b, int at, int count) {
  u8 bytes[24] = {0};
  u64 value = 0;
  memcpy(bytes, &a, 8);
  memcpy(bytes + 8, &b, 8);
  memcpy(&value, bytes + at, (size_t)count);
  return value;
}

EXPECT(ubyte, slice(a, b, 3, 1))
EXPECT(sbyte, (u32)(i8)slice(a, b, 3, 1))
EXPECT(ushort, slice(a, b, 6, 2))
EXPECT(sshort, (u32)(i16)slice(a, b, 6, 2))
EXPECT(ubyte_low, (old & 0xffff0000) | slice(a, b, 3, 1))
EXPECT(ubyte_high, (old & 0xffff) | slice(a, b, 3, 1) << 16)
EXPECT(sbyte_low, (old & 0xffff0000) | (u16)(i8)slice(a, b, 3, 1))
EXPECT(sbyte_high, (old & 0xffff) | (u64)(u16)(i8)slice(a, b, 3, 1) << 16)
EXPECT(short_low, (old & 0xffff0000) | slice(a, b, 6, 2))
EXPECT(short_high, (old & 0xffff) | slice(a, b, 6, 2) << 16)
EXPECT(dword, slice(a, b, 4, 4))
EXPECT(dwordx2, slice(a, b, 4, 8))

#define WIDE(symbol, statements)                                                            \
  static void symbol(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) { \
    u8 slot[16];                                                                            \
    const u8 *c = (const u8 *)wave[lane].c;                                                 \
    (void)exec, (void)c;                                                                    \
    memcpy(slot, &wave[lane].a, 16);                                                        \
    statements;                                                                             \
    memcpy(result, slot, 16);                                                               \
  }
WIDE(dwordx4, (void)0)
/* c is stored to byte 4, or where the name says; the high forms store bits 16 and up. */
WIDE(byte_stored, slot[5] = c[0])
WIDE(byte_high_stored, slot[5] = c[2])
WIDE(short_stored, memcpy(slot + 6, c, 2))
WIDE(short_high_stored, memcpy(slot + 6, c + 2, 2))
WIDE(dword_stored, memcpy(slot + 4, c, 4))
WIDE(dwordx2_stored, memcpy(slot + 4, c, 8))
WIDE(dwordx3_stored, memcpy(slot + 4, c, 12))
WIDE(dwordx4_stored, memcpy(slot, c, 16))
static void dwordx3(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)exec;
  for (int n = 0; n < 3; n++) result[n] = (u32)slice(wave[lane].a, wave[lane].b, 4 + 4 * n, 4);
}

/* The memory under test: `fill` writes a, b there; `at` is its address less 16, and `base` the scalar part, if any. */
#define LOADS(prefix, fill, at, base, more)                                                                               \
  {fill " " prefix "_load_ubyte v10, " at base " offset:19\n" END, VECTOR32, .expect = ubyte, more},                      \
      {fill " " prefix "_load_sbyte v10, " at base " offset:19\n" END, VECTOR32, .expect = sbyte, more},                  \
      {fill " " prefix "_load_ushort v10, " at base " offset:22\n" END, VECTOR32, .expect = ushort, more},                \
      {fill " " prefix "_load_sshort v10, " at base " offset:22\n" END, VECTOR32, .expect = sshort, more},                \
      {fill " " prefix "_load_ubyte_d16 v10, " at base " offset:19\n" END, VECTOR32, .expect = ubyte_low, more},          \
      {fill " " prefix "_load_ubyte_d16_hi v10, " at base " offset:19\n" END, VECTOR32, .expect = ubyte_high, more},      \
      {fill " " prefix "_load_sbyte_d16 v10, " at base " offset:19\n" END, VECTOR32, .expect = sbyte_low, more},          \
      {fill " " prefix "_load_sbyte_d16_hi v10, " at base " offset:19\n" END, VECTOR32, .expect = sbyte_high, more},      \
      {fill " " prefix "_load_short_d16 v10, " at base " offset:22\n" END, VECTOR32, .expect = short_low, more},          \
      {fill " " prefix "_load_short_d16_hi v10, " at base " offset:22\n" END, VECTOR32, .expect = short_high, more},      \
      {fill " " prefix "_load_dword v10, " at base " offset:20\n" END, VECTOR32, .expect = dword, more},                  \
      {fill " " prefix "_load_dwordx2 v[10:11], " at base " offset:20 sc0 sc1\n" END, VECTOR64, .expect = dwordx2, more}, \
      {fill " " prefix "_load_dwordx3 v[10:12], " at base " offset:20 nt\n" END, VECTOR96, .wide = dwordx3, more}, {      \
    fill " " prefix "_load_dwordx4 v[10:13], " at base " offset:16\n" END, VECTOR128, .wide = dwordx4, more               \
  }
#define STORE_ROW(prefix, fill, at, base, name, data, offset, symbol, more)                   \
  {fill " " prefix "_store_" name " " at ", " data base " offset:" offset "\n" END " " prefix \
        "_load_dwordx4 v[10:13], " at base " offset:16\n" END,                                \
   VECTOR128, .wide = symbol, more}
#define STORES(prefix, fill, at, base, more)                                                  \
  STORE_ROW(prefix, fill, at, base, "byte", "v6", "21", byte_stored, more),                   \
      STORE_ROW(prefix, fill, at, base, "byte_d16_hi", "v6", "21", byte_high_stored, more),   \
      STORE_ROW(prefix, fill, at, base, "short", "v6", "22", short_stored, more),             \
      STORE_ROW(prefix, fill, at, base, "short_d16_hi", "v6", "22", short_high_stored, more), \
      STORE_ROW(prefix, fill, at, base, "dword", "v6", "20", dword_stored, more),             \
      STORE_ROW(prefix, fill, at, base, "dwordx2", "v[6:7]", "20", dwordx2_stored, more),     \
      STORE_ROW(prefix, fill, at, base, "dwordx3", "v[6:8]", "20", dwordx3_stored, more),     \
      STORE_ROW(prefix, fill, at, base, "dwordx4", "v[6:9]", "16", dwordx4_stored, more)

/* Every address is 16 less than the slot's, and every offset 16 more. */
#define GLOBAL_FILL                                                                                              \
  " global_store_dwordx4 v1, v[2:5], s[6:7]\n s_sub_u32 s8, s6, 16\n s_subb_u32 s9, s7, 0\n v_mov_b32 v20, s8\n" \
  " v_mov_b32 v21, s9\n v_mov_b32 v22, v1\n v_mov_b32 v23, 0\n v_lshl_add_u64 v[20:21], v[20:21], 0, v[22:23]\n" END
#define LDS_FILL                                                                                                  \
  " v_and_b32 v20, 63, v0\n v_lshlrev_b32 v20, 4, v20\n ds_write_b128 v20, v[2:5] offset:16\n s_mov_b64 s[8:9], " \
  "src_shared_base\n v_mov_b32 v21, s9\n" END
/* The same 32 bytes before the slot, as SGPR, VGPR, or both. */
#define SCRATCH_FILL                                                                \
  " s_mov_b32 s22, 32\n s_mov_b32 s23, 24\n v_mov_b32 v20, 32\n v_mov_b32 v22, 8\n" \
  " scratch_store_dwordx4 off, v[2:5], off offset:48\n s_mov_b64 s[8:9], src_private_base\n v_mov_b32 v21, s9\n" END
#define STACK .kernel = " .amdhsa_private_segment_fixed_size 64\n"
#define ALL(prefix, fill, at, base, more) LOADS(prefix, fill, at, base, more), STORES(prefix, fill, at, base, more)
#define NO_STACK .kernel = NULL

static const instruction_test tests[] = {
    ALL("global", GLOBAL_FILL, "v1", ", s[8:9]", NO_STACK),
    ALL("global", GLOBAL_FILL, "v[20:21]", ", off", NO_STACK),
    ALL("flat", GLOBAL_FILL, "v[20:21]", "", NO_STACK),
    ALL("flat", LDS_FILL, "v[20:21]", "", NO_STACK),
    ALL("flat", SCRATCH_FILL, "v[20:21]", "", STACK),
    ALL("scratch", SCRATCH_FILL, "v20", ", off", STACK),
    ALL("scratch", SCRATCH_FILL, "off", ", s22", STACK),
    ALL("scratch", SCRATCH_FILL, "v22", ", s23", STACK),
    {GLOBAL_FILL " global_load_dwordx2 v[10:11], v1, s[6:7] offset:4\n" END, VECTOR64, dwordx2},
    {GLOBAL_FILL " v_add_u32 v20, 4016, v1\n global_load_dwordx2 v[10:11], v20, s[8:9] offset:-3996\n" END, VECTOR64, dwordx2},
};
TABLE(vmem);
