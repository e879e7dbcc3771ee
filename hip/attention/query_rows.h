/* What the attention kernels do with a wave's 32 rows of queries, however keys and values are read. Before it includes this
 * file, a kernel defines read_values<head>(place, d, s), which returns the operand of columns 32 d .. 32 d + 31 and the
 * keys of step s, and read_values_of_step, the same for an s that is not a constant.
 *
 * Scores and sums are transposed, so that a lane has one query. Register r of a result is row 8 (r / 4) + 4 half + r % 4,
 * where half is lane / 32. So of 32 keys, a lane has the probabilities that the second product needs from it: step s covers
 * 16 keys of 16-bit types or 8 of f32, and half h provides keys 4 h + 0..3 and, of 16, also 8 + 4 h + 0..3. */
#ifndef TANDEM_HIP_ATTENTION_QUERY_ROWS_H
#define TANDEM_HIP_ATTENTION_QUERY_ROWS_H

#include "hip/device/mfma.h"
#include "hip/device/wait.h"
#include "work.h"

/* Probabilities are relative to 2^reference of their query, where the reference is some maximum of its scores so far. A new
 * maximum need not become the reference immediately: sums and results don't depend on it, and are rescaled only if the
 * probabilities of a tile in a lane add up to more than this. So usually only the first tile computes its maximum. (The
 * threshold is an idea of FlashAttention-4, "skip rescaling", which applies it to the maximum.) The largest f16 is 65504. */
#define LARGEST_SUM 0x1p13f

/* What a wave has in registers. chunks: the number of chunks of a row of Q. */
template <int head, int chunks>
struct wave_rows {
  u32x4 q[chunks];
  f32x16 o[head / 32];
  float reference, sum; /* of the lane's query; the reference is times log2(e), the sum is over the lane's keys */
  float base;           /* the reference, or -infinity if it can't be used: then every score is too large for it */
  bool ready;           /* base is a number in all lanes of the wave */
  int seen;             /* the number of keys that the lane's query sees */
};

DEVICE int row_of(int r) { return r / 4 * 8 + r % 4; } /* without the term 4 half */

DEVICE constexpr int keys_of_step(tdm_type type) { return type == TDM_F32 ? 8 : 16; }

/* Converts two floats to 16 bits each, to nearest. gfx942 has no instruction for bf16, so halves are rounded away from 0
 * there. A NaN need not stay NaN, because the row's sum is NaN then. */
DEVICE uint32_t pack_two(float a, float b, tdm_type type) {
  typedef _Float16 f16x2 __attribute__((ext_vector_type(2)));
  typedef __bf16 bf16x2 __attribute__((ext_vector_type(2)));
  f32x2 both = {a, b};
  /* v_fma_mixlo_f16 and v_fma_mixhi_f16: two conversions would need a third instruction */
  if (type == TDM_F16 && !CHIP_PACKED_CONVERSIONS) {
    float one = 1;
    asm("" : "+s"(one));
    return __builtin_bit_cast(uint32_t,
                              (f16x2){(_Float16)__builtin_fmaf(both[0], one, 0), (_Float16)__builtin_fmaf(both[1], one, 0)});
  }
  if (type == TDM_F16) return __builtin_bit_cast(uint32_t, __builtin_convertvector(both, f16x2));
  if (CHIP_PACKED_CONVERSIONS) return __builtin_bit_cast(uint32_t, __builtin_convertvector(both, bf16x2));
  /* One addition rounds both. They are not negative, so nothing is carried from one to the other. */
  u32x2 up = __builtin_bit_cast(u32x2, __builtin_bit_cast(uint64_t, both) + 0x0000800000008000u);
  return __builtin_amdgcn_perm(up[1], up[0], 0x07060302);
}

template <int head, int chunks>
DEVICE void begin_sums(wave_rows<head, chunks> *w, const attention_args *a, const attention_work *work, int64_t row) {
#pragma unroll
  for (int d = 0; d < head / 32; d++) w->o[d] = 0;
  w->reference = w->base = -__builtin_inff();
  w->ready = false;
  w->sum = 0;
  w->seen = (int)keys_seen(a, work, row);
}

/* Masks the scores of keys that the lane's query does not see, among 32 keys from `key` on. */
DEVICE void mask_scores(f32x16 *s, int seen, int key) {
  int in_lane = seen - key - lane_index() / 32 * 4;
#pragma unroll
  for (int r = 0; r < 16; r++) (*s)[r] = row_of(r) < in_lane ? (*s)[r] : -__builtin_inff();
}

/* The largest score of the lane's query. It may miss a NaN; the row's sum will show it. */
template <int blocks>
DEVICE float scores_max(const f32x16 s[blocks]) {
  float most = -__builtin_inff();
#pragma unroll
  for (int b = 0; b < blocks; b++)
#pragma unroll
    for (int r = 0; r < 16; r++) most = __builtin_fmaxf(most, s[b][r]);
  return __builtin_fmaxf(most, other_half(most));
}

/* Makes the maximum the reference. Returns the factor for what was computed with the old one. */
template <typename rows>
DEVICE float new_reference(rows *w, float most) {
  float next = __builtin_fmaxf(w->reference, most);
  float factor = next == -__builtin_inff() ? 1 : __builtin_amdgcn_exp2f(w->reference - next);
  w->reference = next;
  /* Above 2^20 the rounding of the reference itself is not small compared with 1. Rows without a key have only scores of
   * -infinity. */
  w->base = w->seen <= 0 && next == -__builtin_inff() ? 0 : __builtin_fabsf(next) <= 0x1p20f ? next : -__builtin_inff();
  w->ready = __builtin_amdgcn_ballot_w64(w->base == -__builtin_inff()) == 0;
  return factor;
}

/* Rescales to the new maximum. */
template <int head, int chunks>
DEVICE void follow(wave_rows<head, chunks> *w, float most) {
  float factor = new_reference(w, most);
  w->sum *= factor;
#pragma unroll
  for (int d = 0; d < head / 32; d++) w->o[d] *= factor;
}

/* s times scale minus base, with both roundings, so that it is exactly 0 for the score that base was computed from. */
template <typename scores>
DEVICE scores subtract_base(scores s, float scale, float base) {
#pragma clang fp contract(off)
  return s * scale - base;
}

/* 2^(scale s - base), packed as the second product needs it. Returns the sum. */
template <int blocks>
DEVICE float exponentials(const f32x16 s[blocks], float scale, float base, u32x4 *p, tdm_type type) {
  f32x2 sum = 0;
#pragma unroll
  for (int b = 0; b < blocks; b++)
#pragma unroll
    for (int r = 0; r < 16; r += 2) {
      f32x2 x = __builtin_elementwise_fma((f32x2){s[b][r], s[b][r + 1]}, (f32x2)scale, (f32x2)-base);
      x = (f32x2){__builtin_amdgcn_exp2f(x[0]), __builtin_amdgcn_exp2f(x[1])};
      sum += x;
      if (type == TDM_F32) {
        u32x2 bits = __builtin_bit_cast(u32x2, x);
        p[4 * b + r / 4][r % 4] = bits[0];
        p[4 * b + r / 4][r % 4 + 1] = bits[1];
      } else {
        p[2 * b + r / 8][r % 8 / 2] = pack_two(x[0], x[1], type);
      }
    }
  return sum[0] + sum[1];
}

/* Turns scores into probabilities. If the sum is too large or NaN, the wave computes the maximum, once. */
template <int blocks, int head, int chunks>
DEVICE void make_probabilities(wave_rows<head, chunks> *w, f32x16 s[blocks], float scale, u32x4 *p, tdm_type type) {
  bool look = !w->ready;
  float base = w->base, sum;
#pragma nounroll
  for (;;) {
    if (look) {
      follow(w, scores_max<blocks>(s) * scale);
      base = w->reference == -__builtin_inff() ? 0 : w->reference; /* nothing seen yet: avoids inf - inf */
      if (!w->ready) {
        for (int b = 0; b < blocks; b++) s[b] = subtract_base(s[b], scale, base);
        scale = 1;
        base = 0;
      }
    }
    sum = exponentials<blocks>(s, scale, base, p, type);
    if (look || __builtin_amdgcn_ballot_w64(!(sum <= LARGEST_SUM)) == 0) break;
    look = true;
  }
  w->sum += sum;
}

/* O' += V' P' over `steps` steps. */
template <int steps, int head, int chunks, typename place>
DEVICE void multiply_all(wave_rows<head, chunks> *w, place t, const u32x4 p[steps], tdm_type type) {
#pragma unroll
  for (int i = 0; i < steps; i++) {
    keep_order(); /* otherwise reads of many steps ahead would need more registers than there are */
#pragma unroll
    for (int d = 0; d < head / 32; d++) w->o[d] = mfma(read_values<head>(t, d, i), p[i], w->o[d], type);
  }
}

/* Is every V of a tile finite? A product with 0 shows it. */
template <int head, int steps, typename place>
DEVICE bool all_finite(place t, tdm_type type) {
  f32x16 zero = 0;
#pragma unroll
  for (int d = 0; d < head / 32; d++)
#pragma unroll
    for (int i = 0; i < steps; i++) zero = mfma(read_values<head>(t, d, i), (u32x4)0, zero, type);
  float any = 0;
#pragma unroll
  for (int r = 0; r < 16; r++) any += zero[r];
  return __builtin_amdgcn_ballot_w64(any != any) == 0;
}

/* ---- Sums that stay in their registers ----
 *
 * In C the result of x * factor has other registers than x. If it is computed on one of two paths, or in a loop, clang needs
 * both, and keeps much of a wave's state in scratch. An operand of assembly is written as v[50:65], or a[50:65]; this makes the
 * number of its first register. */
#define FIRST_REGISTER(symbol, operand) \
  ".set " symbol                        \
  ", 0\n\t"                             \
  ".set is_first, 1\n\t"                \
  ".irpc c, \"" operand                 \
  "\"\n\t"                              \
  ".ifeqs \"\\c\", \":\"\n\t"           \
  ".set is_first, 0\n\t"                \
  ".endif\n\t"                          \
  ".if is_first\n\t"                    \
  ".ifnes \"\\c\", \"v\"\n\t"           \
  ".ifnes \"\\c\", \"a\"\n\t"           \
  ".ifnes \"\\c\", \"[\"\n\t"           \
  ".set " symbol ", " symbol            \
  "*10+\\c\n\t"                         \
  ".endif\n\t"                          \
  ".endif\n\t"                          \
  ".endif\n\t"                          \
  ".endif\n\t"                          \
  ".endr\n\t"
#define IN_PLACE(instruction) ".irp n, 0, 2, 4, 6, 8, 10, 12, 14\n\t" instruction "\n\t.endr\n\ts_nop 1"

/* Before these: the matrix unit may have written the operands just before, and takes up to 19 times 4 clocks to do so. */
DEVICE void wait_products(void) { asm volatile("s_nop 15\n\ts_nop 3"); }

DEVICE f32x16 multiply_in_place(f32x16 x, float factor) {
  asm volatile(FIRST_REGISTER("first", "%0") IN_PLACE("v_pk_mul_f32 v[first+\\n:first+\\n+1], v[first+\\n:first+\\n+1], %1")
               : "+v"(x)
               : "v"((f32x2)factor));
  return x;
}

DEVICE f32x16 add_in_place(f32x16 x, f32x16 y) {
  asm volatile(FIRST_REGISTER("first", "%0") FIRST_REGISTER("other", "%1")
                   IN_PLACE("v_pk_add_f32 v[first+\\n:first+\\n+1], v[first+\\n:first+\\n+1], v[other+\\n:other+\\n+1]")
               : "+v"(x)
               : "v"(y));
  return x;
}

/* A product that a masked key must not affect: 0 times NaN or infinity is NaN. So it takes the keys one after the other,
 * and a query uses the result only if it sees the key. This is needed if a masked tile has such values, which is rare. */
template <int steps, int head, int chunks, typename place>
DEVICE void multiply_seen(wave_rows<head, chunks> *w, place t, u32x4 p[steps], int first, tdm_type type) {
#pragma nounroll
  for (int s = 0; s < steps; s++) {
#pragma nounroll
    for (int key = 0; key < keys_of_step(type); key++) {
      u32x4 only = 0; /* the key's element, if this lane has it */
      int element = key / 8 * 4 + key % 4, in_word = type == TDM_F32 ? 1 : 2;
#pragma unroll
      for (int word = 0; word < 4; word++)
        if (lane_index() / 32 == key / 4 % 2 && word == element / in_word)
          only[word] = type == TDM_F32 ? ~0u : 0xffffu << element % 2 * 16;
#pragma unroll
      for (int d = 0; d < head / 32; d++) {
        f32x16 next = mfma(read_values_of_step<head>(t, d, s) & only, p[0], (f32x16)0, type);
#pragma unroll
        for (int r = 0; r < 16; r++) next[r] = first + keys_of_step(type) * s + key < w->seen ? next[r] : 0;
        wait_products();
        w->o[d] = add_in_place(w->o[d], next);
        keep_order();
      }
    }
#pragma unroll
    for (int i = 1; i < steps; i++) p[i - 1] = p[i]; /* registers can't be indexed */
  }
}

/* The second product of one tile. first: its first key; masked: some query does not see all of its keys. */
template <int steps, int head, int chunks, typename place>
DEVICE void multiply_values(wave_rows<head, chunks> *w, place t, u32x4 p[steps], bool masked, int first, tdm_type type) {
  if (masked && !all_finite<head, steps>(t, type))
    multiply_seen<steps>(w, t, p, first, type);
  else
    multiply_all<steps>(w, t, p, type);
}

/* The numbers of row `row` that the caller stores: log-sum-exp, or what adding the parts needs. */
template <int head, int chunks>
DEVICE void store_numbers(const wave_rows<head, chunks> *w, const attention_work *work, int64_t row, float sum) {
  if (work->part != nullptr) {
    work->numbers[2 * (row % GENERAL_ROWS)] = w->reference;
    work->numbers[2 * (row % GENERAL_ROWS) + 1] = sum;
  } else if (work->lse != nullptr) {
    work->lse[row] = log_sum(w->reference, sum);
  }
}

#endif
