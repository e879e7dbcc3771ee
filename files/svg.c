#include "svg.h"

#include <stdarg.h>

/* Okabe and Ito's colours for the colour-blind, lightened, and a grey in place of their black. */
static const char *const colours[8] = {"#f5c97a", "#a5d8f3", "#8fd3b8", "#f7ef9a", "#8fb8dc", "#eba67f", "#dfb3cd", "#cfcfcf"};

const char *svg_colour(int index) { return colours[index % 8]; }

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
