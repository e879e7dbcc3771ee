#include "roofline.h"

#include <math.h>
#include <string.h>

#include "svg.h"

enum { LEFT = 96, TOP = 64, WIDTH = 600, HEIGHT = 440, LIST = LEFT + WIDTH + 34, LINE = 17 };

void roofline_put_rate(char *text, size_t size, double rate, const char *unit) {
  static const char *const prefix[] = {"", "k", "M", "G", "T", "P"};
  int p = 0;
  for (; rate >= 999.5 && p < 5; p++) rate /= 1000;
  snprintf(text, size, "%.3g %s%s", rate, prefix[p], unit);
}

/* ---- What is drawn ---- */

static int case_number(roofline *r, const char *name) {
  for (int i = 0; i < r->case_count; i++)
    if (strcmp(r->cases[i], name) == 0) return i;
  if (r->case_count == ROOFLINE_CASES) return -1;
  snprintf(r->cases[r->case_count], ROOFLINE_TEXT, "%s", name);
  return r->case_count++;
}

static int series_number(roofline *r, const char *name, bool bound) {
  for (int i = 0; i < r->series_count; i++)
    if (strcmp(r->series[i].name, name) == 0) return i;
  if (r->series_count == ROOFLINE_SERIES) return -1;
  roofline_series *s = &r->series[r->series_count];
  snprintf(s->name, ROOFLINE_TEXT, "%s", name);
  s->bound = bound;
  return r->series_count++;
}

void roofline_add_point(roofline *r, const char *name, const char *series, bool bound, double intensity, double rate) {
  if (!(intensity > 0) || !(rate > 0) || !isfinite(intensity) || !isfinite(rate)) return;
  int s = series_number(r, series, bound), number = s >= 0 && r->point_count < ROOFLINE_POINTS ? case_number(r, name) : -1;
  if (number < 0)
    r->left_out++;
  else
    r->points[r->point_count++] = (roofline_point){intensity, rate, number, s};
}

void roofline_add_roof(roofline *r, const char *name, bool measured, double flops, double bytes) {
  for (int i = 0; i < r->roof_count; i++)
    if (strcmp(r->roofs[i].name, name) == 0) return;
  if (r->roof_count == ROOFLINE_ROOFS || !(flops > 0) || !(bytes > 0) || !isfinite(flops) || !isfinite(bytes)) return;
  roofline_roof *roof = &r->roofs[r->roof_count++];
  *roof = (roofline_roof){.flops = flops, .bytes = bytes, .measured = measured};
  snprintf(roof->name, ROOFLINE_TEXT, "%s", name);
}

/* ---- Axes ---- */

typedef struct axes {
  double x0, x1, y0, y1; /* decades */
} axes;

static double at_x(const axes *a, double x) { return LEFT + WIDTH * (log10(x) - a->x0) / (a->x1 - a->x0); }
static double at_y(const axes *a, double y) { return TOP + HEIGHT * (a->y1 - log10(y)) / (a->y1 - a->y0); }

static axes axes_of(const roofline *r) {
  double top = 0, low = INFINITY, right = 100, left = 0.1;
  for (int i = 0; i < r->roof_count; i++) {
    top = fmax(top, r->roofs[i].flops);
    right = fmax(right, 4 * r->roofs[i].flops / r->roofs[i].bytes);
  }
  for (int i = 0; i < r->point_count; i++) {
    top = fmax(top, r->points[i].rate);
    low = fmin(low, r->points[i].rate);
    left = fmin(left, r->points[i].intensity);
    right = fmax(right, r->points[i].intensity);
  }
  return (axes){floor(log10(left)), ceil(log10(right)), floor(log10(low)), ceil(log10(top) + 0.05)};
}

static void put_axes(FILE *out, const axes *a) {
  for (double d = a->x0; d <= a->x1; d++) {
    double x = at_x(a, pow(10, d));
    svg_line(out, x, TOP, x, TOP + HEIGHT, 0.6, FAINT);
    svg_text(out, x, TOP + HEIGHT + 18, 11, SVG_MIDDLE, INK, "%g", pow(10, d));
  }
  for (double d = a->y0; d <= a->y1; d++) {
    char text[32];
    double y = at_y(a, pow(10, d));
    roofline_put_rate(text, sizeof text, pow(10, d), "FLOP/s");
    svg_line(out, LEFT, y, LEFT + WIDTH, y, 0.6, FAINT);
    svg_text(out, LEFT - 8, y + 4, 11, SVG_END, INK, "%s", text);
  }
  svg_text(out, LEFT + WIDTH / 2.0, TOP + HEIGHT + 40, 12, SVG_MIDDLE, INK, "arithmetic intensity, FLOP/byte");
}

/* ---- Boxes that no label may cover ---- */

typedef struct box {
  double x0, y0, x1, y1;
} box;

enum { MOST_BOXES = 2 * ROOFLINE_POINTS };
typedef struct room {
  const axes *axes;
  const roofline *of;
  box taken[MOST_BOXES];
  int count;
} room;

static void take(room *m, box b) {
  if (m->count < MOST_BOXES) m->taken[m->count++] = b;
}

/* The slope of a roof crosses the box when the box's upper left corner lies above it and the lower right one below. */
static bool on_roof(const room *m, box b) {
  for (int i = 0; i < m->of->roof_count; i++) {
    const roofline_roof *r = &m->of->roofs[i];
    double ridge = at_x(m->axes, r->flops / r->bytes), flat = at_y(m->axes, r->flops);
    double slope = (m->axes->x1 - m->axes->x0) / (m->axes->y1 - m->axes->y0) * HEIGHT / WIDTH; /* pixels down for one left */
    if (b.x1 > ridge && b.y0 < flat && b.y1 > flat) return true;
    double left = flat + (ridge - b.x0) * slope, right = flat + (ridge - b.x1) * slope; /* the slope's y at both sides */
    if (b.x0 < ridge && b.y0 < left && b.y1 > right) return true;
  }
  return false;
}

static bool is_free(const room *m, box b) {
  if (b.x0 < LEFT + 1 || b.x1 > LEFT + WIDTH - 1 || b.y0 < TOP + 1 || b.y1 > TOP + HEIGHT - 1) return false;
  for (int i = 0; i < m->count; i++) {
    const box *t = &m->taken[i];
    if (b.x0 < t->x1 && t->x0 < b.x1 && b.y0 < t->y1 && t->y0 < b.y1) return false;
  }
  return true;
}

/* ---- Roofs and points ---- */

static void put_roofs(FILE *out, const roofline *r, const axes *a) {
  for (int i = 0; i < r->roof_count; i++) {
    const roofline_roof *f = &r->roofs[i];
    double ridge = f->flops / f->bytes, left = fmax(pow(10, a->x0), pow(10, a->y0) / f->bytes);
    void (*line)(FILE *, double, double, double, double, double, const char *) = f->measured ? svg_line : svg_dashed;
    if (left < ridge) line(out, at_x(a, left), at_y(a, left * f->bytes), at_x(a, ridge), at_y(a, f->flops), 2, svg_ink(i));
    line(out, at_x(a, fmax(ridge, pow(10, a->x0))), at_y(a, f->flops), LEFT + WIDTH, at_y(a, f->flops), 2, svg_ink(i));
  }
}

static void put_mark(FILE *out, const roofline *r, int series, double x, double y) {
  const char *colour = svg_ink(series);
  svg_mark(out, x, y, 4, (svg_shape)(series % SVG_SHAPES), r->series[series].bound ? "#ffffff" : colour, colour);
}

/* "4, 6": the numbers of all points whose marks lie over each other are one label. Marks those as labelled. */
static void put_numbers(const roofline *r, const axes *a, int first, bool *labelled, char *text, size_t size) {
  bool named[ROOFLINE_CASES] = {false};
  double x = at_x(a, r->points[first].intensity), y = at_y(a, r->points[first].rate);
  for (int i = first; i < r->point_count; i++)
    if (!labelled[i] && hypot(at_x(a, r->points[i].intensity) - x, at_y(a, r->points[i].rate) - y) < 7)
      labelled[i] = named[r->points[i].number] = true;
  size_t used = 0;
  text[0] = '\0';
  for (int n = 0; n < r->case_count && used < size; n++)
    if (named[n]) used += (size_t)snprintf(text + used, size - used, "%s%d", used > 0 ? ", " : "", n + 1);
}

/* Beside the mark where nothing is in the way, else further away, with a line to the mark. false: there is no room. */
static bool put_label(FILE *out, room *m, double x, double y, const char *text) {
  enum { SIZE = 10, WAYS = 16 };
  double wide = svg_width(text, SIZE) / 2 + 2, high = SIZE / 2.0 + 2;
  for (int strict = 1; strict >= 0; strict--)
    for (double away = 6; away < 90; away += 6)
      for (int way = 0; way < WAYS; way++) {
        double angle = 2 * 3.14159265358979 * way / WAYS, cx = x + cos(angle) * (away + wide),
               cy = y - sin(angle) * (away + high);
        box b = {cx - wide, cy - high, cx + wide, cy + high};
        if (!is_free(m, b) || (strict && on_roof(m, b))) continue;
        take(m, b);
        if (away > 6) svg_line(out, x, y, x + (cx - x) * 0.9, y + (cy - y) * 0.9, 0.6, FAINT);
        svg_text(out, cx, cy + 3.5, SIZE, SVG_MIDDLE, INK, "%s", text);
        return true;
      }
  return false;
}

/* How many numbers have no room. */
static int put_points(FILE *out, const roofline *r, const axes *a) {
  static const double half = 5.5;
  bool labelled[ROOFLINE_POINTS] = {false};
  int without = 0;
  room m = {.axes = a, .of = r};
  for (int i = 0; i < r->point_count; i++) {
    double x = at_x(a, r->points[i].intensity), y = at_y(a, r->points[i].rate);
    take(&m, (box){x - half, y - half, x + half, y + half});
    put_mark(out, r, r->points[i].series, x, y);
  }
  for (int i = 0; i < r->point_count; i++) {
    char text[64];
    if (labelled[i]) continue;
    put_numbers(r, a, i, labelled, text, sizeof text);
    without += !put_label(out, &m, at_x(a, r->points[i].intensity), at_y(a, r->points[i].rate), text);
  }
  return without;
}

/* ---- The column beside the picture ---- */

static void put_roof_text(char *text, size_t size, const roofline_roof *f) {
  char flops[32], bytes[32];
  roofline_put_rate(flops, sizeof flops, f->flops, "FLOP/s");
  roofline_put_rate(bytes, sizeof bytes, f->bytes, "B/s");
  snprintf(text, size, "%s: %s, %s, ridge at %.3g FLOP/byte", f->name, flops, bytes, f->flops / f->bytes);
}

static double list_width(const roofline *r) {
  double width = 0;
  char text[2 * ROOFLINE_TEXT];
  for (int i = 0; i < r->roof_count; i++) {
    put_roof_text(text, sizeof text, &r->roofs[i]);
    width = fmax(width, svg_width(text, 11) + 32);
  }
  for (int i = 0; i < r->series_count; i++) width = fmax(width, svg_width(r->series[i].name, 11) + 32);
  for (int i = 0; i < r->case_count; i++) width = fmax(width, svg_width(r->cases[i], 11) + 30);
  return width;
}

static void put_list(FILE *out, const roofline *r, int without) {
  double y = TOP + 8;
  char text[2 * ROOFLINE_TEXT];
  for (int i = 0; i < r->roof_count; i++, y += LINE) {
    put_roof_text(text, sizeof text, &r->roofs[i]);
    (r->roofs[i].measured ? svg_line : svg_dashed)(out, LIST, y - 4, LIST + 24, y - 4, 2, svg_ink(i));
    svg_text(out, LIST + 32, y, 11, SVG_START, INK, "%s", text);
  }
  for (int i = 0; i < r->series_count; i++, y += LINE) {
    put_mark(out, r, i, LIST + 12, y - 4);
    svg_text(out, LIST + 32, y, 11, SVG_START, INK, "%s", r->series[i].name);
  }
  y += LINE / 2.0;
  for (int i = 0; i < r->case_count; i++, y += LINE) {
    svg_text(out, LIST + 20, y, 11, SVG_END, INK, "%d", i + 1);
    svg_text(out, LIST + 30, y, 11, SVG_START, INK, "%s", r->cases[i]);
  }
  if (without + r->left_out == 0) return;
  svg_text(out, LIST, y + LINE / 2.0, 11, SVG_START, ALARM, "no room: %d numbers, %d points", without, r->left_out);
}

void roofline_draw(FILE *out, const roofline *r) {
  axes a = axes_of(r);
  double lines = r->roof_count + r->series_count + r->case_count + 2;
  double width = fmax(LIST + list_width(r) + 20, LEFT + svg_width(r->title, 16) + 20);
  svg_begin(out, width, fmax(TOP + HEIGHT + 60, TOP + 20 + LINE * lines), r->title);
  svg_text(out, LEFT, 30, 16, SVG_START, INK, "%s", r->title);
  put_axes(out, &a);
  put_roofs(out, r, &a);
  put_list(out, r, put_points(out, r, &a));
  svg_end(out);
}
