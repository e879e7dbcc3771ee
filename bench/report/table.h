/* Tables: fitted to the terminal, or with all columns; each row as a list; or Markdown.
 *
 * table_measure (each row, where all rows are known), table_head, table_row (each row), table_end. */
#ifndef TANDEM_BENCH_REPORT_TABLE_H
#define TANDEM_BENCH_REPORT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct table_column {
  const char *title;
  int width; /* of rows that are printed as they come; those that table_measure has seen have the width that they need */
  bool left; /* texts left, numbers right */
  int rank;  /* TABLE_FIT leaves out the columns with the highest rank first; 0: always shown */
} table_column;

typedef enum table_style {
  TABLE_FIT,  /* at most `width` characters wide; a line below the table lists what is left out */
  TABLE_WIDE, /* all columns */
  TABLE_LIST, /* a line for each column */
  TABLE_MARKDOWN
} table_style;

enum { TABLE_COLUMNS = 24, TABLE_NOTES = 64, TABLE_TEXT = 512 };

typedef struct table {
  FILE *out;
  int count;
  const table_column *columns;
  table_style style;
  int width; /* TABLE_FIT: table_terminal_width */
  int notes; /* TABLE_FIT: the last column has texts, which are printed below the table with numbers; 0: it has not */
  bool known[TABLE_COLUMNS]; /* TABLE_FIT: left out, because it is printed elsewhere */
  /* The rest is the table's own. */
  int rows, need[TABLE_COLUMNS];
  bool hidden[TABLE_COLUMNS];
  bool unmodelled, partly, unsupported; /* signs that were printed and must be explained */
  char same[TABLE_COLUMNS][64];         /* the text of every row so far */
  bool varied[TABLE_COLUMNS];           /* there is none */
  char note[TABLE_NOTES][TABLE_TEXT];
  int noted;
} table;

/* The width of the terminal that out is: COLUMNS, or what the terminal reports; 100 if out is not a terminal. At least 60. */
int table_terminal_width(FILE *out);
/* Paragraphs on lines of at most `width` characters, where there is a space to break them; 0: as they are. */
void table_text(FILE *out, int width, const char *text);

void table_measure(table *t, const char *const *cells);
void table_head(table *t); /* nothing for lists */
/* One text for each column. Lists leave empty ones out. "not modelled" and "unsupported" are printed as signs by TABLE_FIT. */
void table_row(table *t, const char *const *cells);
/* What stands below the table: notes, signs, and the columns that were left out. */
void table_end(table *t);

#endif
