/* Timing a forward pass, and what is printed of it. */
#define _GNU_SOURCE
#include "measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double llama_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double median_of(double *samples, int count) {
  qsort(samples, (size_t)count, sizeof *samples, compare_doubles);
  return (samples[(count - 1) / 2] + samples[count / 2]) / 2;
}

bool is_simulated(const forward *f) { return strncmp(tdm_context_device(f->m->context), "sim:", 4) == 0; }

bool measure_turns(const forward *f, int count, int repeats, measured *out, llama_error *error) {
  double *samples = malloc((size_t)count * (size_t)repeats * sizeof *samples);
  if (samples == NULL) return llama_fail(error, "no memory for %d samples of %d versions", repeats, count);
  bool ok = true;
  for (int i = 0; ok && i < count * repeats; i++) {
    double start = llama_seconds();
    ok = forward_run(&f[i % count], error);
    samples[i % count * repeats + i / count] = llama_seconds() - start;
  }
  for (int v = 0; ok && v < count; v++) out[v] = (measured){median_of(samples + v * repeats, repeats), repeats};
  free(samples);
  return ok;
}

bool measure_forward(const forward *f, int repeats, measured *out, llama_error *error) {
  *out = (measured){0};
  if (!forward_run(f, error)) return false;
  mover_restart(f->mover);
  return is_simulated(f) || measure_turns(f, 1, repeats, out, error);
}

void print_model(const session *s) {
  const llama_config *c = &s->config;
  printf("model        %s: %.1f M parameters, vocab %" PRId64 ", d %" PRId64 ", %" PRId64 " layers, %" PRId64 "/%" PRId64
         " heads of %" PRId64 ", ffn %" PRId64 "%s\n",
         c->name, 1e-6 * llama_parameters(c), c->vocab, c->d, c->layers, c->heads, c->kv_heads, c->head_dim, c->ffn,
         c->tied ? ", tied head" : "");
  printf("input        %" PRId64 "x%" PRId64 ", %s, on %s\n", s->batch, s->seq, tdm_type_name(s->type),
         tdm_context_device(s->m.context));
}

void print_run(const session *s, const forward *f, const measured *time) {
  const memory *m = f->m;
  double tokens = (double)(f->batch * f->seq), flops = forward_flops(f);
  print_model(s);
  printf("version      %d: %d launches a pass\nmemory       ", f->version, graph_launches(&f->graph));
  for (int k = 0; k < MEMORY_KINDS; k++)
    if (m->peak[k] > 0) printf("%s %.1f MiB, ", memory_kind_names[k], (double)m->peak[k] / 0x1p20);
  printf("mapped weights %.1f MiB\n", (double)m->mapped / 0x1p20);
  if (time->samples == 0)
    printf("time         none: a simulated chip has no time of its own; %.3f GFLOP a pass\n", 1e-9 * flops);
  else
    printf("time         %.3f ms a pass, median of %d; %.1f tokens/s, %.4f TFLOPS\n", 1e3 * time->seconds, time->samples,
           tokens / time->seconds, 1e-12 * flops / time->seconds);
}
