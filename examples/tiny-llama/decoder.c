/* Prefill and decode. */
#include "decoder.h"

#include <inttypes.h>
#include <stdlib.h>

#include "measure.h"

static forward describe(decoder *d, int64_t count, bool all) {
  session *s = d->s;
  return (forward){.config = &s->share.config,
                   .share = &s->share,
                   .mover = &s->mover,
                   .w = &s->w,
                   .m = &s->m,
                   .kernels = s->own,
                   .version = s->version,
                   .batch = s->batch,
                   .seq = count,
                   .cache = &d->cache,
                   .past = d->length,
                   .last_only = !all,
                   .chunks = session_chunks(s, count),
                   .by_tokens = session_by_tokens(s, count)};
}

bool decoder_open(decoder *d, session *s, int64_t prompt, bool all, int64_t capacity, llama_error *error) {
  const llama_config *c = &s->share.config;
  size_t wanted[MEMORY_KINDS] = {0};
  int forms = forward_weight_forms(s->version, true);
  *d = (decoder){.s = s, .cache = {.capacity = capacity}};
  if (capacity > c->context)
    return llama_fail(error, "%" PRId64 " tokens: the context of %s holds %" PRId64, capacity, c->name, c->context);
  s->w.type = s->type;
  forward whole = describe(d, prompt, all), one = describe(d, 1, false);
  forward_bytes(&whole, wanted);
  forward_bytes(&one, wanted);
  wanted[MEMORY_LOGITS] += best_bytes(s->batch, s->share.config.vocab);
  wanted[MEMORY_CACHE] = kv_cache_bytes(c, s->type, capacity, s->batch);
  if (!session_weights(s, forms, wanted, error) || !kv_cache_open(&d->cache, c, s->type, capacity, s->batch, &s->m, error))
    return false;
  d->one = describe(d, 1, false);
  if (forward_open(&d->one, error) && best_open(&d->best, &s->m, s->batch, c->vocab, error)) return true;
  decoder_close(d);
  return false;
}

void decoder_close(decoder *d) {
  if (d->one.m != NULL) forward_close(&d->one);
  best_close(&d->best);
  kv_cache_close(&d->cache, &d->s->share.config, &d->s->m);
}

bool decoder_prefill(decoder *d, const int32_t *ids, int64_t count, bool all, float *logits, int32_t *best,
                     llama_error *error) {
  forward f = describe(d, count, all);
  int64_t batch = d->s->batch, vocab = d->s->config.vocab, rows = all ? count : 1;
  if (count > d->cache.capacity - d->length)
    return llama_fail(error, "%" PRId64 " tokens after %" PRId64 ": the cache holds %" PRId64, count, d->length,
                      d->cache.capacity);
  if (!forward_open(&f, error)) return false;
  bool ok = forward_ids(&f, ids, error) && forward_run(&f, error);
  if (ok && best != NULL) ok = forward_best(&f, &d->best, best, error);
  for (int64_t i = 0; ok && best == NULL && i < batch * rows; i++)
    ok = forward_logits(&f, i / rows, count - rows + i % rows, logits + i * vocab, error);
  forward_close(&f);
  if (ok) d->length += count;
  return ok;
}

bool decoder_step(decoder *d, const int32_t *ids, float *logits, int32_t *best, llama_error *error) {
  double start = llama_seconds();
  bool ok = forward_move(&d->one, d->length, error);
  d->plans += llama_seconds() - start;
  ok = ok && forward_ids(&d->one, ids, error) && forward_run(&d->one, error);
  if (ok && best != NULL) ok = forward_best(&d->one, &d->best, best, error);
  for (int64_t b = 0; ok && best == NULL && b < d->s->batch; b++)
    ok = forward_logits(&d->one, b, 0, logits + b * d->s->config.vocab, error);
  if (!ok) return false;
  d->length++;
  return true;
}
