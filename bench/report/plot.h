/* The pictures of --plot, for tandem-bench and tiny-llama. Each function returns false with one line in error. */
#ifndef TANDEM_BENCH_REPORT_PLOT_H
#define TANDEM_BENCH_REPORT_PLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Asked before minutes of measuring: pictures are SVG, and a path that is named as another kind of picture is refused. */
bool bench_can_plot(const char *path, char *error, size_t size);
/* Writes what draw draws. */
bool bench_plot(const char *path, void (*draw)(FILE *out, const void *user), const void *user, char *error, size_t size);

#endif
