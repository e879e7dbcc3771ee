/* Tokens a second over the number of GPUs, measured by bench/record/ranks.sh, beside a prediction.
 * Use: ranks-picture MEASURED.json PREDICTED.json OUT.svg TITLE
 * Both files have "rows" with by, ranks, what, input, tokens_per_second and, of tiny-llama, maybe chunks. Where a row was
 * measured in several turns, the middle one counts. The prediction's rows have tiny-llama's "by". */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "case/options.h"
#include "output.h"
#include "result.h"

enum { MOST = 64 };

static const char *text_of(const json_t *row, const char *key) {
  const char *text = json_string_value(json_object_get(row, key));
  return text != NULL ? text : "";
}

static int number_of(const json_t *row, const char *key) { return (int)json_integer_value(json_object_get(row, key)); }
static int chunks_of(const json_t *row) { return number_of(row, "chunks") > 1 ? number_of(row, "chunks") : 1; }

static bool same_case(const json_t *a, const json_t *b) {
  return strcmp(text_of(a, "what"), text_of(b, "what")) == 0 && strcmp(text_of(a, "input"), text_of(b, "input")) == 0;
}

static bool same_bar(const json_t *a, const json_t *b) {
  return same_case(a, b) && strcmp(text_of(a, "by"), text_of(b, "by")) == 0 && number_of(a, "ranks") == number_of(b, "ranks") &&
         chunks_of(a) == chunks_of(b);
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The middle of the rows that are like `bar`; 0: there are none. */
static double tokens_per_second(const json_t *rows, const json_t *bar) {
  double value[MOST];
  size_t count = 0, index;
  const json_t *row;
  json_array_foreach(rows, index, row) {
    if (same_bar(row, bar) && count < MOST) value[count++] = json_number_value(json_object_get(row, "tokens_per_second"));
  }
  if (count == 0) return 0;
  qsort(value, count, sizeof *value, by_size);
  return (value[(count - 1) / 2] + value[count / 2]) / 2;
}

static bool is_first(const json_t *rows, size_t number, bool (*same)(const json_t *, const json_t *)) {
  for (size_t i = 0; i < number; i++)
    if (same(json_array_get(rows, i), json_array_get(rows, number))) return false;
  return true;
}

/* The work of one rank alone is no result of a user's. */
static bool is_shown(const json_t *row) {
  return strcmp(text_of(row, "by"), "tandem") == 0 || strcmp(text_of(row, "by"), "PyTorch") == 0;
}

static void add_bars(bars_panel *p, const json_t *rows, const json_t *predicted, const json_t *of) {
  size_t index;
  const json_t *row;
  json_array_foreach(rows, index, row) {
    if (!same_case(row, of) || !is_shown(row) || !is_first(rows, index, same_bar) || p->rows == BARS_ROWS) continue;
    bars_row *bar = &p->row[p->rows++];
    bool ours = strcmp(text_of(row, "by"), "tandem") == 0;
    snprintf(bar->name, sizeof bar->name, "%s, %d GPU%s%s", ours ? "tiny-llama" : "PyTorch", number_of(row, "ranks"),
             number_of(row, "ranks") > 1 ? "s" : "", chunks_of(row) > 1 ? ", --chunks 2" : "");
    bar->value[0] = tokens_per_second(rows, row);
    bar->value[1] = tokens_per_second(predicted, row);
  }
}

static json_t *read_rows(const char *path) {
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error), *rows = json_object_get(root, "rows");
  if (root == NULL) fprintf(stderr, "ranks-picture: %s: line %d: %s\n", path, error.line, error.text);
  if (root != NULL && !json_is_array(rows)) fprintf(stderr, "ranks-picture: %s: has no list \"rows\"\n", path);
  rows = json_is_array(rows) ? json_incref(rows) : NULL;
  json_decref(root);
  return rows;
}

static bool draw(const char *path, const char *title, const json_t *rows, const json_t *predicted) {
  bars_panel panel[BARS_PANELS] = {0};
  result_file file;
  char reason[256];
  size_t index;
  const json_t *row;
  int panels = 0;
  json_array_foreach(rows, index, row) {
    if (!is_shown(row) || !is_first(rows, index, same_case) || panels == BARS_PANELS) continue;
    bars_panel *p = &panel[panels++];
    *p = (bars_panel){.unit = "tokens/s", .series = {"measured", "predicted before"}, .series_count = 2};
    snprintf(p->title, sizeof p->title, "%s %s", text_of(row, "what"), text_of(row, "input"));
    add_bars(p, rows, predicted, row);
  }
  bool ok = panels > 0 && result_open(&file, path, reason, sizeof reason);
  if (ok) {
    bars_draw(file.to, title, panel, panels);
    ok = result_finish(&file, reason, sizeof reason);
  }
  if (!ok) fprintf(stderr, "ranks-picture: %s: %s\n", path, panels > 0 ? reason : "no rows to draw");
  return ok;
}

int main(int argc, char **argv) {
  output_begin("ranks-picture");
  if (argc != 5) {
    fprintf(stderr, "ranks-picture: needs MEASURED.json PREDICTED.json OUT.svg TITLE\n");
    return EXIT_USAGE;
  }
  json_t *rows = read_rows(argv[1]), *predicted = read_rows(argv[2]);
  bool ok = rows != NULL && predicted != NULL && draw(argv[3], argv[4], rows, predicted);
  json_decref(rows);
  json_decref(predicted);
  return ok ? EXIT_PASSED : EXIT_FAILED;
}
