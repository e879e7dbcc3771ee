/* One row of scores in four tiles: what the online pass knows after each of them. */
#include <math.h>

#include "pictures.h"
#include "svg.h"

enum { LEFT = 40, TILES = 4, EACH = 4, STEP = 44, TILE = EACH * STEP + 26, BASE = 190, SCALE = 26 };

static const double score[TILES * EACH] = {1.2, 0.3, 2.0, -0.5, 0.8, 3.1, 1.5, 0.1, -1.0, 2.2, 0.6, 1.9, 4.0, 0.4, 2.7, 1.1};

void draw_softmax(FILE *out) {
  double most = -INFINITY, sum = 0, all = 0;
  svg_begin(out, LEFT * 2 + TILES * TILE + 40, 370, "Softmax in one pass over tiles");
  svg_text(out, LEFT, 26, 16, SVG_START, INK,
           "Softmax in one pass: m is the largest score so far, l the sum of e^(x - m) so far");
  for (int t = 0; t < TILES; t++) {
    double x = LEFT + t * TILE, before = most, part = 0;
    for (int i = 0; i < EACH; i++) most = fmax(most, score[t * EACH + i]);
    for (int i = 0; i < EACH; i++) {
      double s = score[t * EACH + i], top = s > 0 ? BASE - s * SCALE : BASE;
      part += exp(s - most);
      svg_rect(out, x + i * STEP, top, STEP - 6, fabs(s) * SCALE, svg_colour(t), "none");
      svg_text(out, x + i * STEP + (STEP - 6) / 2.0, s > 0 ? top - 5 : top - s * SCALE + 12, 10, SVG_MIDDLE, INK, "%.1f", s);
    }
    double factor = t == 0 ? 0 : exp(before - most);
    sum = sum * factor + part;
    svg_line(out, x, BASE - most * SCALE, x + EACH * STEP, BASE - most * SCALE, 2, ALARM);
    svg_text(out, x, 250, 13, SVG_START, INK, "tile %d", t + 1);
    svg_text(out, x, 270, 12, SVG_START, ALARM, "m = %.1f", most);
    if (t > 0) svg_text(out, x, 288, 12, SVG_START, INK, "old l and output times %.3f", factor);
    svg_text(out, x, 306, 12, SVG_START, INK, "l = %.3f", sum);
  }
  svg_line(out, LEFT, BASE, LEFT + TILES * TILE - 26, BASE, 1, INK);
  for (int i = 0; i < TILES * EACH; i++) all += exp(score[i] - most);
  svg_text(out, LEFT, 336, 12, SVG_START, INK,
           "Two passes, first the maximum and then the sum, give l = %.3f: the same, and every score is read twice.", all);
  svg_text(out, LEFT, 354, 12, SVG_START, INK, "The factor is e^(old m - new m): 1 where a tile brings no new maximum.");
  svg_end(out);
}
