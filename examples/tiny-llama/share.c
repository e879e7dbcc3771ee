/* What one rank has of a model. */
#include "share.h"

#include <inttypes.h>

bool llama_share_of(const llama_config *whole, int rank, int ranks, llama_share *s, llama_error *error) {
  const llama_config *c = whole;
  *s = (llama_share){.rank = rank, .ranks = ranks, .whole = whole, .config = *whole};
  if (c->heads % ranks != 0)
    return llama_fail(error, "--ranks tp=%d: must divide the %" PRId64 " heads of %s", ranks, c->heads, c->name);
  if (c->kv_heads % ranks != 0 && ranks % c->kv_heads != 0)
    return llama_fail(error, "--ranks tp=%d: must divide the %" PRId64 " key heads of %s, or be a multiple of them", ranks,
                      c->kv_heads, c->name);
  if (c->ffn < ranks || c->vocab < ranks)
    return llama_fail(error, "--ranks tp=%d: %s has an intermediate size of %" PRId64 " and %" PRId64 " ids: too few to divide",
                      ranks, c->name, c->ffn, c->vocab);
  s->head = c->heads / ranks * rank;
  s->kv_head = c->kv_heads * rank / ranks;
  s->ffn = llama_part(c->ffn, rank, ranks);
  s->vocab = llama_part(c->vocab, rank, ranks);
  s->config.heads = c->heads / ranks;
  s->config.kv_heads = c->kv_heads >= ranks ? c->kv_heads / ranks : 1;
  s->config.ffn = llama_part(c->ffn, rank + 1, ranks) - s->ffn;
  s->config.vocab = llama_part(c->vocab, rank + 1, ranks) - s->vocab;
  return true;
}
