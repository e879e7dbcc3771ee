/* Rate over arithmetic intensity on logarithmic axes, from what `tandem-bench --json` wrote (Williams, Waterman and Patterson,
 * Communications of the ACM 52(4), 2009). Timed rows are points below the ceilings that were measured in the same run. Rows of
 * a simulated chip are rings: FLOP over HBM bytes, at the rate that the floor of pipe bounds would allow; no times. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "pictures.h"
#include "read.h"
#include "src/base/chip.h"
#include "svg.h"

enum { MOST_POINTS = 40, MOST_ROOFS = 6, LABEL = 96 };
enum { LEFT = 90, TOP = 60, WIDTH = 560, HEIGHT = 420, LIST = 340 };

typedef struct point {
  char label[LABEL];
  double x, y; /* FLOP / byte, GFLOP / s */
  bool bound;
} point;

typedef struct roof {
  char label[LABEL];
  double flops, bytes; /* 10^9 a second */
} roof;

typedef struct graph {
  point points[MOST_POINTS];
  roof roofs[MOST_ROOFS];
  int point_count, roof_count;
  double x0, x1, y0, y1; /* decades */
} graph;

static void add_roof(graph *g, const char *label, double flops, double bytes) {
  for (int i = 0; i < g->roof_count; i++)
    if (strcmp(g->roofs[i].label, label) == 0) return;
  if (g->roof_count == MOST_ROOFS || !(flops > 0) || !(bytes > 0)) return;
  roof *r = &g->roofs[g->roof_count++];
  snprintf(r->label, LABEL, "%.*s", LABEL - 1, label);
  r->flops = flops;
  r->bytes = bytes;
}

/* ---- Reading ---- */

static double number_of(const json_t *object, const char *name) { return json_number_value(json_object_get(object, name)); }
static const char *text_of(const json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text != NULL ? text : "";
}

/* "gemm --dtype bf16 --layout nt --set fill=real --seed 0 64x64x64": without option names, fill and seed. */
static void shorten(const char *title, char label[LABEL]) {
  char copy[512], *rest = copy;
  size_t used = 0;
  bool skip = false;
  snprintf(copy, sizeof copy, "%s", title);
  label[0] = '\0';
  for (char *word; (word = strsep(&rest, " ")) != NULL;) {
    bool option = strncmp(word, "--", 2) == 0, shown = !option && !skip && strcmp(word, "fill=real") != 0;
    skip = strcmp(word, "--seed") == 0;
    if (shown && used < LABEL) used += (size_t)snprintf(label + used, LABEL - used, "%s%s", used > 0 ? " " : "", word);
  }
}

/* Peaks of a chip, by the table of chips. */
static const tdm_chip *add_chip(graph *g, const char *device) {
  const char *name = device + strlen("sim:");
  const tdm_chip *c = tdm_chip_find(name, strlen(name));
  if (c == NULL) return NULL;
  double clocks = 1e-3 * c->clock_mhz * c->xcds * c->cus_per_xcd; /* 10^9 of all CUs, a second */
  char label[LABEL];
  snprintf(label, sizeof label, "%s f16, bf16: peak", c->name);
  add_roof(g, label, clocks * tdm_chip_mfma_flops(c, 2), c->hbm_gbs);
  snprintf(label, sizeof label, "%s f32: peak", c->name);
  add_roof(g, label, clocks * tdm_chip_mfma_flops(c, 4), c->hbm_gbs);
  return c;
}

static void add_row(graph *g, const json_t *row) {
  const char *device = text_of(row, "device");
  bool bound = strncmp(device, "sim:", 4) == 0;
  const tdm_chip *c = bound ? add_chip(g, device) : NULL;
  double flop = number_of(row, "flop"), bytes = number_of(row, bound ? "hbm_bytes" : "bytes"),
         clocks = number_of(row, "clocks_at_least");
  double rate = !bound                    ? 1e-9 * number_of(row, "flop_per_s")
                : c != NULL && clocks > 0 ? flop / clocks * 1e-3 * c->clock_mhz
                                          : 0;
  if (g->point_count == MOST_POINTS || !(flop > 0) || !(bytes > 0) || !(rate > 0)) return;
  point *p = &g->points[g->point_count++];
  char label[LABEL];
  shorten(text_of(row, "case"), label);
  snprintf(p->label, LABEL, "%.60s, %.30s", label, bound ? device + strlen("sim:") : text_of(row, "by"));
  p->x = flop / bytes;
  p->y = rate;
  p->bound = bound;
}

static bool read_file(graph *g, const char *path, char *error, size_t size) {
  json_error_t why;
  char reason[256];
  FILE *file = read_open_stream(path, reason, sizeof reason);
  if (file == NULL) {
    snprintf(error, size, "roofline: '%s' must be what tandem-bench --json wrote: %s", path, reason);
    return false;
  }
  json_t *all = json_loadf(file, 0, &why);
  fclose(file);
  const json_t *rows = json_object_get(all, "rows");
  if (!json_is_array(rows)) {
    snprintf(error, size, "roofline: '%s' must be what tandem-bench --json wrote: %s", path,
             all == NULL ? why.text : "it has no rows");
    json_decref(all);
    return false;
  }
  size_t index;
  const json_t *value;
  json_array_foreach(json_object_get(all, "ceilings"), index, value) {
    char label[LABEL];
    snprintf(label, sizeof label, "%.60s: measured", text_of(value, "device"));
    add_roof(g, label, 1e-9 * number_of(value, "flop_per_s"), 1e-9 * number_of(value, "copy_bytes_per_s"));
  }
  json_array_foreach(rows, index, value) add_row(g, value);
  json_decref(all);
  return true;
}

/* ---- Drawing ---- */

static double at_x(const graph *g, double x) { return LEFT + WIDTH * (log10(x) - g->x0) / (g->x1 - g->x0); }
static double at_y(const graph *g, double y) { return TOP + HEIGHT * (g->y1 - log10(y)) / (g->y1 - g->y0); }

static void set_axes(graph *g) {
  double top = 0, low = INFINITY, right = 100, left = 0.1;
  for (int i = 0; i < g->roof_count; i++) {
    top = fmax(top, g->roofs[i].flops);
    right = fmax(right, 4 * g->roofs[i].flops / g->roofs[i].bytes);
  }
  for (int i = 0; i < g->point_count; i++) {
    top = fmax(top, g->points[i].y);
    low = fmin(low, g->points[i].y);
    left = fmin(left, g->points[i].x);
    right = fmax(right, g->points[i].x);
  }
  g->x0 = floor(log10(left));
  g->x1 = ceil(log10(right));
  g->y0 = floor(log10(low));
  g->y1 = ceil(log10(top) + 0.05);
}

static void put_axes(FILE *out, const graph *g) {
  for (double d = g->x0; d <= g->x1; d++) {
    double x = at_x(g, pow(10, d));
    svg_line(out, x, TOP, x, TOP + HEIGHT, 0.6, FAINT);
    svg_text(out, x, TOP + HEIGHT + 18, 11, SVG_MIDDLE, INK, "%g", pow(10, d));
  }
  for (double d = g->y0; d <= g->y1; d++) {
    double y = at_y(g, pow(10, d));
    svg_line(out, LEFT, y, LEFT + WIDTH, y, 0.6, FAINT);
    svg_text(out, LEFT - 8, y + 4, 11, SVG_END, INK, d < 0 ? "%g" : "%.0f", pow(10, d));
  }
  svg_text(out, LEFT + WIDTH / 2.0, TOP + HEIGHT + 40, 12, SVG_MIDDLE, INK, "arithmetic intensity, FLOP / byte");
  svg_text(out, LEFT - 70, TOP - 14, 12, SVG_START, INK, "GFLOP / s");
}

static void put_roofs(FILE *out, const graph *g) {
  for (int i = 0; i < g->roof_count; i++) {
    const roof *r = &g->roofs[i];
    double ridge = r->flops / r->bytes, left = fmax(pow(10, g->x0), pow(10, g->y0) / r->bytes);
    svg_line(out, at_x(g, left), at_y(g, left * r->bytes), at_x(g, ridge), at_y(g, r->flops), 2, INK);
    svg_line(out, at_x(g, ridge), at_y(g, r->flops), LEFT + WIDTH, at_y(g, r->flops), 2, INK);
    svg_text(out, LEFT + WIDTH - 4, at_y(g, r->flops) - 6, 11, SVG_END, INK, "%s, %.0f GFLOP/s; ridge at %.3g FLOP/byte",
             r->label, r->flops, ridge);
  }
}

static void put_points(FILE *out, const graph *g) {
  double x = LEFT + WIDTH + 30;
  for (int i = 0; i < g->point_count; i++) {
    const point *p = &g->points[i];
    svg_circle(out, at_x(g, p->x), at_y(g, p->y), 4, p->bound ? "#ffffff" : ALARM, ALARM);
    svg_text(out, at_x(g, p->x) + 7, at_y(g, p->y) + 4, 10, SVG_START, ALARM, "%d", i + 1);
    svg_text(out, x, TOP + 14 + 17 * i, 11, SVG_START, INK, "%d  %s", i + 1, p->label);
  }
}

bool draw_roofline(FILE *out, int files, char *const *file, char *error, size_t size) {
  graph g = {0};
  for (int i = 0; i < files; i++)
    if (!read_file(&g, file[i], error, size)) return false;
  if (g.point_count == 0) {
    snprintf(error, size, "roofline: no row of these files has both FLOP and bytes");
    return false;
  }
  bool bounds = false;
  for (int i = 0; i < g.point_count; i++) bounds = bounds || g.points[i].bound;
  set_axes(&g);
  svg_begin(out, LEFT + WIDTH + LIST, fmax(TOP + HEIGHT + 60, TOP + 40 + 17 * g.point_count), "Roofline");
  svg_text(out, LEFT, 26, 16, SVG_START, INK, "Roofline%s", bounds ? ": a ring is what counts allow at most, and no time" : "");
  put_axes(out, &g);
  put_roofs(out, &g);
  put_points(out, &g);
  svg_end(out);
  return true;
}
