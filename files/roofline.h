/* A roofline: rate over arithmetic intensity on logarithmic axes (Williams, Waterman and Patterson, Communications of the ACM
 * 52(4), 2009). Each case has a number, which stands at its points and in a list beside the picture. Each series (a device and
 * what ran on it) has a colour and a shape; marks of bounds are hollow, those of measured times are filled. */
#ifndef TANDEM_FILES_ROOFLINE_H
#define TANDEM_FILES_ROOFLINE_H

#include <stdbool.h>
#include <stdio.h>

enum { ROOFLINE_TEXT = 160, ROOFLINE_POINTS = 640, ROOFLINE_CASES = 512, ROOFLINE_ROOFS = 12, ROOFLINE_SERIES = 16 };

typedef struct roofline_point {
  double intensity, rate; /* FLOP a byte, FLOP a second */
  int number, series;     /* of roofline.cases, roofline.series */
} roofline_point;

typedef struct roofline_roof {
  char name[ROOFLINE_TEXT];
  double flops, bytes; /* a second */
  bool measured;       /* else a data sheet's */
} roofline_roof;

typedef struct roofline_series {
  char name[ROOFLINE_TEXT];
  bool bound; /* not a time */
} roofline_series;

/* 300 KB: from calloc, empty when all zeros. */
typedef struct roofline {
  char title[2 * ROOFLINE_TEXT];
  char cases[ROOFLINE_CASES][ROOFLINE_TEXT];
  roofline_point points[ROOFLINE_POINTS];
  roofline_roof roofs[ROOFLINE_ROOFS];
  roofline_series series[ROOFLINE_SERIES];
  int case_count, point_count, roof_count, series_count;
  int left_out; /* points that had no room above */
} roofline;

/* Cases, series and roofs of the same name are one. What has no room counts as left out, and the picture says so. */
void roofline_add_point(roofline *r, const char *name, const char *series, bool bound, double intensity, double rate);
void roofline_add_roof(roofline *r, const char *name, bool measured, double flops, double bytes);
void roofline_draw(FILE *out, const roofline *r);

/* "60.8 TFLOP/s": a number with its unit, from one to PFLOP/s. unit: "FLOP/s", "B/s". */
void roofline_put_rate(char *text, size_t size, double rate, const char *unit);

#endif
