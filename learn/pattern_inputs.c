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

/* Whether what came is what these inputs give. */
static bool explains(trial *t) {
  const learn_compared *c = t->compared;
  int64_t matched = 0;
  if (t->left-- <= 0) return false;
  t->data->exercise->reference(t->data->shape->size, t->in, t->value, t->bound);
  for (int64_t i = 0; i < c->count; i++)
    matched += c->wrong[i] && case_accepts(c->got[i], t->value[i], t->bound[i], c->array->element);
  return learn_pattern_most(matched, c->wrong_count, c->wrong_count);
}

/* With columns `begin` to `end` of input n as 0. */
static bool without(trial *t, int n, double *const *in, int64_t begin, int64_t end) {
  const case_array *a = &t->data->array[n];
  int64_t columns = columns_of(a);
  for (int64_t i = 0; i < rows_of(a) * columns; i++) t->changed[i] = i % columns >= begin && i % columns < end ? 0 : in[n][i];
  t->in[n] = t->changed;
  bool good = explains(t);
  t->in[n] = in[n];
  return good;
}

/* A tail after the last multiple of 4, 8 ... that a loop leaves out, the last column and the first one. */
static bool find_tail(trial *t, int n, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n];
  int64_t columns = columns_of(a), before = 0;
  const char *what = rows_of(a) == 1 ? "elements" : "columns";
  for (int64_t step = 4; step <= 1024; step *= 2) {
    int64_t tail = columns % step;
    if (tail == before || tail == columns) continue;
    before = tail;
    if (!without(t, n, in, columns - tail, columns)) continue;
    learn_add(o,
              "\n  the tail is left out: this is the result without the last %" PRId64 " of %s's %" PRId64
              " %s, those after the last multiple of %" PRId64,
              tail, a->name, columns, what, step);
    return true;
  }
  bool last = columns > 1 && without(t, n, in, columns - 1, columns);
  if (!last && !(columns > 1 && without(t, n, in, 0, 1))) return false;
  learn_add(o, "\n  this is the result without the %s of %s's %" PRId64 " %s", last ? "last" : "first", a->name, columns, what);
  return true;
}

static bool find_transposed(trial *t, int n, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n];
  int64_t rows = rows_of(a), columns = columns_of(a);
  if (rows == 1 || columns == 1) return false;
  for (int64_t i = 0; i < rows * columns; i++) t->changed[i] = in[n][i % columns * rows + i / columns];
  t->in[n] = t->changed;
  bool good = explains(t);
  t->in[n] = in[n];
  if (good) learn_add(o, "\n  this is the result if %s is read as its transpose: rows for columns", a->name);
  return good;
}

static bool find_exchanged(trial *t, int n, int m, double *const *in, learn_outcome *o) {
  const case_array *a = &t->data->array[n], *b = &t->data->array[m];
  if (rows_of(a) != rows_of(b) || columns_of(a) != columns_of(b) || a->element != b->element) return false;
  t->in[n] = in[m];
  t->in[m] = in[n];
  bool good = explains(t);
  t->in[n] = in[n];
  t->in[m] = in[m];
  if (good) learn_add(o, "\n  this is the result if %s and %s are exchanged", a->name, b->name);
  return good;
}

static bool find(trial *t, double *const *in, learn_outcome *o) {
  const learn_data *d = t->data;
  for (int n = 0; n < d->count; n++) {
    if (!d->array[n].input || case_is_index(d->array[n].element)) continue;
    if (without(t, n, in, 0, columns_of(&d->array[n]))) {
      learn_add(o, "\n  this is the result if %s is 0: is it read at all?", d->array[n].name);
      return true;
    }
    if (find_tail(t, n, in, o) || find_transposed(t, n, in, o)) return true;
    for (int m = n + 1; m < d->count; m++)
      if (d->array[m].input && find_exchanged(t, n, m, in, o)) return true;
  }
  return false;
}

bool learn_pattern_inputs(const learn_data *d, const learn_compared *c, double *const *in, learn_outcome *o) {
  size_t results = (size_t)c->count * sizeof(double), largest = 0;
  trial t = {.data = d, .compared = c, .value = malloc(results), .bound = malloc(results), .left = 32};
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
