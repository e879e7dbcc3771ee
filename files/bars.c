#include "bars.h"

#include <math.h>

#include "svg.h"

enum { LEFT = 20, TOP = 48, HEAD = 48, BAR = 16, GAP = 8, LONGEST = 520, VALUE = 110, FOOT = 22 };

static double row_height(const bars_panel *p) { return p->series_count * BAR + GAP; }
static double panel_height(const bars_panel *p) { return HEAD + p->rows * row_height(p) + FOOT; }

static double names_width(const bars_panel *panel, int panels) {
  double width = 40;
  for (int i = 0; i < panels; i++)
    for (int r = 0; r < panel[i].rows; r++) width = fmax(width, svg_width(panel[i].row[r].name, 12));
  return width + 10;
}

typedef struct scale {
  double low, high;
  bool logarithmic;
} scale;

/* Bars of a logarithmic scale begin at the power of ten below the smallest. */
static scale scale_of(const bars_panel *p) {
  double low = INFINITY, high = p->ceiling;
  for (int r = 0; r < p->rows; r++)
    for (int s = 0; s < p->series_count; s++)
      if (p->row[r].value[s] > 0) low = fmin(low, p->row[r].value[s]), high = fmax(high, p->row[r].value[s]);
  if (p->ceiling > 0) low = fmin(low, p->ceiling);
  return (scale){p->logarithmic && isfinite(low) ? pow(10, floor(log10(low) - 1e-9)) : 0, high > 0 ? high : 1, p->logarithmic};
}

static double length_of(scale s, double value) {
  if (s.logarithmic && s.high > s.low) return LONGEST * log(value / s.low) / log(s.high / s.low);
  return LONGEST * value / s.high;
}

static void put_key(FILE *out, const bars_panel *p, double x, double y) {
  for (int s = 0; s < p->series_count; s++) {
    svg_rect(out, x, y - 9, 12, 10, svg_colour(s), INK);
    svg_text(out, x + 18, y, 11, SVG_START, INK, "%s%s", p->series[s], p->logarithmic ? ", logarithmic scale" : "");
    x += 40 + svg_width(p->series[s], 11) + (p->logarithmic ? svg_width(", logarithmic scale", 11) : 0);
  }
  if (!(p->ceiling > 0)) return;
  svg_dashed(out, x, y - 4, x + 20, y - 4, 2, ALARM);
  svg_text(out, x + 26, y, 11, SVG_START, INK, "at best: %.3g %s", p->ceiling, p->unit);
}

static void put_panel(FILE *out, const bars_panel *p, double names, double y) {
  double x = LEFT + names;
  scale s = scale_of(p);
  svg_text(out, LEFT, y + 14, 14, SVG_START, INK, "%s", p->title);
  put_key(out, p, x, y + 34);
  y += HEAD;
  for (int r = 0; r < p->rows; r++) {
    double top = y + r * row_height(p);
    svg_text(out, x - 8, top + p->series_count * BAR / 2.0 + 4, 12, SVG_END, INK, "%s", p->row[r].name);
    for (int i = 0; i < p->series_count; i++) {
      double value = p->row[r].value[i];
      if (!(value > 0)) continue;
      svg_rect(out, x, top + i * BAR, length_of(s, value), BAR - 2, svg_colour(i), "none");
      svg_text(out, x + length_of(s, value) + 6, top + i * BAR + 11, 11, SVG_START, INK, value < 1000 ? "%.3g %s" : "%.0f %s",
               value, p->unit);
    }
  }
  double bottom = y + p->rows * row_height(p);
  svg_line(out, x, y - 4, x, bottom, 1, INK);
  if (p->ceiling > 0) svg_dashed(out, x + length_of(s, p->ceiling), y - 4, x + length_of(s, p->ceiling), bottom, 1, ALARM);
}

void bars_draw(FILE *out, const char *title, const bars_panel *panel, int panels) {
  double names = names_width(panel, panels), height = TOP, y = TOP;
  double width = fmax(LEFT + names + LONGEST + VALUE, LEFT * 2 + svg_width(title, 16));
  for (int i = 0; i < panels; i++) height += panel_height(&panel[i]);
  svg_begin(out, width, height, title);
  svg_text(out, LEFT, 30, 16, SVG_START, INK, "%s", title);
  for (int i = 0; i < panels; i++) {
    put_panel(out, &panel[i], names, y);
    y += panel_height(&panel[i]);
  }
  svg_end(out);
}
