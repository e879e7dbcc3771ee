/* Buffers, and loads from memory to LDS. The buffer s[8:11] is the wave's 64 items of 48 bytes (a, b, c[2], old[2]); a row
 * says how many bytes or records of it are in range. Expectations: CDNA 4 ISA 9.1.5 (addresses), 9.1.5.1 (range), 9.1.9 (LDS).
 */
#include "sim/test/expect.h"

/* word2: num_records; word3: 0x20000 has data format 4 and no index stride. */
#define RESOURCE(stride, records, word3)                                                                          \
  " v_and_b32 v20, 63, v0\n v_mov_b32 v21, v20\n v_mul_u32_u24 v22, 48, v20\n s_mul_i32 s12, s2, 48\n"            \
  " s_add_u32 s8, s4, s12\n s_addc_u32 s9, s5, 0\n s_or_b32 s9, s9, " #stride " << 16\n s_mov_b32 s10, " #records \
  "\n s_mov_b32 s11, " #word3 "\n"
/* 40 items, and 8 bytes of the next. */
#define RAW RESOURCE(0, 1928, 0x20000)
#define RECORDS RESOURCE(48, 40, 0x20000)
/* A stride of 48 and swizzling, of records (bit 63) and of cache banks (bit 62), as bits of word 1. */
#define SWIZZLED RESOURCE(0xc030, 1928, 0x20000)
#define WAIT "\n s_waitcnt vmcnt(0) lgkmcnt(0)\n"
enum { ITEM = 48, RAW_BYTES = 1928, RECORD_COUNT = 40 };

/* Dword n of the bytes at offset `at` of the wave's items. */
static u32 dword(const test_item *wave, u64 at) {
  u32 value;
  memcpy(&value, (const u8 *)wave + at, 4);
  return value;
}

/* ---- Loads ---- */

#define LOADS(symbol, at, count, in)                                                        \
  static void symbol(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) { \
    (void)exec, (void)lane;                                                                 \
    for (u64 n = 0; n < (count); n++) {                                                     \
      u64 from = (at) + 4 * n;                                                              \
      result[n] = (in) ? dword(wave, from) : 0;                                             \
    }                                                                                       \
  }
#define OWN ((u64)lane * ITEM)
LOADS(raw_x1, OWN + 4, 1, from < RAW_BYTES)
LOADS(raw_x2, OWN + 4, 2, from < RAW_BYTES)
LOADS(raw_x3, OWN, 3, from < RAW_BYTES)
LOADS(raw_x4, OWN, 4, from < RAW_BYTES)
LOADS(raw_scalar, OWN + 16, 1, from - 16 < RAW_BYTES) /* the SGPR's 16 are not checked */
LOADS(raw_plain, (u64)12, 1, true)
LOADS(raw_high, OWN, 1, false)
LOADS(record_x1, OWN + 4, 1, lane < RECORD_COUNT)
LOADS(record_x4, OWN + 8, 4, lane < RECORD_COUNT)
LOADS(record_both, OWN + 48 + 4, 1, lane < RECORD_COUNT) /* beyond its stride, which the check does not see */
LOADS(lane_added, OWN + 8, 2, true)

/* An element of 1 or 2 bytes at byte 5 or 6 of the item. */
#define ELEMENT(symbol, type, at, r)                                                         \
  static void symbol(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {  \
    type value = 0;                                                                          \
    u32 old = result[0];                                                                     \
    (void)exec, (void)old;                                                                   \
    if (OWN + (at) < RAW_BYTES) memcpy(&value, (const u8 *)wave + OWN + (at), sizeof value); \
    result[0] = (u32)(r);                                                                    \
  }
ELEMENT(ubyte, u8, 5, value)
ELEMENT(sbyte, i8, 5, value)
ELEMENT(ushort, u16, 6, value)
ELEMENT(sshort, i16, 6, value)
ELEMENT(ubyte_low, u8, 5, (old & 0xffff0000) | value)
ELEMENT(ubyte_high, u8, 5, (old & 0xffff) | (u32)value << 16)
ELEMENT(sbyte_low, i8, 5, (old & 0xffff0000) | (u16)value)
ELEMENT(sbyte_high, i8, 5, (old & 0xffff) | (u32)(u16)value << 16)
ELEMENT(short_low, u16, 6, (old & 0xffff0000) | value)
ELEMENT(short_high, u16, 6, (old & 0xffff) | (u32)value << 16)

/* ---- Stores: into the results' slots, of which 40 and 8 bytes are in range, and which hold c and old before ---- */

#define SLOTS                                                                                            \
  " v_and_b32 v20, 63, v0\n v_lshlrev_b32 v20, 4, v20\n s_lshl_b32 s12, s2, 4\n s_add_u32 s8, s6, s12\n" \
  " s_addc_u32 s9, s7, 0\n s_mov_b32 s10, 648\n s_mov_b32 s11, 0x20000\n global_store_dwordx4 v1, v[6:9], s[6:7]" WAIT
#define SLOTS_END WAIT " global_load_dwordx4 v[10:13], v1, s[6:7]" WAIT
enum { SLOT = 16, SLOT_BYTES = 648 };

/* Bytes of a, b from `from` on go to bytes [at, at + count) of the slot. A dword is in or out as a whole. */
static void stored(const test_item *wave, int lane, u32 at, u32 from, u32 count, u32 result[4]) {
  u8 data[16], slot[16];
  memcpy(data, &wave[lane].a, 16);
  memcpy(slot, wave[lane].c, 16);
  for (u32 n = 0; n < count; n++)
    if ((u32)lane * SLOT + at + (n & ~3u) < SLOT_BYTES) slot[at + n] = data[from + n];
  memcpy(result, slot, 16);
}
#define STORES(symbol, at, from, count)                                                     \
  static void symbol(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) { \
    (void)exec;                                                                             \
    stored(wave, lane, at, from, count, result);                                            \
  }
STORES(byte_stored, 5, 0, 1)
STORES(byte_high_stored, 5, 2, 1)
STORES(short_stored, 6, 0, 2)
STORES(short_high_stored, 6, 2, 2)
STORES(x1_stored, 4, 0, 4)
STORES(x2_stored, 4, 0, 8)
STORES(x3_stored, 0, 0, 12)
STORES(x4_stored, 0, 0, 16)

/* All or nothing: lane 40's second half is out of range, and so the whole. What is not done returns 0. */
static void atomic_x2(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)exec;
  u64 before = wave[lane].c[0], after = before + wave[lane].a, in = (u64)lane * SLOT + 8 < SLOT_BYTES;
  if (!in) after = before, before = 0;
  memcpy(result, &before, 8);
  memcpy(result + 2, &after, 8);
}

/* ---- To LDS: lane l's element lies at M0[17:2] * 4 + offset + l * 4, or l * 16 for those of 12 and 16 bytes ---- */

#define TO_LDS(text, read) \
  " s_mov_b32 m0, 0x403\n" text WAIT " v_lshlrev_b32 v23, 2, v20\n v_lshlrev_b32 v24, 4, v20\n" read WAIT
/* What the lane finds afterwards at 1024 + 4 + 4 l. */
#define READ_X1 " ds_read_b32 v10, v23 offset:1028"
#define GLOBAL_BASE " s_mul_i32 s12, s2, 48\n s_add_u32 s4, s4, s12\n s_addc_u32 s5, s5, 0\n"
LOADS(lds_global, OWN + 4, 1, true)
LOADS(lds_x3, OWN + 4, 3, true)
LOADS(lds_x4, OWN, 4, from < RAW_BYTES)
LOADS(lds_x4_global, OWN + 4, 4, true)
ELEMENT(lds_sbyte, i8, 4, value)
ELEMENT(lds_ushort, u16, 4, value)
#define ANY_ELEMENT(symbol, type)                                                           \
  static void symbol(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) { \
    (void)exec;                                                                             \
    result[0] = (u32)(type)dword(wave, OWN + 4);                                            \
  }
ANY_ELEMENT(any_ubyte, u8)
ANY_ELEMENT(any_sbyte, i8)
ANY_ELEMENT(any_ushort, u16)
ANY_ELEMENT(any_sshort, i16)
ANY_ELEMENT(any_dword, u32)

#define LOAD(count, prefix, text, symbol) {prefix " buffer_load_" text WAIT, VECTOR##count, .wide = symbol}
#define STORE(text, symbol) {SLOTS " buffer_store_" text SLOTS_END, VECTOR128, .wide = symbol}
#define LDS(prefix, text, symbol) {TO_LDS(prefix " " text, READ_X1), VECTOR32, .wide = symbol}

/* Scratch has the upper half of a at 12, of which the offset adds 4; in LDS it is added too. */
#define SCRATCH(name, symbol)                                                                                                 \
  {TO_LDS(RAW " scratch_store_dword off, v3, off offset:12\n v_mov_b32 v22, 8\n scratch_load_lds_" name " v22, off offset:4", \
          READ_X1),                                                                                                           \
   VECTOR32, .wide = symbol, .kernel = " .amdhsa_private_segment_fixed_size 64\n"}

static const instruction_test tests[] = {
    LOAD(32, RAW, "dword v10, v22, s[8:11], 0 offen offset:4", raw_x1),
    LOAD(64, RAW, "dwordx2 v[10:11], v22, s[8:11], 0 offen offset:4 sc0 nt", raw_x2),
    LOAD(96, RAW, "dwordx3 v[10:12], v22, s[8:11], 0 offen sc1", raw_x3),
    LOAD(128, RAW, "dwordx4 v[10:13], v22, s[8:11], 0 offen", raw_x4),
    LOAD(32, RAW " s_mov_b32 s12, 16\n", "dword v10, v22, s[8:11], s12 offen", raw_scalar),
    LOAD(32, RAW " v_mov_b32 v10, v22\n", "dword v10, v10, s[8:11], 16 offen", raw_scalar),
    LOAD(32, RAW, "dword v10, off, s[8:11], 0 offset:12", raw_plain),
    LOAD(32, RAW " v_or_b32 v22, 0x80000000, v22\n", "dword v10, v22, s[8:11], 0 offen", raw_high),
    LOAD(32, RAW, "ubyte v10, v22, s[8:11], 0 offen offset:5", ubyte),
    LOAD(32, RAW, "sbyte v10, v22, s[8:11], 0 offen offset:5", sbyte),
    LOAD(32, RAW, "ushort v10, v22, s[8:11], 0 offen offset:6", ushort),
    LOAD(32, RAW, "sshort v10, v22, s[8:11], 0 offen offset:6", sshort),
    LOAD(32, RAW, "ubyte_d16 v10, v22, s[8:11], 0 offen offset:5", ubyte_low),
    LOAD(32, RAW, "ubyte_d16_hi v10, v22, s[8:11], 0 offen offset:5", ubyte_high),
    LOAD(32, RAW, "sbyte_d16 v10, v22, s[8:11], 0 offen offset:5", sbyte_low),
    LOAD(32, RAW, "sbyte_d16_hi v10, v22, s[8:11], 0 offen offset:5", sbyte_high),
    LOAD(32, RAW, "short_d16 v10, v22, s[8:11], 0 offen offset:6", short_low),
    LOAD(32, RAW, "short_d16_hi v10, v22, s[8:11], 0 offen offset:6", short_high),
    /* Without an index there is nothing to swizzle: linear, with num_records in bytes. */
    LOAD(32, SWIZZLED, "dword v10, v22, s[8:11], 0 offen offset:4", raw_x1),
    LOAD(128, SWIZZLED, "dwordx4 v[10:13], v22, s[8:11], 0 offen", raw_x4),
    LOAD(32, SWIZZLED " s_mov_b32 s12, 16\n", "dword v10, v22, s[8:11], s12 offen", raw_scalar),
    LOAD(32, SWIZZLED, "dword v10, off, s[8:11], 0 offset:12", raw_plain),
    LOAD(32, RECORDS, "dword v10, v21, s[8:11], 0 idxen offset:4", record_x1),
    LOAD(128, RECORDS, "dwordx4 v[10:13], v21, s[8:11], 0 idxen offset:8", record_x4),
    LOAD(32, RECORDS " v_mov_b32 v21, 48\n", "dword v10, v[20:21], s[8:11], 0 idxen offen offset:4", record_both),
    LOAD(64, RESOURCE(48, 0, 0x800000), "dwordx2 v[10:11], off, s[8:11], 0 offset:8", lane_added),
    STORE("byte v2, v20, s[8:11], 0 offen offset:5", byte_stored),
    STORE("byte_d16_hi v2, v20, s[8:11], 0 offen offset:5", byte_high_stored),
    STORE("short v2, v20, s[8:11], 0 offen offset:6", short_stored),
    STORE("short_d16_hi v2, v20, s[8:11], 0 offen offset:6", short_high_stored),
    STORE("dword v2, v20, s[8:11], 0 offen offset:4", x1_stored),
    STORE("dwordx2 v[2:3], v20, s[8:11], 0 offen offset:4", x2_stored),
    STORE("dwordx3 v[2:4], v20, s[8:11], 0 offen", x3_stored),
    STORE("dwordx4 v[2:5], v20, s[8:11], 0 offen nt", x4_stored),
    {SLOTS " v_mov_b64 v[24:25], v[2:3]\n s_mov_b32 s10, 644\n"
           " buffer_atomic_add_x2 v[24:25], v20, s[8:11], 0 offen sc0" SLOTS_END
           " v_mov_b64 v[12:13], v[10:11]\n v_mov_b64 v[10:11], v[24:25]",
     VECTOR128, .wide = atomic_x2},
    LDS(RAW, "buffer_load_dword v22, s[8:11], 0 offen offset:4 lds", raw_x1),
    LDS(RAW, "buffer_load_sbyte v22, s[8:11], 0 offen offset:4 lds", lds_sbyte),
    LDS(RAW, "buffer_load_ushort v22, s[8:11], 0 offen offset:4 lds", lds_ushort),
    {TO_LDS(RAW " buffer_load_dwordx4 v22, s[8:11], 0 offen lds", " ds_read_b128 v[10:13], v24 offset:1024"), VECTOR128,
     .wide = lds_x4, .chip = "gfx950"},
    LDS(RAW GLOBAL_BASE, "global_load_lds_dword v22, s[4:5] offset:4", lds_global),
    LDS(RAW GLOBAL_BASE, "global_load_lds_ubyte v22, s[4:5] offset:4", any_ubyte),
    LDS(RAW GLOBAL_BASE, "global_load_lds_sbyte v22, s[4:5] offset:4", any_sbyte),
    LDS(RAW GLOBAL_BASE, "global_load_lds_ushort v22, s[4:5] offset:4", any_ushort),
    LDS(RAW GLOBAL_BASE, "global_load_lds_sshort v22, s[4:5] offset:4", any_sshort),
    SCRATCH("dword", any_dword),
    SCRATCH("ubyte", any_ubyte),
    SCRATCH("sbyte", any_sbyte),
    SCRATCH("ushort", any_ushort),
    SCRATCH("sshort", any_sshort),
    {TO_LDS(RAW GLOBAL_BASE " global_load_lds_dwordx3 v22, s[4:5] offset:4", " ds_read_b96 v[10:12], v24 offset:1028"),
     VECTOR96, .wide = lds_x3, .chip = "gfx950"},
    {TO_LDS(RAW GLOBAL_BASE " global_load_lds_dwordx4 v22, s[4:5] offset:4", " ds_read_b128 v[10:13], v24 offset:1028"),
     VECTOR128, .wide = lds_x4_global, .chip = "gfx950"},
};
TABLE(buffer);
