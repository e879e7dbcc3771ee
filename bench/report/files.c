/* The files of results: opening, closing, CSV and JSON. */
#include <jansson.h>
#include <string.h>

#include "../core/bench.h"

bool bench_open_file(result_file *file, const char *path, char *error, size_t size) {
  char reason[BENCH_TEXT];
  if (result_open(file, path, reason, sizeof reason)) return true;
  snprintf(error, size, "'%s': %s", path, reason);
  return false;
}

bool bench_can_write(const char *option, const char *path, char *error, size_t size) {
  char reason[BENCH_TEXT];
  if (path == NULL || result_check(path, reason, sizeof reason)) return true;
  snprintf(error, size, "%s = '%s': %s", option, path, reason);
  return false;
}

bool bench_close_file(result_file *file, const char *path, char *error, size_t size) {
  char reason[BENCH_TEXT];
  if (result_finish(file, reason, sizeof reason)) return true;
  snprintf(error, size, "'%s': %s", path, reason);
  return false;
}

static const char *outcome_name(bench_outcome outcome) {
  return outcome == BENCH_OK ? "ok" : outcome == BENCH_FAILED ? "failed" : "unsupported";
}

/* ---- CSV ---- */

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

/* Of a launch on a simulated device; what is not modelled is left empty. */
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
  const char *const texts[] = {r->title, r->device, r->by, r->kernel, outcome_name(r->outcome), r->reason};
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

/* ---- JSON ---- */

static json_t *machine_json(const bench_run *run) {
  const bench_machine *m = &run->machine;
  return json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:f}", "cpu", m->cpu, "system", m->system, "compiler", m->compiler,
                   "instructions", m->instructions, "threads", m->threads, "last_level_cache_bytes", (json_int_t)m->cache,
                   "memory_bytes", (json_int_t)m->memory, "load_average", m->load);
}

static json_t *ceilings_json(const bench_run *run) {
  json_t *list = json_array();
  for (int d = 0; d < run->devices.count; d++) {
    const bench_ceiling *c = &run->ceiling[d];
    if (bench_is_simulated(run->devices.name[d])) continue;
    json_array_append_new(
        list, json_pack("{s:s, s:f, s:f, s:f, s:f, s:s?, s:f, s:f}", "device", run->devices.name[d], "flop_per_s", c->flops,
                        "matrix_f16_flop_per_s", c->matrix_f16, "matrix_bf16_flop_per_s", c->matrix_bf16, "copy_bytes_per_s",
                        c->copy, "copy_by", c->copy_by, "read_bytes_per_s", c->read, "launch_s", c->launch));
  }
  return list;
}

/* Negative: not modelled, null. */
static json_t *modelled(double value) { return value < 0 ? json_null() : json_real(value); }

static json_t *counted_row_json(const bench_row *r) {
  json_t *launches = json_array();
  double hbm = bench_counts_hbm(&r->counts);
  for (int i = 0; i < r->counts.launches; i++) json_array_append(launches, r->counts.launch[i].json);
  const char *chip = r->counts.launches > 0 ? r->counts.launch[0].c.chip : NULL;
  return json_pack("{s:s, s:s, s:s?, s:s, s:s, s:s, s:s, s:s?, s:f, s:f, s:b, s:f, s:o, s:o, s:o}", "case", r->title, "device",
                   r->device, "chip", chip, "by", r->by, "kernel", r->kernel, "outcome", outcome_name(r->outcome), "reason",
                   r->reason, "checked", r->checked, "flop", r->flops, "bytes", r->bytes, "sampled",
                   bench_counts_sampled(&r->counts), "clocks_at_least", bench_counts_clocks(&r->counts), "hbm_bytes",
                   modelled(hbm), "hbm_bytes_over_bytes", modelled(r->bytes > 0 ? hbm / r->bytes : -1), "launches", launches);
}

json_t *bench_row_json(const bench_row *r) {
  if (r->simulated) return counted_row_json(r);
  json_t *time = json_pack("{s:f, s:f, s:f, s:f, s:i, s:i}", "best", r->time.best, "p10", r->time.low, "median", r->time.median,
                           "p90", r->time.high, "samples", r->time.samples, "runs_per_sample", r->time.runs_per_sample);
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s?, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:i, s:b, s:f}", "case",
                   r->title, "device", r->device, "by", r->by, "kernel", r->kernel, "outcome", outcome_name(r->outcome),
                   "reason", r->reason, "checked", r->checked, "seconds", time, "flop", r->flops, "bytes", r->bytes,
                   "flop_per_s", bench_row_flops(r), "bytes_per_s", bench_row_bytes(r), "arithmetic_bound_s",
                   bench_row_arithmetic_bound(r), "memory_bound_s", bench_row_memory_bound(r), "rotation_bytes",
                   (json_int_t)r->rotation, "copies", r->copies, "alarm", r->alarm, "speed_against_peer", r->against_peer);
}

static json_t *run_json(const bench_run *run) {
  json_t *rows = json_array();
  for (int i = 0; i < run->rows; i++) json_array_append_new(rows, bench_row_json(&run->row[i]));
  bench_count count = bench_count_rows(run);
  json_t *summary = json_pack("{s:i, s:i, s:i, s:i}", "measured", count.measured, "failed", count.failed, "unsupported",
                              count.unsupported, "alarms", count.alarms);
  json_t *root = json_pack("{s:s, s:o, s:b, s:o, s:o, s:o}", "tandem", tdm_version(), "machine", machine_json(run), "hot",
                           run->hot, "ceilings", ceilings_json(run), "rows", rows, "summary", summary);
  if (root != NULL && run->peer != NULL)
    json_object_set_new(
        root, "peer",
        json_pack("{s:s, s:b, s:s}", "name", run->peer->name, "found", run->peer_open, "version", run->peer_version));
  return root;
}

bool bench_write_json(const char *path, const bench_run *run, char *error, size_t size) {
  return bench_write_root(path, run_json(run), error, size);
}

bool bench_write_root(const char *path, json_t *root, char *error, size_t size) {
  if (root == NULL) {
    snprintf(error, size, "'%s': no memory for the JSON text, or a text in it is no UTF-8", path);
    return false;
  }
  result_file file;
  bool ok = bench_open_file(&file, path, error, size);
  if (ok && json_dumpf(root, file.to, JSON_INDENT(2)) != 0 && !ferror(file.to)) {
    result_drop(&file);
    snprintf(error, size, "'%s': no memory for the JSON text", path);
    ok = false;
  } else if (ok) {
    fputc('\n', file.to);
    ok = bench_close_file(&file, path, error, size);
  }
  json_decref(root);
  return ok;
}
