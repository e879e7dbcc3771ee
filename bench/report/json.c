/* A run as JSON. */
#include <string.h>

#include "bench/core/device_name.h"
#include "bench/core/predict.h"
#include "bench/report/file.h"
#include "bench/report/report.h"

static json_t *machine_json(const bench_run *run) {
  const bench_machine *m = &run->machine;
  return json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:f}", "cpu", m->cpu, "system", m->system, "compiler", m->compiler,
                   "instructions", m->instructions, "threads", m->threads, "last_level_cache_bytes", (json_int_t)m->cache,
                   "memory_bytes", (json_int_t)m->memory, "load_average", m->load);
}

static json_t *sizes_json(const bench_judge *j) {
  json_t *list = json_array();
  for (int i = 0; i < BENCH_FOOTPRINTS; i++) {
    bench_ceiling at = bench_judge_at(j, i);
    if (j->at[i].copy > 0)
      json_array_append_new(list, json_pack("{s:I, s:f, s:s?, s:f}", "bytes", (json_int_t)1 << i, "copy_bytes_per_s", at.copy,
                                            "copy_by", at.copy_by, "read_bytes_per_s", at.read));
  }
  return list;
}

static json_t *ceilings_json(const bench_run *run) {
  json_t *list = json_array();
  for (int d = 0; d < run->devices.count; d++) {
    const bench_ceiling *c = &run->judge[d].ceiling;
    char name[BENCH_TEXT];
    if (bench_is_simulated(run->devices.name[d])) continue;
    bench_device_name(run->devices.name[d], name, sizeof name);
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:s?, s:f, s:f, s:o}", "device", run->devices.name[d], "name", name,
                        "flop_per_s", c->flops, "matrix_f16_flop_per_s", c->matrix_f16, "matrix_bf16_flop_per_s",
                        c->matrix_bf16, "copy_bytes_per_s", c->copy, "copy_by", c->copy_by, "read_bytes_per_s", c->read,
                        "launch_s", c->launch, "by_size", sizes_json(&run->judge[d])));
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
  double predicted = bench_predicted_clocks(&r->counts);
  json_t *row =
      json_pack("{s:s, s:s, s:s?, s:s, s:s, s:s, s:s, s:s?, s:f, s:f, s:b, s:f, s:o, s:o, s:o}", "case", r->title, "device",
                r->device, "chip", chip, "by", r->by, "kernel", r->kernel, "outcome", bench_outcome_name(r->outcome), "reason",
                r->reason, "checked", r->checked, "flop", r->flops, "bytes", r->bytes, "sampled",
                bench_counts_sampled(&r->counts), "clocks_at_least", bench_counts_clocks(&r->counts), "hbm_bytes",
                modelled(hbm), "hbm_bytes_over_bytes", modelled(r->bytes > 0 ? hbm / r->bytes : -1), "launches", launches);
  if (predicted >= 0) {
    json_object_set_new(row, "clocks_predicted", json_real(predicted));
    json_object_set_new(row, "seconds_predicted", modelled(bench_predicted_seconds(&r->counts)));
    json_object_set_new(row, "mfma_share_predicted", json_real(bench_predicted_share(&r->counts)));
  }
  return row;
}

/* Without the counters, which would be most of a map's file. */
static json_t *prediction_json(const bench_row *r) {
  json_t *launches = json_array();
  char causes[BENCH_TEXT];
  const char *floor = "", *chip = r->counts.launches > 0 ? r->counts.launch[0].c.chip : "";
  bench_put_causes(causes, sizeof causes, &r->counts);
  for (int i = 0; i < r->counts.launches; i++) {
    const bench_launch *l = &r->counts.launch[i];
    json_array_append_new(
        launches,
        json_pack("{s:s, s:I, s:I, s:s, s:f, s:O?}", "kernel", l->kernel, "workgroups", (json_int_t)l->c.workgroups,
                  "workgroups_per_cu", (json_int_t)l->c.occupancy.workgroups_per_cu, "floor", gfxsim_pipe_name(l->c.floor),
                  "clocks_at_least", l->c.bound[l->c.floor], "time", json_object_get(l->json, "time")));
  }
  double ideal = bench_ideal_clocks(&r->c, chip, &floor);
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:n, s:f, s:f, s:o, s:s, s:o, s:f, s:o, s:o, s:o, s:s, s:o}", "case",
                   r->title, "device", r->device, "chip", chip, "by", r->by, "kernel", r->kernel, "outcome",
                   bench_outcome_name(r->outcome), "reason", r->reason, "checked", "flop", r->flops, "bytes", r->bytes,
                   "ideal_clocks", modelled(ideal), "ideal_floor", floor, "launch_clocks",
                   modelled(r->counts.launches > 0 ? (double)r->counts.launch[0].timing.launch_clocks : -1), "clocks_at_least",
                   bench_counts_clocks(&r->counts), "clocks_predicted", modelled(bench_predicted_clocks(&r->counts)),
                   "seconds_predicted", modelled(bench_predicted_seconds(&r->counts)), "mfma_share_predicted",
                   modelled(bench_predicted_share(&r->counts)), "causes", causes, "launches", launches);
}

json_t *bench_spread_json(const bench_spread *s) {
  return json_pack("{s:f, s:f, s:f, s:f, s:i, s:i}", "best", s->best, "p10", s->low, "median", s->median, "p90", s->high,
                   "samples", s->samples, "runs_per_sample", s->runs_per_sample);
}

json_t *bench_row_json(const bench_row *r) {
  if (r->predicted) return prediction_json(r);
  if (r->simulated) return counted_row_json(r);
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s?, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:i, s:b, s:f}", "case",
                   r->title, "device", r->device, "by", r->by, "kernel", r->kernel, "outcome", bench_outcome_name(r->outcome),
                   "reason", r->reason, "checked", r->checked, "seconds", bench_spread_json(&r->time), "flop", r->flops,
                   "bytes", r->bytes, "flop_per_s", bench_row_flops(r), "bytes_per_s", bench_row_bytes(r), "arithmetic_bound_s",
                   bench_row_arithmetic_bound(r), "memory_bound_s", bench_row_memory_bound(r), "rotation_bytes",
                   (json_int_t)r->rotation, "copies", r->copies, "alarm", r->alarm, "speed_against_peer", r->against_peer);
}

bool bench_row_json_bounds(json_t *json, const bench_row *r) {
  return json_object_set_new(json, "arithmetic_bound_s", json_real(bench_row_arithmetic_bound(r))) == 0 &&
         json_object_set_new(json, "memory_bound_s", json_real(bench_row_memory_bound(r))) == 0 &&
         json_object_set_new(json, "alarm", json_boolean(r->alarm)) == 0;
}

static json_t *summary_json(const json_t *rows) {
  int measured = 0, failed = 0, unsupported = 0, alarms = 0;
  size_t i;
  const json_t *row;
  json_array_foreach(rows, i, row) {
    const char *outcome = json_string_value(json_object_get(row, "outcome"));
    measured += strcmp(outcome, "ok") == 0;
    failed += strcmp(outcome, "failed") == 0;
    unsupported += strcmp(outcome, "unsupported") == 0;
    alarms += json_is_true(json_object_get(row, "alarm"));
  }
  return json_pack("{s:i, s:i, s:i, s:i}", "measured", measured, "failed", failed, "unsupported", unsupported, "alarms",
                   alarms);
}

json_t *bench_root_json(const bench_run *run, json_t *rows) {
  json_t *summary = summary_json(rows);
  json_t *root = json_pack("{s:s, s:o, s:b, s:o, s:o, s:o}", "tandem", tdm_version(), "machine", machine_json(run), "hot",
                           run->hot, "ceilings", ceilings_json(run), "rows", rows, "summary", summary);
  if (root != NULL && run->peer != NULL)
    json_object_set_new(
        root, "peer",
        json_pack("{s:s, s:b, s:s}", "name", run->peer->name, "found", run->peer_open, "version", run->peer_version));
  return root;
}

bool bench_write_json(const char *path, const bench_run *run, char *error, size_t size) {
  json_t *rows = json_array();
  bool whole = rows != NULL;
  for (int i = 0; i < run->rows; i++) whole = whole && json_array_append_new(rows, bench_row_json(&run->row[i])) == 0;
  if (whole) return bench_write_root(path, bench_root_json(run, rows), error, size);
  json_decref(rows);
  return bench_write_root(path, NULL, error, size);
}
