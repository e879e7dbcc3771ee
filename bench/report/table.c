/* The table printer. */
#include "table.h"

enum { LIST_WIDTH = 24 }; /* "pipes, % of the floor", and two spaces */

static void cell(const table *t, int i, const char *text) {
  const table_column *column = &t->columns[i];
  bool last = i == t->count - 1, markdown = t->style == TABLE_MARKDOWN;
  const char *end = markdown ? " |" : last ? "" : "  ";
  if (markdown) fprintf(t->out, "%s %s", i == 0 ? "|" : "", text);
  if (!markdown && column->left) fprintf(t->out, "%-*s", last ? 0 : column->width, text);
  if (!markdown && !column->left) fprintf(t->out, "%*s", column->width, text);
  fprintf(t->out, "%s%s", end, last ? "\n" : "");
}

void table_head(const table *t) {
  if (t->style == TABLE_LIST) return;
  for (int i = 0; i < t->count; i++) cell(t, i, t->columns[i].title);
  if (t->style != TABLE_MARKDOWN) return;
  for (int i = 0; i < t->count; i++) fprintf(t->out, "%s", i == 0 ? "|---|" : t->columns[i].left ? "---|" : "---:|");
  fprintf(t->out, "\n");
}

void table_row(const table *t, const char *const *cells) {
  for (int i = 0; i < t->count; i++)
    if (t->style != TABLE_LIST)
      cell(t, i, cells[i]);
    else if (cells[i][0] != '\0')
      fprintf(t->out, "%-*s%s\n", LIST_WIDTH, t->columns[i].title, cells[i]);
  if (t->style == TABLE_LIST) fprintf(t->out, "\n");
}
