/* The table printer. */
#include "table.h"

static void cell(const table *t, int i, const char *text) {
  const table_column *column = &t->columns[i];
  bool last = i == t->count - 1;
  const char *end = t->markdown ? " |" : last ? "" : "  ";
  if (t->markdown) fprintf(t->out, "%s %s", i == 0 ? "|" : "", text);
  if (!t->markdown && column->left) fprintf(t->out, "%-*s", last ? 0 : column->width, text);
  if (!t->markdown && !column->left) fprintf(t->out, "%*s", column->width, text);
  fprintf(t->out, "%s%s", end, last ? "\n" : "");
}

void table_head(const table *t) {
  for (int i = 0; i < t->count; i++) cell(t, i, t->columns[i].title);
  if (!t->markdown) return;
  for (int i = 0; i < t->count; i++) fprintf(t->out, "%s", i == 0 ? "|---|" : t->columns[i].left ? "---|" : "---:|");
  fprintf(t->out, "\n");
}

void table_row(const table *t, const char *const *cells) {
  for (int i = 0; i < t->count; i++) cell(t, i, cells[i]);
}
