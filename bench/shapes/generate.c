/* Draws cases. Each stratum (an op, a type, of models or odd) has its share of them. Inside a stratum of models the sample
 * covers: the next case is one whose layer and size were drawn least often so far, the seed decides among these. Odd ones are
 * drawn freely. */
#include "bench/shapes/generate.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench/shapes/models.h"
#include "case/op.h"

/* Arrays of a case, ours and a peer's, fit an 80 GB GPU side by side, with room for what a peer makes beside them. 6e13 FLOP
 * take 0.1 s on an H200 in 16 bits, 1.5e13 in f32 0.3 s. */
static const double MOST_BYTES = 16e9, MOST_FLOP_F32 = 1.5e13, MOST_FLOP_16 = 6e13;
/* Longer contexts are run with the heads spread over 8 GPUs. */
enum { LONG_CONTEXT = 16384, GPUS = 8 };

static const int64_t tokens[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 2048, 8192};
static const int64_t rows[] = {64,   2048,  4096,
                               8192, 16384, 32768}; /* of ops over rows: below 2048 the launch decides on a GPU */
static const int64_t contexts[] = {128, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
static const int64_t batches[] = {1, 8, 64};
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))
enum { MOST_OF_A = BENCH_MOST_WEIGHTS, MOST_OF_B = 64 };

typedef struct candidate {
  char line[160], note[64];
  uint64_t order; /* by the seed */
  int a, b;       /* layer or model, size: drawn evenly */
  bool taken;
} candidate;

typedef struct pool {
  candidate *item;
  int count, room;
  bool no_memory;
  uint64_t seed;
  const char *dtype;
} pool;

__attribute__((format(printf, 5, 6))) static void offer(pool *p, int a, int b, const char *note, const char *format, ...) {
  va_list args;
  if (p->count == p->room) {
    int room = p->room == 0 ? 256 : 2 * p->room;
    candidate *longer = realloc(p->item, (size_t)room * sizeof *longer);
    p->no_memory |= longer == NULL;
    if (longer == NULL) return;
    p->item = longer;
    p->room = room;
  }
  candidate *c = &p->item[p->count];
  *c = (candidate){.a = a, .b = b, .order = case_mix(case_mix(p->seed) + (uint64_t)p->count)};
  snprintf(c->note, sizeof c->note, "%s", note);
  va_start(args, format);
  vsnprintf(c->line, sizeof c->line, format, args);
  va_end(args);
  p->count++;
}

/* ---- What models have ---- */

static void offer_products(pool *p, bool swiglu) {
  bench_weight weights[BENCH_MOST_WEIGHTS];
  int count = bench_weights(weights);
  for (int w = 0; w < count; w++) {
    const bench_weight *x = &weights[w];
    char note[64], epilogue[40] = "";
    snprintf(note, sizeof note, "%s: %s", bench_models[x->model].name, x->layer);
    if (x->epilogue != NULL) snprintf(epilogue, sizeof epilogue, "--epilogue %s ", x->epilogue);
    for (int t = 0; t < COUNT(tokens) && x->swiglu == swiglu; t++)
      offer(p, w, t, note, "%s --dtype %s --layout %s %s%" PRId64 "x%" PRId64 "x%" PRId64, swiglu ? "swiglu" : "gemm", p->dtype,
            x->layout, epilogue, tokens[t], x->n, x->k);
  }
}

static void gemms(pool *p) { offer_products(p, false); }
static void swiglus(pool *p) { offer_products(p, true); }

/* Shapes that are in every table, and results that are large for their K. */
static void squares(pool *p) {
  for (int64_t n = 512, t = 0; n <= 8192; n *= 2, t++)
    offer(p, 0, (int)t, "square", "gemm --dtype %s --layout nn %" PRId64 "x%" PRId64 "x%" PRId64, p->dtype, n, n, n);
  for (int64_t k = 16, t = 5; k <= 256; k *= 2, t++)
    offer(p, 1, (int)t, "small K", "gemm --dtype %s --layout nn 32768x32768x%" PRId64, p->dtype, k);
}

/* Heads of a GPU. */
static int64_t part(int64_t heads, int64_t context) {
  return context > LONG_CONTEXT && heads % GPUS == 0 ? heads / GPUS : heads;
}

static void attentions(pool *p) {
  for (int i = 0; i < bench_model_count; i++) {
    const bench_model *m = &bench_models[i];
    for (int t = 0; t < COUNT(contexts); t++) {
      int64_t s = contexts[t];
      if (m->heads == 0 || s > m->context) continue;
      int64_t heads = part(m->heads, s), kv = part(m->kv_heads, s), batch = s <= 512 ? 8 : s <= 2048 ? 2 : 1;
      char note[64];
      snprintf(note, sizeof note, "%s: %s", m->name, heads < m->heads ? "prefill on one of 8 GPUs" : "prefill");
      offer(p, i, t, note,
            "attention --dtype %s --set causal=1 %" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64,
            p->dtype, batch, heads, kv, s, s, m->head_dim);
      if (s >= 2048) /* a part of the prompt, after what the cache has */
        offer(p, i, t, "", "attention --dtype %s --set causal=1 1x%" PRId64 "x%" PRId64 "x512x%" PRId64 "x%" PRId64, p->dtype,
              heads, kv, s, m->head_dim);
      if (s <= 2048) /* without a mask, as encoders have it */
        offer(p, i, t, "", "attention --dtype %s %" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64,
              p->dtype, batch, heads, kv, s, s, m->head_dim);
    }
  }
}

static void decodes(pool *p) {
  for (int i = 0; i < bench_model_count; i++)
    for (int t = 0; t < COUNT(contexts); t++)
      for (int b = 0; b < COUNT(batches); b++) {
        const bench_model *m = &bench_models[i];
        int64_t s = contexts[t];
        if (m->heads == 0 || s > m->context) continue;
        char note[64];
        snprintf(note, sizeof note, "%s: decode", m->name);
        offer(p, i, t * COUNT(batches) + b, note,
              "attention --dtype %s %" PRId64 "x%" PRId64 "x%" PRId64 "x1x%" PRId64 "x%" PRId64, p->dtype, batches[b],
              part(m->heads, s), part(m->kv_heads, s), s, m->head_dim);
      }
}

/* Ops over rows of `hidden`, `ffn` or `vocab` columns, or of scores. */
static void offer_rows(pool *p, const char *op, const char *settings) {
  for (int i = 0; i < bench_model_count; i++)
    for (int t = 0; t < COUNT(rows); t++) {
      const bench_model *m = &bench_models[i];
      bool ffn = strcmp(op, "silu_mul") == 0;
      if (m->hidden == 0 || (ffn && m->gpt2)) continue;
      offer(p, i, t, m->name, "%s --dtype %s %s%" PRId64 "x%" PRId64, op, p->dtype, settings, rows[t],
            ffn ? m->ffn : m->hidden);
    }
}

static void rmsnorms(pool *p) {
  offer_rows(p, "rmsnorm", "");
  offer_rows(p, "rmsnorm", "--set residual=1 ");
}
static void silu_muls(pool *p) { offer_rows(p, "silu_mul", ""); }
static void adds(pool *p) { offer_rows(p, "add", ""); }

static void softmaxes(pool *p) {
  for (int t = 0; t < COUNT(rows); t++) {
    for (int s = 0; s < COUNT(contexts); s++) /* scores of 32 heads */
      offer(p, s, t, "scores of 32 heads", "softmax --dtype %s %" PRId64 "x%" PRId64, p->dtype, 32 * rows[t], contexts[s]);
    for (int i = 0; i < bench_model_count; i++)
      if (bench_models[i].vocab > 0)
        offer(p, COUNT(contexts) + i, t, bench_models[i].name, "softmax --dtype %s %" PRId64 "x%" PRId64, p->dtype, rows[t],
              bench_models[i].vocab);
  }
}

static void ropes(pool *p) {
  for (int i = 0; i < bench_model_count; i++)
    for (int t = 0; t < COUNT(rows); t++) {
      const bench_model *m = &bench_models[i];
      if (m->heads == 0 || m->gpt2) continue;
      offer(p, i, t, m->name, "rope --dtype %s --set rope=half 1x%" PRId64 "x%" PRId64 "x%" PRId64, p->dtype, rows[t], m->heads,
            m->head_dim);
    }
}

static void embeddings(pool *p) {
  for (int i = 0; i < bench_model_count; i++)
    for (int t = 0; t < COUNT(rows) && bench_models[i].vocab > 0; t++)
      offer(p, i, t, bench_models[i].name, "embedding --dtype %s %" PRId64 "x%" PRId64 "x%" PRId64, p->dtype, rows[t],
            bench_models[i].vocab, bench_models[i].hidden);
}

static void cross_entropies(pool *p) {
  for (int i = 0; i < bench_model_count; i++)
    for (int t = 0; t < COUNT(rows) && bench_models[i].vocab > 0; t++)
      offer(p, i, t, bench_models[i].name, "cross_entropy --dtype %s %" PRId64 "x%" PRId64, p->dtype, rows[t],
            bench_models[i].vocab);
}

/* ---- Odd sizes ---- */

enum { ODD = 400 }; /* that are offered to a stratum */

/* From low to high, evenly on a logarithmic scale: number `which` of an item. */
static int64_t draw(const pool *p, int item, int which, double low, double high) {
  double share = ldexp((double)(case_mix(case_mix(p->seed ^ 0x6f6464) + (uint64_t)(item * 16 + which)) >> 11), -53);
  return (int64_t)(low * pow(high / low, share));
}

static void offer_odd_products(pool *p, const char *op, const char *const *layouts, int count) {
  for (int i = 0; i < ODD; i++) {
    int64_t m = draw(p, i, 0, 1, 8193), n = draw(p, i, 1, 17, 8193), k = draw(p, i, 2, 17, 8193), which = draw(p, i, 3, 1, 8);
    if (which != 2) n |= 1;
    if (which == 2 || which > 3) k |= 1;
    offer(p, i, 0, "odd", "%s --dtype %s --layout %s %" PRId64 "x%" PRId64 "x%" PRId64, op, p->dtype,
          layouts[draw(p, i, 4, 1, 1000) % count], m, n, k);
  }
}

static void odd_gemms(pool *p) { offer_odd_products(p, "gemm", (const char *const[]){"nn", "nt", "tn", "tt"}, 4); }
static void odd_swiglus(pool *p) { offer_odd_products(p, "swiglu", (const char *const[]){"nn", "nt"}, 2); }

static void offer_odd_attentions(pool *p, bool decode) {
  static const int64_t head_dims[] = {64, 80, 96, 128, 256};
  for (int i = 0; i < ODD; i++) {
    int64_t skv = draw(p, i, 0, 257, decode ? 65537 : 16385) | 1, sq = decode ? 1 : draw(p, i, 1, 33, (double)skv) | 1;
    int64_t kv = draw(p, i, 2, 1, 9), group = draw(p, i, 3, 1, 9), batch = draw(p, i, 4, 1, decode ? 40 : 4);
    offer(p, i, 0, "odd", "attention --dtype %s %s%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64 "x%" PRId64,
          p->dtype, decode || i % 4 == 0 ? "" : "--set causal=1 ", batch, kv * group, kv, sq, skv,
          head_dims[i % COUNT(head_dims)]);
  }
}

static void odd_attentions(pool *p) { offer_odd_attentions(p, false); }
static void odd_decodes(pool *p) { offer_odd_attentions(p, true); }

static void odd_rows(pool *p) {
  static const char *const ops[] = {"softmax", "rmsnorm", "silu_mul", "add", "cross_entropy"};
  for (int i = 0; i < ODD; i++)
    offer(p, i, 0, "odd", "%s --dtype %s %" PRId64 "x%" PRId64, ops[i % COUNT(ops)], p->dtype, draw(p, i, 0, 64, 16385),
          draw(p, i, 1, 65, 131073) | 1);
}

/* ---- The sample ---- */

static const struct {
  const char *title;
  void (*offer)(pool *p);
  int f32, bf16, f16; /* shares */
} strata[] = {
    {"Products", gemms, 60, 66, 30},
    {"Squares, and large results of a small K", squares, 7, 7, 4},
    {"Products of odd sizes", odd_gemms, 20, 22, 10},
    {"Gate and up projection with silu", swiglus, 14, 18, 8},
    {"The same of odd sizes", odd_swiglus, 3, 4, 2},
    {"Attention over prompts", attentions, 20, 28, 12},
    {"The same of odd sizes", odd_attentions, 3, 5, 2},
    {"Attention of one query: decode", decodes, 14, 24, 10},
    {"The same of odd sizes", odd_decodes, 2, 4, 2},
    {"Softmax", softmaxes, 8, 8, 2},
    {"RMS norm", rmsnorms, 8, 8, 2},
    {"Rotary position embedding", ropes, 6, 6, 2},
    {"silu(gate) * up", silu_muls, 6, 6, 2},
    {"Sums", adds, 6, 6, 2},
    {"Embedding", embeddings, 6, 6, 2},
    {"Loss", cross_entropies, 7, 7, 2},
    {"Rows of odd sizes", odd_rows, 6, 6, 2},
};

static int64_t all_shares(void) {
  int64_t all = 0;
  for (int i = 0; i < COUNT(strata); i++) all += strata[i].f32 + strata[i].bf16 + strata[i].f16;
  return all;
}

static bool fits(const tdm_case *c) {
  return bench_shape_bytes(c) <= MOST_BYTES && c->op->flops(c) <= (c->type == TDM_F32 ? MOST_FLOP_F32 : MOST_FLOP_16);
}

/* What was drawn, of all strata. */
typedef struct sample {
  char (*title)[160];
  int count;
} sample;

static candidate *next(pool *p, const int used_a[], const int used_b[]) {
  candidate *best = NULL;
  for (int i = 0; i < p->count; i++) {
    candidate *c = &p->item[i];
    if (c->taken) continue;
    int uses = used_a[c->a % MOST_OF_A] + used_b[c->b % MOST_OF_B];
    int least = best == NULL ? 0 : used_a[best->a % MOST_OF_A] + used_b[best->b % MOST_OF_B];
    if (best == NULL || uses < least || (uses == least && c->order < best->order)) best = c;
  }
  if (best != NULL) best->taken = true;
  return best;
}

/* Two models may have the same product. Is the case new? Then it counts as drawn. */
static bool is_new(sample *s, const char *title) {
  for (int i = 0; i < s->count; i++)
    if (strcmp(s->title[i], title) == 0) return false;
  snprintf(s->title[s->count++], sizeof s->title[0], "%.159s", title);
  return true;
}

/* Draws `count` cases of a stratum. Fewer, if it has no more that fit. */
static bool put_stratum(FILE *out, const char *title, pool *p, sample *s, int count, char *error, size_t size) {
  int used_a[MOST_OF_A] = {0}, used_b[MOST_OF_B] = {0};
  for (int drawn = 0; drawn < count;) {
    candidate *c = next(p, used_a, used_b);
    bench_shape shape;
    if (c == NULL) break;
    if (!bench_shape_parse(&shape, c->line, error, size)) return false;
    if (!fits(&shape.c) || !is_new(s, shape.title)) continue;
    used_a[c->a % MOST_OF_A]++;
    used_b[c->b % MOST_OF_B]++;
    if (drawn++ == 0) fprintf(out, "\n# %s, %s\n", title, p->dtype);
    fprintf(out, "%s%s%s\n", c->line, c->note[0] != '\0' ? "  # " : "", c->note);
  }
  return true;
}

bool bench_generate(FILE *out, uint64_t seed, int count, int *drawn, char *error, size_t size) {
  int64_t before = 0, all = all_shares();
  sample s = {.title = malloc((size_t)count * sizeof *s.title)};
  bool ok = s.title != NULL;
  if (!ok) snprintf(error, size, "no memory for %d cases", count);
  for (int i = 0; i < COUNT(strata) && ok; i++) {
    const char *const names[] = {"f32", "bf16", "f16"};
    const int shares[] = {strata[i].f32, strata[i].bf16, strata[i].f16};
    for (int t = 0; t < COUNT(names) && ok; t++) {
      pool p = {.seed = case_mix(seed) ^ (uint64_t)(i * COUNT(names) + t), .dtype = names[t]};
      int own = (int)(count * (before + shares[t]) / all - count * before / all);
      before += shares[t];
      strata[i].offer(&p);
      ok = !p.no_memory && put_stratum(out, strata[i].title, &p, &s, own, error, size);
      if (p.no_memory) snprintf(error, size, "no memory for the cases");
      free(p.item);
    }
  }
  free(s.title);
  *drawn = s.count;
  return ok;
}
