#include "svg.h"

#include <stdarg.h>

/* Paul Tol's "light" scheme for the colour-blind (Colour Schemes, SRON/EPS/TN/09-002), with a darker mauve for his pink, which
 * deuteranopes take for his grey. The test `svg` simulates three kinds of colour blindness. */
static const char *const colours[8] = {"#99ddff", "#eedd88", "#44bb99", "#d0a8c8", "#77aadd", "#ee8866", "#aaaa00", "#dddddd"};
const char *svg_colour(int index) { return colours[index % 8]; }

/* Okabe and Ito's (Color Universal Design, 2008), without their light ones; the same test holds them. */
static const char *const inks[SVG_INKS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#202020"};
const char *svg_ink(int index) { return inks[index % SVG_INKS]; }

/* Widths of ' ' to '~' in DejaVu Sans, in hundredths of the size. It is wider than Arial, Helvetica and Liberation Sans. */
static const unsigned char widths[95] = {32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,  32, 34, 64, 64, 64,
                                         64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
                                         58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,  61, 73, 68, 99, 69,
                                         61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,  63, 63, 28, 28, 58,
                                         28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,  52, 64, 34, 64, 84};

double svg_width(const char *text, double size) {
  double sum = 0;
  for (; *text != '\0'; text++) sum += *text >= ' ' && *text <= '~' ? widths[*text - ' '] : 100;
  return sum * size / 100;
}

static void put_escaped(FILE *out, const char *text) {
  for (; *text != '\0'; text++) switch (*text) {
      case '&': fputs("&amp;", out); break;
      case '<': fputs("&lt;", out); break;
      case '>': fputs("&gt;", out); break;
      default: fputc(*text, out);
    }
}

void svg_begin(FILE *out, double width, double height, const char *title) {
  fprintf(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\""
          " font-family=\"sans-serif\" role=\"img\">\n<title>",
          width, height, width, height);
  put_escaped(out, title);
  fprintf(out, "</title>\n");
  svg_rect(out, 0, 0, width, height, "#ffffff", "none");
}

void svg_end(FILE *out) { fprintf(out, "</svg>\n"); }

void svg_rect(FILE *out, double x, double y, double width, double height, const char *fill, const char *stroke) {
  fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"%s\"/>\n", x, y, width, height,
          fill, stroke);
}

void svg_line(FILE *out, double x1, double y1, double x2, double y2, double width, const char *stroke) {
  fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke-width=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2,
          width, stroke);
}

void svg_dashed(FILE *out, double x1, double y1, double x2, double y2, double width, const char *stroke) {
  fprintf(out,
          "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke-width=\"%.1f\" stroke=\"%s\""
          " stroke-dasharray=\"7 4\"/>\n",
          x1, y1, x2, y2, width, stroke);
}

void svg_mark(FILE *out, double x, double y, double radius, svg_shape shape, const char *fill, const char *stroke) {
  double r = radius, s = 0.9 * radius;
  if (shape == SVG_CIRCLE) svg_circle(out, x, y, r, fill, stroke);
  if (shape == SVG_SQUARE) svg_rect(out, x - s, y - s, 2 * s, 2 * s, fill, stroke);
  if (shape != SVG_DIAMOND && shape != SVG_TRIANGLE) return;
  fprintf(out, "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f", x, y - 1.2 * r, x + 1.2 * r, shape == SVG_DIAMOND ? y : y + r,
          shape == SVG_DIAMOND ? x : x - 1.2 * r, shape == SVG_DIAMOND ? y + 1.2 * r : y + r);
  if (shape == SVG_DIAMOND) fprintf(out, "L%.1f %.1f", x - 1.2 * r, y);
  fprintf(out, "Z\" fill=\"%s\" stroke=\"%s\"/>\n", fill, stroke);
}

void svg_circle(FILE *out, double x, double y, double radius, const char *fill, const char *stroke) {
  fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"%s\"/>\n", x, y, radius, fill, stroke);
}

void svg_text(FILE *out, double x, double y, double size, svg_anchor anchor, const char *fill, const char *format, ...) {
  static const char *const anchors[] = {"start", "middle", "end"};
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, size, anchors[anchor],
          fill);
  put_escaped(out, text);
  fprintf(out, "</text>\n");
}
