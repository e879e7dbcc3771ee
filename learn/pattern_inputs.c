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

/* With the columns of input n as 0 whose number modulo `period` is from `begin` up to `end`. */
static int without(trial *t, int n, double *const *in, int64_t period, int64_t begin, int64_t end) {
  const case_array *a = &t->data->array[n];
  int64_t columns = columns_of(a);
  for (int64_t i = 0; i < rows_of(a) * columns; i++) {
    int64_t at = i % columns % period;
    t->changed[i] = at >= begin && at < end ? 0 : in[n][i];
  }
  t->in[n] = t->changed;
  int how = explains(t);
  t->in[n] = in[n];
  return how;
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

/* Half of the lanes, whose sums were not added: every second column, two of four ..., up to half of a workgroup. */
static bool find_half(trial *t, int n, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n];
  for (int64_t period = 2; period <= 512 && period <= columns_of(a); period *= 2)
    for (int upper = 1; upper >= 0; upper--) {
      int64_t begin = upper ? period / 2 : 0;
      if (without(t, n, in, period, begin, begin + period / 2) != MISSING) continue;
      learn_add(o,
                "\n  half of the lanes is left out: this is the result without %s's %s whose number modulo %" PRId64
                " is %" PRId64 " to %" PRId64,
                a->name, columns_word(a), period, begin, begin + period / 2 - 1);
      return true;
    }
  return false;
}

static bool find_transposed(trial *t, int n, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n];
  int64_t rows = rows_of(a), columns = columns_of(a);
  if (rows == 1 || columns == 1) return false;
  for (int64_t i = 0; i < rows * columns; i++) t->changed[i] = in[n][i % columns * rows + i / columns];
  t->in[n] = t->changed;
  bool good = explains(t) == MISSING;
  t->in[n] = in[n];
  if (good) learn_add(o, "\n  this is the result if %s is read as its transpose: rows for columns", a->name);
  return good;
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

static bool find_zero(trial *t, int n, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n];
  if (without(t, n, in, columns_of(a), 0, columns_of(a)) != MISSING) return false;
  learn_add(o, "\n  this is the result if %s is 0: is it read at all?", a->name);
  return true;
}

static bool find_pair(trial *t, int n, double *const *in, learn_outcome *o) {
  for (int m = n + 1; m < t->data->count; m++)
    if (t->data->array[m].input && find_exchanged(t, n, m, in, o)) return true;
  return false;
}

static bool find(trial *t, double *const *in, learn_outcome *o) {
  if (find_each(t, in, o, find_zero) || find_each(t, in, o, find_tail)) return true;
  if (t->compared->wrong_count == 1 && t->data->shape->integers)
    return false; /* one integer would fit many mistakes by chance */
  return find_each(t, in, o, find_pair) || find_each(t, in, o, find_transposed) || find_each(t, in, o, find_step) ||
         find_each(t, in, o, find_half);
}

bool learn_pattern_inputs(const learn_data *d, const learn_compared *c, double *const *in, learn_outcome *o) {
  size_t results = (size_t)c->count * sizeof(double), largest = 0;
  trial t = {.data = d, .compared = c, .value = malloc(results), .bound = malloc(results), .left = 96};
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
