/* Sources: CDNA 4 ISA, descriptions of BUFFER_ATOMIC_* and DS_*, and 9.2, "Float Memory Atomics", for NaN and zeros.
 * Sums are rounded to nearest even whatever MODE says. Denormals are kept: 9.2.2 says so of all but the f32 sum in L2, and of
 * that one LLVM's feature memory-atomic-fadd-f32-denormal-support, which it gives both chips. */
#include "atomic.h"

#include "access.h"
#include "operand.h"
#include "sim/base/half.h"
#include "watch.h"

/* ---- Floats of 4 or 8 bytes. A double holds both, and the sum of two f32 rounded twice is the one rounded once ---- */

static double real_of(atomic a, u64 bits) { return a.bytes == 4 ? (double)as_f32((u32)bits) : as_f64(bits); }
static u64 bits_of(atomic a, double value) { return a.bytes == 4 ? bits_f32((float)value) : bits_f64(value); }
static u64 quiet_bit(atomic a) { return a.bytes == 4 ? UINT64_C(1) << 22 : UINT64_C(1) << 51; }
static bool is_nan(atomic a, u64 bits) { return isnan(real_of(a, bits)); }
static bool is_signaling(atomic a, u64 bits) { return is_nan(a, bits) && (bits & quiet_bit(a)) == 0; }

static u64 add_float(atomic a, u64 old, u64 data) {
  if (is_nan(a, old)) return old | quiet_bit(a);
  if (is_nan(a, data)) return data | quiet_bit(a);
  double sum = real_of(a, old) + real_of(a, data);
  return isnan(sum) ? bits_of(a, (double)INFINITY) | quiet_bit(a) : bits_of(a, sum);
}

static bool less(atomic a, u64 left, u64 right) {
  double x = real_of(a, left), y = real_of(a, right);
  return x < y || (x == y && signbit(x) && !signbit(y));
}

/* The smaller, or the larger, number; a quiet NaN loses, a signaling one wins and is made quiet. */
static u64 choose_float(atomic a, u64 old, u64 data, bool larger) {
  if (is_signaling(a, old)) return old | quiet_bit(a);
  if (is_signaling(a, data)) return data | quiet_bit(a);
  if (is_nan(a, old)) return data;
  return (larger ? less(a, old, data) : less(a, data, old)) ? data : old;
}

/* ---- Two halves ---- */

static u32 add_f16(u32 old, u32 data) {
  if ((old & 0x7fff) > 0x7c00) return old | 0x200;
  if ((data & 0x7fff) > 0x7c00) return data | 0x200;
  float sum = add_to_odd(half_f32(old), half_f32(data), ROUND_NEAREST);
  return isnan(sum) ? 0x7e00 : f32_half(sum, ROUND_NEAREST);
}

/* A sum of two bf16 is so short, or so lopsided, that rounding it to f32 first changes nothing. */
static u32 add_bf16(u32 old, u32 data) {
  if ((old & 0x7fff) > 0x7f80) return old | 0x40;
  if ((data & 0x7fff) > 0x7f80) return data | 0x40;
  float sum = bf16_f32(old) + bf16_f32(data);
  return isnan(sum) ? 0x7fc0 : f32_bf16(sum);
}

static u64 add_pair(u32 add(u32, u32), u64 old, u64 data) {
  return add(old & 0xffff, data & 0xffff) | add(old >> 16 & 0xffff, data >> 16 & 0xffff) << 16;
}

/* ---- All ---- */

static i64 sign_extended(atomic a, u64 bits) { return a.bytes == 4 ? (i32)(u32)bits : (i64)bits; }

static u64 marked_half(u64 old, u64 data) { return data >> 31 & 1 ? data & 0x7fffffff : old & UINT32_MAX; }

u64 atomic_result(atomic a, u64 old, u64 data, u64 second) {
  switch (a.kind) {
    case ATOMIC_SWAP: return data;
    case ATOMIC_CMPSWAP: return old == second ? data : old;
    case ATOMIC_ADD: return old + data;
    case ATOMIC_SUB: return old - data;
    case ATOMIC_RSUB: return data - old;
    case ATOMIC_SMIN: return sign_extended(a, data) < sign_extended(a, old) ? data : old;
    case ATOMIC_UMIN: return data < old ? data : old;
    case ATOMIC_SMAX: return sign_extended(a, data) > sign_extended(a, old) ? data : old;
    case ATOMIC_UMAX: return data > old ? data : old;
    case ATOMIC_AND: return old & data;
    case ATOMIC_OR: return old | data;
    case ATOMIC_XOR: return old ^ data;
    case ATOMIC_INC: return old >= data ? 0 : old + 1;
    case ATOMIC_DEC: return old == 0 || old > data ? data : old - 1;
    case ATOMIC_MSKOR: return (old & ~data) | second;
    case ATOMIC_WRAP: return old >= data ? old - data : old + second;
    case ATOMIC_MARKED: return marked_half(old, data) | marked_half(old >> 32, data >> 32) << 32;
    case ATOMIC_ADD_F: return add_float(a, old, data);
    case ATOMIC_MIN_F: return choose_float(a, old, data, false);
    case ATOMIC_MAX_F: return choose_float(a, old, data, true);
    case ATOMIC_CMPSWAP_F: return real_of(a, old) == real_of(a, second) ? data : old; /* -0 equals 0; NaN nothing */
    case ATOMIC_PK_ADD_F16: return add_pair(add_f16, old, data);
    case ATOMIC_PK_ADD_BF16: return add_pair(add_bf16, old, data);
    case ATOMIC_UNDEFINED: return (old | data | second) != 0 ? ~UINT64_C(0) : 0;
  }
  return old;
}

/* ---- Lanes, in ascending order ---- */

static u64 lane_value(const u32 (*rows)[LANES], int lane, u32 bytes) {
  if (rows == NULL) return 0;
  return bytes == 4 ? rows[0][lane] : lane_u64(rows[0], lane);
}

static void keep_value(u32 (*rows)[LANES], int lane, u32 bytes, u64 value) {
  rows[0][lane] = (u32)value;
  if (bytes == 8) rows[1][lane] = (u32)(value >> 32);
}

/* An atomic must be aligned to its own size; for plain accesses 4 bytes suffice. */
static bool lane_aligned(wave *w, const inst *i, gfxsim_space space, int lane, u64 address, u32 bytes) {
  if (address % bytes == 0) return true;
  wave_fault_access(w, i, &(bad_access){GFXSIM_ACCESS_MISALIGNED, space, true, lane, address, bytes},
                    "an atomic accesses %u bytes at an address that is not a multiple of %u", bytes, bytes);
  return false;
}

/* Other workgroups run on other host threads: the host's own compare and swap makes any kind of atomic whole. */
#define SWAP_UNTIL_WHOLE(type, at, a, data, second, old)                                                 \
  do {                                                                                                   \
    type *word = (type *)(void *)(at), found = __atomic_load_n(word, __ATOMIC_SEQ_CST), made;            \
    do made = (type)atomic_result(a, found, data, second);                                               \
    while (!__atomic_compare_exchange_n(word, &found, made, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
    (old) = found;                                                                                       \
  } while (0)

void global_atomic(wave *w, const inst *i, u64 mask, const u64 address[LANES], atomic a, const atomic_rows *rows) {
  u8 *at[LANES];
  if (w->shadow && a.kind != ATOMIC_SWAP) a.kind = ATOMIC_UNDEFINED;
  for (u64 left = mask; left != 0; left &= left - 1)
    if (!lane_aligned(w, i, GFXSIM_SPACE_GLOBAL, __builtin_ctzll(left), address[__builtin_ctzll(left)], a.bytes)) return;
  if (!global_lanes(w, i, mask, address, a.bytes, true, at)) return;
  for (u64 left = mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    u64 data = lane_value(rows->data, l, a.bytes), second = lane_value(rows->second, l, a.bytes), old;
    if (a.bytes == 4)
      SWAP_UNTIL_WHOLE(u32, at[l], a, data, second, old);
    else
      SWAP_UNTIL_WHOLE(u64, at[l], a, data, second, old);
    keep_value(rows->old, l, a.bytes, old);
  }
  watch_access(w, i, &(memory_access){SPACE_GLOBAL, ACCESS_ATOMIC, .bytes = a.bytes, .mask = mask, .address = address});
}

void lds_atomic(wave *w, const inst *i, u64 mask, const u32 address[LANES], atomic a, const atomic_rows *rows) {
  u8 *at[LANES];
  if (w->shadow && a.kind != ATOMIC_SWAP) a.kind = ATOMIC_UNDEFINED;
  for (u64 left = mask; left != 0; left &= left - 1)
    if (!lane_aligned(w, i, GFXSIM_SPACE_LDS, __builtin_ctzll(left), address[__builtin_ctzll(left)], a.bytes)) return;
  if (!lds_lanes(w, i, mask, address, a.bytes, true, at)) return;
  for (u64 left = mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    u64 old = 0;
    memcpy(&old, at[l], a.bytes);
    u64 made = atomic_result(a, old, lane_value(rows->data, l, a.bytes), lane_value(rows->second, l, a.bytes));
    memcpy(at[l], &made, a.bytes);
    keep_value(rows->old, l, a.bytes, old);
  }
  watch_access(w, i, &(memory_access){SPACE_LDS, ACCESS_ATOMIC, .bytes = a.bytes, .mask = mask, .offset = address});
}
