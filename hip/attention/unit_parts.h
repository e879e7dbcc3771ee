/* The end of flash in units, where the keys are in parts: a wave stores its sums (key_splits.h). The workgroup that comes last
 * adds all parts of its unit, or a second launch does. Included after key_tile.h and query_rows.h. */
#ifndef TANDEM_HIP_ATTENTION_UNIT_PARTS_H
#define TANDEM_HIP_ATTENTION_UNIT_PARTS_H

#include "last_part.h"

/* Of all 32 rows of a wave: those after a head's last query, too, which nobody stores to O. A query that sees none of the
 * part's keys may have NaN in its sums, of values that it does not see. */
template <int head>
DEVICE void store_part(const fast_rows<head> *w, const attention_args *a, const part_place *place) {
  const uint32_t workgroup = place->unit * a->splits + place->part, of_wave = (uint32_t)wave_index() * WAVE_ROWS;
  uint32_t lane = (uint32_t)lane_index();
  keep_in_register(&lane); /* what depends on it is not computed before the loop, and kept */
  const uint32_t row = of_wave + lane % WAVE_ROWS;
  const float sum = w->sum + other_half(w->sum);
  if (of_wave >= rows_of_block(a, place->first, FAST_ROWS)) return;
  store_sums(w, a, part_results(a, workgroup), (uint32_t)wave_index(), row, lane, w->seen > 0);
  float *numbers = part_numbers(a, workgroup, FAST_ROWS) + 2 * row;
  if (lane < WAVE_ROWS) numbers[0] = w->reference, numbers[1] = sum;
}

/* Adds all parts of a unit, in their order, and stores its rows. A wave has the rows that it had in the loop, and half of their
 * columns at a time where there are more than 160. While a part is added, the next one is on its way. */
template <int head>
DEVICE void add_unit_parts(const attention_args *a, const part_end *e, tdm_type type) {
  enum { CHUNKS = head > 160 ? head / 16 : head / 8 }; /* of 8 columns */
  const uint32_t lane = own_lane(), wave = (uint32_t)wave_index(), first = wave * WAVE_ROWS, row = first + lane % WAVE_ROWS;
  if (first >= rows_of_block(a, e->first, FAST_ROWS)) return;
  const uint32_t splits = a->splits, step = a->part_floats * (uint32_t)sizeof(float);
  const uint32_t numbers_step = rows_of_part(a, FAST_ROWS) * (uint32_t)sizeof(part_numbers_of_row);
  const buffer o = make_short_buffer(e->parts, splits * step), numbers = make_short_buffer(e->numbers, splits * numbers_step);
  const row_in_group at = find_row(a, e->first + row);
  GLOBAL char *to = (GLOBAL char *)e->o + (at.head * a->o_stride.head + at.query * a->o_stride.row + lane / 32 * 4) * 2;
#pragma unroll 1
  for (uint32_t begin = 0; begin < head / 8; begin += CHUNKS) {
    uint32_t of_part = (lane_of_part<head>(wave, lane) + begin * WAVE) * 16;
    uint32_t of_numbers = row * (uint32_t)sizeof(part_numbers_of_row);
    f32x4 next[CHUNKS], all[CHUNKS];
    part_numbers_of_row own = {-__builtin_inff(), 0};
    float most = -__builtin_inff(), sum = 0;
#pragma unroll
    for (int i = 0; i < CHUNKS; i++) next[i] = all[i] = 0;
#pragma unroll 1
    for (uint32_t part = 0; part <= splits; part++) { /* loads this one, and adds the one before */
      const float larger = __builtin_fmaxf(most, own.x), base = larger == -__builtin_inff() ? 0 : larger; /* no inf - inf */
      const float before = __builtin_amdgcn_exp2f(most - base), factor = __builtin_amdgcn_exp2f(own.x - base);
      most = larger;
      sum = sum * before + factor * own.y;
      /* Zeros after the last part. */
      own = __builtin_bit_cast(part_numbers_of_row, __builtin_amdgcn_raw_buffer_load_b64(numbers, (int)of_numbers, 0, 0));
#pragma unroll
      for (int i = 0; i < CHUNKS; i++) {
        all[i] = in_order(all[i] * before + factor * next[i]);
        next[i] = __builtin_bit_cast(f32x4, buffer_load(o, of_part + (uint32_t)i * WAVE * 16));
        keep_order();
      }
      of_part += step;
      of_numbers += numbers_step;
    }
    if (at.query >= (uint32_t)a->sq) continue;
    const bool any = sees_keys(a, at.query);
    const float by = 1 / sum;
#pragma unroll
    for (uint32_t i = 0; i < CHUNKS; i++) {
      const uint32_t column = 8 * (begin + i);
      if (column < (uint32_t)a->head_dim) store_four((char *)to, (int)column, any ? all[i] * by : (f32x4)0, type);
    }
    if (e->lse != nullptr && begin == 0 && lane < WAVE_ROWS)
      *(GLOBAL float *)(e->lse + at.head * (uint32_t)a->sq + at.query) = log_sum(most, sum);
  }
}

/* All waves come here; nobody needs `lds` any more when they have met. */
template <int head>
DEVICE void end_unit(const fast_rows<head> *w, LDS char *lds, tdm_type type) {
  attention_args a = attention_args_again();
  const part_place place = find_place(&a, FAST_ROWS);
  store_part(w, &a, &place);
  part_end e;
  if (comes_last<FAST_THREADS, FAST_ROWS>(&a, wave_index(), (LDS uint32_t *)lds, &e, type)) add_unit_parts<head>(&a, &e, type);
}

#endif
