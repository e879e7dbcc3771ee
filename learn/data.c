#include "data.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"

static int64_t elements(const case_array *a) { return case_rows(a) * a->dim[a->rank - 1]; }

static const char *type_name(case_element element) {
  static const char *const names[] = {
      [CASE_F32] = "f32", [CASE_F16] = "f16", [CASE_BF16] = "bf16", [CASE_I32] = "i32", [CASE_I64] = "i64"};
  return names[element];
}

/* ---- Making ---- */

/* An exercise is not an op of the library: its inputs depend only on the fill. */
static const case_op exercise = {.name = "exercise"};

static void fill(learn_data *d, int n, uint64_t seed) {
  const case_array *a = &d->array[n];
  tdm_case c = {.op = &exercise, .fill = d->shape->integers ? CASE_EXACT : CASE_REAL, .seed = seed};
  double scale = d->shape->scale != 0 && !case_is_index(a->element) ? d->shape->scale : 1;
  if (!a->input) {
    case_poison(d->before[n], d->bytes[n], a->element);
    return;
  }
  case_fill_array(&c, n, a, d->before[n]);
  for (int64_t i = 0; scale != 1 && i < elements(a); i++)
    case_put(d->before[n], i, a->element, scale * case_get(d->before[n], i, a->element));
}

/* The inputs as doubles, and what is expected of them. */
static bool refer(learn_data *d, double *in[LEARN_ARRAYS]) {
  size_t results = (size_t)elements(&d->array[d->output]) * sizeof(double);
  d->value = malloc(results);
  d->bound = malloc(results);
  bool good = d->value != NULL && d->bound != NULL;
  for (int n = 0; n < d->count && good; n++) {
    if (!d->array[n].input) continue;
    int64_t length = elements(&d->array[n]);
    in[n] = malloc((size_t)length * sizeof *in[n]);
    good = in[n] != NULL;
    for (int64_t i = 0; i < length && good; i++) in[n][i] = case_get(d->before[n], i, d->array[n].element);
  }
  if (good) d->exercise->reference(d->shape->size, (const double *const *)in, d->value, d->bound);
  for (int64_t i = 0; good && d->shape->integers && i < elements(&d->array[d->output]); i++) d->bound[i] = 0;
  return good;
}

bool learn_data_make(learn_data *d, const learn_exercise *e, int shape, uint64_t seed, learn_outcome *o) {
  *d = (learn_data){.exercise = e, .shape = &e->shapes[shape]};
  d->count = e->arrays(d->shape->size, d->array);
  bool good = true;
  for (int n = 0; n < d->count; n++) {
    d->bytes[n] = case_array_bytes(&d->array[n]);
    d->before[n] = malloc(d->bytes[n]);
    d->after[n] = malloc(d->bytes[n]);
    good = good && d->before[n] != NULL && d->after[n] != NULL;
    if (good) fill(d, n, seed);
    if (d->array[n].output) d->output = n;
  }
  if (!good) learn_found(o, LEARN_FAILED, "no memory for the arrays");
  return good;
}

void learn_data_free(learn_data *d) {
  for (int n = 0; n < d->count; n++) {
    free(d->before[n]);
    free(d->after[n]);
  }
  free(d->value);
  free(d->bound);
}

/* ---- Names of elements ---- */

void learn_element(const case_array *array, int64_t index, char *text, size_t size) {
  int64_t rest = index, at[4] = {0};
  for (int i = array->rank - 1; i >= 0; i--) {
    at[i] = rest % array->dim[i];
    rest /= array->dim[i];
  }
  int used = snprintf(text, size, "%s", array->name);
  for (int i = 0; i < array->rank && used < (int)size; i++)
    used += snprintf(text + used, size - (size_t)used, "[%" PRId64 "]", at[i]);
}

/* How far an address is from [begin, begin + bytes), and on which side. */
static uint64_t distance(uint64_t address, uint64_t begin, uint64_t bytes) {
  if (address < begin) return begin - address;
  return address < begin + bytes ? 0 : address - (begin + bytes) + 1;
}

void learn_place(const learn_exercise *e, const learn_outcome *o, uint64_t address, char *text, size_t size) {
  case_array array[LEARN_ARRAYS];
  int count = e->arrays(e->shapes[o->shape].size, array), near = 0;
  char name[64];
  for (int n = 1; n < count; n++)
    if (distance(address, o->array[n].address, o->array[n].bytes) <
        distance(address, o->array[near].address, o->array[near].bytes))
      near = n;
  const case_array *a = &array[near];
  uint64_t begin = o->array[near].address, bytes = o->array[near].bytes;
  uint64_t element = case_element_size(a->element);
  if (address < 4096) {
    snprintf(text, size, "at address %" PRIu64 ": a NULL pointer", address);
  } else if (distance(address, begin, bytes) == 0) {
    learn_element(a, (int64_t)((address - begin) / element), name, sizeof name);
    snprintf(text, size, "at %s", name);
  } else if (distance(address, begin, bytes) > (UINT64_C(1) << 32)) {
    snprintf(text, size, "at address 0x%" PRIx64 ", far from every array", address);
  } else if (address < begin) {
    snprintf(text, size, "%" PRIu64 " bytes in front of %s (%" PRIu64 " elements of %s): its element -%" PRIu64,
             begin - address, a->name, bytes / element, type_name(a->element), (begin - address + element - 1) / element);
  } else {
    snprintf(text, size, "%" PRIu64 " bytes after the end of %s (%" PRIu64 " elements of %s): its element %" PRIu64,
             address - begin - bytes, a->name, bytes / element, type_name(a->element), (address - begin) / element);
  }
}

/* ---- Judging ---- */

typedef struct tally {
  int64_t first, count, low[4], high[4]; /* the first one, how many, and the box that holds all of them */
} tally;

static void tell(tally *t, const case_array *a, int64_t index) {
  if (t->count == 0) t->first = index;
  int64_t rest = index;
  for (int i = a->rank - 1; i >= 0; i--) {
    int64_t at = rest % a->dim[i];
    rest /= a->dim[i];
    t->low[i] = t->count == 0 || at < t->low[i] ? at : t->low[i];
    t->high[i] = t->count == 0 || at > t->high[i] ? at : t->high[i];
  }
  t->count++;
}

/* "12 of 4096 elements, all of them in y[0 .. 32][64 .. 69]" */
static void add_tally(learn_outcome *o, const tally *t, const case_array *a) {
  learn_add(o, "%" PRId64 " of %" PRId64 " elements", t->count, elements(a));
  if (t->count == 1 || t->count == elements(a)) return;
  learn_add(o, ", all in %s", a->name);
  for (int i = 0; i < a->rank; i++) learn_add(o, "[%" PRId64 " .. %" PRId64 "]", t->low[i], t->high[i]);
}

static bool inputs_as_before(const learn_data *d, learn_outcome *o) {
  char name[64];
  for (int n = 0; n < d->count; n++) {
    if (d->array[n].output) continue;
    size_t at = 0;
    while (at < d->bytes[n] && d->before[n][at] == d->after[n][at]) at++;
    if (at == d->bytes[n]) continue;
    learn_element(&d->array[n], (int64_t)(at / case_element_size(d->array[n].element)), name, sizeof name);
    learn_found(o, LEARN_CHANGED, "%s was changed: %s is an input", name, d->array[n].name);
    return false;
  }
  return true;
}

/* What the wrong elements have in common. */
static void recognise(const learn_data *d, double *const *in, const bool *wrong, learn_outcome *o) {
  const case_array *a = &d->array[d->output];
  int64_t count = elements(a);
  double *got = malloc((size_t)count * sizeof *got);
  learn_compared c = {.array = a,
                      .rows = case_rows(a),
                      .columns = a->dim[a->rank - 1],
                      .count = count,
                      .got = got,
                      .value = d->value,
                      .bound = d->bound,
                      .wrong = wrong};
  if (got == NULL) return; /* without it the verdict is the same */
  for (int64_t i = 0; i < count; i++) {
    got[i] = case_get(d->after[d->output], i, a->element);
    c.wrong_count += wrong[i];
  }
  bool found = learn_pattern_tail(&c, o);
  if (!found && o->verdict == LEARN_WRONG) found = learn_pattern_places(&c, o) || learn_pattern_inputs(d, &c, in, o);
  o->recognised = found;
  free(got);
}

static bool compare(const learn_data *d, double *const *in, bool *bad, learn_outcome *o) {
  const case_array *a = &d->array[d->output];
  const unsigned char *before = d->before[d->output], *after = d->after[d->output];
  size_t size = case_element_size(a->element);
  tally unwritten = {0}, nan = {0}, wrong = {0};
  char name[64];
  for (int64_t i = 0; i < elements(a); i++) {
    double got = case_get(after, i, a->element);
    bad[i] = !case_accepts(got, d->value[i], d->bound[i], a->element);
    if (!bad[i]) continue;
    bool poison = !a->input && memcmp(before + (size_t)i * size, after + (size_t)i * size, size) == 0;
    tell(poison ? &unwritten : isnan(got) ? &nan : &wrong, a, i);
  }
  const tally *t = unwritten.count > 0 ? &unwritten : nan.count > 0 ? &nan : &wrong;
  if (t->count == 0) return true;
  learn_element(a, t->first, name, sizeof name);
  if (t == &unwritten)
    learn_found(o, LEARN_UNWRITTEN, "%s was never written; not written: ", name);
  else
    learn_found(o, t == &nan ? LEARN_NAN : LEARN_WRONG, "%s = %.7g, expected %.7g, at most %.2g away; wrong: ", name,
                case_get(after, t->first, a->element), d->value[t->first], d->bound[t->first]);
  add_tally(o, t, a);
  recognise(d, in, bad, o);
  return false;
}

bool learn_data_judge(learn_data *d, learn_outcome *o) {
  double *in[LEARN_ARRAYS] = {NULL};
  if (!inputs_as_before(d, o)) return false;
  bool *bad = malloc((size_t)elements(&d->array[d->output]) * sizeof *bad), good = false;
  if (bad != NULL && refer(d, in))
    good = compare(d, in, bad, o);
  else
    learn_found(o, LEARN_FAILED, "no memory for what is expected");
  for (int n = 0; n < d->count; n++) free(in[n]);
  free(bad);
  return good;
}
