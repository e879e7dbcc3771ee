/* A table on the terminal, printed row by row as results come in, so widths are fixed; or each row as a list, for a screen that
 * is narrower than the table; or Markdown. */
#ifndef TANDEM_BENCH_TABLE_H
#define TANDEM_BENCH_TABLE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct table_column {
  const char *title;
  int width;
  bool left; /* texts left, numbers right */
} table_column;

typedef enum table_style { TABLE_WIDE, TABLE_LIST, TABLE_MARKDOWN } table_style;

typedef struct table {
  FILE *out;
  int count;
  const table_column *columns;
  table_style style;
} table;

void table_head(const table *t); /* nothing for lists */
/* One text for each column; a text that is too long takes its room, and lists leave empty ones out. */
void table_row(const table *t, const char *const *cells);

#endif
