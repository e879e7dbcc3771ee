/* Results as JSON, and as a picture. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../bench/core/device_name.h"
#include "../../bench/report/plot.h"
#include "compare.h"
#include "picture.h"
#include "result.h"

json_t *report_run(const session *s) {
  const llama_config *c = &s->config;
  double load = 0; /* other work on the machine; with a run's own threads */
  char name[64];
  if (getloadavg(&load, 1) != 1) load = -1;
  bench_device_name(tdm_context_device(s->m.context), name, sizeof name);
  return json_pack("{s:f, s:s, s:s, s:s, s:s, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "load_average", load, "model",
                   c->name, "device", tdm_context_device(s->m.context), "device_name", name, "dtype", tdm_type_name(s->type),
                   "parameters", llama_parameters(c), "vocab", (json_int_t)c->vocab, "d", (json_int_t)c->d, "layers",
                   (json_int_t)c->layers, "heads", (json_int_t)c->heads, "kv_heads", (json_int_t)c->kv_heads, "head_dim",
                   (json_int_t)c->head_dim, "ffn", (json_int_t)c->ffn, "batch", (json_int_t)s->batch, "seq",
                   (json_int_t)s->seq);
}

static json_t *report_steps(const profile *p) {
  json_t *steps = json_array();
  for (int i = 0; i < p->count; i++) {
    const profile_row *row = &p->row[i];
    json_t *step = json_pack("{s:s, s:s, s:i, s:f, s:f}", "name", row->name, "op", row->op, "launches", row->launches, "flops",
                             row->flops, "bytes", row->bytes);
    if (p->seconds > 0) json_object_set_new(step, "ms", json_real(1e3 * row->seconds));
    if (row->compared) json_object_set_new(step, "error", json_real(row->error));
    json_array_append_new(steps, step);
  }
  return steps;
}

json_t *report_version(const session *s, const version_result *r) {
  json_t *memory = json_object();
  for (int k = 0; k < MEMORY_KINDS; k++)
    json_object_set_new(memory, memory_kind_names[k], json_integer((json_int_t)r->bytes[k]));
  json_t *version = json_pack("{s:i, s:i, s:f, s:o, s:f, s:o}", "version", r->version, "launches", r->launches, "flops",
                              r->flops, "bytes", memory, "error", r->error, "steps", report_steps(&r->steps));
  if (r->time.samples == 0) return version;
  json_object_set_new(version, "ms", json_real(1e3 * r->time.seconds));
  json_object_set_new(version, "samples", json_integer(r->time.samples));
  json_object_set_new(version, "tokens_per_second", json_real((double)(s->batch * s->seq) / r->time.seconds));
  if (r->bound > 0) json_object_set_new(version, "bound_ms", json_real(1e3 * r->bound));
  return version;
}

bool report_write(const char *path, json_t *root, llama_error *error) {
  result_file file;
  char reason[256] = "no memory for the JSON text";
  bool ok = path == NULL || (root != NULL && result_open(&file, path, reason, sizeof reason));
  if (ok && path != NULL) {
    ok = json_dumpf(root, file.to, JSON_INDENT(2)) == 0 || ferror(file.to);
    if (ok)
      ok = result_finish(&file, reason, sizeof reason);
    else
      result_drop(&file);
  }
  json_decref(root);
  return ok || llama_fail(error, "--json = '%s': %s", path, reason);
}

/* ---- The picture ---- */

bool report_can_plot(const char *path, llama_error *error) { return bench_can_plot(path, error->text, sizeof error->text); }

static void draw(FILE *out, const void *root) { picture_draw(out, root, NULL); }

bool report_plot(const char *path, const json_t *root, llama_error *error) {
  if (!picture_can_draw(root)) return llama_fail(error, "--plot = '%s': a simulated chip has no time to draw", path);
  return bench_plot(path, draw, root, error->text, sizeof error->text);
}
