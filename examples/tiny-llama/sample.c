/* Sampling. Everything is in f64, and the same seed draws the same tokens. */
#include "sample.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "random.h"

bool sampler_open(sampler *s, int64_t vocab, double temperature, double top_p, uint64_t seed, llama_error *error) {
  *s = (sampler){.vocab = vocab, .temperature = temperature, .top_p = top_p, .seed = random_bits(seed)};
  s->candidate = malloc((size_t)vocab * sizeof *s->candidate);
  return s->candidate != NULL || llama_fail(error, "no memory for %" PRId64 " candidates", vocab);
}

void sampler_close(sampler *s) {
  free(s->candidate);
  *s = (sampler){0};
}

static int by_weight(const void *a, const void *b) {
  const sample_candidate *x = a, *y = b;
  if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
  return (x->id > y->id) - (x->id < y->id);
}

/* Keeps the smallest set of likeliest candidates with a share of top_p; returns how many, and their weight in *total. Those
 * below (1 - top_p) / vocab of the total can not be among them, all of them together have less than what may be left out; so
 * few are sorted. */
static int64_t keep_top(sampler *s, double *total) {
  double least = *total * (1 - s->top_p) / (double)s->vocab, wanted = *total * s->top_p, sum = 0;
  int64_t count = 0, kept = 0;
  for (int64_t i = 0; i < s->vocab; i++)
    if (s->candidate[i].weight >= least) s->candidate[count++] = s->candidate[i];
  qsort(s->candidate, (size_t)count, sizeof *s->candidate, by_weight);
  while (kept < count && sum < wanted) sum += s->candidate[kept++].weight;
  *total = sum;
  return kept;
}

int32_t sampler_next(sampler *s, const float *logits) {
  int64_t best = 0, count = s->vocab;
  double total = 0;
  for (int64_t i = 0; i < s->vocab; i++) {
    if (!isfinite(logits[i])) return -1;
    if (logits[i] > logits[best]) best = i;
  }
  if (s->temperature == 0) return (int32_t)best;
  for (int64_t i = 0; i < s->vocab; i++) {
    double weight = exp(((double)logits[i] - (double)logits[best]) / s->temperature);
    s->candidate[i] = (sample_candidate){weight, (int32_t)i};
    total += weight;
  }
  if (s->top_p < 1) count = keep_top(s, &total);
  double at = random_uniform(random_bits(s->seed + s->drawn++)) * total;
  for (int64_t i = 0; i < count; i++) {
    at -= s->candidate[i].weight;
    if (at < 0) return s->candidate[i].id;
  }
  return s->candidate[count - 1].id; /* rounding left a rest */
}
