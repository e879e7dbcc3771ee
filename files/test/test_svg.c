/* Pictures: colours that the colour-blind can tell from each other, units, and labels of rooflines and bars that overlap with
 * nothing, also where points lie close together. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bars.h"
#include "roofline.h"
#include "svg.h"

/* ---- Colours ---- */

/* Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009, severity 1:
 * nothing missing, deuteranopia, protanopia, tritanopia; for linear RGB. */
static const double seen[4][3][3] = {
    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};

static double root3(double t) { return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116; }

/* CIELAB (D65) of "#rrggbb" as someone sees it. */
static void lab_of(const char *colour, const double eye[3][3], double lab[3]) {
  double linear[3], rgb[3];
  for (int i = 0; i < 3; i++) {
    char two[3] = {colour[1 + 2 * i], colour[2 + 2 * i], '\0'};
    double c = (double)strtol(two, NULL, 16) / 255;
    linear[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
  }
  for (int i = 0; i < 3; i++) rgb[i] = fmin(1, fmax(0, eye[i][0] * linear[0] + eye[i][1] * linear[1] + eye[i][2] * linear[2]));
  double x = root3((0.4124564 * rgb[0] + 0.3575761 * rgb[1] + 0.1804375 * rgb[2]) / 0.95047);
  double y = root3(0.2126729 * rgb[0] + 0.7151522 * rgb[1] + 0.0721750 * rgb[2]);
  double z = root3((0.0193339 * rgb[0] + 0.1191920 * rgb[1] + 0.9503041 * rgb[2]) / 1.08883);
  lab[0] = 116 * y - 16;
  lab[1] = 500 * (x - y);
  lab[2] = 200 * (y - z);
}

static double least_difference(const char *(*colour)(int), int count) {
  double least = INFINITY;
  for (int eye = 0; eye < 4; eye++)
    for (int i = 0; i < count; i++)
      for (int j = 0; j < i; j++) {
        double a[3], b[3];
        lab_of(colour(i), seen[eye], a);
        lab_of(colour(j), seen[eye], b);
        least = fmin(least, sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)));
      }
  return least;
}

static const char *green_and_grey(int index) { return index == 0 ? "#8fd3b8" : "#cfcfcf"; }

/* A difference of 2 can just be seen; colours that are apart need several times of it. */
static void test_colours(void **state) {
  (void)state;
  assert_true(least_difference(svg_colour, 8) > 12);
  assert_true(least_difference(svg_ink, SVG_INKS) > 12);
  assert_true(least_difference(green_and_grey, 2) < 7); /* one to deuteranopes */
  for (int i = 0; i < 8; i++) {                         /* black on it has a contrast of 7 or more: WCAG 2, level AAA */
    double light[3], black[3];
    lab_of(svg_colour(i), seen[0], light);
    lab_of("#202020", seen[0], black);
    assert_true(light[0] > 66 && black[0] < 13);
  }
}

/* ---- Units ---- */

static void test_units(void **state) {
  static const struct {
    double rate;
    const char *text;
  } cases[] = {{1e15, "1 PFLOP/s"},        {2.516582e15, "2.52 PFLOP/s"},
               {9.999e14, "1 PFLOP/s"},    {630e12, "630 TFLOP/s"},
               {60.76e12, "60.8 TFLOP/s"}, {1e9, "1 GFLOP/s"},
               {12345, "12.3 kFLOP/s"},    {5, "5 FLOP/s"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[32];
    roofline_put_rate(text, sizeof text, cases[i].rate, "FLOP/s");
    assert_string_equal(text, cases[i].text);
  }
}

/* ---- Texts ---- */

enum { MOST = 400 };
typedef struct box {
  double x0, y0, x1, y1;
} box;

/* The boxes of a picture's texts. Returns how many; fails for one that leaves the picture. */
static int read_boxes(const char *svg, box boxes[MOST]) {
  double width, height;
  int count = 0;
  assert_int_equal(sscanf(strstr(svg, "viewBox"), "viewBox=\"0 0 %lf %lf", &width, &height), 2);
  for (const char *at = svg; (at = strstr(at, "<text ")) != NULL; at++) {
    double x, y, size;
    char anchor[16], text[256];
    assert_int_equal(
        sscanf(at, "<text x=\"%lf\" y=\"%lf\" font-size=\"%lf\" text-anchor=\"%15[a-z]\" fill=\"%*[^\"]\">%255[^<]", &x, &y,
               &size, anchor, text),
        5);
    double wide = svg_width(text, size), left = x - (anchor[0] == 's' ? 0 : anchor[0] == 'm' ? wide / 2 : wide);
    assert_true(count < MOST);
    boxes[count] = (box){left, y - 0.75 * size, left + wide, y + 0.05 * size};
    assert_true(left >= 0 && left + wide <= width && boxes[count].y0 >= 0 && y <= height);
    count++;
  }
  return count;
}

static int overlaps(const char *svg) {
  box b[MOST];
  int count = read_boxes(svg, b), found = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++) found += b[i].x0 < b[j].x1 && b[j].x0 < b[i].x1 && b[i].y0 < b[j].y1 && b[j].y0 < b[i].y1;
  return found;
}

static char *drawn(const roofline *r) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  roofline_draw(out, r);
  fclose(out);
  return text;
}

/* 40 points in a cluster of a size that shrinks: wide apart, touching, and all in one place. */
static void test_labels(void **state) {
  static const double spreads[] = {2, 0.5, 0.1, 0};
  (void)state;
  unsigned seed = 1;
  for (size_t s = 0; s < sizeof spreads / sizeof spreads[0]; s++) {
    roofline *r = calloc(1, sizeof *r);
    assert_non_null(r);
    snprintf(r->title, sizeof r->title, "Points");
    roofline_add_roof(r, "a roof", true, 1e14, 4e12);
    roofline_add_roof(r, "another", false, 5e14, 4e12);
    for (int i = 0; i < 40; i++) {
      char name[32];
      snprintf(name, sizeof name, "case %d", i);
      double x = pow(10, spreads[s] * rand_r(&seed) / RAND_MAX), y = pow(10, 13 + spreads[s] * rand_r(&seed) / RAND_MAX);
      roofline_add_point(r, name, i % 2 ? "one" : "two", i % 2, x, y);
    }
    char *svg = drawn(r);
    assert_int_equal(overlaps(svg), 0);
    assert_null(strstr(svg, "no room")); /* each number has a place */
    assert_non_null(strstr(svg, ">case 39<"));
    assert_non_null(strstr(svg, " PFLOP/s<"));
    free(svg);
    free(r);
  }
}

/* What has no room is counted in the picture. */
static void test_too_many(void **state) {
  (void)state;
  roofline *r = calloc(1, sizeof *r);
  assert_non_null(r);
  for (int i = 0; i < ROOFLINE_POINTS + 5; i++) roofline_add_point(r, "a case", "a series", false, 1 + i, 1e12);
  roofline_add_point(r, "not drawn", "a series", false, NAN, 1e12);
  assert_int_equal(r->point_count, ROOFLINE_POINTS);
  assert_int_equal(r->left_out, 5);
  assert_int_equal(r->case_count, 1);
  char *svg = drawn(r);
  assert_non_null(strstr(svg, "5 points"));
  free(svg);
  free(r);
}

static void test_bars(void **state) {
  (void)state;
  bars_panel panel[2] = {
      {.title = "times", .unit = "ms", .series = {"time", "bound"}, .series_count = 2, .logarithmic = true},
      {.title = "clocks", .unit = "clocks", .series = {"clocks at least"}, .series_count = 1, .ceiling = 30}};
  for (int p = 0; p < 2; p++)
    for (int i = 0; i < 20; i++) {
      bars_row *row = &panel[p].row[panel[p].rows++];
      snprintf(row->name, sizeof row->name, "a step with a long name %d", i);
      for (int s = 0; s < panel[p].series_count; s++) row->value[s] = i == 7 ? 0 : pow(1.7, i + s);
    }
  char *svg;
  size_t size;
  FILE *out = open_memstream(&svg, &size);
  assert_non_null(out);
  bars_draw(out, "Bars", panel, 2);
  fclose(out);
  assert_int_equal(overlaps(svg), 0);
  assert_non_null(strstr(svg, "at best: 30 clocks"));
  assert_null(strstr(svg, "nan"));
  assert_null(strstr(svg, "inf"));
  free(svg);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_colours), cmocka_unit_test(test_units),
                                     cmocka_unit_test(test_labels), cmocka_unit_test(test_too_many),
                                     cmocka_unit_test(test_bars)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
