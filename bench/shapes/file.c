/* Reads a file of cases. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/shapes/shapes.h"
#include "read.h"

enum { MOST_WORDS = 32, MOST_LINE = 1024 };

__attribute__((format(printf, 3, 4))) static bool refuse(char *error, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error, size, format, args);
  va_end(args);
  return false;
}

/* Words between spaces, up to a '#'; -1: too many. */
static int split(char *line, const char *words[MOST_WORDS]) {
  int count = 0;
  char *rest = NULL;
  line[strcspn(line, "#")] = '\0';
  for (char *word = strtok_r(line, " \t\r\n", &rest); word != NULL; word = strtok_r(NULL, " \t\r\n", &rest)) {
    if (count == MOST_WORDS) return -1;
    words[count++] = word;
  }
  return count;
}

/* The selectors of a case and its shape, in the words of the command line. */
static bool read_words(const char **words, int count, tdm_case *c, char *error, size_t size) {
  case_options options = {0};
  char settings[512] = "";
  const char *shape = NULL;
  const struct {
    const char *name;
    char **text;
  } selectors[] = {{"--dtype", &options.dtype},
                   {"--layout", &options.layout},
                   {"--epilogue", &options.epilogue},
                   {"--set", &options.settings},
                   {"--seed", &options.seed}};
  const case_op *op = case_find_op(words[0]);
  if (op == NULL) return refuse(error, size, "OP = '%s': must be one of %s", words[0], case_op_list());
  for (int i = 1; i < count; i++) {
    char **text = NULL;
    for (size_t k = 0; k < sizeof selectors / sizeof selectors[0]; k++)
      if (strcmp(words[i], selectors[k].name) == 0) text = selectors[k].text;
    if (text == NULL && strncmp(words[i], "--", 2) == 0)
      return refuse(error, size, "'%s': must be --dtype, --layout, --epilogue, --set or --seed", words[i]);
    if (text == NULL && shape != NULL) return refuse(error, size, "'%s': there is already the shape %s", words[i], shape);
    if (text == NULL) {
      shape = words[i];
    } else if (i + 1 == count) {
      return refuse(error, size, "%s: needs a value after it", words[i]);
    } else if (text == &options.settings) {
      size_t used = strlen(settings);
      snprintf(settings + used, sizeof settings - used, "%s%s", used > 0 ? "," : "", words[++i]);
      *text = settings;
    } else if (*text != NULL) {
      return refuse(error, size, "%s: must be given once", words[i]);
    } else {
      *text = (char *)(uintptr_t)words[++i];
    }
  }
  *c = case_default(op);
  if (shape == NULL) return refuse(error, size, "SHAPE: must be given, as %s", op->shape_form);
  if (!case_options_apply(&options, c, error, size) || !case_parse_shape(c, shape, error, size)) return false;
  if (c->fill != CASE_REAL) return refuse(error, size, "--set fill: must be real, or not be given: figures are of random data");
  return true;
}

/* Results are kept by the case: a second one of the same would be taken for measured. */
static const bench_shape *find_same(const bench_shapes *s, const char *title) {
  for (int i = 0; i < s->count; i++)
    if (strcmp(s->shape[i].title, title) == 0) return &s->shape[i];
  return NULL;
}

/* A line without words is not a case: its title is "". */
bool bench_shape_parse(bench_shape *shape, const char *line, char *error, size_t size) {
  const char *words[MOST_WORDS];
  char text[MOST_LINE];
  *shape = (bench_shape){.line = 0};
  if (strlen(line) >= sizeof text) return refuse(error, size, "is longer than %zu characters", sizeof text - 1);
  snprintf(text, sizeof text, "%s", line);
  int count = split(text, words);
  if (count < 0) return refuse(error, size, "has more than %d words", MOST_WORDS);
  if (count == 0) return true;
  if (!read_words(words, count, &shape->c, error, size)) return false;
  case_print(&shape->c, shape->title, sizeof shape->title);
  return true;
}

static bool add_line(bench_shapes *s, int number, const char *line, int *room, char *error, size_t size) {
  bench_shape shape;
  if (!bench_shape_parse(&shape, line, error, size)) return false;
  if (shape.title[0] == '\0') return true;
  shape.line = number;
  const bench_shape *same = find_same(s, shape.title);
  if (same != NULL) return refuse(error, size, "the same case as in line %d: %s", same->line, shape.title);
  if (s->count == *room) {
    int more = *room == 0 ? 256 : 2 * *room;
    bench_shape *longer = realloc(s->shape, (size_t)more * sizeof *longer);
    if (longer == NULL) return refuse(error, size, "no memory for %d cases", more);
    s->shape = longer;
    *room = more;
  }
  s->shape[s->count++] = shape;
  return true;
}

bool bench_shapes_read(bench_shapes *s, const char *path, char *error, size_t size) {
  char reason[256 + MOST_LINE], line[MOST_LINE + 1];
  bool ok = true;
  int room = 0;
  *s = (bench_shapes){.path = path};
  FILE *file = read_open_stream(path, reason, sizeof reason);
  if (file == NULL) {
    snprintf(error, size, "--shapes = '%s': %s", path, reason);
    return false;
  }
  for (int number = 1; ok && fgets(line, sizeof line, file) != NULL; number++) {
    ok = add_line(s, number, line, &room, reason, sizeof reason);
    if (!ok) snprintf(error, size, "--shapes = '%s': line %d: %.900s", path, number, reason);
  }
  if (ok && ferror(file)) {
    snprintf(error, size, "--shapes = '%s': can't be read: %s", path, strerror(errno));
    ok = false;
  } else if (ok && s->count == 0) {
    snprintf(error, size, "--shapes = '%s': has no cases", path);
    ok = false;
  }
  fclose(file);
  if (!ok) bench_shapes_free(s);
  return ok;
}

void bench_shapes_free(bench_shapes *s) {
  free(s->shape);
  *s = (bench_shapes){0};
}

/* ---- The options that choose among the cases ---- */

const char *bench_shapes_given(const bench_shapes_words *words) {
  return words->every != NULL        ? "--every"
         : words->offset != NULL     ? "--offset"
         : words->most_bytes != NULL ? "--most-bytes"
         : words->most_flop != NULL  ? "--most-flop"
                                     : NULL;
}

bool bench_shapes_numbers(const bench_shapes_words *words, bench_shapes_options *options, char *error, size_t size) {
  const struct {
    const char *option, *text;
    uint64_t least, *value, usual;
  } numbers[] = {{"--every", words->every, 1, &options->every, 1},
                 {"--offset", words->offset, 0, &options->offset, 0},
                 {"--most-bytes", words->most_bytes, 1, &options->most_bytes, 0},
                 {"--most-flop", words->most_flop, 1, &options->most_flop, 0}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    *numbers[i].value = numbers[i].usual;
    if (numbers[i].text != NULL &&
        !case_parse_number(numbers[i].option, numbers[i].text, numbers[i].least, UINT64_MAX, numbers[i].value, error, size))
      return false;
  }
  return true;
}

bool bench_shapes_too_large(const bench_shapes_options *options, const tdm_case *c) {
  return (options->most_bytes > 0 && bench_shape_bytes(c) > (double)options->most_bytes) ||
         (options->most_flop > 0 && c->op->flops(c) > (double)options->most_flop);
}
