#include "pattern.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROUP = 64, TILE_MOST = 32, PROBES = 4 };

static bool is(const learn_compared *c, int64_t at, int64_t of) {
  return case_accepts(c->got[at], c->value[of], c->bound[of], c->array->element);
}

static void element(const learn_compared *c, int64_t index, char text[64]) { learn_element(c->array, index, text, 64); }

/* ---- Tails ---- */

/* The largest power of 2 that divides `begin` and is more than what is left up to `end`; 0: `begin` is no tail's. */
static int64_t tail_of(int64_t begin, int64_t end) {
  int64_t step = begin & -begin;
  return begin > 0 && step > end - begin ? step : 0;
}

/* Whether the wrong ones are those whose number, index / part % size, is at least `begin`, and nearly all of these. */
static bool is_tail(const learn_compared *c, int64_t part, int64_t size, int64_t *begin) {
  int64_t first = size, all = 0;
  for (int64_t i = 0; i < c->count; i++)
    if (c->wrong[i] && i / part % size < first) first = i / part % size;
  for (int64_t i = 0; i < c->count; i++) all += i / part % size >= first;
  *begin = first;
  return tail_of(first, size) > 1 && c->wrong_count >= all - all / 16;
}

bool learn_pattern_tail(const learn_compared *c, learn_outcome *o) {
  int64_t begin;
  bool columns = is_tail(c, 1, c->columns, &begin), rows = !columns && is_tail(c, c->columns, c->rows, &begin);
  if (!columns && !rows) return false;
  int64_t size = columns ? c->columns : c->rows;
  const char *what = c->rows == 1 ? "elements" : columns ? "columns" : "rows";
  learn_add(o, "\n  only the tail: %s %" PRId64 " .. %" PRId64 " of %" PRId64 ", after the last multiple of %" PRId64, what,
            begin, size - 1, size, tail_of(begin, size));
  return true;
}

/* ---- A factor ---- */

static bool has_factor(const learn_compared *c, double factor) {
  int64_t matched = 0;
  for (int64_t i = 0; i < c->count; i++)
    matched += c->wrong[i] && fabs(c->value[i]) > 4 * c->bound[i] &&
               case_accepts(c->got[i] / factor, c->value[i], c->bound[i] * (1 + 1 / fabs(factor)), c->array->element);
  return learn_pattern_most(matched, c->wrong_count, c->wrong_count);
}

static bool find_factor(const learn_compared *c, learn_outcome *o) {
  int64_t at = -1;
  for (int64_t i = 0; i < c->count; i++)
    if (c->wrong[i] && (at < 0 || fabs(c->value[i]) > fabs(c->value[at]))) at = i;
  double factor = c->got[at] / c->value[at], whole = fabs(factor) >= 1 ? round(factor) : round(1 / factor);
  if (c->value[at] == 0 || factor == 0 || !isfinite(factor)) return false;
  double nice = fabs(factor) >= 1 ? whole : 1 / whole;
  bool is_nice = whole != 0 && fabs(whole) <= 1024 && nice != 1 && has_factor(c, nice);
  if (!is_nice && (c->wrong_count < 4 || !has_factor(c, factor))) return false;
  if (nice == -1 && is_nice)
    learn_add(o, "\n  the wrong elements have the other sign");
  else if (is_nice && nice > 1)
    learn_add(o, "\n  the wrong elements are %.0f times what is expected: is something counted %s?", nice,
              nice == 2 ? "twice" : "too often");
  else if (is_nice)
    learn_add(o, "\n  the wrong elements are %s1 / %.0f of what is expected", nice < 0 ? "- " : "", fabs(1 / nice));
  else
    learn_add(o, "\n  the wrong elements are %.6g times what is expected: is a factor missing?", factor);
  return true;
}

/* ---- Other places ---- */

/* Where element `at` would come from; -1: from nowhere. */
typedef int64_t place(const learn_compared *c, int64_t at, int64_t parameter);

static int64_t transposed(const learn_compared *c, int64_t at, int64_t unused) {
  (void)unused;
  return at % c->rows * c->columns + at / c->rows;
}
static int64_t transposed_back(const learn_compared *c, int64_t at, int64_t unused) {
  (void)unused;
  return at % c->columns * c->rows + at / c->columns;
}
static int64_t in_matrix(const learn_compared *c, int64_t row, int64_t column) {
  return row >= 0 && row < c->rows && column >= 0 && column < c->columns ? row * c->columns + column : -1;
}
static int64_t tile_transposed(const learn_compared *c, int64_t at, int64_t t) {
  int64_t r = at / c->columns, k = at % c->columns;
  return in_matrix(c, r - r % t + k % t, k - k % t + r % t);
}
static int64_t tiles_exchanged(const learn_compared *c, int64_t at, int64_t t) {
  int64_t r = at / c->columns, k = at % c->columns;
  return in_matrix(c, k - k % t + r % t, r - r % t + k % t);
}
static int64_t shifted(const learn_compared *c, int64_t at, int64_t by) {
  return at + by >= 0 && at + by < c->count ? at + by : -1;
}
static int64_t rotated(const learn_compared *c, int64_t at, int64_t by) { return (at + by + c->count) % c->count; }
static int64_t row_rotated(const learn_compared *c, int64_t at, int64_t by) {
  int64_t k = at % c->columns;
  return at - k + (k + by % c->columns + c->columns) % c->columns;
}
static int64_t exchanged(const learn_compared *c, int64_t at, int64_t mask) { return (at ^ mask) < c->count ? at ^ mask : -1; }
static int64_t columns_exchanged(const learn_compared *c, int64_t at, int64_t mask) {
  int64_t k = at % c->columns;
  return in_matrix(c, at / c->columns, k ^ mask);
}
static int64_t rows_exchanged(const learn_compared *c, int64_t at, int64_t mask) {
  return in_matrix(c, at / c->columns ^ mask, at % c->columns);
}
static int64_t reversed(const learn_compared *c, int64_t at, int64_t unused) {
  (void)unused;
  return c->count - 1 - at;
}
static int64_t row_reversed(const learn_compared *c, int64_t at, int64_t unused) {
  (void)unused;
  return at - at % c->columns + c->columns - 1 - at % c->columns;
}

static bool fits(const learn_compared *c, place *from, int64_t parameter) {
  int64_t matched = 0, tried = 0;
  for (int64_t i = 0; i < c->count; i++) {
    int64_t of = c->wrong[i] ? from(c, i, parameter) : -1;
    if (of < 0) continue;
    tried++;
    matched += is(c, i, of);
    if (tried - matched > c->wrong_count / 16 + 1) return false;
  }
  return learn_pattern_most(matched, tried, c->wrong_count) && matched >= 2;
}

static bool find_matrix(const learn_compared *c, learn_outcome *o) {
  bool back = false;
  if (c->rows == 1 || c->columns == 1) return false;
  if (fits(c, transposed, 0) || (back = fits(c, transposed_back, 0))) {
    bool square = c->rows == c->columns;
    learn_add(o, "\n  the output is transposed: %s%s",
              square ? "rows and columns are exchanged" : "its rows are stored as columns",
              square ? ""
              : back ? ", read back with the wrong row length"
                     : "");
    return true;
  }
  for (int64_t t = 2; t <= 128; t *= 2) {
    bool inside = fits(c, tile_transposed, t);
    if (!inside && !fits(c, tiles_exchanged, t)) continue;
    learn_add(o,
              inside ? "\n  each tile of %" PRId64 " x %" PRId64 " is transposed in itself"
                     : "\n  tiles of %" PRId64 " x %" PRId64 " are in each other's place, as in a transposed matrix",
              t, t);
    return true;
  }
  return false;
}

static void tell_shift(const learn_compared *c, int64_t by, const char *round, learn_outcome *o) {
  int64_t far = by < 0 ? -by : by;
  bool rows = c->rows > 1 && far % c->columns == 0;
  learn_add(o, "\n  the output is shifted by %" PRId64 " %s%s: each place has what belongs %s it%s",
            rows ? far / c->columns : far, rows ? "row" : "element", (rows ? far / c->columns : far) == 1 ? "" : "s",
            by > 0 ? "after" : "before", round);
}

/* Shifts and exchanges by the distance between a wrong element and a place where its value belongs. */
static bool try_distance(const learn_compared *c, int64_t at, int64_t of, learn_outcome *o) {
  int64_t by = of - at, mask = at ^ of, row = at / c->columns, of_row = of / c->columns;
  int64_t column_mask = at % c->columns ^ of % c->columns;
  if (row == of_row && c->rows > 1 && fits(c, columns_exchanged, column_mask))
    learn_add(o, "\n  columns are exchanged: column c has what belongs to column c ^ %" PRId64 "%s", column_mask,
              column_mask < GROUP ? ": lanes?" : "");
  else if (row != of_row && at % c->columns == of % c->columns && fits(c, rows_exchanged, row ^ of_row))
    learn_add(o, "\n  rows are exchanged: row r has what belongs to row r ^ %" PRId64, row ^ of_row);
  else if (c->rows == 1 && fits(c, exchanged, mask))
    learn_add(o, "\n  elements are exchanged: element i has what belongs to element i ^ %" PRId64 "%s", mask,
              mask < GROUP ? ": lanes?" : "");
  else if (fits(c, shifted, by))
    tell_shift(c, by, "", o);
  else if (row == of_row && c->rows > 1 && fits(c, row_rotated, by))
    tell_shift(c, by, ", round the row's end", o);
  else if (fits(c, rotated, by))
    tell_shift(c, by, ", round the end", o);
  else
    return false;
  return true;
}

static bool find_distance(const learn_compared *c, learn_outcome *o) {
  int probes = 0;
  for (int64_t i = c->count / 3; i < c->count + c->count / 3 && probes < PROBES; i++) { /* not at an edge */
    int64_t at = i % c->count;
    if (!c->wrong[at]) continue;
    int tries = 0;
    for (int64_t of = 0; of < c->count && tries < 64; of++)
      if (of != at && is(c, at, of) && ++tries && try_distance(c, at, of, o)) return true;
    probes++;
  }
  return false;
}

/* One permutation of each group of `tall` x `wide` elements. It is learned where a group shows it, and tried on all. */
static bool find_permutation(const learn_compared *c, int64_t tall, int64_t wide, learn_outcome *o) {
  int64_t from[TILE_MOST * TILE_MOST], size = tall * wide, matched = 0, tried = 0, example = -1;
  for (int64_t n = 0; n < size; n++) from[n] = -1;
  for (int pass = 0; pass < 2; pass++)
    for (int64_t i = 0; i < c->count; i++) {
      int64_t r = i / c->columns, k = i % c->columns, top = r - r % tall, left = k - k % wide, n = r % tall * wide + k % wide;
      int64_t known = from[n] >= 0 ? in_matrix(c, top + from[n] / wide, left + from[n] % wide) : -1;
      if (!c->wrong[i]) continue;
      if (pass == 1) {
        tried++;
        matched += known >= 0 && is(c, i, known);
        if (example < 0 && known >= 0 && is(c, i, known)) example = i;
      }
      for (int64_t m = 0; pass == 0 && from[n] < 0 && m < size; m++) {
        int64_t of = in_matrix(c, top + m / wide, left + m % wide);
        if (of >= 0 && of != i && is(c, i, of)) from[n] = m;
      }
    }
  if (!learn_pattern_most(matched, tried, c->wrong_count) || matched < 8) return false;
  char at[64], of[64];
  int64_t r = example / c->columns, k = example % c->columns, n = from[r % tall * wide + k % wide];
  element(c, example, at);
  element(c, in_matrix(c, r - r % tall + n / wide, k - k % wide + n % wide), of);
  if (tall == 1)
    learn_add(o, "\n  lanes are exchanged: inside of each %" PRId64 " elements all values are there, in another order; ", wide);
  else
    learn_add(
        o, "\n  lanes are exchanged: inside of each tile of %" PRId64 " x %" PRId64 " all values are there, in another order; ",
        tall, wide);
  learn_add(o, "%s has what belongs to %s", at, of);
  return true;
}

static bool find_reversed(const learn_compared *c, learn_outcome *o) {
  bool all = fits(c, reversed, 0);
  if (!all && (c->rows == 1 || !fits(c, row_reversed, 0))) return false;
  learn_add(o, "\n  the output is reversed: the last element is where the first one belongs%s", all ? "" : ", in each row");
  return true;
}

bool learn_pattern_places(const learn_compared *c, learn_outcome *o) {
  if (find_factor(c, o)) return true;
  if (c->wrong_count < 2) return false;
  if (find_matrix(c, o) || find_reversed(c, o) || find_distance(c, o)) return true;
  for (int64_t wide = 4; wide <= GROUP; wide *= 2)
    if (find_permutation(c, 1, wide, o)) return true;
  for (int64_t side = 4; side <= TILE_MOST && c->rows > 1; side *= 2)
    if (find_permutation(c, side, side, o)) return true;
  return false;
}
