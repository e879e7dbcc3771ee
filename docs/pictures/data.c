/* tandem-draw data NAME: the numbers of a picture for every setting, for the pictures that move on the web edition (docs/site).
 * A page has no formulas of its own: positions and texts come from here too. The output is JavaScript, because a page that is
 * opened from the disk can't read JSON files. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/report/roofline_read.h"
#include "layout.h"
#include "pictures.h"
#include "src/base/chip.h"
#include "src/base/order.h"
#include "svg.h"

static json_t *texts(const char *const *text, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) json_array_append_new(list, json_string(text[i]));
  return list;
}
#define TEXTS(array) texts(array, sizeof array / sizeof array[0])

static json_t *colours(int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++) json_array_append_new(list, json_string(svg_colour(i)));
  return list;
}

/* ---- Banks ---- */

static const char *const rule_names[LDS_RULES] = {[LDS_PLAIN] = "chunk c at place c",
                                                  [LDS_XOR_1] = "chunk c at place c ^ (r mod 8)",
                                                  [LDS_XOR_2] = "chunk c at place c ^ (r / 2 mod 8)",
                                                  [LDS_XOR_4] = "chunk c at place c ^ (r / 4 mod 8)",
                                                  [LDS_PADDED] = "rows of 144 bytes: 16 bytes of padding"};

static json_t *phase_data(const lds_reads *c, int phase, lds_rule rule) {
  json_t *lanes = json_array();
  for (int n = phase * c->lanes; n < (phase + 1) * c->lanes; n++) {
    int lane = phase_lane(c, n);
    json_array_append_new(lanes, json_pack("[i, i, i]", lane, lane_quad(c, lane, rule), lane_level(c, n, rule)));
  }
  return json_pack("{s:i, s:o}", "clocks", phase_clocks(c, phase, rule), "lanes", lanes);
}

static json_t *banks_data(void) {
  json_t *chips = json_array();
  for (int i = 0; i < LDS_CHIPS; i++) {
    const lds_reads *c = &lds_chips[i];
    json_t *rules = json_array();
    for (lds_rule rule = 0; rule < LDS_RULES; rule++) {
      json_t *phases = json_array();
      char text[160];
      for (int p = 0; p < lds_phases(c); p++) json_array_append_new(phases, phase_data(c, p, rule));
      snprintf(text, sizeof text, "%s, %s: the read takes %d clocks, %d of them are lost to bank conflicts.", c->chip,
               rule_names[rule], read_clocks(c, rule), read_clocks(c, rule) - lds_phases(c));
      json_array_append_new(rules, json_pack("{s:o, s:s}", "phases", phases, "text", text));
    }
    json_array_append_new(chips, json_pack("{s:s, s:i, s:o}", "name", c->chip, "banks", c->banks, "rules", rules));
  }
  return json_pack("{s:o, s:o, s:o}", "chips", chips, "rules", TEXTS(rule_names), "colours", colours(4));
}

/* ---- Lanes ---- */

/* "rows 4 to 7" */
static void put_rows(char *text, size_t size, int side, int lane) {
  size_t used = 0;
  text[0] = '\0';
  for (int i = 0; i < side && used < size; i += 4)
    for (int j = 0; j < side && used < size; j++)
      if (result_place(side, i, j).lane == lane)
        used += (size_t)snprintf(text + used, size - used, "%s%d-%d", used > 0 ? ", " : "", i, i + 3);
}

static json_t *shape_data(int side) {
  int k = WAVE / side * CHUNK;
  char name[64], text[320], rows[160];
  json_t *operand = json_array(), *result = json_array(), *lanes = json_array();
  for (int i = 0; i < side; i++)
    for (int c = 0; c < k; c += CHUNK) json_array_append_new(operand, json_integer(operand_place(side, i, c).lane));
  for (int i = 0; i < side; i += 4)
    for (int j = 0; j < side; j++) {
      place p = result_place(side, i, j);
      json_array_append_new(result, json_pack("[i, i]", p.lane, p.element));
    }
  for (int lane = 0; lane < WAVE; lane++) {
    int row = 0, first = 0;
    for (int i = 0; i < side; i++)
      for (int c = 0; c < k; c += CHUNK)
        if (operand_place(side, i, c).lane == lane) row = i, first = c;
    put_rows(rows, sizeof rows, side, lane);
    snprintf(
        text, sizeof text,
        "Lane %d has row %d of A and column %d of B, k = %d to %d each; of the result column %d, rows %s, in %d registers.",
        lane, row, row, first, first + CHUNK - 1, row, rows, side * side / WAVE);
    json_array_append_new(lanes, json_string(text));
  }
  snprintf(name, sizeof name, "v_mfma_f32_%dx%dx%d", side, side, k);
  return json_pack("{s:s, s:i, s:i, s:o, s:o, s:o}", "name", name, "side", side, "chunks", k / CHUNK, "operand", operand,
                   "result", result, "texts", lanes);
}

static json_t *lanes_data(void) {
  return json_pack("{s:[o, o], s:o}", "shapes", shape_data(16), shape_data(32), "colours", colours(4));
}

/* ---- The order of tiles ---- */

enum { TILES = 16, ALL_TILES = TILES * TILES };
static const unsigned windows[] = {1, 2, 4, 8, 16}, chunks[] = {1, 4, 8, 16, 32}, xcds[] = {1, 2, 4, 8};
enum { WINDOWS = 5, CHUNKS = 5, XCD_COUNTS = 4 };

/* Rows of A and columns of B that all XCDs read together: what two XCDs need counts twice. */
static int slices_of(tdm_order order) {
  static bool row[8][TILES], column[8][TILES];
  int count = 0;
  memset(row, 0, sizeof row);
  memset(column, 0, sizeof column);
  for (unsigned id = 0; id < order.count; id++) {
    tdm_tile t = tdm_order_tile(order, id);
    unsigned x = id % order.xcds;
    count += !row[x][t.m] + !column[x][t.n];
    row[x][t.m] = column[x][t.n] = true;
  }
  return count;
}

static json_t *order_case(unsigned x, unsigned window, unsigned chunk) {
  tdm_order order = tdm_order_make(TILES, TILES, 1, x, window, chunk);
  char text[200];
  json_t *tiles = json_array();
  for (unsigned id = 0; id < order.count; id++) {
    tdm_tile t = tdm_order_tile(order, id);
    json_array_append_new(tiles, json_integer(t.m * TILES + t.n));
  }
  snprintf(text, sizeof text,
           "%u XCD%s, window %u, chunk %u: the L2s read %d slices of A and B together; each slice once would be %d.", x,
           x == 1 ? "" : "s", window, chunk, slices_of(order), 2 * TILES);
  return json_pack("{s:o, s:s}", "tiles", tiles, "text", text);
}

static json_t *numbers(const unsigned *n, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++) json_array_append_new(list, json_integer(n[i]));
  return list;
}

static json_t *order_data(void) {
  json_t *cases = json_array();
  for (int x = 0; x < XCD_COUNTS; x++)
    for (int w = 0; w < WINDOWS; w++)
      for (int c = 0; c < CHUNKS; c++) json_array_append_new(cases, order_case(xcds[x], windows[w], chunks[c]));
  return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "side", TILES, "xcds", numbers(xcds, XCD_COUNTS), "windows",
                   numbers(windows, WINDOWS), "chunks", numbers(chunks, CHUNKS), "cases", cases, "colours", colours(8));
}

/* ---- The roofline ---- */

enum { LEFT = 86, TOP = 20, WIDTH = 480, HEIGHT = 330, X0 = -1, X1 = 4, Y0 = 11, Y1 = 16, ROWS = 13 };
static const int sizes[] = {256, 1024, 4096, 16384};
enum { SIZES = 4 };

static double at_x(double intensity) { return LEFT + WIDTH * (log10(intensity) - X0) / (X1 - X0); }
static double at_y(double rate) { return TOP + HEIGHT * (Y1 - log10(rate)) / (Y1 - Y0); }
static json_t *point(double intensity, double rate) {
  return json_pack("[f, f]", round(10 * at_x(intensity)) / 10, round(10 * at_y(rate)) / 10);
}

/* C = A B with M rows: each byte of A, B and C moved once, as case/gemm.c counts them. */
static json_t *roof_case(const char *name, double flops, double bytes, int element, int size, int m) {
  double n = size, k = size, flop = 2 * m * n * k, moved = element * (m * k + k * n + m * n), intensity = flop / moved;
  double rate = fmin(flops, intensity * bytes);
  char text[320], at[32];
  roofline_put_rate(at, sizeof at, rate, "FLOP/s");
  snprintf(text, sizeof text, "%s, %s: a product of %d x %d x %d has %.3g FLOP a byte. %s allow%s %s.", name,
           element == 2 ? "bf16" : "f32", m, size, size, intensity, intensity * bytes < flops ? "Memory" : "The matrix units",
           intensity * bytes < flops ? "s" : "", at);
  return json_pack("{s:o, s:s}", "at", point(intensity, rate), "text", text);
}

static json_t *roof_data(const tdm_chip *c, int element) {
  double flops = 1e6 * c->clock_mhz * c->xcds * c->cus_per_xcd * tdm_chip_mfma_flops(c, element), bytes = 1e9 * c->hbm_gbs;
  char text[160], rate[32], speed[32];
  json_t *cases = json_array();
  roofline_put_rate(rate, sizeof rate, flops, "FLOP/s");
  roofline_put_rate(speed, sizeof speed, bytes, "B/s");
  snprintf(text, sizeof text, "%s, %s: %s, %s", c->name, element == 2 ? "bf16" : "f32", rate, speed);
  for (int s = 0; s < SIZES; s++)
    for (int m = 0; m < ROWS; m++) json_array_append_new(cases, roof_case(c->name, flops, bytes, element, sizes[s], 1 << m));
  double left = pow(10, Y0) / bytes; /* where the slope begins */
  return json_pack("{s:s, s:[o, o, o], s:o}", "text", text, "roof",
                   point(fmax(left, pow(10, X0)), fmax(pow(10, Y0), pow(10, X0) * bytes)), point(flops / bytes, flops),
                   point(pow(10, X1), flops), "cases", cases);
}

static json_t *ticks(bool x) {
  json_t *list = json_array();
  for (int d = x ? X0 : Y0; d <= (x ? X1 : Y1); d++) {
    char text[32];
    if (x)
      snprintf(text, sizeof text, "%g", pow(10, d));
    else
      roofline_put_rate(text, sizeof text, pow(10, d), "FLOP/s");
    json_array_append_new(list, json_pack("[f, s]", x ? at_x(pow(10, d)) : at_y(pow(10, d)), text));
  }
  return list;
}

static json_t *roofline_data(void) {
  json_t *roofs = json_array(), *m = json_array(), *size = json_array();
  for (int c = 0; c < TDM_CHIPS; c++)
    for (int element = 2; element <= 4; element += 2) json_array_append_new(roofs, roof_data(&tdm_chips[c], element));
  for (int i = 0; i < ROWS; i++) json_array_append_new(m, json_integer(1 << i));
  for (int i = 0; i < SIZES; i++) json_array_append_new(size, json_integer(sizes[i]));
  return json_pack("{s:[i, i, i, i], s:o, s:o, s:o, s:o, s:o}", "box", LEFT, TOP, LEFT + WIDTH, TOP + HEIGHT, "x", ticks(true),
                   "y", ticks(false), "roofs", roofs, "m", m, "sizes", size);
}

/* ---- The command ---- */

bool draw_data(FILE *out, const char *name) {
  static const struct {
    const char *name;
    json_t *(*data)(void);
  } all[] = {{"banks", banks_data}, {"lanes", lanes_data}, {"order", order_data}, {"roofline", roofline_data}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (strcmp(all[i].name, name) != 0) continue;
    json_t *data = all[i].data();
    fprintf(out,
            "// tandem-draw data %s\n\"use strict\";\nwindow.tandemData = window.tandemData || {};\nwindow.tandemData.%s = ",
            name, name);
    if (data == NULL || json_dumpf(data, out, JSON_COMPACT | JSON_REAL_PRECISION(6)) != 0) return false;
    fprintf(out, ";\n");
    json_decref(data);
    return true;
  }
  return false;
}

/* tandem-draw clocks: what a ds_read_b128 of 16 rows costs, by chip and by where chunks are stored; and what it would cost if
 * gfx950's phases were lanes 0 to 15, 16 to 31 and so on. */
void draw_clocks(FILE *out) {
  static const uint8_t in_order[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                     16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  const lds_reads chips[] = {lds_chips[LDS_GFX942], lds_chips[LDS_GFX950], {"in order", 64, 16, in_order}};
  fprintf(out, "%-40s", "clocks of a ds_read_b128");
  for (int c = 0; c < 3; c++) fprintf(out, " %8s", chips[c].chip);
  fprintf(out, "\n%-40s", "banks of 4 bytes");
  for (int c = 0; c < 3; c++) fprintf(out, " %8d", chips[c].banks);
  for (lds_rule rule = 0; rule < LDS_RULES; rule++) {
    fprintf(out, "\n%-40s", rule_names[rule]);
    for (int c = 0; c < 3; c++) fprintf(out, " %8d", read_clocks(&chips[c], rule));
  }
  fprintf(out, "\n");
}
