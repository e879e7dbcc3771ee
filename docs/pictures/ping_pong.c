/* The slots of the gemm pipeline (docs/gemm.md, "Ping-pong: two groups of waves"). */
#include "pictures.h"
#include "svg.h"

enum { LEFT = 110, SLOTS = 10, SLOT = 82, ROW = 44, PHASES = 4 };

void draw_ping_pong(FILE *out) {
  svg_begin(out, LEFT + SLOTS * SLOT + 30, 240, "Two groups of waves alternate");
  svg_text(out, 20, 26, 16, SVG_START, INK, "Ping-pong: one group of waves multiplies while the other one reads");
  for (int slot = 0; slot <= SLOTS; slot++) {
    svg_line(out, LEFT + slot * SLOT, 50, LEFT + slot * SLOT, 60 + 3 * ROW, 1, FAINT);
    if (slot < SLOTS) svg_text(out, LEFT + (slot + 0.5) * SLOT, 60, 11, SVG_MIDDLE, INK, "slot %d", slot + 1);
  }
  for (int group = 0; group < 2; group++) {
    double y = 72 + group * ROW;
    svg_text(out, 20, y + 22, 12, SVG_START, INK, "waves %d-%d", 4 * group, 4 * group + 3);
    for (int slot = group; slot < SLOTS; slot++) {
      int own = slot - group; /* group 1 is one slot behind */
      bool multiplies = own % 2 == 1;
      svg_rect(out, LEFT + slot * SLOT + 3, y, SLOT - 6, ROW - 10, svg_colour(multiplies ? 5 : 1), "none");
      svg_text(out, LEFT + (slot + 0.5) * SLOT, y + 21, 11, SVG_MIDDLE, INK, "%s %d", multiplies ? "multiply" : "read",
               own / 2 % PHASES);
    }
  }
  double y = 72 + 2 * ROW;
  svg_text(out, 20, y + 22, 12, SVG_START, INK, "matrix unit");
  for (int slot = 0; slot < SLOTS; slot++) {
    svg_rect(out, LEFT + slot * SLOT + 3, y, SLOT - 6, ROW - 10, slot == 0 ? "#eeeeee" : svg_colour(5), "none");
    svg_text(out, LEFT + (slot + 0.5) * SLOT, y + 21, 11, SVG_MIDDLE, INK, slot == 0 ? "idle" : "busy");
  }
  svg_text(out, 20, 228, 12, SVG_START, INK,
           "A grey line is a barrier of all eight waves. A step has four phases; loads of a later step run below all of it.");
  svg_end(out);
}
