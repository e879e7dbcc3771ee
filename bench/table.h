/* A table on the terminal, printed row by row as results come in, so widths are fixed. */
#ifndef TANDEM_BENCH_TABLE_H
#define TANDEM_BENCH_TABLE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct table_column {
  const char *title;
  int width;
  bool left; /* texts left, numbers right */
} table_column;

typedef struct table {
  FILE *out;
  int count;
  const table_column *columns;
  bool markdown;
} table;

void table_head(const table *t);
/* One text for each column; a text that is too long takes its room. */
void table_row(const table *t, const char *const *cells);

#endif
