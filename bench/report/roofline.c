/* The roofline: rate over arithmetic intensity (Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009).
 * gnuplot draws it. A device that was timed has the ceilings that were measured in the same run, and a point for each case. A
 * simulated chip has no times: its roof is the peak rates of its data sheet, and a point is the rate that its counters allow at
 * most. */
#include <stdlib.h>
#include <string.h>

#include "bench/report/gnuplot.h"
#include "bench/report/report.h"
#include "sim/base/chip.h"

/* the chip of a simulated device, with the settings after its name. */
static bool chip_of(const bench_run *run, const char *device, chip *found) {
  const char *name = bench_in_process(device) ? device + strlen("sim:") : "";
  for (int d = 0; d < run->devices.count && name[0] == '\0'; d++)
    if (strcmp(run->devices.name[d], device) == 0) name = bench_chip_of(run, d);
  return name[0] != '\0' && chip_find(name, found) == GFXSIM_OK && found->clock_mhz > 0;
}

/* FLOP per second; of a simulated run at most so many, at the chip's peak clock. 0: not known. */
static double rate_of(const bench_run *run, const bench_row *row) {
  chip found;
  if (row->outcome != BENCH_OK || row->flops <= 0 || row->bytes <= 0) return 0;
  if (!row->simulated) return row->time.median > 0 ? bench_row_flops(row) : 0;
  double clocks = bench_counts_clocks(&row->counts);
  return clocks > 0 && chip_of(run, row->device, &found) ? row->flops / clocks * 1e6 * found.clock_mhz : 0;
}

/* FLOP a byte: of the case's least bytes, or of those that a simulated run moved to and from HBM. */
static double intensity_of(const bench_row *row) {
  double moved = row->simulated ? bench_counts_hbm(&row->counts) : 0;
  return row->flops / (moved > 0 ? moved : row->bytes);
}

static int first_of_case(const bench_run *run, int index) {
  int first = 0;
  while (strcmp(run->row[first].title, run->row[index].title) != 0) first++;
  return first;
}

/* The number of a row's case: the rows of one case share it. */
static int case_number(const bench_run *run, int index) {
  int number = 0;
  for (int i = 0, last = first_of_case(run, index); i <= last; i++) number += first_of_case(run, i) == i;
  return number;
}

static void put_points(FILE *out, const bench_run *run, const char *device, const char *by, int index) {
  fprintf(out, "$points%d << EOD\n", index);
  for (int i = 0; i < run->rows; i++) {
    const bench_row *r = &run->row[i];
    double rate = rate_of(run, r);
    if (rate > 0 && strcmp(r->device, device) == 0 && strcmp(r->by, by) == 0)
      fprintf(out, "%g %g %d\n", intensity_of(r), 1e-9 * rate, case_number(run, i));
  }
  fprintf(out, "EOD\n");
}

static bool has_points(const bench_run *run, const char *device, const char *by) {
  for (int i = 0; i < run->rows; i++)
    if (strcmp(run->row[i].device, device) == 0 && strcmp(run->row[i].by, by) == 0 && rate_of(run, &run->row[i]) > 0)
      return true;
  return false;
}

/* What the numbers at the points mean, in a column beside the picture. */
static bool case_is_drawn(const bench_run *run, int first) {
  for (int i = first; i < run->rows; i++)
    if (first_of_case(run, i) == first && rate_of(run, &run->row[i]) > 0) return true;
  return false;
}

static void put_list(FILE *out, const bench_run *run) {
  for (int i = 0; i < run->rows; i++) {
    char label[BENCH_TEXT], text[BENCH_TEXT + 16];
    if (first_of_case(run, i) != i || !case_is_drawn(run, i)) continue;
    int number = case_number(run, i);
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

static void put_roof(FILE *out, double flops, double bytes, int dash, const char *what, const char *device) {
  fprintf(out, ", min(%g, x * %g) with lines lw 2 dt %d title '%s %s'", 1e-9 * flops, 1e-9 * bytes, dash, device, what);
}

static void put_roofs(FILE *out, const bench_run *run) {
  for (int d = 0; d < run->devices.count; d++) {
    const bench_ceiling *c = &run->ceiling[d];
    const char *device = run->devices.name[d];
    chip found;
    if (c->flops > 0) put_roof(out, c->flops, c->copy, 1, "ceilings, measured", device);
    if (c->matrix_f16 > 0) put_roof(out, c->matrix_f16, c->copy, 2, "matrix units f16, measured", device);
    if (!bench_is_simulated(device) || !has_points(run, device, "tandem") || !chip_of(run, device, &found)) continue;
    double clock = 1e6 * found.clock_mhz;
    put_roof(out, clock * found.mfma_16bit_flops * found.xcds * found.cus_per_xcd, 1e9 * found.hbm_gbs, 4,
             "predicted: peak of f16 MFMA and of HBM", device);
  }
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
  put_roofs(out, run);
  for (int s = 0; s < sides; s++) {
    bool peer = s == run->devices.count;
    const char *device = run->devices.name[peer ? 0 : s];
    if (!has_points(run, device, peer ? run->peer->name : "tandem")) continue;
    bool counted = !peer && bench_is_simulated(device);
    fprintf(out, ", $points%d using 1:2 with points pt %d ps 0.7 title '%s%s'", s, counted ? 8 : 7,
            peer ? run->peer->name : device, counted ? " at most, by counts: a bound, not a time" : ", timed");
    fprintf(out, ", $points%d using 1:2:3 with labels left offset 0.6,0.3 font ',9' notitle", s);
  }
  fputc('\n', out);
}

static void put_roofline(FILE *out, const char *path, const void *user) { put_script(out, path, user); }

bool bench_write_plot(const char *path, const bench_run *run, char *error, size_t size) {
  int points = 0;
  for (int i = 0; i < run->rows; i++) points += rate_of(run, &run->row[i]) > 0;
  if (points > 0) return bench_gnuplot(path, put_roofline, run, error, size);
  snprintf(error, size, "--plot = '%s': no case of this run has both FLOP and bytes to draw", path);
  return false;
}
