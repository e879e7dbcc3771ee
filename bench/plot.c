/* The roofline: rate over arithmetic intensity, with the ceilings that were measured in the same run (Williams, Waterman and
 * Patterson, Communications of the ACM 52(4), 2009). gnuplot draws it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"

bool bench_can_plot(char *error, size_t size) {
  int status = system("command -v gnuplot >/dev/null 2>&1");
  if (status == 0) return true;
  snprintf(error, size, "--plot: there is no gnuplot: install it (Debian: apt-get install gnuplot-nox), or leave --plot out");
  return false;
}

/* gnuplot's 'text': a quote inside is doubled. */
static void put_quoted(FILE *out, const char *text) {
  fputc('\'', out);
  for (; *text != '\0'; text++) {
    if (*text == '\'') fputc('\'', out);
    fputc(*text, out);
  }
  fputc('\'', out);
}

static bool has_point(const bench_row *row) {
  return row->outcome == BENCH_OK && row->flops > 0 && row->bytes > 0 && row->time.median > 0;
}

static void put_points(FILE *out, const bench_run *run, const char *device, const char *by, int index) {
  fprintf(out, "$points%d << EOD\n", index);
  for (int i = 0; i < run->rows; i++) {
    const bench_row *r = &run->row[i];
    char label[BENCH_TEXT];
    if (!has_point(r) || strcmp(r->device, device) != 0 || strcmp(r->by, by) != 0) continue;
    bench_label(r, label);
    fprintf(out, "%g %g \"%s\"\n", r->flops / r->bytes, 1e-9 * bench_row_flops(r), label);
  }
  fprintf(out, "EOD\n");
}

/* A roof for each device; points for each device, and for the peer, which runs on the first. */
static void put_script(FILE *out, const char *path, const bench_run *run) {
  int sides = run->devices.count + (run->peer != NULL);
  fprintf(out, "set terminal svg size 1000,700 font 'sans,12' background 'white'\nset output ");
  put_quoted(out, path);
  fprintf(out, "\nset title ");
  char title[BENCH_TEXT];
  snprintf(title, sizeof title, "tandem %s on %.100s, %d threads", tdm_version(), run->machine.cpu, run->machine.threads);
  put_quoted(out, title);
  fprintf(out,
          " noenhanced\nset logscale xy\nset xrange [0.03:2000]\nset xlabel 'arithmetic intensity, FLOP / byte'\n"
          "set ylabel 'GFLOP / s'\nset key left top noenhanced\nset grid\nmin(a, b) = a < b ? a : b\n");
  for (int s = 0; s < sides; s++) {
    bool peer = s == run->devices.count;
    put_points(out, run, run->devices.name[peer ? 0 : s], peer ? run->peer->name : "tandem", s);
  }
  fprintf(out, "plot ");
  for (int d = 0; d < run->devices.count; d++)
    fprintf(out, "min(%g, x * %g) with lines lw 2 title 'ceilings of %s', ", 1e-9 * run->ceiling[d].flops,
            1e-9 * run->ceiling[d].copy, run->devices.name[d]);
  for (int s = 0; s < sides; s++) {
    const char *name = s < run->devices.count ? run->devices.name[s] : run->peer->name;
    fprintf(out, "$points%d using 1:2 with points pt 7 ps 0.8 title '%s', ", s, name);
    fprintf(out, "$points%d using 1:2:3 with labels left offset 0.7,0 font ',8' noenhanced notitle%s", s,
            s + 1 < sides ? ", " : "\n");
  }
}

bool bench_write_plot(const char *path, const bench_run *run, char *error, size_t size) {
  int points = 0;
  for (int i = 0; i < run->rows; i++) points += has_point(&run->row[i]);
  if (points == 0) {
    snprintf(error, size, "--plot = '%s': no case of this run has both FLOP and bytes to draw", path);
    return false;
  }
  void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* gnuplot may end early; its exit status tells */
  FILE *pipe = popen("gnuplot", "w");
  int status = -1;
  if (pipe != NULL) {
    put_script(pipe, path, run);
    status = pclose(pipe);
  }
  signal(SIGPIPE, before);
  if (status == 0) return true;
  snprintf(error, size, "--plot = '%s': gnuplot failed (exit status %d)", path, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return false;
}
