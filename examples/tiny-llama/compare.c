/* --compare and --profile. */
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOGIT_ROWS = 64 }; /* positions whose logits are compared, spread over the input */

/* ---- Logits ---- */

static int64_t row_position(const session *s, int i, int rows) {
  return (int64_t)i * (s->batch * s->seq - 1) / (rows > 1 ? rows - 1 : 1);
}

static bool read_rows(const session *s, const forward *f, float *to, int rows, llama_error *error) {
  for (int i = 0; i < rows; i++) {
    int64_t at = row_position(s, i, rows);
    if (!forward_logits(f, at / s->seq, at % s->seq, to + (int64_t)i * s->config.vocab, error)) return false;
  }
  return true;
}

/* ---- The versions, in one room of memory, because one runs at a time ---- */

typedef struct comparison {
  session *s;
  path_rates rates; /* 0: a simulated chip, whose time says nothing */
  void *room;
  forward f[VERSIONS];
  int opened;
  version_result r[VERSIONS];
  float *logits; /* of version 1, then of the version at hand: [rows, vocab] each */
  int rows;
} comparison;

/* What is known before anything runs. */
static void describe(const session *s, const forward *f, version_result *r) {
  *r = (version_result){.version = f->version};
  forward_bytes(f, r->bytes);
  r->bytes[MEMORY_WEIGHTS] = weights_bytes(&s->config, s->type, forward_weight_forms(f->version, false));
  r->launches = f->graph.steps;
  r->flops = forward_flops(f);
  profile_begin(f, &r->steps);
}

/* Runs each version once, and compares its logits. */
static bool check_versions(comparison *c, llama_error *error) {
  session *s = c->s;
  int64_t count = c->rows * s->config.vocab;
  for (int v = 0; v < VERSIONS; v++, c->opened++) {
    float *mine = c->logits + (v > 0 ? count : 0);
    forward *f = &c->f[v];
    if (!session_forward(s, v + 1, c->room, f, error)) return false;
    describe(s, f, &c->r[v]);
    if (!forward_run(f, error) || !read_rows(s, f, mine, c->rows, error)) {
      forward_close(f);
      return false;
    }
    c->r[v].error = largest_error(mine, c->logits, count);
  }
  return true;
}

static bool time_versions(comparison *c, llama_error *error) {
  measured time[VERSIONS];
  profile *steps[VERSIONS];
  for (int v = 0; v < VERSIONS; v++) steps[v] = &c->r[v].steps;
  if (!measure_turns(c->f, VERSIONS, c->s->repeats, time, error) || !profile_turns(c->f, VERSIONS, c->s->repeats, steps, error))
    return false;
  for (int v = 0; v < VERSIONS; v++) c->r[v].time = time[v];
  return true;
}

static bool measure_versions(comparison *c, bool timed, llama_error *error) {
  session *s = c->s;
  c->rows = s->batch * s->seq < LOGIT_ROWS ? (int)(s->batch * s->seq) : LOGIT_ROWS;
  c->logits = malloc(2 * (size_t)(c->rows * s->config.vocab) * sizeof *c->logits);
  bool ok = c->logits != NULL || llama_fail(error, "no memory for the logits of %d positions", c->rows);
  ok = ok && memory_take(&s->m, MEMORY_ACTIVATIONS, session_room(s), &c->room, error) && check_versions(c, error) &&
       (!timed || time_versions(c, error));
  for (int v = 0; v < c->opened; v++) forward_close(&c->f[v]);
  memory_give(&s->m, c->room);
  free(c->logits);
  return ok;
}

double working_bytes(const version_result *r) { return (double)r->bytes[MEMORY_ACTIVATIONS] + (double)r->bytes[MEMORY_SCORES]; }

/* ---- Tables ---- */

static void print_versions(const session *s, const version_result *r, int count) {
  printf("%-8s %10s %10s %10s %9s %10s %12s %11s %9s %10s\n", "version", "ms", "bound ms", "tokens/s", "TFLOPS", "launches",
         "activations", "scores MiB", "weights", "error");
  for (int i = 0; i < count; i++) {
    const version_result *v = &r[i];
    printf("%-8d ", v->version);
    if (v->time.samples > 0)
      printf("%10.3f %10.3f %10.1f %9.4f ", 1e3 * v->time.seconds, 1e3 * v->bound,
             (double)(s->batch * s->seq) / v->time.seconds, 1e-12 * v->flops / v->time.seconds);
    else
      printf("%10s %10s %10s %9s ", "-", "-", "-", "-");
    printf("%10d %12.1f %11.1f %9.1f %10.2e\n", v->launches, (double)v->bytes[MEMORY_ACTIVATIONS] / 0x1p20,
           (double)v->bytes[MEMORY_SCORES] / 0x1p20, (double)v->bytes[MEMORY_WEIGHTS] / 0x1p20, v->error);
  }
}

static const char
    attention_steps[] = "scores|softmax|values|attention",
    mlp_steps[] = "gate|up|gate up|silu_mul|swiglu", norm_steps[] = "norm 1|norm 2|norm|add 1|add 2",
    all_but_products[] =
        "embedding|norm 1|norm 2|norm|rope|rope q|"
        "rope k|scores|softmax|values|attention|gate|up|gate up|silu_mul|swiglu|add 1|add 2|o|down|q|k|v|qkv|head";

/* A claim, and what is measured for it. */
typedef struct claim {
  const char *what, *said;
  double measured;
  bool share; /* a share that is saved; else a factor */
  bool timed;
} claim;

static double factor(double before, double after) { return after > 0 ? before / after : 0; }
static double saved(double before, double after) { return before > 0 ? 1 - after / before : 0; }

enum { CLAIMS = 9 };

/* Version 4 against version 1, and once against version 2. */
static void make_claims(const version_result *r, claim c[CLAIMS]) {
  const version_result *first = &r[0], *second = &r[1], *last = &r[VERSIONS - 1];
  const profile *p = &first->steps, *q = &last->steps;
  c[0] = (claim){"a pass, over version 1", "2.2-3.3x", factor(first->time.seconds, last->time.seconds), false, true};
  c[1] = (claim){"a pass, over version 2", "1.4-2.0x", factor(second->time.seconds, last->time.seconds), false, true};
  c[2] = (claim){"norms and residual adds", "2.2-2.9x", factor(profile_seconds(p, norm_steps), profile_seconds(q, norm_steps)),
                 false, true};
  c[3] = (claim){"swiglu", "2.9-4.0x", factor(profile_seconds(p, mlp_steps), profile_seconds(q, mlp_steps)), false, true};
  c[4] = (claim){"attention", "2.0-3.3x", factor(profile_seconds(p, attention_steps), profile_seconds(q, attention_steps)),
                 false, true};
  c[5] = (claim){"memory beside weights and logits", "65-80 % less", saved(working_bytes(first), working_bytes(last)), true,
                 false};
  c[6] = (claim){"bytes moved, each array once", "35-55 % less",
                 saved(profile_bytes(p, all_but_products), profile_bytes(q, all_but_products)), true, false};
  c[7] = (claim){"bytes moved by swiglu", "60-75 % less", saved(profile_bytes(p, mlp_steps), profile_bytes(q, mlp_steps)), true,
                 false};
  c[8] = (claim){"launches", "75-85 % fewer", saved(first->launches, last->launches), true, false};
}

static void print_claims(const claim *c, double most, bool timed) {
  printf("\n%-34s %-14s %s\n", "version 4", "claimed", "here");
  for (int i = 0; i < CLAIMS; i++) {
    if (c[i].timed && !timed)
      printf("%-34s %-14s -\n", c[i].what, c[i].said);
    else if (c[i].share)
      printf("%-34s %-14s %.0f %%\n", c[i].what, c[i].said, 100 * c[i].measured);
    else
      printf("%-34s %-14s %.2fx\n", c[i].what, c[i].said, c[i].measured);
  }
  if (timed) printf("%-34s %-14s %.2fx\n", "what could be had of version 1", "-", most);
}

/* ---- Commands ---- */

static bool report(const session *s, const version_result *r, const path_rates *rates, llama_error *error) {
  claim c[CLAIMS];
  json_t *root = report_run(s), *versions = json_array(), *claims = json_array();
  make_claims(r, c);
  for (int v = 0; v < VERSIONS; v++) json_array_append_new(versions, report_version(s, &r[v]));
  for (int i = 0; i < CLAIMS; i++)
    if (!c[i].timed || r[0].time.samples > 0)
      json_array_append_new(claims, json_pack("{s:s, s:s, s:f}", "what", c[i].what, "claimed", c[i].said,
                                              c[i].share ? "saved" : "factor", c[i].measured));
  json_object_set_new(root, "versions", versions);
  json_object_set_new(root, "claims", claims);
  if (rates->gemm_flops > 0)
    json_object_set_new(root, "rates",
                        json_pack("{s:f, s:f}", "gemm_flops", rates->gemm_flops, "copy_bytes", rates->copy_bytes));
  bool drawn = s->options->plot == NULL || report_plot(s->options->plot, root, error);
  return report_write(s->options->json, root, error) && drawn;
}

/* Before and after the versions: each rate is the better of the two, so that other work makes no bound too long. */
static bool measure_yardsticks(comparison *c, llama_error *error) {
  path_rates again;
  if (!measure_rates(c->s->m.context, c->s->type, &again, error)) return false;
  c->rates =
      (path_rates){fmax(c->rates.gemm_flops, again.gemm_flops), fmax(c->rates.copy_bytes, again.copy_bytes), again.gemm_size};
  for (int v = 0; v < c->opened; v++) c->r[v].bound = bound_seconds(&c->r[v].steps, &c->rates);
  return true;
}

bool run_compare(session *s, llama_error *error) {
  static comparison c;
  claim claims[CLAIMS];
  c = (comparison){.s = s};
  if (s->options->plot != NULL && !report_can_plot(s->options->plot, error)) return false;
  bool timed = strncmp(tdm_context_device(s->m.context), "sim:", 4) != 0;
  if (timed && !measure_yardsticks(&c, error)) return false;
  if (!session_load(s, (1u << VERSIONS) - 1, error) || !measure_versions(&c, timed, error)) return false;
  if (timed && !measure_yardsticks(&c, error)) return false;
  print_model(s);
  if (timed)
    printf("rates        gemm %s nt %" PRId64 "^3: %.4f TFLOPS; add, three arrays of %d MiB: %.1f GB/s\n",
           tdm_type_name(s->type), c.rates.gemm_size, 1e-12 * c.rates.gemm_flops, (int)(64 * tdm_type_size(s->type)),
           1e-9 * c.rates.copy_bytes);
  putchar('\n');
  print_versions(s, c.r, VERSIONS);
  make_claims(c.r, claims);
  print_claims(claims, timed ? c.r[0].time.seconds / c.r[VERSIONS - 1].bound : 0, timed);
  return report(s, c.r, &c.rates, error);
}

/* A version beside version 1, step by step. */
static bool profile_pair(session *s, const forward *f, version_result *r, llama_error *error) {
  forward first;
  if (!session_forward(s, 1, NULL, &first, error)) return false;
  bool ok = profile_compare(f, &first, &r->steps, error);
  forward_close(&first);
  return ok;
}

bool run_profile(session *s, llama_error *error) {
  version_result r;
  profile *steps = &r.steps;
  forward f;
  if (!session_load(s, 1u | 1u << (s->version - 1), error) || !session_forward(s, s->version, NULL, &f, error)) return false;
  describe(s, &f, &r);
  bool ok =
      measure_forward(&f, s->repeats, &r.time, error) && (is_simulated(&f) || profile_turns(&f, 1, s->repeats, &steps, error));
  if (ok) print_run(s, &f, &r.time);
  ok = ok && profile_pair(s, &f, &r, error);
  forward_close(&f);
  if (!ok) return false;
  putchar('\n');
  profile_print(&r.steps);
  json_t *root = report_run(s);
  json_object_set_new(root, "version", report_version(s, &r));
  return report_write(s->options->json, root, error);
}
