/* Each column is four banks, 16 bytes; a box is a lane that wants them. Boxes on top of each other wait for each other. */
#include "layout.h"
#include "pictures.h"
#include "svg.h"

enum { LEFT = 30, BOX = 26, HIGH = 15, PHASE_HEIGHT = 5 * HIGH + 40, PANEL_WIDTH = BANKS / 4 * BOX, GAP = 50 };

static void put_phase(FILE *out, int phase, double x, double y, bool swizzled) {
  double floor = y + PHASE_HEIGHT - 24;
  int stacked[BANKS / 4] = {0};
  for (int n = phase * PHASE_LANES; n < (phase + 1) * PHASE_LANES; n++) {
    int lane = phase_lane(n), quad = (int)(lds_read_byte(lane, swizzled) / CHUNK_BYTES % (BANKS / 4)), level = stacked[quad]++;
    svg_rect(out, x + quad * BOX, floor - (level + 1) * HIGH, BOX - 1, HIGH - 1, level > 0 ? ALARM : svg_colour(lane / 16),
             "none");
    svg_text(out, x + quad * BOX + BOX / 2.0, floor - level * HIGH - 4, 10, SVG_MIDDLE, level > 0 ? "#ffffff" : INK, "%d",
             lane);
  }
  svg_line(out, x, floor, x + PANEL_WIDTH, floor, 1, INK);
  for (int q = 0; q < BANKS / 4; q += 4) svg_text(out, x + q * BOX, floor + 12, 9, SVG_START, INK, "bank %d", 4 * q);
  int clocks = phase_clocks(phase, swizzled);
  svg_text(out, x + PANEL_WIDTH, y + 12, 11, SVG_END, INK, "phase %d: %d clock%s", phase + 1, clocks, clocks == 1 ? "" : "s");
}

void draw_banks(FILE *out) {
  svg_begin(out, LEFT * 2 + 2 * PANEL_WIDTH + GAP, 100 + PHASES * PHASE_HEIGHT,
            "LDS banks: the four phases of a ds_read_b128 on gfx950");
  svg_text(out, LEFT, 26, 16, SVG_START, INK,
           "gfx950, ds_read_b128: lane l reads 16 bytes of row l mod 16, chunk l / 16, of rows of 128 bytes");
  for (int swizzled = 0; swizzled < 2; swizzled++) {
    double x = LEFT + swizzled * (PANEL_WIDTH + GAP);
    int clocks = 0;
    for (int phase = 0; phase < PHASES; phase++) {
      put_phase(out, phase, x, 70 + phase * PHASE_HEIGHT, swizzled);
      clocks += phase_clocks(phase, swizzled);
    }
    svg_text(out, x, 54, 13, SVG_START, INK, "%s: %d clocks, %d lost",
             swizzled ? "chunk c of row r at place c ^ (r / 2 mod 8)" : "chunk c at place c", clocks, clocks - PHASES);
  }
  svg_text(
      out, LEFT, 90 + PHASES * PHASE_HEIGHT, 12, SVG_START, INK,
      "A box: a lane, above the four of the %d banks that it wants. Red: it waits. The phases were measured by HipKittens.",
      BANKS);
  svg_end(out);
}
