/* Horizontal bars with their numbers: a panel for each thing that is compared, below each other. */
#ifndef TANDEM_FILES_BARS_H
#define TANDEM_FILES_BARS_H

#include <stdbool.h>
#include <stdio.h>

enum { BARS_TEXT = 160, BARS_ROWS = 64, BARS_SERIES = 2, BARS_PANELS = 8 };

typedef struct bars_row {
  char name[BARS_TEXT];
  double value[BARS_SERIES]; /* 0: no bar */
} bars_row;

typedef struct bars_panel {
  char title[BARS_TEXT];
  const char *unit;
  const char *series[BARS_SERIES]; /* named in a line below the title where there are two */
  int series_count;
  bool logarithmic;
  double ceiling; /* a line across the bars; 0: none */
  bars_row row[BARS_ROWS];
  int rows;
} bars_panel;

void bars_draw(FILE *out, const char *title, const bars_panel *panel, int panels);

#endif
