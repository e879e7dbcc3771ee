/* Where the rows of a tile's operands end, and by cache lines how slots begin (cache_lines.h). */
#ifndef TANDEM_HIP_ENGINE_STEP_ENDS_H
#define TANDEM_HIP_ENGINE_STEP_ENDS_H

#include "between.h"

/* Where the rows of all operands end. */
template <typename T>
struct all_row_ends {
  row_ends a, b[T::PRODUCTS];
};
template <typename T>
DEVICE all_row_ends<T> make_all_row_ends(const lines *a, const b_lines<T> *b, const line_order *o, int tail, form of_a,
                                         form of_b) {
  all_row_ends<T> e = {T::CACHE_LINES ? make_line_ends(a, o, tail, of_a) : make_row_ends(tail, of_a), {}};
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++)
    e.b[p] = T::CACHE_LINES ? make_line_ends(b->of, o, tail, of_b) : make_row_ends(tail, of_b);
  return e;
}
template <typename T>
DEVICE void end_all_loads(lines *a, b_lines<T> *b, const all_row_ends<T> *e, int begin, int end, form of_a, form of_b) {
  const int all_a = loads_of(T::TILE_M, T::WAVES), all_b = loads_of(T::TILE_N, T::WAVES);
  end_loads(a, &e->a, begin, end, of_a);
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++)
    end_loads(b->of + p, e->b + p, begin - all_a - p * all_b, end - all_a - p * all_b, of_b);
}
/* Before the loads that come next: those that begin a step with `left` left, and the others of the step before. */
template <typename T>
DEVICE void end_next_loads(lines *a, b_lines<T> *b, const all_row_ends<T> *e, int left, form of_a, form of_b) {
  const int half = loads_with<T, T::PARTS - 1>::COUNT;
  if (left == 0) end_all_loads<T>(a, b, e, 0, half, of_a, of_b);
  if (half < T::LOADS && left == -1) end_all_loads<T>(a, b, e, half, T::LOADS, of_a, of_b);
}
/* By cache lines: before an operand's slot. Returns for how many slots that holds. both: rows of A and B are along k. Branches,
 * because each way is short. */
DEVICE int begin_slot(lines *x, const row_ends *e, const line_order *o, int slot, uint32_t *length, bool both, form f) {
  int line = o->first + slot, some = 1;
  if (line >= o->count) line -= o->count;
  if (slot > o->count) {
    *length = 0;
    return 1 << 30;
  }
  int64_t back = 0;
  if (line == 0) {
    back = slot > 0 ? o->count : 0;
    begin_lines_at(x, e, LINE_0, f);
    *length = line_length(x, o, LINE_0, f);
  } else if (line == line_of_end(o)) {
    begin_lines_at(x, e, LINE_OF_END, f);
    *length = x->tail_length;
  } else {
    begin_lines_at(x, e, OTHER_LINES, f);
    *length = x->length;
    const int end = o->count + both - slot;
    some = end < 1 ? 1 : end < line_of_end(o) - line ? end : line_of_end(o) - line;
  }
  if (slot == o->count && !f.along_k) *length = 0;
  x->base = uniform(x->base - back * x->step); /* in SGPRs, as loads need it */
  return some;
}
template <typename T>
DEVICE int begin_slot_of_a(lines *a, const all_row_ends<T> *e, const line_order *o, int slot, step_lengths<T> *length,
                           form of_a, form of_b) {
  return begin_slot(a, &e->a, o, slot, &length->a, of_a.along_k && of_b.along_k, of_a);
}
template <typename T>
DEVICE int begin_slot_of_b(b_lines<T> *b, const all_row_ends<T> *e, const line_order *o, int slot, step_lengths<T> *length,
                           form of_a, form of_b) {
  return begin_slot(b->of, e->b, o, slot, length->b, of_a.along_k && of_b.along_k, of_b);
}

#endif
