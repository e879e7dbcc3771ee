/* Generation. */
#include "generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decoder.h"
#include "profile.h"
#include "sample.h"

typedef struct generation {
  session *s;
  decoder d;
  sampler sampler;
  float *logits;
  tokenizer_stream stream;
  int64_t most, made;     /* tokens to make, and made */
  double prefill, decode; /* seconds */
} generation;

static bool is_end(const llama_config *c, int32_t id) {
  for (int i = 0; i < c->ends; i++)
    if (c->end[i] == id) return true;
  return false;
}

/* A token as it comes: text after a prompt that was text, else its id. */
static bool show(generation *g, int32_t id, bool prompt, llama_error *error) {
  const tokenizer *t = g->s->tokenizer;
  char text[TOKENIZER_TEXT];
  if (t == NULL) {
    if (!prompt) printf("%s%d", g->made > 0 ? " " : "", id);
  } else {
    int length = tokenizer_next(t, &g->stream, id, text);
    if (length < 0) return llama_fail(error, "%s/tokenizer.json: no token has the id %d", g->s->options->model, id);
    fwrite(text, 1, (size_t)length, stdout);
  }
  fflush(stdout);
  return true;
}

/* Draws and prints tokens until one ends the text. Each pass but the prefill's is one token's. */
static bool make_tokens(generation *g, llama_error *error) {
  const llama_config *c = &g->s->config;
  for (;;) {
    int32_t id = sampler_next(&g->sampler, g->logits);
    if (id < 0) return llama_fail(error, "the logits after token %" PRId64 " are not all finite", g->d.length - 1);
    if (!show(g, id, false, error)) return false;
    g->made++;
    if (g->made == g->most || is_end(c, id)) return true;
    double start = llama_seconds();
    if (!decoder_step(&g->d, id, g->logits, error)) return false;
    g->decode += llama_seconds() - start;
  }
}

/* Each token reads all weights, of the embedding's table one row, and the cache, on average that of the token in the middle. */
static void print_decode(const generation *g, int64_t tokens) {
  const llama_config *c = &g->s->config;
  double size = (double)tdm_type_size(g->s->type), mean = (double)g->d.length - (double)tokens / 2;
  double weights = (llama_parameters(c) - (c->tied ? 0 : (double)c->vocab * (double)c->d)) * size;
  double cache = 2 * (double)c->layers * mean * (double)(c->kv_heads * c->head_dim) * size, each = g->decode / (double)tokens;
  int launches = g->d.one.graph.steps;
  decode_rates rates;
  llama_error error = {0};
  printf("decode       %" PRId64
         " tokens in %.3f ms: %.1f tokens/s, %.3f ms a token, weights at %.1f GB/s; %.3f ms of it are for"
         " steps and plans\n",
         tokens, 1e3 * g->decode, (double)tokens / g->decode, 1e3 * each, 1e-9 * weights / each,
         1e3 * g->d.plans / (double)tokens);
  if (!measure_decode_rates(g->s->m.context, g->s->type, weights, &rates, &error)) {
    printf("bound        not measured: %s\n", error.text);
    return;
  }
  double moved = (weights + cache) / rates.bytes_per_second, launched = launches * rates.run;
  printf(
      "bound        %.3f ms a token, 1/%.2f of that: %.3f ms for weights and cache at the %.1f GB/s of an add, %.3f ms for %d"
      " launches of %.1f us, a run of one element\n",
      1e3 * (moved + launched), each / (moved + launched), 1e3 * moved, 1e-9 * rates.bytes_per_second, 1e3 * launched, launches,
      1e6 * rates.run);
}

static bool generate(generation *g, llama_error *error) {
  session *s = g->s;
  double start = llama_seconds();
  if (!decoder_prefill(&g->d, s->ids, s->seq, false, g->logits, error)) return false;
  g->prefill = llama_seconds() - start;
  for (int64_t i = 0; i < s->seq; i++)
    if (!show(g, s->ids[i], true, error)) return false;
  if (!make_tokens(g, error)) return false;
  char rest[TOKENIZER_TEXT];
  fwrite(rest, 1, (size_t)tokenizer_end(&g->stream, rest), stdout);
  putchar('\n');
  if (is_simulated(&g->d.one)) return true;
  printf("prefill      %" PRId64 " tokens in %.3f ms: %.1f tokens/s\n", s->seq, 1e3 * g->prefill, (double)s->seq / g->prefill);
  if (g->made > 1) print_decode(g, g->made - 1);
  return true;
}

bool run_generate(session *s, llama_error *error) {
  generation g = {.s = s, .most = s->generate};
  if (s->batch != 1) return llama_fail(error, "--generate: needs one sequence, --input has %" PRId64, s->batch);
  if (s->generate > s->config.context - s->seq)
    return llama_fail(error, "--generate = %" PRId64 ": after a prompt of %" PRId64 " tokens, the context of %s holds %" PRId64,
                      s->generate, s->seq, s->config.name, s->config.context);
  g.logits = malloc((size_t)s->config.vocab * sizeof *g.logits);
  if (g.logits == NULL) return llama_fail(error, "no memory for %" PRId64 " logits", s->config.vocab);
  bool ok = session_ids(s, error) && sampler_open(&g.sampler, s->config.vocab, s->temperature, s->top_p, s->seed, error) &&
            decoder_open(&g.d, s, s->seq, false, s->seq + s->generate, error);
  if (ok) {
    ok = generate(&g, error);
    decoder_close(&g.d);
  }
  sampler_close(&g.sampler);
  free(g.logits);
  return ok;
}
