/* 64 lanes above, the 64 lines of 8 KiB below, a line from each lane to what it reads. */
#include "layout.h"
#include "pictures.h"
#include "svg.h"

enum { LEFT = 30, STEP = 13, LINES = 64, PANEL = 130 };

static void put_panel(FILE *out, access kind, const char *name, double y) {
  bool touched[LINES] = {false};
  for (int l = 0; l < WAVE; l++) {
    unsigned byte = access_byte(kind, l);
    touched[byte / LINE_BYTES] = true;
    svg_line(out, LEFT + (l + 0.5) * STEP, y + 40, LEFT + byte * (double)STEP / LINE_BYTES, y + 92, 0.7, FAINT);
    svg_rect(out, LEFT + l * STEP, y + 28, STEP - 1, 12, svg_colour(l / 16), "none");
  }
  for (int line = 0; line < LINES; line++)
    svg_rect(out, LEFT + line * STEP, y + 92, STEP - 1, 14, touched[line] ? ALARM : "#eeeeee", "none");
  int lines = access_lines(kind);
  svg_text(out, LEFT, y + 20, 13, SVG_START, INK, "%s: %d lines of %d bytes, %.1f %% of what they hold is used", name, lines,
           LINE_BYTES, 100.0 * 4 * WAVE / (lines * LINE_BYTES));
}

void draw_access(FILE *out) {
  svg_begin(out, 2 * LEFT + LINES * STEP, 40 + ACCESSES * PANEL, "Lines of memory that a load of 64 lanes touches");
  svg_text(out, LEFT, 24, 16, SVG_START, INK, "A load of 4 bytes a lane: lanes 0 to 63 above, the 64 lines of 8 KiB below");
  put_panel(out, ACCESS_COALESCED, "coalesced, lane l reads word l", 30);
  put_panel(out, ACCESS_STRIDED, "strided, lane l reads word 32 l", 30 + PANEL);
  put_panel(out, ACCESS_RANDOM, "random, lane l reads some word of 2048", 30 + 2 * PANEL);
  svg_end(out);
}
