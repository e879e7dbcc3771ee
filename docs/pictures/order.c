/* 16 x 16 tiles, coloured by the XCD that computes them; the numbers are the workgroups'. Black frames: the first 64
 * workgroups. */
#include "src/base/order.h"

#include "pictures.h"
#include "svg.h"

enum { LEFT = 30, TILES = 16, CELL = 22, PANEL = TILES * CELL, GAP = 36, XCDS = 8, FIRST = 64 };

static void put_order(FILE *out, double x, double y, const char *name, unsigned window, unsigned chunk) {
  tdm_order order = tdm_order_make(TILES, TILES, 1, XCDS, window, chunk);
  svg_text(out, x, y - 8, 13, SVG_START, INK, "%s", name);
  for (int pass = 0; pass < 2; pass++) /* frames lie above all fills */
    for (unsigned id = 0; id < (pass == 0 ? order.count : FIRST); id++) {
      tdm_tile t = tdm_order_tile(order, id);
      double left = x + t.n * CELL, top = y + t.m * CELL;
      svg_rect(out, left + pass, top + pass, CELL - 2 * pass, CELL - 2 * pass,
               pass == 0 ? svg_colour((int)(id % XCDS)) : "none", pass == 0 ? "#ffffff" : INK);
      if (pass == 0) svg_text(out, left + CELL / 2.0, top + CELL / 2.0 + 3, 8, SVG_MIDDLE, INK, "%u", id);
    }
}

void draw_order(FILE *out) {
  svg_begin(out, 2 * LEFT + 3 * PANEL + 2 * GAP, 130 + PANEL, "Orders of tiles over the eight XCDs");
  svg_text(out, LEFT, 26, 16, SVG_START, INK,
           "The 16 x 16 tiles of a gemm, by the XCD (colour) and the workgroup (number) that computes each");
  double y = 70;
  put_order(out, LEFT, y, "row-major: window 1, chunk 1", 1, 1);
  put_order(out, LEFT + PANEL + GAP, y, "bands of 4 rows: window 4, chunk 1", 4, 1);
  put_order(out, LEFT + 2 * (PANEL + GAP), y, "and a share for each XCD: window 4, chunk 32", 4, 32);
  for (int xcd = 0; xcd < XCDS; xcd++) {
    svg_rect(out, LEFT + xcd * 70, y + PANEL + 16, 14, 14, svg_colour(xcd), "none");
    svg_text(out, LEFT + xcd * 70 + 20, y + PANEL + 27, 12, SVG_START, INK, "XCD %d", xcd);
  }
  svg_text(out, LEFT + XCDS * 70 + 20, y + PANEL + 27, 12, SVG_START, INK, "framed: the first %d workgroups", FIRST);
  svg_end(out);
}
