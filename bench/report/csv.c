/* A run as CSV. */
#include "bench/report/file.h"
#include "bench/report/report.h"

enum { COUNTED_COLUMNS = 5 + GFXSIM_PIPE_COUNT + 10 };

/* In quotes, with the quotes inside doubled (RFC 4180). */
static void put_text(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text != '\0'; text++) {
    if (*text == '"') fputc('"', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

static const char timed_head[] =
    "best_s,p10_s,median_s,p90_s,samples,flop,bytes,flop_per_s,bytes_per_s,ceiling_flop_per_s,ceiling_copy_bytes_per_s,"
    "ceiling_read_bytes_per_s,alarm,speed_against_peer,checked";

static void put_timed(FILE *out, const bench_row *r) {
  fprintf(out, "%.9g,%.9g,%.9g,%.9g,%d,%.17g,%.17g,%.6g,%.6g,%.6g,%.6g,%.6g,%d,%.6g", r->time.best, r->time.low, r->time.median,
          r->time.high, r->time.samples, r->flops, r->bytes, bench_row_flops(r), bench_row_bytes(r), bench_row_ceiling(r),
          r->ceiling.copy, r->ceiling.read, r->alarm, r->against_peer);
}

/* Writes the counts of a launch on a simulated device; what is not modelled is left empty. */
static void put_counted_head(FILE *out) {
  fprintf(out, ",launched,chip,workgroups,workgroups_run,floor");
  for (int p = 0; p < GFXSIM_PIPE_COUNT; p++) fprintf(out, ",%s_clocks", gfxsim_pipe_name((gfxsim_pipe)p));
  fprintf(out,
          ",lds_conflict_clocks,l2_reads,l2_read_hits,hbm_read,hbm_written,scratch_bytes,lds_bytes,vgprs,sgprs,waves_per_simd");
}

static void put_counted(FILE *out, const bench_launch *l) {
  const gfxsim_counters *c = &l->c;
  fputc(',', out);
  put_text(out, l->kernel);
  fprintf(out, ",%s,%llu,%llu,%s", c->chip, (unsigned long long)c->workgroups, (unsigned long long)c->workgroups_run,
          gfxsim_pipe_name(c->floor));
  for (int p = 0; p < GFXSIM_PIPE_COUNT; p++) {
    fputc(',', out);
    if (c->bound[p] >= 0) fprintf(out, "%.17g", c->bound[p]);
  }
  fprintf(out, ",%llu", (unsigned long long)c->lds.conflict_clocks);
  if (c->workgroups_run < c->workgroups)
    fprintf(out, ",,,,");
  else
    fprintf(out, ",%llu,%llu,%llu,%llu", (unsigned long long)l->l2.reads, (unsigned long long)l->l2.read_hits,
            (unsigned long long)c->hbm_read, (unsigned long long)c->hbm_written);
  fprintf(out, ",%u,%u,%u,%u,%u", c->occupancy.scratch_bytes, c->occupancy.lds_bytes, c->occupancy.vgprs, c->occupancy.sgprs,
          c->occupancy.waves_per_simd);
}

/* launch: of a simulated device, or NULL. A timed row has no counts and a counted one no times. */
static void put_row(FILE *out, const bench_row *r, const bench_launch *launch) {
  const char *const texts[] = {r->title, r->device, r->by, r->kernel, bench_outcome_name(r->outcome), r->reason};
  for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
    put_text(out, texts[t]);
    fputc(',', out);
  }
  if (r->simulated)
    fprintf(out, ",,,,,%.17g,%.17g,,,,,,,", r->flops, r->bytes);
  else
    put_timed(out, r);
  fputc(',', out);
  put_text(out, r->checked != NULL ? r->checked : "");
  if (launch != NULL)
    put_counted(out, launch);
  else
    for (int i = 0; i < COUNTED_COLUMNS; i++) fputc(',', out);
  fputc('\n', out);
}

bool bench_write_csv(const char *path, const bench_run *run, char *error, size_t size) {
  result_file file;
  if (!bench_open_file(&file, path, error, size)) return false;
  FILE *out = file.to;
  fprintf(out, "case,device,by,kernel,outcome,reason,%s", timed_head);
  put_counted_head(out);
  fputc('\n', out);
  for (int i = 0; i < run->rows; i++) {
    const bench_row *r = &run->row[i];
    put_row(out, r, r->counts.launches > 0 ? &r->counts.launch[0] : NULL);
    for (int l = 1; l < r->counts.launches; l++) put_row(out, r, &r->counts.launch[l]);
  }
  return bench_close_file(&file, path, error, size);
}
