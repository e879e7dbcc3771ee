/* A small SVG writer: shapes and texts, in pixels, in the order they are called. Colours are SVG's ("#rrggbb", "none").
 * A failing write shows in ferror(out). */
#ifndef TANDEM_FILES_SVG_H
#define TANDEM_FILES_SVG_H

#include <stdio.h>

#define INK "#202020"
#define FAINT "#b0b0b0"
#define ALARM "#c0203a"

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;

void svg_begin(FILE *out, double width, double height, const char *title); /* white, with the title as what it shows */
void svg_end(FILE *out);
void svg_rect(FILE *out, double x, double y, double width, double height, const char *fill, const char *stroke);
void svg_line(FILE *out, double x1, double y1, double x2, double y2, double width, const char *stroke);
void svg_circle(FILE *out, double x, double y, double radius, const char *fill, const char *stroke);
__attribute__((format(printf, 7, 8))) void svg_text(FILE *out, double x, double y, double size, svg_anchor anchor,
                                                    const char *fill, const char *format, ...);

void svg_dashed(FILE *out, double x1, double y1, double x2, double y2, double width, const char *stroke);
typedef enum svg_shape { SVG_CIRCLE, SVG_SQUARE, SVG_DIAMOND, SVG_TRIANGLE, SVG_SHAPES } svg_shape;
void svg_mark(FILE *out, double x, double y, double radius, svg_shape shape, const char *fill, const char *stroke);

/* How wide a text is at most with the usual fonts, so that nothing is cut off or written over something else. */
double svg_width(const char *text, double size);

/* Eight light colours that black text can be read on; dark ones for marks and lines on white. The colour-blind can tell those of
 * each list from each other. */
const char *svg_colour(int index);
enum { SVG_INKS = 5 };
const char *svg_ink(int index);

#endif
