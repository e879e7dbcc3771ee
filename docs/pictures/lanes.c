/* A left, B above, the result between them, as a product is written on paper. */
#include "layout.h"
#include "pictures.h"
#include "svg.h"

enum { SHOWN = 21, LEFT = 40, TOP = 70, GAP = 24 }; /* the lane that is picked out */

static void put_cell(FILE *out, double x, double y, double width, double height, int group, int lane, double text) {
  bool shown = lane == SHOWN;
  svg_rect(out, x, y, width, height, shown ? ALARM : svg_colour(group), "#ffffff");
  svg_text(out, x + width / 2, y + height / 2 + text / 2.8, text, SVG_MIDDLE, shown ? "#ffffff" : INK, "%d", lane);
}

/* Row i or column i of an operand, 8 values of k a cell. */
static void put_operand(FILE *out, int side, double x, double y, double cell, bool is_b) {
  for (int i = 0; i < side; i++)
    for (int k = 0; k < WAVE / side * CHUNK; k += CHUNK) {
      int lane = operand_place(side, i, k).lane;
      double along = k * cell, across = i * cell, length = CHUNK * cell;
      put_cell(out, x + (is_b ? across : along), y + (is_b ? along : across), is_b ? cell : length, is_b ? length : cell,
               lane / side, lane, cell * 0.6);
    }
}

static void put_result(FILE *out, int side, double x, double y, double cell) {
  for (int i = 0; i < side; i += 4)
    for (int j = 0; j < side; j++) {
      place p = result_place(side, i, j);
      put_cell(out, x + j * cell, y + i * cell, cell, 4 * cell, p.lane / side, p.lane, cell * 0.6);
    }
  for (int i = 0; i < side; i += 4) { /* the registers of each block of four rows */
    int first = result_place(side, i, 0).element;
    svg_text(out, x + side * cell + 6, y + (i + 2) * cell + 4, 11, SVG_START, INK, "rows %d-%d: registers %d-%d", i, i + 3,
             first, first + 3);
  }
}

static void draw(FILE *out, int side, double cell) {
  int k = WAVE / side * CHUNK;
  double depth = k * cell, width = side * cell, x = LEFT + depth + GAP, y = TOP + depth + GAP;
  svg_begin(out, x + width + 190, y + width + 70, "Which lane holds what of a matrix instruction");
  svg_text(out, LEFT, 26, 16, SVG_START, INK, "v_mfma_f32_%dx%dx%d: which of the 64 lanes holds what", side, side, k);
  svg_text(out, LEFT, 46, 12, SVG_START, INK, "A cell of A and B is 8 values along k, 16 bytes of the lane that it names.");
  svg_text(out, LEFT, y - 10, 14, SVG_START, INK, "A: %d rows x %d of k", side, k);
  put_operand(out, side, LEFT, y, cell, false);
  svg_text(out, x + width + 6, TOP + 14, 14, SVG_START, INK, "B: %d of k x %d columns", k, side);
  put_operand(out, side, x, TOP, cell, true);
  put_result(out, side, x, y, cell);
  svg_text(out, x + width + 6, y - 8, 14, SVG_START, INK, "C, D: f32");
  place a = operand_place(side, SHOWN % side, SHOWN / side * CHUNK);
  svg_text(out, LEFT, y + width + 26, 12, SVG_START, ALARM,
           "Lane %d has row %d of A and column %d of B, k = %d to %d each; of the result column %d, in %d registers.", a.lane,
           SHOWN % side, SHOWN % side, SHOWN / side * CHUNK, SHOWN / side * CHUNK + CHUNK - 1, SHOWN % side,
           side * side / WAVE);
  svg_text(out, LEFT, y + width + 46, 12, SVG_START, INK,
           "Source: AMD's matrix instruction calculator, and what gfxsim executes");
  svg_end(out);
}

void draw_lanes_16(FILE *out) { draw(out, 16, 16); }
void draw_lanes_32(FILE *out) { draw(out, 32, 14); }
