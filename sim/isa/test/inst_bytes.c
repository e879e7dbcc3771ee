/* Bits, bytes and sums of differences. Every expectation is written from the pseudocode of the CDNA 4 ISA, chapter 12.
 */
#include "sim/test/expect.h"

static u32 byte(u64 x, int n) { return (u32)(x >> (8 * n)) & 0xff; }

static u64 reversed(u64 a) {
  u64 result = 0;
  for (int n = 0; n < 32; n++) result |= (a >> n & 1) << (31 - n);
  return result;
}
/* The number of the first bit that differs from `from`, counted from the top; -1 where none does */
static u64 first_other(u64 a, u64 from) {
  for (u64 n = 0; n < 32; n++)
    if ((a >> (31 - n) & 1) != from) return n;
  return UINT32_MAX;
}
static u64 first_low(u64 a) {
  for (u64 n = 0; n < 32; n++)
    if ((a >> n & 1) != 0) return n;
  return UINT32_MAX;
}
static u64 ones(u64 a) {
  u64 count = 0;
  for (int n = 0; n < 32; n++) count += a >> n & 1;
  return count;
}
EXPECT(reverse, reversed(a))
EXPECT(high_one, first_other(a, 0))
EXPECT(high_change, first_other(a, a >> 31 & 1))
EXPECT(low_one, first_low(a))
EXPECT(count_ones, (u32)(ones(a) + b))
EXPECT(mask, (u32)(((1u << (a & 31)) - 1) << (b & 31)))

static u64 signed_field(u64 a, u64 offset, u64 width) {
  i64 field = ((i64)(i32)(u32)a >> offset) & (((i64)1 << width) - 1);
  return (u32)(width > 0 && (field >> (width - 1) & 1) != 0 ? field - ((i64)1 << width) : field);
}
EXPECT(bfe_i32, signed_field(a, b & 31, c & 31))

static u32 permuted(u64 data, u32 select) {
  switch (select) {
    case 8: return (data >> 15 & 1) != 0 ? 0xff : 0;
    case 9: return (data >> 31 & 1) != 0 ? 0xff : 0;
    case 10: return (data >> 47 & 1) != 0 ? 0xff : 0;
    case 11: return (data >> 63 & 1) != 0 ? 0xff : 0;
    case 12: return 0;
    default: return select > 12 ? 0xff : byte(data, (int)select);
  }
}
static u64 permute(u64 a, u64 b, u64 c) {
  u64 data = a << 32 | (u32)b, result = 0;
  for (int n = 0; n < 4; n++) result |= (u64)permuted(data, byte(c, n)) << (8 * n);
  return result;
}
EXPECT(perm, permute(a, b, c))
/* Selectors of 0 to 15 in every byte */
EXPECT(perm_small, permute(a, b, c & 0x0f0f0f0f))

static u64 averages(u64 a, u64 b, u64 c) {
  u64 result = 0;
  for (int n = 0; n < 4; n++) result |= (u64)((byte(a, n) + byte(b, n) + (byte(c, n) & 1)) >> 1) << (8 * n);
  return result;
}
EXPECT(lerp, averages(a, b, c))

static u64 distance(u64 x, u64 y) { return x > y ? x - y : y - x; }
static u64 sad(u64 a, u64 b, bool masked) {
  u64 sum = 0;
  for (int n = 0; n < 4; n++)
    if (!masked || byte(b, n) != 0) sum += distance(byte(a, n), byte(b, n));
  return sum;
}
static u64 sad16(u64 a, u64 b) { return distance(a & 0xffff, b & 0xffff) + distance(a >> 16 & 0xffff, b >> 16 & 0xffff); }
static u64 saturated(u64 sum) { return sum > UINT32_MAX ? UINT32_MAX : sum; }
EXPECT(sad_u8, (u32)(sad(a, b, false) + c))
EXPECT(sad_u8_clamp, saturated(sad(a, b, false) + (u32)c))
EXPECT(sad_hi_u8, (u32)((sad(a, b, false) << 16) + c))
EXPECT(sad_u16, (u32)(sad16(a, b) + c))
EXPECT(sad_u32, (u32)(distance((u32)a, (u32)b) + c))
EXPECT(sad_u32_clamp, saturated(distance((u32)a, (u32)b) + (u32)c))
EXPECT(msad_u8, (u32)(sad(a, b, true) + c))

static u64 four_sums(u64 a, u64 b, u64 c, bool masked) {
  u64 result = 0;
  for (int n = 0; n < 4; n++) result |= ((sad(a >> (8 * n), b, masked) + (c >> (16 * n) & 0xffff)) & 0xffff) << (16 * n);
  return result;
}
EXPECT(qsad, four_sums(a, b, c, false))
EXPECT(mqsad, four_sums(a, b, c, true))
static void mqsad_wide(const test_item *wave, int lane, u64 exec, u32 result[4]) {
  const test_item *x = &wave[lane];
  (void)exec;
  for (int n = 0; n < 4; n++) result[n] = (u32)(sad(x->a >> (8 * n), x->b, true) + (x->c[n / 2] >> (32 * (n % 2))));
}

static const instruction_test tests[] = {
    {"v_bfrev_b32 v10, v2", VECTOR32, reverse, .edges = "i"},
    {"v_ffbh_u32 v10, v2", VECTOR32, high_one, .edges = "i"},
    {"v_ffbh_i32 v10, v2", VECTOR32, high_change, .edges = "i"},
    {"v_ffbl_b32 v10, v2", VECTOR32, low_one, .edges = "i"},
    {"v_bcnt_u32_b32 v10, v2, v4", VECTOR32, count_ones, .edges = "i"},
    {"v_bfm_b32 v10, v2, v4", VECTOR32, mask, .edges = "i"},
    {"v_bfe_i32 v10, v2, v4, v6", VECTOR32, bfe_i32, .edges = "i"},
    {"v_perm_b32 v10, v2, v4, v6", VECTOR32, perm, .edges = "i"},
    {"v_and_b32 v6, 0x0f0f0f0f, v6\n v_perm_b32 v10, v2, v4, v6", VECTOR32, perm_small, .edges = "i"},
    {"v_lerp_u8 v10, v2, v4, v6", VECTOR32, lerp, .edges = "i"},
    {"v_sad_u8 v10, v2, v4, v6", VECTOR32, sad_u8, .edges = "i"},
    {"v_sad_u8 v10, v2, v4, v6 clamp", VECTOR32, sad_u8_clamp, .edges = "i"},
    {"v_sad_hi_u8 v10, v2, v4, v6", VECTOR32, sad_hi_u8, .edges = "i"},
    {"v_sad_u16 v10, v2, v4, v6", VECTOR32, sad_u16, .edges = "i"},
    {"v_sad_u32 v10, v2, v4, v6", VECTOR32, sad_u32, .edges = "i"},
    {"v_sad_u32 v10, v2, v4, v6 clamp", VECTOR32, sad_u32_clamp, .edges = "i"},
    {"v_msad_u8 v10, v2, v4, v6", VECTOR32, msad_u8, .edges = "i"},
    {"v_qsad_pk_u16_u8 v[10:11], v[2:3], v4, v[6:7]", VECTOR64, qsad, .edges = "i"},
    {"v_mqsad_pk_u16_u8 v[10:11], v[2:3], v4, v[6:7]", VECTOR64, mqsad, .edges = "i"},
    {"v_mqsad_u32_u8 v[10:13], v[2:3], v4, v[6:9]", VECTOR128, .wide = mqsad_wide, .edges = "i"},
};
TABLE(bytes);
