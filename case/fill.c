/* The data of a case: the value of each element of its inputs, from the case's fill and seed and the element's place. */
#include <math.h>

#include "op.h"

/* The sum of four uniform numbers is close to normal; sqrt(3) makes its deviation 1. */
double case_normal(uint64_t bits) {
  double sum = (double)(bits & 0xffff) + (double)(bits >> 16 & 0xffff) + (double)(bits >> 32 & 0xffff) + (double)(bits >> 48);
  return (sum / 0x1p16 - 2 + 0x1p-15) * 1.7320508075688772;
}

/* ---- Special values ---- */

static const double least_f16 = 0x1p-24;

/* One element of 167 is special. Where one result depends on many elements, fewer are: half a special element per result. With
 * more, every result would be NaN, and a wrong kernel would pass. */
static double special(uint64_t bits, int64_t reach) {
  const double values[] = {NAN, INFINITY, -INFINITY, 0, -0.0, least_f16};
  uint64_t period = reach > 83 ? 2 * (uint64_t)reach : 167;
  return bits % period == 0 ? values[bits / period % 6] : case_normal(case_mix(bits));
}

/* Points where the functions of epilogues change their course, the ends of f32 and f16, infinities and NaN. */
double case_edge(case_element element, uint64_t bits) {
  double most = element == CASE_F16 ? 6e4 : 1e30, least = element == CASE_F16 ? least_f16 : 0x1p-126;
  const double values[] = {NAN, INFINITY, -INFINITY, 0,   -0.0, most, -most, least, -least, 1000, -1000,
                           90,  -90,      12,        -12, 3,    -3,   1,     -1,    0.5,    -0.5};
  uint64_t count = sizeof values / sizeof values[0];
  return bits % count < count - 1 ? values[bits % count] : case_normal(bits);
}

/* ---- Rows ---- */

/* What the elements of a row have in common. */
typedef struct fill_row {
  const tdm_case *c;
  case_element element;
  int64_t row, length, reach;
  uint64_t bits;
  double scale;
} fill_row;

/* Rows of many magnitudes: HUGE: the least have squares that just overflow f32, the most elements that almost do. TINY: the
 * squares of all vanish in f32. f16 has its own ends, and no squares that leave f32. */
static double scale_of(case_fill fill, case_element element, uint64_t bits) {
  if (element == CASE_F16) {
    const double f16_scales[] = {1e-4, 1e-5, 1e-6, 0x1p-24};
    return fill == CASE_HUGE ? 1.8e4 : f16_scales[fill == CASE_SUBNORMAL ? 3 : bits % 3];
  }
  switch (fill) {
    case CASE_HUGE: return pow(10, 19 + (double)(bits % 19));
    case CASE_TINY: return pow(10, -20 - (double)(bits % 14));
    case CASE_SUBNORMAL: return 1e-40;
    default: return 1;
  }
}

/* -100, -1000, ... to the end of the type: below every number that a kernel may begin a search for the maximum with. */
static double far_below(case_element element, uint64_t bits) {
  return element == CASE_F16 ? -pow(10, 2 + (double)(bits % 3)) * 6 : -pow(10, 2 + (double)(bits % 37));
}

/* Stairs with a new maximum every 61 elements. */
static double rising(const fill_row *r, int64_t i) {
  double height = ldexp(0.25, (int)(r->bits % 9)), most = r->element == CASE_F16 ? 6e4 : 1e6;
  return fmin(height * (double)(i / 61), most);
}

static double value_of(const fill_row *r, int64_t i, uint64_t bits) {
  switch (r->c->fill) {
    case CASE_EXACT: return (double)(bits % 9) - 4;
    case CASE_REAL:
    case CASE_GUARD: return case_normal(bits);
    case CASE_BIG: return case_normal(bits) * (r->element == CASE_F16 ? 1e4 : 1e15);
    case CASE_EQUAL: return case_normal(r->bits);
    case CASE_SPECIAL: return special(bits, r->reach);
    case CASE_HUGE:
    case CASE_TINY:
    case CASE_SUBNORMAL: return case_normal(bits) * r->scale;
    case CASE_RISING: return rising(r, i) + case_normal(bits);
    case CASE_NEGATIVE: return far_below(r->element, r->bits) + 8 * case_normal(bits);
    case CASE_MASKED: /* the first part of each row; of one row in 8, all elements */
      return i < (int64_t)(r->bits % (uint64_t)(r->length + r->length / 8 + 1)) ? -(double)INFINITY : case_normal(bits);
    case CASE_EDGES: return case_edge(r->element, bits);
  }
  return 0;
}

static double index_value(const tdm_case *c, int64_t limit, uint64_t bits) {
  static const double outside[] = {-1, INT32_MAX, INT32_MIN};
  static const double wide[] = {-1, 0x1p32, -0x1p62}; /* their low words are valid */
  if (c->fill == CASE_SPECIAL && bits % 3 == 0) {
    uint64_t which = bits / 3 % 5;
    return which < 3 ? (c->wide ? wide : outside)[which] : which == 3 ? (double)c->ignore : (double)limit;
  }
  return limit > 0 ? (double)(bits / 3 % (uint64_t)limit) : 0;
}

void case_fill_block(uint64_t seed, case_element element, int64_t index_limit, void *block) {
  uint64_t key = case_mix(seed), limit = index_limit > 0 ? (uint64_t)index_limit : 1;
  for (int64_t i = 0; i < CASE_BLOCK; i++) {
    uint64_t bits = case_mix(key + (uint64_t)i);
    case_put(block, i, element, case_is_index(element) ? (double)((bits >> 33) % limit) : case_normal(bits));
  }
}

/* Far from each other, and from the beginning of the block. */
int64_t case_block_phase(int index) { return (int64_t)(index + 1) * 131101; }

void case_fill_array(const tdm_case *c, int index, const case_array *array, void *base) {
  uint64_t key = case_mix(case_mix(c->seed) + (uint64_t)index);
  fill_row r = {.c = c, .element = array->element, .length = array->dim[array->rank - 1], .reach = 1};
  if (c->op->reach != NULL) r.reach = c->op->reach(c, index);
  for (r.row = 0; r.row < case_rows(array); r.row++) {
    int64_t at = case_row_offset(array, r.row);
    r.bits = case_mix(key ^ (uint64_t)r.row);
    r.scale = scale_of(c->fill, array->element, r.bits >> 32);
    for (int64_t i = 0; i < r.length; i++) {
      uint64_t bits = case_mix(r.bits + (uint64_t)i);
      double value;
      if (c->op->own_value == NULL || !c->op->own_value(c, index, array, r.row, i, bits, &value))
        value = case_is_index(array->element) ? index_value(c, array->index_limit, bits) : value_of(&r, i, bits);
      case_put(base, at + i, array->element, value);
    }
  }
}
