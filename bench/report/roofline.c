/* The roofline: rate over arithmetic intensity, with the ceilings that were measured in the same run (Williams, Waterman and
 * Patterson, Communications of the ACM 52(4), 2009). gnuplot draws it. */
#include <stdlib.h>
#include <string.h>

#include "bench/report/gnuplot.h"
#include "bench/report/report.h"

static bool has_point(const bench_row *row) {
  return row->outcome == BENCH_OK && row->flops > 0 && row->bytes > 0 && row->time.median > 0;
}

/* The number of a row's case: the rows of one case share it. */
static int case_number(const bench_run *run, int index) {
  int number = 1;
  for (int i = 1; i <= index; i++) number += strcmp(run->row[i].title, run->row[i - 1].title) != 0 && !run->row[i].simulated;
  return number;
}

static void put_points(FILE *out, const bench_run *run, const char *device, const char *by, int index) {
  fprintf(out, "$points%d << EOD\n", index);
  for (int i = 0; i < run->rows; i++) {
    const bench_row *r = &run->row[i];
    if (has_point(r) && strcmp(r->device, device) == 0 && strcmp(r->by, by) == 0)
      fprintf(out, "%g %g %d\n", r->flops / r->bytes, 1e-9 * bench_row_flops(r), case_number(run, i));
  }
  fprintf(out, "EOD\n");
}

/* What the numbers at the points mean, in a column beside the picture. */
static void put_list(FILE *out, const bench_run *run) {
  for (int i = 0, last = 0; i < run->rows; i++) {
    int number = case_number(run, i);
    char label[BENCH_TEXT], text[BENCH_TEXT + 16];
    if (number == last || !has_point(&run->row[i])) continue;
    last = number;
    bench_label(&run->row[i], label);
    snprintf(text, sizeof text, "%d  %s", number, label);
    fprintf(out, "set label ");
    bench_put_quoted(out, text);
    fprintf(out, " at screen 0.64, screen %.3f font ',10' noenhanced\n", 0.92 - 0.025 * number);
  }
}

static void put_axes(FILE *out, const bench_run *run) {
  char title[BENCH_TEXT];
  snprintf(title, sizeof title, "tandem %s on %.100s, %d threads", tdm_version(), run->machine.cpu, run->machine.threads);
  fprintf(out, "set title ");
  bench_put_quoted(out, title);
  fprintf(out,
          " noenhanced\nset rmargin at screen 0.62\nset logscale xy\nset xrange [0.03:2000]\n"
          "set xlabel 'arithmetic intensity, FLOP / byte'\nset ylabel 'GFLOP / s'\nset key left top noenhanced\n"
          "set grid\nmin(a, b) = a < b ? a : b\n");
}

/* A roof for each device; points for each device, and for the peer, which runs on the first. */
static void put_script(FILE *out, const char *path, const bench_run *run) {
  int sides = run->devices.count + (run->peer != NULL);
  fprintf(out, "set terminal svg size 1200,700 font 'sans,12' background 'white'\nset output ");
  bench_put_quoted(out, path);
  fputc('\n', out);
  put_axes(out, run);
  put_list(out, run);
  for (int s = 0; s < sides; s++) {
    bool peer = s == run->devices.count;
    put_points(out, run, run->devices.name[peer ? 0 : s], peer ? run->peer->name : "tandem", s);
  }
  fprintf(out, "plot NaN notitle"); /* so that every other one begins with a comma */
  for (int d = 0; d < run->devices.count; d++)
    if (run->ceiling[d].flops > 0)
      fprintf(out, ", min(%g, x * %g) with lines lw 2 title 'ceilings of %s'", 1e-9 * run->ceiling[d].flops,
              1e-9 * run->ceiling[d].copy, run->devices.name[d]);
  for (int d = 0; d < run->devices.count; d++)
    if (run->ceiling[d].matrix_f16 > 0)
      fprintf(out, ", min(%g, x * %g) with lines lw 2 dt 2 title 'and its matrix units, f16'",
              1e-9 * run->ceiling[d].matrix_f16, 1e-9 * run->ceiling[d].copy);
  for (int s = 0; s < sides; s++) {
    const char *name = s < run->devices.count ? run->devices.name[s] : run->peer->name;
    if (s < run->devices.count && bench_is_simulated(name)) continue;
    fprintf(out, ", $points%d using 1:2 with points pt 7 ps 0.7 title '%s'", s, name);
    fprintf(out, ", $points%d using 1:2:3 with labels left offset 0.6,0.3 font ',9' notitle", s);
  }
  fputc('\n', out);
}

static void put_roofline(FILE *out, const char *path, const void *user) { put_script(out, path, user); }

bool bench_write_plot(const char *path, const bench_run *run, char *error, size_t size) {
  int points = 0;
  for (int i = 0; i < run->rows; i++) points += has_point(&run->row[i]);
  if (points > 0) return bench_gnuplot(path, put_roofline, run, error, size);
  snprintf(error, size, "--plot = '%s': no case of this run has both FLOP and bytes to draw", path);
  return false;
}
