/* What is printed above the tables: the machine, the ceilings, and how to read them. */
#include <stdlib.h>

#include "bench/report/report.h"

static void put_machine(FILE *out, const bench_run *run) {
  const bench_machine *m = &run->machine;
  fprintf(out, "tandem %s on %s, %d threads, %s\n", tdm_version(), m->cpu, m->threads, m->system);
  fprintf(out, "built by %s, %s\n", m->compiler, m->instructions);
  fprintf(out, "load average before the run %.1f%s\n", m->load,
          m->load > 0.5 * m->threads ? ": OTHER WORK IS RUNNING, figures and ceilings are disturbed" : "");
}

static void put_ceilings(FILE *out, const bench_run *run, int d) {
  const bench_ceiling *c = &run->judge[d].ceiling;
  const char *device = run->devices.name[d];
  if (bench_is_simulated(device))
    fprintf(out, "%s: counted by gfxsim on cold caches, its checks %s; clocks are lower bounds of a pipe, not times\n", device,
            !bench_in_process(device) ? "as gfxsim exec has them"
            : run->checks             ? "on"
                                      : "off");
  else if (c->copy_by == NULL)
    fprintf(out, "ceilings of %s: not measured\n", device);
  else if (run->judge[d].by_footprint)
    fprintf(out, "ceilings of %s: f32 multiply-add %.1f GFLOP/s; copy and read by the size of a case, below the table\n",
            device, 1e-9 * c->flops);
  else
    fprintf(out, "ceilings of %s: f32 multiply-add %.1f GFLOP/s, copy %.1f GB/s (%s), read %.1f GB/s\n", device,
            1e-9 * c->flops, 1e-9 * c->copy, c->copy_by, 1e-9 * c->read);
  if (c->matrix_f16 > 0)
    fprintf(out,
            "matrix units of %s, sums in f32, by the instruction of the kernels that use them: f16 %.1f, bf16 %.1f GFLOP/s; "
            "their FMA ceiling\n",
            device, 1e-9 * c->matrix_f16, 1e-9 * c->matrix_bf16);
  if (c->launch > 0) fprintf(out, "an empty target region on %s: %.1f us\n", device, 1e6 * c->launch);
}

static void put_conditions(FILE *out, const bench_run *run) {
  if (bench_timed_devices(run) > 0)
    fprintf(out, "last-level cache %.0f MiB; buffers: %s\n", (double)run->machine.cache / (1 << 20),
            run->hot ? "one set, so that caches stay warm" : "rotating");
  if (bench_timed_devices(run) > 0 && !run->hot)
    fprintf(out, "rotation over %.0f MiB: the least of 4 caches, 1 GiB and a quarter of the memory\n",
            (double)run->limits.rotation / (1 << 20));
  for (int d = 0; d < run->devices.count; d++) put_ceilings(out, run, d);
  if (run->peer != NULL)
    fprintf(out, "peer %s: %s%s\n", run->peer->name, run->peer_open ? "" : "not there: ", run->peer_version);
  if (bench_timed_devices(run) > 0)
    fprintf(out,
            "times are medians of the samples, with the range from 10 %% to 90 %% of them; bounds: FLOP over the "
            "multiply-add (FMA) ceiling; and bytes (each input once, each output once) over the copy ceiling, or over the read "
            "ceiling what is read beyond as much as is written\n");
}

/* TABLE_FIT breaks lines where the terminal ends. */
static void print_text(FILE *out, const bench_run *run, table_style style, void (*put)(FILE *out, const bench_run *run)) {
  char *text = NULL;
  size_t size;
  FILE *to = style == TABLE_FIT ? open_memstream(&text, &size) : NULL;
  put(to != NULL ? to : out, run);
  if (to != NULL && fclose(to) == 0) table_text(out, run->width, text);
  free(text);
  fprintf(out, "\n");
}

void bench_print_machine(FILE *out, const bench_run *run, table_style style) { print_text(out, run, style, put_machine); }
void bench_print_conditions(FILE *out, const bench_run *run, table_style style) { print_text(out, run, style, put_conditions); }

static void put_size(char *text, size_t size, int power) {
  const char *const units[] = {"B", "KiB", "MiB", "GiB"};
  int unit = power < 40 ? power / 10 : 3;
  snprintf(text, size, "%lld %s", 1LL << (power - 10 * unit), units[unit]);
}

static void put_raised(FILE *out, const bench_run *run) {
  for (int d = 0; d < run->devices.count; d++) {
    const bench_judge *j = &run->judge[d];
    bool first = true;
    char text[32];
    for (int i = 0; i < BENCH_FOOTPRINTS; i++) {
      if (j->at[i].copy <= 0) continue;
      bench_ceiling at = bench_judge_at(j, i);
      put_size(text, sizeof text, i);
      if (first) fprintf(out, "copy and read on %s, GB/s, of arrays that have at least", run->devices.name[d]);
      fprintf(out, "%s %s: %.1f and %.1f", first ? "" : ";", text, 1e-9 * at.copy, 1e-9 * at.read);
      first = false;
    }
    if (!first) fprintf(out, "\n");
    if (!j->raised) continue;
    fprintf(out,
            "some ceilings were measured again, and rose, because a case was above them; files have the last ones for all "
            "cases\n");
    put_ceilings(out, run, d);
  }
}

static bool has_raised(const bench_run *run) {
  bool any = false;
  for (int d = 0; d < run->devices.count; d++) {
    any = any || run->judge[d].raised;
    for (int i = 0; i < BENCH_FOOTPRINTS; i++) any = any || run->judge[d].at[i].copy > 0;
  }
  return any;
}

void bench_print_raised(FILE *out, const bench_run *run, table_style style) {
  if (!has_raised(run)) return;
  fprintf(out, "\n");
  print_text(out, run, style, put_raised);
}
