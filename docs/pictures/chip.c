/* An MI355X from the outside in; all numbers are those of src/base/chip.h, which names their sources. */
#include <string.h>

#include "src/base/chip.h"

#include "pictures.h"
#include "svg.h"

enum { LEFT = 30, XCD = 58, CU = 220 };

static void put_box(FILE *out, double x, double y, double width, double height, int colour, const char *head,
                    const char *text) {
  svg_rect(out, x, y, width, height, svg_colour(colour), INK);
  svg_text(out, x + 10, y + 18, 13, SVG_START, INK, "%s", head);
  svg_text(out, x + 10, y + 34, 11, SVG_START, INK, "%s", text);
}

static void put_chip(FILE *out, const tdm_chip *c, double x, double y) {
  char text[160];
  svg_rect(out, x, y, 8 * XCD + 20, 300, "none", INK);
  svg_text(out, x + 10, y + 20, 14, SVG_START, INK, "the chip: %u XCDs", c->xcds);
  for (unsigned n = 0; n < c->xcds; n++) {
    svg_rect(out, x + 10 + n * XCD, y + 32, XCD - 6, 128, svg_colour((int)n), INK);
    svg_text(out, x + 10 + n * XCD + (XCD - 6) / 2.0, y + 48, 11, SVG_MIDDLE, INK, "XCD %u", n);
    svg_text(out, x + 10 + n * XCD + (XCD - 6) / 2.0, y + 84, 11, SVG_MIDDLE, INK, "%u CUs", c->cus_per_xcd);
    svg_text(out, x + 10 + n * XCD + (XCD - 6) / 2.0, y + 130, 11, SVG_MIDDLE, INK, "L2");
    svg_text(out, x + 10 + n * XCD + (XCD - 6) / 2.0, y + 144, 11, SVG_MIDDLE, INK, "%u MiB", c->l2_bytes >> 20);
  }
  snprintf(text, sizeof text, "%u MiB, shared by all XCDs", c->mall_bytes >> 20);
  put_box(out, x + 10, y + 176, 8 * XCD - 6, 44, 7, "memory-side cache (MALL, Infinity Cache)", text);
  snprintf(text, sizeof text, "%u GiB, %.1f TB/s", (unsigned)c->memory_gib, c->hbm_gbs / 1000.0);
  put_box(out, x + 10, y + 236, 8 * XCD - 6, 44, 3, "HBM", text);
}

static void put_cu(FILE *out, const tdm_chip *c, double x, double y) {
  char text[160];
  svg_rect(out, x, y, 2 * CU + 30, 300, "none", INK);
  svg_text(out, x + 10, y + 20, 14, SVG_START, INK, "one CU (compute unit)");
  for (unsigned n = 0; n < c->simds_per_cu; n++) {
    double left = x + 10 + n % 2 * (CU + 10), top = y + 32 + n / 2 * 66.0;
    svg_rect(out, left, top, CU, 58, svg_colour(2), INK);
    svg_text(out, left + 10, top + 18, 13, SVG_START, INK, "SIMD %u", n);
    svg_text(out, left + 10, top + 34, 11, SVG_START, INK, "up to %u waves of 64 lanes", c->waves_per_simd);
    svg_text(out, left + 10, top + 49, 11, SVG_START, INK, "%u registers a lane (%u KiB), MFMA", c->vgprs,
             c->vgprs * 64 * 4 >> 10);
  }
  snprintf(text, sizeof text, "%u KiB, for the workgroups of this CU", c->lds_bytes >> 10);
  put_box(out, x + 10, y + 176, 2 * CU + 10, 44, 0, "LDS (local data share)", text);
  snprintf(text, sizeof text, "%u KiB, lines of %u bytes", c->l1_bytes >> 10, c->line_bytes);
  put_box(out, x + 10, y + 236, 2 * CU + 10, 44, 1, "vL1D (vector cache)", text);
}

static void draw(FILE *out, const tdm_chip *c) {
  svg_begin(out, 2 * LEFT + 8 * XCD + 50 + 2 * CU + 30, 380, "An MI355X: chip and compute unit");
  svg_text(out, LEFT, 26, 16, SVG_START, INK, "MI355X (gfx950): %u compute units", c->xcds * c->cus_per_xcd);
  put_chip(out, c, LEFT, 44);
  put_cu(out, c, LEFT + 8 * XCD + 50, 44);
  svg_text(out, LEFT, 366, 12, SVG_START, INK, "Peak figures of AMD's data sheets and white papers");
  svg_end(out);
}

void draw_chip(FILE *out) { draw(out, &tdm_chips[TDM_GFX950]); }
