/* Atomics of LDS, global, flat and buffer memory. A row writes a to its own slot of memory, works on it with b (and c), and
 * returns what it found in v[10:11] and what is there afterwards in v[12:13]. Expectations: CDNA 4 ISA, descriptions of DS_*
 * and GLOBAL_ATOMIC_*; for floats 9.2.3, "NaN Handling". */
#include "sim/test/expect.h"

/* What is in memory afterwards, from a (there before), b and c of a type. */
#define ATOMIC(symbol, type, r)                                                             \
  static void symbol(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) { \
    type a, b, c;                                                                           \
    (void)exec;                                                                             \
    memcpy(&a, &wave[lane].a, sizeof a);                                                    \
    memcpy(&b, &wave[lane].b, sizeof b);                                                    \
    memcpy(&c, &wave[lane].c[0], sizeof c);                                                 \
    type made = (r);                                                                        \
    (void)b, (void)c;                                                                       \
    memcpy(&result[0], &a, sizeof a);                                                       \
    memcpy(&result[2], &made, sizeof made);                                                 \
  }
#define BOTH(symbol, r) ATOMIC(symbol##32, u32, r) ATOMIC(symbol##64, u64, r)
#define BOTH_SIGNED(symbol, r) ATOMIC(symbol##32, i32, r) ATOMIC(symbol##64, i64, r)

BOTH(swap, b)
BOTH(add, a + b)
BOTH(sub, a - b)
BOTH(rsub, b - a)
BOTH(and, a &b)
BOTH(or, a | b)
BOTH(xor, a ^ b)
BOTH(umin, b < a ? b : a)
BOTH(umax, b > a ? b : a)
BOTH_SIGNED(smin, b < a ? b : a)
BOTH_SIGNED(smax, b > a ? b : a)
BOTH(inc, a >= b ? 0 : a + 1)
BOTH(dec, a == 0 || a > b ? b : a - 1)
BOTH(mskor, (a & ~b) | c)
ATOMIC(wrap32, u32, a >= b ? a - b : a + c)
/* The rows compare with a where c is odd, else with c. */
BOTH(cmpswap, (c & 1) != 0 || c == a ? b : a)

/* ---- Floats, as bits ---- */

static bool nan32(u32 x) { return (x & 0x7fffffff) > 0x7f800000; }
static bool nan64(u64 x) { return (x & INT64_MAX) > UINT64_C(0x7ff0000000000000); }
/* Their place in the order -inf, ..., -0, +0, ..., +inf. */
static u32 place32(u32 x) { return x >> 31 != 0 ? ~x : x | 0x80000000; }
static u64 place64(u64 x) { return x >> 63 != 0 ? ~x : x | UINT64_C(1) << 63; }

#define REALS(n, type, quiet, infinity, read, write)                                 \
  static type sum##n(type a, type b) {                                               \
    if (nan##n(a)) return a | (quiet);                                               \
    if (nan##n(b)) return b | (quiet);                                               \
    type r = (type)write(read(a) + read(b));                                         \
    return nan##n(r) ? (infinity) | (quiet) : r;                                     \
  }                                                                                  \
  static type choose##n(type a, type b, bool larger) {                               \
    if (nan##n(a) && (a & (quiet)) == 0) return a | (quiet);                         \
    if (nan##n(b) && (b & (quiet)) == 0) return b | (quiet);                         \
    if (nan##n(a)) return b;                                                         \
    if (nan##n(b)) return a;                                                         \
    return (larger ? place##n(b) > place##n(a) : place##n(b) < place##n(a)) ? b : a; \
  }                                                                                  \
  static type swap_equal##n(type a, type b, type c) {                                \
    type with = (c & 1) != 0 ? a : c;                                                \
    bool zeros = (a << 1) == 0 && (with << 1) == 0;                                  \
    return !nan##n(a) && (zeros || a == with) ? b : a;                               \
  }
REALS(32, u32, 0x400000u, 0x7f800000u, f, bits)
REALS(64, u64, UINT64_C(0x8000000000000), UINT64_C(0x7ff0000000000000), d, bits64)
ATOMIC(add_f32, u32, sum32(a, b))
ATOMIC(add_f64, u64, sum64(a, b))
ATOMIC(min_f32, u32, choose32(a, b, false))
ATOMIC(min_f64, u64, choose64(a, b, false))
ATOMIC(max_f32, u32, choose32(a, b, true))
ATOMIC(max_f64, u64, choose64(a, b, true))
ATOMIC(cmpst_f32, u32, swap_equal32(a, b, c))
ATOMIC(cmpst_f64, u64, swap_equal64(a, b, c))

/* bf16 by exact sums in f64, rounded to nearest even. */
static u32 bf16_sum(u32 a, u32 b) {
  if (nan32(a << 16)) return a | 0x40;
  if (nan32(b << 16)) return b | 0x40;
  float r = f(a << 16) + f(b << 16);
  if (isnan(r)) return 0x7fc0;
  u32 low = (u32)bits(r), kept = low >> 16, rest = low & 0xffff;
  return rest > 0x8000 || (rest == 0x8000 && (kept & 1) != 0) ? kept + 1 : kept;
}
/* f16 in units of its smallest denormal, 2^-24, in which every f16 is an integer of at most 41 bits. */
static i64 f16_units(u32 x) {
  i64 exponent = x >> 10 & 31, mantissa = x & 1023;
  i64 units = exponent == 0 ? mantissa : (mantissa | 1024) << (exponent - 1);
  return x & 0x8000 ? -units : units;
}
static u32 f16_of_units(i64 units, u32 sign) {
  u64 left = (u64)(units < 0 ? -units : units);
  u32 shift = 0;
  while (left >> shift >= 2048) shift++;
  u64 kept = left >> shift, rest = left & ((UINT64_C(1) << shift) - 1), half = shift > 0 ? UINT64_C(1) << (shift - 1) : 1;
  if (rest > half || (rest == half && (kept & 1) != 0)) kept++;
  if (kept == 2048) kept = 1024, shift++;
  u32 made = kept < 1024 ? (u32)kept : (shift + 1) << 10 | (u32)(kept - 1024);
  return (made >= 0x7c00 ? 0x7c00 : made) | sign;
}
static u32 f16_sum(u32 a, u32 b) {
  if ((a & 0x7fff) > 0x7c00) return a | 0x200;
  if ((b & 0x7fff) > 0x7c00) return b | 0x200;
  bool far_a = (a & 0x7fff) == 0x7c00, far_b = (b & 0x7fff) == 0x7c00;
  if (far_a && far_b) return a == b ? a : 0x7e00;
  if (far_a || far_b) return far_a ? a : b;
  i64 units = f16_units(a) + f16_units(b);
  return f16_of_units(units, units < 0 || (units == 0 && (a & b & 0x8000) != 0) ? 0x8000 : 0);
}
ATOMIC(pk_bf16, u32, bf16_sum(a & 0xffff, b & 0xffff) | bf16_sum(a >> 16, b >> 16) << 16)
ATOMIC(pk_f16, u32, f16_sum(a & 0xffff, b & 0xffff) | f16_sum(a >> 16, b >> 16) << 16)

/* ---- LDS ---- */

#define SLOT " v_and_b32 v20, 63, v0\n v_lshlrev_b32 v20, 3, v20\n"
#define COMPARED " v_cndmask_b32 v6, v6, v2, vcc\n v_cndmask_b32 v7, v7, v3, vcc\n"
#define LDS_END " s_waitcnt lgkmcnt(0)"
#define LDS32(text) SLOT " ds_write_b32 v20, v2 offset:1024\n" text "\n ds_read_b32 v12, v20 offset:1024\n" LDS_END
#define LDS64(text) SLOT " ds_write_b64 v20, v[2:3] offset:1024\n" text "\n ds_read_b64 v[12:13], v20 offset:1024\n" LDS_END
#define LDS_ROWS32(name, type, data, expected, set)                                                                            \
  {LDS32(" ds_" name "_" type " v20, " data " offset:1024\n v_mov_b32 v10, v2"), VECTOR128, .wide = expected, .edges = set}, { \
    LDS32(" ds_" name "_rtn_" type " v10, v20, " data " offset:1024"), VECTOR128, .wide = expected, .edges = set               \
  }
#define LDS_ROWS64(name, type, data, expected, set)                                                                    \
  {LDS64(" ds_" name "_" type " v20, " data " offset:1024\n v_mov_b64 v[10:11], v[2:3]"), VECTOR128, .wide = expected, \
   .edges = set},                                                                                                      \
  {                                                                                                                    \
    LDS64(" ds_" name "_rtn_" type " v[10:11], v20, " data " offset:1024"), VECTOR128, .wide = expected, .edges = set  \
  }
#define LDS_INTEGER(name, type, expected) \
  LDS_ROWS32(name, type "32", "v4", expected##32, NULL), LDS_ROWS64(name, type "64", "v[4:5]", expected##64, NULL)

/* The compared value comes first; in global memory it is the second. */
#define LDS_SWAP32(type, expected, set)                                                                              \
  {COMPARED LDS32(" ds_cmpst_" type " v20, v6, v4 offset:1024\n v_mov_b32 v10, v2"), VECTOR128, .wide = expected,    \
   .edges = set},                                                                                                    \
  {                                                                                                                  \
    COMPARED LDS32(" ds_cmpst_rtn_" type " v10, v20, v6, v4 offset:1024"), VECTOR128, .wide = expected, .edges = set \
  }
#define LDS_SWAP64(type, expected, set)                                                                              \
  {COMPARED LDS64(" ds_cmpst_" type " v20, v[6:7], v[4:5] offset:1024\n v_mov_b64 v[10:11], v[2:3]"), VECTOR128,     \
   .wide = expected, .edges = set},                                                                                  \
  {                                                                                                                  \
    COMPARED LDS64(" ds_cmpst_rtn_" type " v[10:11], v20, v[6:7], v[4:5] offset:1024"), VECTOR128, .wide = expected, \
        .edges = set                                                                                                 \
  }

/* Two slots 64 elements apart exchange a and b for c. */
static void exchanged(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)exec;
  result[0] = (u32)wave[lane].a;
  result[1] = (u32)wave[lane].b;
  result[2] = (u32)wave[lane].c[0];
  result[3] = (u32)(wave[lane].c[0] >> 32);
}
static void exchanged64(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)exec;
  memcpy(result, &wave[lane].a, 8);
  memcpy(result + 2, &wave[lane].b, 8);
}

static u32 marked(u32 a, u32 b) { return b >> 31 != 0 ? b & 0x7fffffff : a; }
ATOMIC(marked64, u64, marked((u32)a, (u32)b) | (u64)marked((u32)(a >> 32), (u32)(b >> 32)) << 32)

static void appended(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)wave, (void)lane;
  result[0] = 100;
  result[1] = 100 + (u32)__builtin_popcountll(exec);
}
static void consumed(const test_item wave[TEST_LANES], int lane, u64 exec, u32 result[4]) {
  (void)wave, (void)lane;
  result[0] = 100;
  result[1] = 100 - (u32)__builtin_popcountll(exec);
}
#define COUNTER(name)                                                                                \
  " v_mov_b32 v20, 0x200\n v_mov_b32 v21, 100\n ds_write_b32 v20, v21\n s_mov_b32 m0, 0x1f0\n " name \
  " v10 offset:16\n ds_read_b32 v11, v20\n" LDS_END

/* ---- Global, flat, buffer: the slot is the item's place among the results ---- */

#define END " s_waitcnt vmcnt(0) lgkmcnt(0)\n"
/* v[20:21]: the slot's address. */
#define ADDRESS                                                                     \
  " v_mov_b32 v22, v1\n v_mov_b32 v23, 0\n v_mov_b32 v20, s6\n v_mov_b32 v21, s7\n" \
  " v_lshl_add_u64 v[20:21], v[22:23], 0, v[20:21]\n"
#define RESOURCE " s_mov_b32 s8, s6\n s_mov_b32 s9, s7\n s_mov_b32 s10, -1\n s_mov_b32 s11, 0x20000\n"
#define MEMORY32(text) " global_store_dword v1, v2, s[6:7]\n" END text "\n" END " global_load_dword v12, v1, s[6:7]\n" END
#define MEMORY64(text) \
  " global_store_dwordx2 v1, v[2:3], s[6:7]\n" END text "\n" END " global_load_dwordx2 v[12:13], v1, s[6:7]\n" END

#define GLOBAL32(name, data, expected, set)                                                                                    \
  {MEMORY32(" global_atomic_" name " v1, " data ", s[6:7]\n v_mov_b32 v10, v2"), VECTOR128, .wide = expected, .edges = set}, { \
    ADDRESS MEMORY32(" global_atomic_" name " v10, v[20:21], " data ", off sc0"), VECTOR128, .wide = expected, .edges = set    \
  }
#define FLAT32(name, data, expected, set)                                                                            \
  {ADDRESS MEMORY32(" flat_atomic_" name " v[20:21], " data "\n v_mov_b32 v10, v2"), VECTOR128, .wide = expected,    \
   .edges = set},                                                                                                    \
  {                                                                                                                  \
    ADDRESS MEMORY32(" flat_atomic_" name " v10, v[20:21], " data " sc0"), VECTOR128, .wide = expected, .edges = set \
  }
#define BUFFER32(name, expected, set)                                                                                      \
  {RESOURCE MEMORY32(" buffer_atomic_" name " v4, v1, s[8:11], 0 offen\n v_mov_b32 v10, v2"), VECTOR128, .wide = expected, \
   .edges = set},                                                                                                          \
  {                                                                                                                        \
    RESOURCE MEMORY32(" v_mov_b32 v10, v4\n v_mov_b32 v24, v11\n v_mov_b32 v11, v5\n buffer_atomic_" name                  \
                      " v10, v1, s[8:11], 0 offen sc0\n" END " v_mov_b32 v11, v24"),                                       \
        VECTOR128, .wide = expected, .edges = set                                                                          \
  }
#define GLOBAL64(name, data, expected, set)                                                                            \
  {MEMORY64(" global_atomic_" name " v1, " data ", s[6:7]\n v_mov_b64 v[10:11], v[2:3]"), VECTOR128, .wide = expected, \
   .edges = set},                                                                                                      \
  {                                                                                                                    \
    ADDRESS MEMORY64(" global_atomic_" name " v[10:11], v[20:21], " data ", off sc0"), VECTOR128, .wide = expected,    \
        .edges = set                                                                                                   \
  }
#define FLAT64(name, data, expected, set)                                                                                  \
  {ADDRESS MEMORY64(" flat_atomic_" name " v[20:21], " data "\n v_mov_b64 v[10:11], v[2:3]"), VECTOR128, .wide = expected, \
   .edges = set},                                                                                                          \
  {                                                                                                                        \
    ADDRESS MEMORY64(" flat_atomic_" name " v[10:11], v[20:21], " data " sc0"), VECTOR128, .wide = expected, .edges = set  \
  }
#define BUFFER64(name, expected, set)                                                                                        \
  {RESOURCE MEMORY64(" buffer_atomic_" name " v[4:5], v1, s[8:11], 0 offen\n v_mov_b64 v[10:11], v[2:3]"), VECTOR128,        \
   .wide = expected, .edges = set},                                                                                          \
  {                                                                                                                          \
    RESOURCE MEMORY64(" v_mov_b64 v[10:11], v[4:5]\n buffer_atomic_" name " v[10:11], v1, s[8:11], 0 offen sc0"), VECTOR128, \
        .wide = expected, .edges = set                                                                                       \
  }
#define ALL32(name, expected, set) \
  GLOBAL32(name, "v4", expected, set), FLAT32(name, "v4", expected, set), BUFFER32(name, expected, set)
#define ALL64(name, expected, set) \
  GLOBAL64(name, "v[4:5]", expected, set), FLAT64(name, "v[4:5]", expected, set), BUFFER64(name, expected, set)
#define INTEGER(name, expected) ALL32(name, expected##32, NULL), ALL64(name "_x2", expected##64, NULL)

/* Global memory has the new value first, and the compared one after it. */
#define SWAP_DATA COMPARED " v_mov_b32 v5, v6\n"
#define SWAP32(text) {SWAP_DATA ADDRESS RESOURCE MEMORY32(text), VECTOR128, .wide = cmpswap32}
#define SWAP64(text) {COMPARED ADDRESS RESOURCE MEMORY64(text), VECTOR128, .wide = cmpswap64}

static const instruction_test tests[] = {
    LDS_INTEGER("add", "u", add),
    LDS_INTEGER("sub", "u", sub),
    LDS_INTEGER("rsub", "u", rsub),
    LDS_INTEGER("inc", "u", inc),
    LDS_INTEGER("dec", "u", dec),
    LDS_INTEGER("min", "u", umin),
    LDS_INTEGER("max", "u", umax),
    LDS_INTEGER("min", "i", smin),
    LDS_INTEGER("max", "i", smax),
    LDS_INTEGER("and", "b", and),
    LDS_INTEGER("or", "b", or),
    LDS_INTEGER("xor", "b", xor),
    LDS_ROWS32("mskor", "b32", "v4, v6", mskor32, NULL),
    LDS_ROWS64("mskor", "b64", "v[4:5], v[6:7]", mskor64, NULL),
    LDS_ROWS32("add", "f32", "v4", add_f32, "f"),
    LDS_ROWS64("add", "f64", "v[4:5]", add_f64, "d"),
    LDS_ROWS32("min", "f32", "v4", min_f32, "f"),
    LDS_ROWS64("min", "f64", "v[4:5]", min_f64, "d"),
    LDS_ROWS32("max", "f32", "v4", max_f32, "f"),
    LDS_ROWS64("max", "f64", "v[4:5]", max_f64, "d"),
    LDS_ROWS32("pk_add", "f16", "v4", pk_f16, "p"),
    LDS_ROWS32("pk_add", "bf16", "v4", pk_bf16, "k"),
    LDS_SWAP32("b32", cmpswap32, NULL),
    LDS_SWAP64("b64", cmpswap64, NULL),
    LDS_SWAP32("f32", cmpst_f32, "f"),
    LDS_SWAP64("f64", cmpst_f64, "d"),
    {LDS32(" ds_wrxchg_rtn_b32 v10, v20, v4 offset:1024"), VECTOR128, .wide = swap32},
    {LDS64(" ds_wrxchg_rtn_b64 v[10:11], v20, v[4:5] offset:1024"), VECTOR128, .wide = swap64},
    {LDS32(" ds_wrap_rtn_b32 v10, v20, v4, v6 offset:1024"), VECTOR128, .wide = wrap32},
    {SLOT " ds_write2_b32 v20, v2, v4 offset0:8 offset1:9\n ds_wrxchg2_rtn_b32 v[10:11], v20, v6, v7 offset0:8 offset1:9\n"
          " ds_read2_b32 v[12:13], v20 offset0:8 offset1:9\n" LDS_END,
     VECTOR128, .wide = exchanged},
    {SLOT " ds_write2st64_b32 v20, v2, v4 offset0:1 offset1:4\n"
          " ds_wrxchg2st64_rtn_b32 v[10:11], v20, v6, v7 offset0:1 offset1:4\n"
          " ds_read2st64_b32 v[12:13], v20 offset0:1 offset1:4\n" LDS_END,
     VECTOR128, .wide = exchanged},
    {SLOT " ds_write2_b64 v20, v[2:3], v[4:5] offset1:64\n"
          " ds_wrxchg2_rtn_b64 v[10:13], v20, v[6:7], v[8:9] offset1:64\n" LDS_END,
     VECTOR128, .wide = exchanged64},
    {SLOT " ds_write2st64_b64 v20, v[2:3], v[4:5] offset0:2 offset1:4\n"
          " ds_wrxchg2st64_rtn_b64 v[10:13], v20, v[6:7], v[8:9] offset0:2 offset1:4\n" LDS_END,
     VECTOR128, .wide = exchanged64},
    {LDS64(" v_or_b32 v21, 5, v20\n ds_condxchg32_rtn_b64 v[10:11], v21, v[4:5] offset:1024"), VECTOR128, .wide = marked64},
    {COUNTER("ds_append"), VECTOR64, .wide = appended},
    {COUNTER("ds_consume"), VECTOR64, .wide = consumed},
    INTEGER("swap", swap),
    INTEGER("add", add),
    INTEGER("sub", sub),
    INTEGER("smin", smin),
    INTEGER("umin", umin),
    INTEGER("smax", smax),
    INTEGER("umax", umax),
    INTEGER("and", and),
    INTEGER("or", or),
    INTEGER("xor", xor),
    INTEGER("inc", inc),
    INTEGER("dec", dec),
    ALL32("add_f32", add_f32, "f"),
    ALL64("add_f64", add_f64, "d"),
    ALL64("min_f64", min_f64, "d"),
    ALL64("max_f64", max_f64, "d"),
    ALL32("pk_add_f16", pk_f16, "p"),
    GLOBAL32("pk_add_bf16", "v4", pk_bf16, "k"),
    FLAT32("pk_add_bf16", "v4", pk_bf16, "k"),
    {RESOURCE MEMORY32(" buffer_atomic_pk_add_bf16 v4, v1, s[8:11], 0 offen\n v_mov_b32 v10, v2"), VECTOR128, .wide = pk_bf16,
     .edges = "k", .chip = "gfx950"},
    SWAP32(" global_atomic_cmpswap v10, v1, v[4:5], s[6:7] sc0"),
    SWAP32(" flat_atomic_cmpswap v10, v[20:21], v[4:5] sc0"),
    SWAP32(" buffer_atomic_cmpswap v[4:5], v1, s[8:11], 0 offen sc0\n" END " v_mov_b32 v10, v4"),
    SWAP64(" global_atomic_cmpswap_x2 v[10:11], v1, v[4:7], s[6:7] sc0"),
    SWAP64(" flat_atomic_cmpswap_x2 v[10:11], v[20:21], v[4:7] sc0"),
    SWAP64(" buffer_atomic_cmpswap_x2 v[4:7], v1, s[8:11], 0 offen sc0\n" END " v_mov_b64 v[10:11], v[4:5]"),
};
TABLE(atomic);
