/* The reference of inputs as a mistake would have read them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"

typedef struct trial {
  const learn_data *data;
  const learn_compared *compared;
  const double *in[LEARN_ARRAYS];
  double *value, *bound, *changed; /* of the output; changed: the input that differs */
  int left;                        /* references that may still be computed */
} trial;

static int64_t rows_of(const case_array *a) { return case_rows(a); }
static int64_t columns_of(const case_array *a) { return a->dim[a->rank - 1]; }

enum { NOT_EXPLAINED, MISSING, TWICE };

/* Whether what came is what these inputs give, or has what they lack once too often. */
static int explains(trial *t) {
  const learn_compared *c = t->compared;
  int64_t missing = 0, twice = 0;
  if (t->left-- <= 0) return NOT_EXPLAINED;
  t->data->exercise->reference(t->data->shape->size, t->in, t->value, t->bound);
  for (int64_t i = 0; i < c->count; i++) {
    if (!c->wrong[i]) continue;
    double bound = t->data->shape->integers ? 0 : t->bound[i];
    missing += case_accepts(c->got[i], t->value[i], bound, c->array->element);
    twice += case_accepts(c->got[i], 2 * c->value[i] - t->value[i], 3 * c->bound[i] + bound, c->array->element);
  }
  if (learn_pattern_most(missing, c->wrong_count, c->wrong_count)) return MISSING;
  return learn_pattern_most(twice, c->wrong_count, c->wrong_count) ? TWICE : NOT_EXPLAINED;
}

/* With `changed` as input n. */
static int explains_changed(trial *t, int n, double *const *in) {
  t->in[n] = t->changed;
  int how = explains(t);
  t->in[n] = in[n];
  return how;
}

/* With the columns of input n as 0 whose number modulo `period` is from `begin` up to `end`. */
static int without(trial *t, int n, double *const *in, int64_t period, int64_t begin, int64_t end) {
  const case_array *a = &t->data->array[n];
  int64_t columns = columns_of(a);
  for (int64_t i = 0; i < rows_of(a) * columns; i++) {
    int64_t at = i % columns % period;
    t->changed[i] = at >= begin && at < end ? 0 : in[n][i];
  }
  return explains_changed(t, n, in);
}

static const char *columns_word(const case_array *a) { return rows_of(a) == 1 ? "elements" : "columns"; }

/* A tail after the last multiple of 4, 8 ... that a loop leaves out, the last column and the first one. */
static bool find_tail(trial *t, int n, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n];
  int64_t columns = columns_of(a), before = 0;
  for (int64_t step = 4; step <= 1024; step *= 2) {
    int64_t tail = columns % step;
    if (tail == before || tail == columns) continue;
    before = tail;
    int how = without(t, n, in, columns, columns - tail, columns);
    if (how == NOT_EXPLAINED) continue;
    learn_add(o,
              "\n  the tail is %s: this is the result %s the last %" PRId64 " of %s's %" PRId64
              " %s, those after the last multiple of %" PRId64,
              how == MISSING ? "left out" : "counted twice", how == MISSING ? "without" : "with twice", tail, a->name, columns,
              columns_word(a), step);
    return true;
  }
  if (columns == 1) return false;
  for (int first = 0; first < 2; first++) {
    int how = without(t, n, in, columns, first ? 0 : columns - 1, first ? 1 : columns);
    if (how == NOT_EXPLAINED) continue;
    learn_add(o, "\n  this is the result %s the %s of %s's %" PRId64 " %s", how == MISSING ? "without" : "with twice",
              first ? "first" : "last", a->name, columns, columns_word(a));
    return true;
  }
  return false;
}

/* A step of a loop that is left out or done twice: the first or the last 4, 8 ... */
static bool find_step(trial *t, int n, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n];
  int64_t columns = columns_of(a);
  for (int64_t step = 4; step <= 256 && step < columns; step *= 2)
    for (int first = 0; first < 2; first++) {
      int how = without(t, n, in, columns, first ? 0 : columns - step, first ? step : columns);
      if (how == NOT_EXPLAINED) continue;
      learn_add(o, "\n  a step is %s: this is the result %s the %s %" PRId64 " of %s's %" PRId64 " %s",
                how == MISSING ? "left out" : "counted twice", how == MISSING ? "without" : "with twice",
                first ? "first" : "last", step, a->name, columns, columns_word(a));
      return true;
    }
  return false;
}

/* A part of the lanes, whose sums were not added or added twice: every second column, two of four ..., up to half of a
 * workgroup; and a quarter, as one of four waves. */
static bool find_lanes(trial *t, int n, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n];
  for (int64_t parts = 2; parts <= 4; parts += 2)
    for (int64_t period = parts == 2 ? 2 : 16; period <= 512 && period <= columns_of(a); period *= parts)
      for (int64_t part = parts - 1; part >= 0; part--) {
        int64_t begin = period / parts * part, end = begin + period / parts;
        int how = without(t, n, in, period, begin, end);
        if (how == NOT_EXPLAINED) continue;
        learn_add(o,
                  "\n  %s of the lanes is %s: this is the result %s %s's %s whose number modulo %" PRId64 " is %" PRId64
                  " to %" PRId64,
                  parts == 2 ? "half" : "a quarter", how == MISSING ? "left out" : "counted twice",
                  how == MISSING ? "without" : "with twice", a->name, columns_word(a), period, begin, end - 1);
        return true;
      }
  return false;
}

/* Columns or rows of an input that come in another order: pairs that are exchanged, or each 4 x 4 of them transposed, as when
 * somebody mixed up lanes and registers of a matrix instruction. */
static bool find_order(trial *t, int n, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n];
  int64_t rows = rows_of(a), columns = columns_of(a);
  for (int along = 0; along < 2; along++) {
    int64_t size = along == 0 ? columns : rows;
    for (int64_t mask = 0; mask < 64; mask = mask == 0 ? 1 : 2 * mask) { /* 0: the 4 x 4 */
      if (mask == 0 && size % 16 != 0) continue;
      if (mask != 0 && size % (2 * mask) != 0) break;
      for (int64_t i = 0; i < rows * columns; i++) {
        int64_t r = i / columns, k = i % columns, *place = along == 0 ? &k : &r;
        *place = mask != 0 ? *place ^ mask : *place - *place % 16 + *place % 4 * 4 + *place / 4 % 4;
        t->changed[i] = in[n][r * columns + k];
      }
      if (explains_changed(t, n, in) != MISSING) continue;
      const char *what = along == 1 ? "row" : rows == 1 ? "element" : "column";
      if (mask != 0)
        learn_add(o, "\n  lanes are exchanged: this is the result if %s's %s i is read where %s i ^ %" PRId64 " belongs",
                  a->name, what, what, mask);
      else
        learn_add(
            o,
            "\n  lanes are exchanged: this is the result if in each 16 %ss of %s the number 4 i + j is read where 4 j + i "
            "belongs",
            what, a->name);
      return true;
    }
  }
  return false;
}

/* All of it, or each of its tiles. */
static bool find_transposed(trial *t, int n, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n];
  int64_t rows = rows_of(a), columns = columns_of(a);
  if (rows == 1 || columns == 1) return false;
  for (int64_t tile = 0; tile <= 128; tile = tile == 0 ? 4 : 2 * tile) {
    if (tile > 0 && (rows % tile != 0 || columns % tile != 0)) break;
    for (int64_t i = 0; i < rows * columns; i++) {
      int64_t r = i / columns, k = i % columns;
      t->changed[i] = tile == 0 ? in[n][k * rows + r] : in[n][(r - r % tile + k % tile) * columns + k - k % tile + r % tile];
    }
    if (explains_changed(t, n, in) != MISSING) continue;
    if (tile == 0)
      learn_add(o, "\n  this is the result if %s is read as its transpose: rows for columns", a->name);
    else
      learn_add(o, "\n  this is the result if each %" PRId64 " x %" PRId64 " of %s is read as its transpose: rows for columns",
                tile, tile, a->name);
    return true;
  }
  return false;
}

/* Input n in the place of input m, and the other way round, or only the first of these. */
static bool find_exchanged(trial *t, int n, int m, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n], *b = &t->data->array[m];
  if (rows_of(a) != rows_of(b) || columns_of(a) != columns_of(b) || a->element != b->element) return false;
  t->in[m] = in[n];
  bool place = explains(t) == MISSING;
  t->in[n] = in[m];
  bool both = !place && explains(t) == MISSING;
  t->in[m] = in[m];
  bool other = !place && !both && explains(t) == MISSING;
  t->in[n] = in[n];
  if (both)
    learn_add(o, "\n  this is the result if %s and %s are exchanged", a->name, b->name);
  else if (place || other)
    learn_add(o, "\n  this is the result if %s is read in the place of %s", place ? a->name : b->name,
              place ? b->name : a->name);
  return both || place || other;
}

/* One input differs in a way that `look` knows. */
static bool find_each(trial *t, double *const *in, learn_outcome *o,
                      bool (*look)(trial *t, int n, double *const *in, learn_outcome *o)) {
  const learn_data *d = t->data;
  for (int n = 0; n < d->count; n++)
    if (d->array[n].input && !case_is_index(d->array[n].element) && look(t, n, in, o)) return true;
  return false;
}

/* One number or one factor for all of an input. */
static bool find_constant(trial *t, int n, double *const *in, learn_outcome *o) {
  static const struct {
    double times, plus;
    const char *what, *question;
  } all[] = {{0, 0, "is 0", "is it read at all?"},
             {0, 1, "is 1", "is it used at all?"},
             {2, 0, "is twice as much", "is it added or multiplied twice?"},
             {-1, 0, "has the other sign", "is it added where it is to be subtracted, or the other way round?"}};
  const case_array *a = &t->data->array[n];
  int64_t count = rows_of(a) * columns_of(a);
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
    for (int64_t i = 0; i < count; i++) t->changed[i] = all[k].times * in[n][i] + all[k].plus;
    if (explains_changed(t, n, in) != MISSING) continue;
    learn_add(o, "\n  this is the result if %s %s: %s", a->name, all[k].what, all[k].question);
    return true;
  }
  return false;
}

static bool find_pair(trial *t, int n, double *const *in, learn_outcome *o) {
  for (int m = n + 1; m < t->data->count; m++)
    if (t->data->array[m].input && find_exchanged(t, n, m, in, o)) return true;
  return false;
}

static bool find(trial *t, double *const *in, learn_outcome *o) {
  if (find_each(t, in, o, find_constant) || find_each(t, in, o, find_tail)) return true;
  if (t->compared->wrong_count == 1 && t->data->shape->integers)
    return false; /* one integer would fit many mistakes by chance */
  return find_each(t, in, o, find_pair) || find_each(t, in, o, find_transposed) || find_each(t, in, o, find_step) ||
         find_each(t, in, o, find_lanes) || find_each(t, in, o, find_order);
}

bool learn_pattern_inputs(const learn_data *d, const learn_compared *c, double *const *in, learn_outcome *o) {
  size_t results = (size_t)c->count * sizeof(double), largest = 0;
  trial t = {.data = d, .compared = c, .value = malloc(results), .bound = malloc(results), .left = 192};
  for (int n = 0; n < d->count; n++) {
    size_t bytes = (size_t)(rows_of(&d->array[n]) * columns_of(&d->array[n])) * sizeof(double);
    t.in[n] = in[n];
    if (bytes > largest) largest = bytes;
  }
  t.changed = malloc(largest);
  bool found = t.value != NULL && t.bound != NULL && t.changed != NULL && find(&t, in, o);
  free(t.value);
  free(t.bound);
  free(t.changed);
  return found;
}
