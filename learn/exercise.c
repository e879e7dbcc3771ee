/* The table of exercises, and what their rows are made of. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "learn.h"
#include "learn_config.h"
#include "op.h"

/* LEARN_EXERCISES, which learn/meson.build makes of its list: LEARN_EXERCISE(axpy) and so on. */
#define LEARN_EXERCISE(name) extern const learn_exercise learn_##name;
LEARN_EXERCISES
#undef LEARN_EXERCISE

#define LEARN_EXERCISE(name) &learn_##name,
const learn_exercise *const learn_exercises[] = {LEARN_EXERCISES NULL};
#undef LEARN_EXERCISE

const learn_exercise *learn_find(const char *name) {
  for (int i = 0; learn_exercises[i] != NULL; i++)
    if (strcmp(learn_exercises[i]->name, name) == 0) return learn_exercises[i];
  return NULL;
}

int learn_size_count(const learn_exercise *e) {
  int count = 1;
  for (const char *at = e->sizes; *at != '\0'; at++) count += *at == ' ';
  return count;
}

int learn_shape_count(const learn_exercise *e) {
  int count = 0;
  while (count < LEARN_SHAPES && e->shapes[count].size[0] != 0) count++;
  return count;
}

void learn_print_shape(const learn_exercise *e, int shape, char *text, size_t size) {
  const learn_shape *s = &e->shapes[shape];
  const char *at = e->sizes;
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < learn_size_count(e) && used < size; i++) {
    int length = (int)strcspn(at, " ");
    used += (size_t)snprintf(text + used, size - used, "%s%.*s %lld", i > 0 ? ", " : "", length, at, (long long)s->size[i]);
    at += length + (at[length] == ' ');
  }
  if (s->scale != 0 && used < size) snprintf(text + used, size - used, ", inputs of +-%g", s->scale);
  if (s->integers && used < size) snprintf(text + used, size - used, ", inputs are integers");
}

/* ---- Building blocks ---- */

static case_array packed(const char *name, case_element element, int64_t rows, int64_t columns) {
  if (rows == 0) return case_vector(name, element, columns);
  case_array a = case_matrix(name, TDM_F32, rows, columns, 0);
  a.element = element;
  return a;
}

case_array learn_input(const char *name, case_element element, int64_t rows, int64_t columns) {
  return case_input(packed(name, element, rows, columns));
}

case_array learn_output(const char *name, case_element element, int64_t rows, int64_t columns) {
  return case_output(packed(name, element, rows, columns));
}

uint32_t learn_pieces(int64_t of, int64_t size) { return (uint32_t)((of + size - 1) / size); }

double learn_sum_bound(int64_t terms, double absolute_sum) {
  return bound_sum_constant(terms, false) * BOUND_U * absolute_sum + BOUND_TINY;
}

/* ---- Outcomes ---- */

static void append(learn_outcome *o, const char *format, va_list args) {
  size_t used = strlen(o->text);
  vsnprintf(o->text + used, sizeof o->text - used, format, args);
}

void learn_found(learn_outcome *o, learn_verdict verdict, const char *format, ...) {
  va_list args;
  va_start(args, format);
  o->verdict = verdict;
  o->text[0] = '\0';
  append(o, format, args);
  va_end(args);
}

void learn_add(learn_outcome *o, const char *format, ...) {
  va_list args;
  va_start(args, format);
  append(o, format, args);
  va_end(args);
}

/* SplitMix64's mixing, so that seeds side by side give unrelated inputs. */
uint64_t learn_seed(const learn_request *r, int run, int shape) {
  uint64_t z = r->seed + UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(1 + run * LEARN_SHAPES + shape);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

void learn_print_line(const char *text) {
  for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++)
    if (*at >= ' ' && *at < 127)
      putchar(*at);
    else
      printf("\\x%02x", *at);
}

void learn_print_text(const char *text) {
  char line[LEARN_TEXT + 1];
  for (const char *at = text; *at != '\0';) {
    size_t length = strcspn(at, "\n");
    snprintf(line, sizeof line, "%.*s", (int)length, at);
    if (strncmp(line, "  ", 2) != 0) printf("  ");
    learn_print_line(line);
    at += length;
    if (*at == '\n') putchar(*at++);
  }
}
