/* Decode in one launch: the workgroup that stores the last part of a head of keys adds all of them.
 *
 * Workgroups of a head may be on different XCDs, whose L2s don't see each other's writes. So a workgroup releases its part
 * before it counts itself (buffer_wbl2 sc1 writes the L2 back), and the last one acquires the others' (buffer_inv sc1):
 * LLVM's memory model for gfx942 and gfx950, in the scope of an agent. Parts are added in their order, whoever is last, so
 * every run gives the same bits. */
#ifndef TANDEM_HIP_ATTENTION_LAST_PART_H
#define TANDEM_HIP_ATTENTION_LAST_PART_H

#include "key_tile.h"
#include "query_rows.h"

#include "memory_rows.h"

/* On gfx942 from the wave's number, which is in an SGPR, because the loop has no VGPR left to keep it. */
DEVICE uint32_t own_lane(void) {
#if CHIP_TRANSPOSED_LDS_READS
  return (uint32_t)lane_index();
#else
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
#endif
}
DEVICE uint32_t own_thread(int wave) {
  return CHIP_TRANSPOSED_LDS_READS ? (uint32_t)thread_index() : (uint32_t)wave * WAVE + own_lane();
}

/* Is this workgroup the last one of its head of keys to come here? The counter is 0 before a launch; the last workgroup's
 * increment makes it 0 again, for the next launch. `shared` is LDS whose old contents no wave needs any more. */
DEVICE bool comes_last(const attention_args *a, uint32_t kv, int wave, LDS uint32_t *shared) {
  wait_memory<0>(); /* for this wave's part of the results */
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (wave == 0) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); /* the other waves' part too: the barrier handed it on */
    /* clang 22 leaves this wait out: it knows of no access since the last one, and does not count buffer_wbl2 */
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
    uint32_t others = 0;
    if (own_lane() == 0) others = __builtin_amdgcn_atomic_inc32(a->counters + kv, a->splits - 1, __ATOMIC_RELAXED, "agent");
    const bool last = (uint32_t)__builtin_amdgcn_readfirstlane((int)others) == a->splits - 1;
    if (last) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    if (own_lane() == 0) *shared = last;
  }
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  return __builtin_amdgcn_readfirstlane((int)*shared) != 0;
}

typedef float part_numbers_of_row __attribute__((ext_vector_type(2))); /* reference and sum */

/* Four columns of a row, so far. */
typedef struct row_sum {
  f32x4 x;
  float reference, sum;
} row_sum;

/* Adds TOGETHER parts. first: nothing was added before. */
enum { TOGETHER = 16 }; /* loads of a lane that are on their way at once: one after the other would take a latency each */
DEVICE void add_parts(row_sum *s, bool first, const f32x4 x[TOGETHER], const part_numbers_of_row own[TOGETHER]) {
  float most = first ? -__builtin_inff() : s->reference;
#pragma unroll
  for (int n = 0; n < TOGETHER; n++) most = __builtin_fmaxf(most, own[n].x);
  const float base = most == -__builtin_inff() ? 0 : most; /* avoids inf - inf */
  const float before = first ? 0 : __builtin_amdgcn_exp2f(s->reference - base);
  s->x = first ? (f32x4)0 : s->x * before;
  s->sum = first ? 0 : s->sum * before;
  s->reference = most;
#pragma unroll
  for (int n = 0; n < TOGETHER; n++) {
    const float factor = __builtin_amdgcn_exp2f(own[n].x - base);
    s->x += factor * x[n];
    s->sum += factor * own[n].y;
  }
}

/* Stores four columns of a row. */
DEVICE void store_sum(const attention_args *a, uint32_t kv, uint32_t row, uint32_t column, row_sum s, tdm_type type) {
  const uint32_t batch = quotient(kv, a->of_heads_kv), in_group = quotient(row, a->of_sq),
                 query = row - in_group * (uint32_t)a->sq;
  const uint32_t head = (kv - batch * (uint32_t)a->heads_kv) * (uint32_t)a->group + in_group;
  const bool any = !a->causal || query + a->skv >= a->sq;
  const int64_t to = batch * a->o_stride.batch + head * a->o_stride.head + query * a->o_stride.row + column;
  store_four(a->o, to, any ? s.x * __builtin_amdgcn_rcpf(s.sum) : (f32x4)0, type);
  if (a->lse != nullptr && column == 0) a->lse[(batch * a->heads_q + head) * a->sq + query] = log_sum(s.reference, s.sum);
}

/* Adds all parts of a head of keys and stores its rows. A work-item has four columns of a row at a time. */
template <int head>
DEVICE void add_all_parts(const attention_args *a, uint32_t kv, int wave, tdm_type type) {
  const uint32_t of_row = WIDTH<head> / 4, head_dim = (uint32_t)a->head_dim, rows = (uint32_t)(a->group * a->sq);
  const uint32_t step = rows * head_dim * (uint32_t)sizeof(float), numbers_step = rows * (uint32_t)sizeof(part_numbers_of_row);
  const uint32_t splits = a->splits, thread = own_thread(wave), column = thread % of_row * 4;
  buffer o = make_short_buffer(part_results(a, (int64_t)kv * splits), splits * step);
  buffer numbers = make_short_buffer(part_numbers(a, (int64_t)kv * splits), splits * numbers_step);
  if (column >= head_dim) return;
  for (uint32_t row = thread / of_row; row < rows; row += THREADS<head> / of_row) {
    row_sum s = {};
    for (uint32_t i = 0; i < splits; i += TOGETHER) {
      f32x4 part[TOGETHER];
      part_numbers_of_row own[TOGETHER];
      uint32_t of_numbers = i * numbers_step + row * (uint32_t)sizeof(part_numbers_of_row);
      uint32_t of_part = i * step + (row * head_dim + column) * (uint32_t)sizeof(float);
#pragma unroll
      for (uint32_t n = 0; n < TOGETHER; n++) { /* zeros after the last part */
        own[n] = __builtin_bit_cast(part_numbers_of_row, __builtin_amdgcn_raw_buffer_load_b64(numbers, (int)of_numbers, 0, 0));
        part[n] = __builtin_bit_cast(f32x4, buffer_load(o, of_part));
        of_numbers += numbers_step;
        of_part += step;
        keep_in_register(&of_numbers); /* else clang computes each from the first: multiples of both steps, in SGPRs */
        keep_in_register(&of_part);
      }
#pragma unroll
      for (uint32_t n = 0; n < TOGETHER; n++) own[n].x = i + n < splits ? own[n].x : -__builtin_inff();
      add_parts(&s, i == 0, part, own);
    }
    store_sum(a, kv, row, column, s, type);
  }
}

/* The same for at most FEW_PARTS parts: a wave has the rows and the columns that it had in the loop. */
template <int head>
DEVICE void add_few_parts(const attention_args *a, uint32_t kv, int wave, tdm_type type) {
  const int together = head > 96 ? 2 : FEW_PARTS; /* parts that the registers have room for */
  attention_work work = find_part(a, type);
  const uint32_t rows = (uint32_t)work.rows, lane = own_lane(), row = (uint32_t)wave * 32 + lane % 32, splits = a->splits;
  if ((uint32_t)wave * 32 >= rows) return;
  const uint32_t step = a->part_floats * (uint32_t)sizeof(float);
  buffer o = make_short_buffer(part_results(a, (int64_t)kv * splits), splits * step);
  buffer numbers =
      make_short_buffer(part_numbers(a, (int64_t)kv * splits), splits * rows * (uint32_t)sizeof(part_numbers_of_row));
  part_numbers_of_row own[FEW_PARTS];
#pragma unroll
  for (uint32_t n = 0; n < FEW_PARTS; n++) /* what comes after the last row is not stored */
    own[n] = __builtin_bit_cast(part_numbers_of_row,
                                __builtin_amdgcn_raw_buffer_load_b64(numbers, (int)((n * rows + row) * sizeof own[0]), 0, 0));
  uint32_t at = row < rows ? lane_of_part<head>((uint32_t)wave, lane) * 16 : NOT_IN_TILE;
  float most = -__builtin_inff(), base = 0, sum = 0;
  fast_rows<head> w;
#pragma unroll
  for (int from = 0; from < FEW_PARTS; from += together) {
    f32x4 part[together][head / 8];
#pragma unroll
    for (int n = 0; n < together; n++)
#pragma unroll
      for (int i = 0; i < head / 8; i++)
        part[n][i] = __builtin_bit_cast(f32x4, buffer_load(o, at + (uint32_t)(from + n) * step + (uint32_t)i * WAVE * 16));
    if (from == 0) {
#pragma unroll
      for (uint32_t n = 0; n < FEW_PARTS; n++) { /* a part that is not there adds 0 */
        own[n].x = n < splits ? own[n].x : -__builtin_inff();
        most = __builtin_fmaxf(most, own[n].x);
      }
      base = most == -__builtin_inff() ? 0 : most; /* avoids inf - inf */
    }
#pragma unroll
    for (int n = 0; n < together; n++) {
      const float factor = __builtin_amdgcn_exp2f(own[from + n].x - base);
      sum += factor * own[from + n].y;
#pragma unroll
      for (int i = 0; i < head / 8; i++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
          const int r = i % 4 * 4 + c;
          w.o[i / 4][r] = factor * part[n][i][c] + (from + n == 0 ? 0 : w.o[i / 4][r]);
        }
    }
#pragma unroll
    for (int d = 0; d < head / 32; d++) w.o[d] = in_order(w.o[d]); /* before the next loads, which need the registers */
    keep_in_register(&at);
  }
  const uint32_t query = row - quotient(row, a->of_sq) * (uint32_t)a->sq;
  w.seen = !a->causal || query + a->skv >= a->sq;
  w.reference = most;
  w.sum = lane < 32 ? sum : 0; /* store_rows() adds both halves */
  work.part = nullptr;
  store_rows(&w, a, &work, wave * 32, type);
}

/* The end of a decode: all waves come here. `lds` is no longer used. */
template <int head>
DEVICE void end_part(const attention_args *a, int wave, LDS char *lds, tdm_type type) {
  attention_args again = args_again(a); /* the loop has no registers for them, and would spill */
  a = &again;
  if (a->counters == nullptr) return;
  const uint32_t kv = find_place(a).kv;
  if (!comes_last(a, kv, wave, (LDS uint32_t *)lds)) return;
  if (a->few_parts)
    add_few_parts<head>(a, kv, wave, type);
  else
    add_all_parts<head>(a, kv, wave, type);
}

#endif
