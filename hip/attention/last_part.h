/* Decode in one launch: the workgroup that stores the last part of a unit adds all of them (hip/device/last.h).
 * Parts are added in their order, whoever is last, so every run gives the same bits. */
#ifndef TANDEM_HIP_ATTENTION_LAST_PART_H
#define TANDEM_HIP_ATTENTION_LAST_PART_H

#include "hip/device/last.h"
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

/* What the end of a part needs: the unit's counter, or NULL, where its parts are, and where the sums go: the group's first row.
 * first: the block's first row. */
typedef struct part_end {
  uint32_t *counter;
  const float *parts, *numbers;
  char *o;
  float *lse;
  uint32_t first;
} part_end;

/* again: the arguments. The loop has no registers for them, and would spill; so they are loaded again, all at once. */
DEVICE part_end find_end(attention_args *again, uint32_t block_rows, tdm_type type) {
  *again = attention_args_again();
  const attention_args *a = again;
  asm volatile(""
               :
               : "s"(a->counters), "s"(a->parts), "s"(a->o), "s"(a->lse), "s"(a->heads_q), "s"(a->heads_kv), "s"(a->group));
  asm volatile("" : : "s"(a->sq), "s"(a->skv), "s"(a->head_dim), "s"(a->o_stride.batch), "s"(a->o_stride.head), "s"(a->causal));
  asm volatile("" : : "s"(a->o_stride.row), "s"(a->splits), "s"(a->part_floats), "s"(a->few_parts), "s"(a->of_splits.factor));
  asm volatile(""
               :
               : "s"(a->of_round.factor), "s"(a->of_head_rows.factor), "s"(a->xcds), "s"(a->count), "s"(a->of_heads_kv.factor));
  asm volatile("" : : "s"(a->of_heads.factor), "s"(a->heads), "s"(a->head_rows), "s"(a->group_rows));
  part_end e = {};
  if (a->counters == nullptr) return e;
  const part_place place = find_place(a, block_rows);
  const uint32_t kv = place.kv, batch = quotient(kv, a->of_heads_kv), first = place.unit * a->splits;
  const uint32_t head = (kv - batch * (uint32_t)a->heads_kv) * (uint32_t)a->group;
  e.counter = a->counters + place.unit;
  e.parts = part_results(a, first);
  e.numbers = part_numbers(a, first, block_rows);
  e.o = (char *)a->o + (batch * a->o_stride.batch + head * a->o_stride.head) * tdm_bytes(type);
  if (a->lse != nullptr) e.lse = a->lse + (batch * (uint64_t)a->heads_q + head) * (uint64_t)a->sq;
  e.first = place.first;
  asm volatile("" : "+s"(e.counter), "+s"(e.parts), "+s"(e.numbers), "+s"(e.o), "+s"(e.lse)); /* here, not after a barrier */
  return e;
}

/* Is this workgroup the last one of its unit to come here (hip/device/last.h)?
 *
 * The last wave counts. Up to head_dim 128 waves 4-7 only load, so they are here before the others have stored their rows, and
 * find their addresses before the barrier; the others find theirs while the counter is on its way. */
template <int threads, int block_rows>
DEVICE bool comes_last(attention_args *again, int wave, LDS uint32_t *shared, part_end *e, tdm_type type) {
  const bool counts = wave == threads / WAVE - 1;
  const bool early = counts || wave >= GENERAL_ROWS / 32;
  if (early) *e = find_end(again, block_rows, type);
  wait_memory<0>(); /* for this wave's part of the results */
  meet();
  if (!early) *e = find_end(again, block_rows, type);
  if (e->counter == nullptr) return false;
  if (counts) count_workgroup((GLOBAL uint32_t *)e->counter, again->splits, own_lane(), shared);
  return found_last(shared);
}

typedef float part_numbers_of_row __attribute__((ext_vector_type(2))); /* reference and sum */

/* Four columns of a row, so far. */
typedef struct row_sum {
  f32x4 x;
  float reference, sum;
} row_sum;

/* Adds `together` parts. first: nothing was added before. */
template <int together>
DEVICE void add_parts(row_sum *s, bool first, const f32x4 *x, const part_numbers_of_row *own) {
  float most = first ? -__builtin_inff() : s->reference;
#pragma unroll
  for (int n = 0; n < together; n++) most = __builtin_fmaxf(most, own[n].x);
  const float base = most == -__builtin_inff() ? 0 : most; /* avoids inf - inf */
  const float before = first ? 0 : __builtin_amdgcn_exp2f(s->reference - base);
  s->x = first ? (f32x4)0 : s->x * before;
  s->sum = first ? 0 : s->sum * before;
  s->reference = most;
#pragma unroll
  for (int n = 0; n < together; n++) {
    const float factor = __builtin_amdgcn_exp2f(own[n].x - base);
    s->x += factor * x[n];
    s->sum += factor * own[n].y;
  }
}

/* Where a row of the group goes. */
typedef struct row_place {
  uint32_t query;
  GLOBAL char *o;
  float *lse; /* NULL if this work-item does not store it */
} row_place;

DEVICE row_place place_of_row(const attention_args *a, const part_end *e, uint32_t row, uint32_t column, tdm_type type) {
  const row_in_group at = find_row(a, row);
  row_place to = {at.query, nullptr, e->lse != nullptr && column == 0 ? e->lse + row : nullptr};
  to.o = (GLOBAL char *)e->o + (at.head * a->o_stride.head + at.query * a->o_stride.row + column) * tdm_bytes(type);
  asm volatile("" : "+v"(to.o)); /* here: while the loads are on their way */
  return to;
}

/* Does the row see any key? */
DEVICE bool sees_keys(const attention_args *a, uint32_t query) { return !a->causal || query + a->skv >= a->sq; }

/* Adds all parts of a unit and stores its rows. A work-item has four columns of a row at a time, and `together` parts.
 * more: there may be more parts than that. */
enum { TOGETHER = 16 }; /* loads of a lane that are on their way at once: one after the other would take a latency each */
template <int head, int threads, int block_rows, int together, bool more>
DEVICE void add_all_parts(const attention_args *a, const part_end *e, int wave, tdm_type type) {
  const uint32_t of_row = WIDTH<head> / 4, head_dim = (uint32_t)a->head_dim;
  const uint32_t rows = rows_of_block(a, e->first, block_rows);
  const uint32_t step = a->part_floats * (uint32_t)sizeof(float);
  const uint32_t numbers_step = rows_of_part(a, block_rows) * (uint32_t)sizeof(part_numbers_of_row);
  const uint32_t splits = a->splits, thread = own_thread(wave) ^ threads / 2; /* waves 4-7 are earlier, so they begin */
  const uint32_t column = thread % of_row * 4;
  buffer o = make_short_buffer(e->parts, splits * step), numbers = make_short_buffer(e->numbers, splits * numbers_step);
  if (column >= head_dim) return;
  for (uint32_t row = thread / of_row; row < rows; row += threads / of_row) {
    row_sum s = {};
    row_place to = {};
    for (uint32_t i = 0; i == 0 || (more && i < splits); i += together) {
      f32x4 part[together];
      part_numbers_of_row own[together];
      uint32_t of_numbers = i * numbers_step + row * (uint32_t)sizeof(part_numbers_of_row);
      uint32_t of_part = i * step + (row * head_dim + column) * (uint32_t)sizeof(float);
#pragma unroll
      for (uint32_t n = 0; n < together; n++) { /* zeros after the last part */
        own[n] = __builtin_bit_cast(part_numbers_of_row, __builtin_amdgcn_raw_buffer_load_b64(numbers, (int)of_numbers, 0, 0));
        part[n] = __builtin_bit_cast(f32x4, buffer_load(o, of_part));
        of_numbers += numbers_step;
        of_part += step;
        keep_in_register(&of_numbers); /* else clang computes each from the first: multiples of both steps, in SGPRs */
        keep_in_register(&of_part);
      }
      keep_order();
      if (i == 0) to = place_of_row(a, e, e->first + row, column, type);
#pragma unroll
      for (uint32_t n = 0; n < together; n++) own[n].x = i + n < splits ? own[n].x : -__builtin_inff();
      add_parts<together>(&s, i == 0, part, own);
    }
    store_four((char *)to.o, 0, sees_keys(a, to.query) ? s.x * __builtin_amdgcn_rcpf(s.sum) : (f32x4)0, type);
    if (to.lse != nullptr) *(GLOBAL float *)to.lse = log_sum(s.reference, s.sum);
  }
}

/* The same for at most FEW_PARTS parts: a wave has 32 rows, as in the loop. Of eight waves, two share them: half of the columns
 * each. */
template <int head>
DEVICE void add_few_parts(const attention_args *a, const part_end *e, int wave, tdm_type type) {
  const int waves = GENERAL_ROWS / 32, chunks = head / 8 * waves * WAVE / THREADS<head>; /* of 8 columns */
  const int together = head > 128 ? 2 : FEW_PARTS; /* parts that the registers have room for */
  const uint32_t rows = rows_of_block(a, e->first), of_part = rows_of_part(a), splits = a->splits, lane = own_lane();
  const uint32_t block = (uint32_t)wave % waves, first = (uint32_t)wave / waves * chunks, row = block * 32 + lane % 32;
  if (block * 32 >= rows) return;
  const uint32_t step = a->part_floats * (uint32_t)sizeof(float), column = 8 * first + lane / 32 * 4;
  buffer o = make_short_buffer(e->parts, splits * step);
  buffer numbers = make_short_buffer(e->numbers, splits * of_part * (uint32_t)sizeof(part_numbers_of_row));
  part_numbers_of_row own[FEW_PARTS];
#pragma unroll
  for (uint32_t n = 0; n < FEW_PARTS; n++) /* after the last row those of the first one, which are not stored */
    own[n] = __builtin_bit_cast(
        part_numbers_of_row,
        __builtin_amdgcn_raw_buffer_load_b64(numbers, (int)((n * of_part + (row < rows ? row : 0)) * sizeof own[0]), 0, 0));
  uint32_t at = row < rows ? (lane_of_part<head>(block, lane) + first * WAVE) * 16 : NOT_IN_TILE;
  float most = -__builtin_inff(), base = 0, sum = 0;
  f32x4 all[chunks];
  row_place to = {};
#pragma unroll
  for (int from = 0; from < FEW_PARTS; from += together) {
    f32x4 part[together][chunks];
#pragma unroll
    for (int n = 0; n < together; n++)
#pragma unroll
      for (int i = 0; i < chunks; i++)
        part[n][i] = __builtin_bit_cast(f32x4, buffer_load(o, at + (uint32_t)(from + n) * step + (uint32_t)i * WAVE * 16));
    keep_order();
    if (from == 0) {
      to = place_of_row(a, e, e->first + row, column, type);
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
      for (int i = 0; i < chunks; i++) all[i] = factor * part[n][i] + (from + n == 0 ? (f32x4)0 : all[i]);
    }
#pragma unroll
    for (int i = 0; i < chunks; i++) all[i] = in_order(all[i]); /* before the next loads, which need the registers */
    keep_in_register(&at);
  }
  if (row >= rows) return;
  const bool any = sees_keys(a, to.query);
  const float by = __builtin_amdgcn_rcpf(sum);
#pragma unroll
  for (int i = 0; i < chunks; i++)
    if (8 * (first + (uint32_t)i) < (uint32_t)a->head_dim) store_four((char *)to.o, 8 * i, any ? all[i] * by : (f32x4)0, type);
  if (to.lse != nullptr) *(GLOBAL float *)to.lse = log_sum(most, sum);
}

/* The end of a decode: all waves come here. `lds` is no longer used. */
template <int head, int threads = THREADS<head>, int block_rows = GENERAL_ROWS>
DEVICE void end_part(int wave, LDS char *lds, tdm_type type) {
  attention_args again;
  part_end e;
  if (!comes_last<threads, block_rows>(&again, wave, (LDS uint32_t *)lds, &e, type)) return;
  const attention_args *a = &again;
  if constexpr (block_rows > FEW_ROWS)
    if (a->few_parts) return add_few_parts<head>(a, &e, wave, type);
  if (a->splits <= 4)
    add_all_parts<head, threads, block_rows, 4, false>(a, &e, wave, type);
  else if (a->splits <= 8)
    add_all_parts<head, threads, block_rows, 8, false>(a, &e, wave, type);
  else if (a->splits <= TOGETHER)
    add_all_parts<head, threads, block_rows, TOGETHER, false>(a, &e, wave, type);
  else
    add_all_parts<head, threads, block_rows, TOGETHER, true>(a, &e, wave, type);
}

#endif
