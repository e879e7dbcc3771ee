/* Pictures by gnuplot, for tandem-bench and tiny-llama. */
#ifndef TANDEM_BENCH_REPORT_GNUPLOT_H
#define TANDEM_BENCH_REPORT_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Can --plot draw into path? false, with one line in error: path is named as another kind of picture than SVG, or there is no
 * gnuplot. */
bool bench_can_plot(const char *path, char *error, size_t size);
/* Runs gnuplot over what script writes, which sets the output to path. */
bool bench_gnuplot(const char *path, void (*script)(FILE *out, const char *path, const void *user), const void *user,
                   char *error, size_t size);
/* gnuplot's 'text': a quote inside is doubled. */
void bench_put_quoted(FILE *out, const char *text);

#endif
