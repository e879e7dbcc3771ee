/* Prefill and decode. */
#include "decoder.h"

#include <inttypes.h>
#include <stdlib.h>

#include "measure.h"

static forward describe(decoder *d, int64_t count, bool all) {
  session *s = d->s;
  return (forward){.config = &s->config,
                   .w = &s->w,
                   .m = &s->m,
                   .version = s->version,
                   .batch = 1,
                   .seq = count,
                   .cache = &d->cache,
                   .past = d->length,
                   .last_only = !all};
}

bool decoder_open(decoder *d, session *s, int64_t prompt, bool all, int64_t capacity, llama_error *error) {
  const llama_config *c = &s->config;
  size_t wanted[MEMORY_KINDS] = {0};
  int forms = forward_weight_forms(s->version, true);
  *d = (decoder){.s = s, .cache = {.capacity = capacity}};
  if (capacity > c->context)
    return llama_fail(error, "%" PRId64 " tokens: the context of %s holds %" PRId64, capacity, c->name, c->context);
  s->w.type = s->type;
  forward whole = describe(d, prompt, all), one = describe(d, 1, false);
  forward_bytes(&whole, wanted);
  forward_bytes(&one, wanted);
  wanted[MEMORY_CACHE] = kv_cache_bytes(c, s->type, capacity);
  wanted[MEMORY_WEIGHTS] = weights_bytes(c, s->type, forms);
  if (!memory_check(&s->m, c->name, wanted, error) ||
      !weights_open(c, s->options->model, s->seed, s->type, forms, &s->m, &s->w, error) ||
      !kv_cache_open(&d->cache, c, s->type, capacity, &s->m, error))
    return false;
  d->one = describe(d, 1, false);
  if (forward_open(&d->one, error)) return true;
  kv_cache_close(&d->cache, c, &s->m);
  return false;
}

void decoder_close(decoder *d) {
  if (d->one.m != NULL) forward_close(&d->one);
  kv_cache_close(&d->cache, &d->s->config, &d->s->m);
}

bool decoder_prefill(decoder *d, const int32_t *ids, int64_t count, bool all, float *logits, llama_error *error) {
  forward f = describe(d, count, all);
  int64_t vocab = d->s->config.vocab, rows = all ? count : 1;
  if (count > d->cache.capacity - d->length)
    return llama_fail(error, "%" PRId64 " tokens after %" PRId64 ": the cache holds %" PRId64, count, d->length,
                      d->cache.capacity);
  if (!forward_open(&f, error)) return false;
  bool ok = forward_ids(&f, ids, error) && forward_run(&f, error);
  for (int64_t i = 0; ok && i < rows; i++) ok = forward_logits(&f, 0, count - rows + i, logits + i * vocab, error);
  forward_close(&f);
  if (ok) d->length += count;
  return ok;
}

bool decoder_step(decoder *d, int32_t id, float *logits, llama_error *error) {
  double start = llama_seconds();
  bool ok = forward_move(&d->one, d->length, error);
  d->plans += llama_seconds() - start;
  if (!ok || !forward_ids(&d->one, &id, error) || !forward_run(&d->one, error) || !forward_logits(&d->one, 0, 0, logits, error))
    return false;
  d->length++;
  return true;
}
