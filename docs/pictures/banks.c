/* Each column is four banks, 16 bytes; a box is a lane that wants them. Boxes on top of each other wait for each other. */
#include "layout.h"
#include "pictures.h"
#include "svg.h"

enum { LEFT = 30, BOX = 26, HIGH = 15, PHASE_HEIGHT = 5 * HIGH + 40, GAP = 50 };

static void put_phase(FILE *out, const lds_reads *chip, int phase, double x, double y, lds_rule rule) {
  double floor = y + PHASE_HEIGHT - 24, width = chip->banks / 4.0 * BOX;
  for (int n = phase * chip->lanes; n < (phase + 1) * chip->lanes; n++) {
    int lane = phase_lane(chip, n), quad = lane_quad(chip, lane, rule), level = lane_level(chip, n, rule);
    svg_rect(out, x + quad * BOX, floor - (level + 1) * HIGH, BOX - 1, HIGH - 1, level > 0 ? ALARM : svg_colour(lane / 16),
             "none");
    svg_text(out, x + quad * BOX + BOX / 2.0, floor - level * HIGH - 4, 10, SVG_MIDDLE, level > 0 ? "#ffffff" : INK, "%d",
             lane);
  }
  svg_line(out, x, floor, x + width, floor, 1, INK);
  for (int q = 0; q < chip->banks / 4; q += 4) svg_text(out, x + q * BOX, floor + 12, 9, SVG_START, INK, "bank %d", 4 * q);
  int clocks = phase_clocks(chip, phase, rule);
  svg_text(out, x + width, y + 12, 11, SVG_END, INK, "phase %d: %d clock%s", phase + 1, clocks, clocks == 1 ? "" : "s");
}

void draw_banks(FILE *out) {
  const lds_reads *chip = &lds_chips[LDS_GFX950];
  static const lds_rule rules[] = {LDS_PLAIN, LDS_XOR_2};
  int phases = lds_phases(chip), width = chip->banks / 4 * BOX;
  svg_begin(out, LEFT * 2 + 2 * width + GAP, 100 + phases * PHASE_HEIGHT,
            "LDS banks: the four phases of a ds_read_b128 on gfx950");
  svg_text(out, LEFT, 26, 16, SVG_START, INK,
           "gfx950, ds_read_b128: lane l reads 16 bytes of row l mod 16, chunk l / 16, of rows of 128 bytes");
  for (int i = 0; i < 2; i++) {
    double x = LEFT + i * (width + GAP);
    int clocks = read_clocks(chip, rules[i]);
    for (int phase = 0; phase < phases; phase++) put_phase(out, chip, phase, x, 70 + phase * PHASE_HEIGHT, rules[i]);
    svg_text(out, x, 54, 13, SVG_START, INK, "%s: %d clocks, %d lost",
             rules[i] == LDS_PLAIN ? "chunk c at place c" : "chunk c of row r at place c ^ (r / 2 mod 8)", clocks,
             clocks - phases);
  }
  svg_text(
      out, LEFT, 90 + phases * PHASE_HEIGHT, 12, SVG_START, INK,
      "A box: a lane, above the four of the %d banks that it wants. Red: it waits. The phases were measured by HipKittens.",
      chip->banks);
  svg_end(out);
}
