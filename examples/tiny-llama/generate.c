/* Generation. */
#include "generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decoder.h"
#include "predict.h"
#include "profile.h"
#include "sample.h"

typedef struct generation {
  session *s;
  decoder d;
  sampler *sampler; /* [batch] */
  float *logits;    /* [batch, vocab] */
  int32_t *next;    /* [batch] */
  int32_t *text;    /* of several sequences: [batch, most], -1 after the end of one */
  tokenizer_stream stream;
  int64_t most, made;     /* tokens of a sequence to make, and made */
  double prefill, decode; /* seconds */
  predicted predicted[2]; /* of prefill and decode, with --predict */
} generation;

static bool is_end(const llama_config *c, int32_t id) {
  for (int i = 0; i < c->ends; i++)
    if (c->end[i] == id) return true;
  return false;
}

/* A token of the only sequence as it comes: text after a prompt that was text, else its id. */
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

/* Draws the next token of each sequence. *all_ended: none goes on. */
static bool draw(generation *g, bool *all_ended, llama_error *error) {
  const session *s = g->s;
  *all_ended = true;
  for (int64_t b = 0; b < s->batch; b++) {
    int32_t id = g->next[b];
    if (s->temperature > 0) id = g->next[b] = sampler_next(&g->sampler[b], g->logits + b * s->config.vocab);
    if (id < 0) return llama_fail(error, "the logits after token %" PRId64 " are not all finite", g->d.length - 1);
    const int32_t *before = &g->text[b * g->most + g->made - 1];
    bool ended = g->made > 0 && (*before < 0 || is_end(&s->config, *before));
    g->text[b * g->most + g->made] = ended ? -1 : id;
    *all_ended = *all_ended && (ended || is_end(&s->config, id));
  }
  return s->batch > 1 || show(g, g->next[0], false, error);
}

/* Draws tokens until all sequences have ended. Each pass but the prefill's is one token's of each. */
static bool make_tokens(generation *g, llama_error *error) {
  const session *s = g->s;
  for (;;) {
    bool ended;
    if (!draw(g, &ended, error)) return false;
    g->made++;
    if (g->made == g->most || ended) return true;
    double start = llama_seconds();
    if (!decoder_step(&g->d, g->next, g->logits, s->temperature > 0 ? NULL : g->next, error)) return false;
    g->decode += llama_seconds() - start;
  }
}

/* Several sequences, a line of ids each. */
static void show_all(const generation *g) {
  for (int64_t b = 0; b < g->s->batch; b++) {
    for (int64_t i = 0; i < g->made && g->text[b * g->most + i] >= 0; i++)
      printf("%s%d", i > 0 ? " " : "", g->text[b * g->most + i]);
    if (b + 1 < g->s->batch) putchar('\n');
  }
}

/* The shortest of a few times of a pass's exchanges, each ended before the next. */
static bool time_exchanges(const graph *pass, double *seconds, llama_error *error) {
  enum { TIMES = 5 };
  for (int i = 0; i <= TIMES; i++) { /* the first waits for the slowest rank */
    double start = llama_seconds();
    if (!graph_run_exchanges(pass, error)) return false;
    double time = llama_seconds() - start;
    if (i == 1 || (i > 1 && time < *seconds)) *seconds = time;
  }
  return true;
}

/* Each token reads all weights, of the embedding's table one row, and the cache, on average that of the token in the middle. */
static bool print_decode(const generation *g, int64_t tokens, llama_error *error) {
  const llama_config *c = &g->s->share.config;
  double size = (double)tdm_type_size(g->s->type), mean = (double)g->d.length - (double)tokens / 2;
  double weights = (llama_parameters(c) - (c->tied ? 0 : (double)c->vocab * (double)c->d)) * size;
  double cache = 2 * (double)c->layers * mean * (double)(g->s->batch * c->kv_heads * c->head_dim) * size,
         each = g->decode / (double)tokens;
  int launches = graph_launches(&g->d.one.graph), exchanges = g->s->ranks.alone ? 0 : graph_exchanges(&g->d.one.graph);
  double exchanged = 0;
  decode_rates rates;
  llama_error failure = {0};
  printf("decode       %" PRId64
         " tokens in %.3f ms: %.1f tokens/s, %.3f ms a pass, weights at %.1f GB/s; %.3f ms of it are for"
         " steps and plans\n",
         tokens * g->s->batch, 1e3 * g->decode, (double)(tokens * g->s->batch) / g->decode, 1e3 * each, 1e-9 * weights / each,
         1e3 * g->d.plans / (double)tokens);
  if (exchanges > 0 && !time_exchanges(&g->d.one.graph, &exchanged, error)) return false;
  if (!measure_decode_rates(g->s->m.context, g->s->type, weights, &rates, &failure)) {
    printf("bound        not measured: %s\n", failure.text);
    return true;
  }
  double moved = (weights + cache) / rates.bytes_per_second, launched = launches * rates.run;
  double bound = moved + launched + exchanged;
  printf(
      "bound        %.3f ms a pass, 1/%.2f of that: %.3f ms for weights and cache at the %.1f GB/s of an add, %.3f ms for %d"
      " launches of %.1f us, a run of one element",
      1e3 * bound, each / bound, 1e3 * moved, 1e-9 * rates.bytes_per_second, 1e3 * launched, launches, 1e6 * rates.run);
  if (exchanges > 0) printf(", %.3f ms for %d exchanges without other work", 1e3 * exchanged, exchanges);
  putchar('\n');
  return true;
}

static bool generate(generation *g, llama_error *error) {
  session *s = g->s;
  double start = llama_seconds();
  if (!decoder_prefill(&g->d, s->ids, s->seq, false, g->logits, s->temperature > 0 ? NULL : g->next, error)) return false;
  g->prefill = llama_seconds() - start;
  if (s->options->predict && !predict_take(&g->predicted[0], error)) return false;
  for (int64_t i = 0; i < s->seq && s->batch == 1; i++)
    if (!show(g, s->ids[i], true, error)) return false;
  mover_restart(&s->mover);
  if (!make_tokens(g, error)) return false;
  if (s->batch > 1) show_all(g);
  char rest[TOKENIZER_TEXT];
  fwrite(rest, 1, (size_t)tokenizer_end(&g->stream, rest), stdout);
  putchar('\n');
  if (s->options->predict) {
    if (!predict_take(&g->predicted[1], error)) return false;
    predict_print(&g->predicted[0], s->batch * s->seq, &g->predicted[1], s->batch * (g->made - 1));
  }
  if (is_simulated(&g->d.one)) return true;
  double tokens = (double)(s->batch * s->seq);
  printf("prefill      %.0f tokens in %.3f ms: %.1f tokens/s\n", tokens, 1e3 * g->prefill, tokens / g->prefill);
  if (g->made > 1 && !print_decode(g, g->made - 1, error)) return false;
  return session_report(s, &g->d.one, error);
}

static bool open_generation(generation *g, llama_error *error) {
  session *s = g->s;
  size_t batch = (size_t)s->batch;
  g->logits = malloc(batch * (size_t)s->config.vocab * sizeof *g->logits);
  g->sampler = calloc(batch, sizeof *g->sampler);
  g->next = malloc(batch * sizeof *g->next);
  g->text = malloc(batch * (size_t)g->most * sizeof *g->text);
  if (g->logits == NULL || g->sampler == NULL || g->next == NULL || g->text == NULL)
    return llama_fail(error, "no memory for %" PRId64 " logits", s->batch * s->config.vocab);
  for (int64_t b = 0; b < s->batch; b++)
    if (!sampler_open(&g->sampler[b], s->config.vocab, s->temperature, s->top_p, s->seed + (uint64_t)b, error)) return false;
  return session_ids(s, error) && decoder_open(&g->d, s, s->seq, false, s->seq + s->generate, error);
}

bool run_generate(session *s, llama_error *error) {
  generation g = {.s = s, .most = s->generate};
  bool ok = open_generation(&g, error), predicting = ok && s->options->predict;
  if (ok) {
    ok = (!predicting || predict_begin(s, error)) && generate(&g, error);
    if (predicting) predict_end(s);
    decoder_close(&g.d);
  }
  for (int64_t b = 0; b < s->batch && g.sampler != NULL; b++) sampler_close(&g.sampler[b]);
  free(g.sampler);
  free(g.logits);
  free(g.next);
  free(g.text);
  return ok;
}
