/* Times of drawn cuts of drawn products, through the library's own plans and runs. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuts.h"
#include "tandem/gemm.h"
#include "tandem/swiglu.h"

enum {
  MOST_ELEMENTS = 1 << 26, /* of an array */
  MOST_PRODUCTS = 4096,
  ARRAYS = 5,  /* A, B, the second weight or the bias, C, residual */
  TRIES = 200, /* at another cut of a product */
  LEAST_RUNS = 3,
  MOST_RUNS = 21,
};
static const double RUNS_NS = 1e6; /* of a cut: so long, in as many runs as allowed */

typedef struct measurement {
  tdm_context *context;
  void *array[ARRAYS];
  uint64_t seed;
  int64_t elements; /* of an array */
  double most_flop;
} measurement;

/* A product and how it is described. */
typedef struct drawn {
  int64_t m, n, k;
  bool swiglu;
  tdm_gemm_desc gemm;
  tdm_epilogue_step step[3];
  tdm_swiglu_desc gated;
} drawn;

static uint64_t draw(uint64_t *seed, uint64_t below) {
  *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (*seed >> 20) % below;
}

/* ---- Cuts: the library asks for one while it makes a plan ---- */

static struct {
  uint64_t *seed;
  wg_choice cut; /* the one that was given last */
  wg_problem problem;
  int processors;
  bool own; /* the library's own */
} asked;

static int64_t tiles(int64_t lines, int of) { return (lines + of - 1) / of; }

/* Not worth a measurement: most of a tile is empty, or far more blocks than the device has share k. */
static bool is_senseless(const wg_problem *x, const wg_choice *c) {
  const int64_t p = c->swapped ? x->b[0].lines : x->a.lines, q = c->swapped ? x->a.lines : x->b[0].lines;
  if ((c->n >= 2 * q && c->n > 16) || (c->n < 64 && q > 4 * c->n) || (c->groups == 2 && p <= 64)) return true;
  const int64_t units = tiles(p, 64 * c->groups) * tiles(q, c->n) * x->batch;
  return c->splits > 1 && (units * c->splits > 2 * asked.processors || x->k / 64 / c->splits < 2);
}

static wg_choice choose(const wg_problem *x, const int *columns, int count, int processors, bool no_splits) {
  asked.problem = *x;
  asked.processors = processors;
  if (asked.own) {
    wg_choose_instead = NULL;
    asked.cut = wg_choose(x, columns, count, processors, no_splits);
    wg_choose_instead = choose;
    return asked.cut;
  }
  for (int i = 0; i < TRIES; i++) {
    wg_choice c = {.number = (int)draw(asked.seed, (uint64_t)count)};
    c.n = columns[c.number];
    c.groups = 1 + (int)draw(asked.seed, 2);
    c.swapped = draw(asked.seed, 2) != 0;
    c.splits = draw(asked.seed, 3) != 0 ? 1 : 2 + (int)draw(asked.seed, 7);
    c.sharers = c.splits == 1 ? 1 + (int)draw(asked.seed, 2) : 1;
    if (wg_is_possible(x, &c) && !is_senseless(x, &c)) asked.cut = c;
    if (wg_is_possible(x, &c) && !is_senseless(x, &c)) break;
  }
  return asked.cut;
}

static bool is_same(const wg_choice *a, const wg_choice *b) {
  return a->n == b->n && a->groups == b->groups && a->splits == b->splits && a->sharers == b->sharers &&
         a->swapped == b->swapped;
}

/* ---- Products ---- */

static int64_t draw_size(uint64_t *seed, double least, double most) {
  const double x = exp2(least + (most - least) * (double)draw(seed, 1 << 20) / (1 << 20));
  const int64_t size = (int64_t)x;
  if (size < 16) return size;
  switch (draw(seed, 8)) {
    case 0: return size;                              /* any */
    case 1: return INT64_C(1) << (int)round(log2(x)); /* a power of 2 */
    default: return size / 64 > 0 ? size / 64 * 64 : (size + 7) / 8 * 8;
  }
}

static drawn draw_product(measurement *x) {
  uint64_t *seed = &x->seed;
  static const tdm_epilogue_op maps[] = {TDM_RELU, TDM_GELU, TDM_GELU_TANH, TDM_SILU};
  drawn d;
  do {
    d.m = draw_size(seed, 0, 13.2);
    d.n = draw_size(seed, 6, 14.5);
    d.k = draw_size(seed, 6, 14);
  } while (d.m * d.k > x->elements || d.n * d.k > x->elements || d.m * d.n > x->elements / 2 ||
           2.0 * (double)d.m * (double)d.n * (double)d.k > x->most_flop);
  const tdm_type type = draw(seed, 4) == 0 ? TDM_F16 : TDM_BF16;
  d.swiglu = draw(seed, 6) == 0;
  d.gated = tdm_swiglu_default(d.m, d.n, d.k, type);
  d.gated.layout = draw(seed, 2) ? TDM_NT : TDM_NN;
  d.gemm = tdm_gemm_default(d.m, d.n, d.k, type);
  d.gemm.layout = draw(seed, 2) ? TDM_NT : (tdm_layout)draw(seed, 4);
  if (draw(seed, 10) == 0) d.gemm.out = TDM_F32;
  int steps = 0;
  if (draw(seed, 4) == 0) d.step[steps++] = (tdm_epilogue_step){TDM_BIAS, 0};
  if (draw(seed, 4) == 0) d.step[steps++] = (tdm_epilogue_step){maps[draw(seed, 4)], 0};
  if (draw(seed, 4) == 0) d.step[steps++] = (tdm_epilogue_step){TDM_RESIDUAL, 0};
  d.gemm.epilogue_steps = steps;
  return d;
}

static bool has(const drawn *d, tdm_epilogue_op op) {
  for (int64_t s = 0; s < d->gemm.epilogue_steps; s++)
    if (d->step[s].op == op) return true;
  return false;
}

static tdm_status make_plan(const measurement *x, drawn *d, tdm_plan **plan) {
  d->gemm.epilogue = d->step;
  return d->swiglu ? tdm_swiglu_plan(x->context, &d->gated, plan) : tdm_gemm_plan(x->context, &d->gemm, plan);
}

static tdm_status run(const measurement *x, const drawn *d, const tdm_plan *plan) {
  if (d->swiglu) return tdm_swiglu_run(plan, x->array[0], x->array[1], x->array[2], x->array[3], NULL);
  return tdm_gemm_run(plan, x->array[0], x->array[1], x->array[3], has(d, TDM_BIAS) ? x->array[2] : NULL,
                      has(d, TDM_RESIDUAL) ? x->array[4] : NULL, NULL);
}

static void title_of(const drawn *d, char *to, size_t size) {
  static const char *const layouts[] = {"nn", "nt", "tn", "tt"}, *const steps[] = {"bias",       "residual",  "relu",
                                                                                   "gelu",       "gelu_tanh", "quick_gelu",
                                                                                   "leaky_relu", "silu"};
  int used = snprintf(to, size, "%s %s %s", d->swiglu ? "swiglu" : "gemm", tdm_type_name(d->gemm.type),
                      layouts[d->swiglu ? d->gated.layout : d->gemm.layout]);
  if (!d->swiglu && d->gemm.out != d->gemm.type) used += snprintf(to + used, size - (size_t)used, " out=f32");
  for (int64_t s = 0; !d->swiglu && s < d->gemm.epilogue_steps; s++)
    used += snprintf(to + used, size - (size_t)used, " %s", steps[d->step[s].op]);
  snprintf(to + used, size - (size_t)used, " %lldx%lldx%lld", (long long)d->m, (long long)d->n, (long long)d->k);
}

/* ---- Times ---- */

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median of runs after a first one. */
static tdm_status time_plan(const measurement *x, const drawn *d, const tdm_plan *plan, double *ns) {
  double time[MOST_RUNS], spent = 0;
  int runs = 0;
  tdm_status status = run(x, d, plan);
  while (status == TDM_OK && runs < MOST_RUNS && (runs < LEAST_RUNS || spent < RUNS_NS)) {
    const double begin = now_ns();
    status = run(x, d, plan);
    time[runs] = now_ns() - begin;
    spent += time[runs++];
  }
  qsort(time, (size_t)runs, sizeof time[0], compare);
  if (runs > 0) *ns = time[runs / 2];
  return status;
}

static tdm_status time_cut(const measurement *x, drawn *d, bool own, cuts_product *p) {
  tdm_plan *plan = NULL;
  double ns = 0;
  asked.own = own;
  tdm_status status = make_plan(x, d, &plan);
  p->problem = asked.problem;
  bool known = false;
  for (int i = 0; i < p->times; i++) known = known || is_same(&p->time[i].cut, &asked.cut);
  if (status == TDM_OK && !known) status = time_plan(x, d, plan, &ns);
  tdm_plan_free(plan);
  if (status == TDM_OK && !known) p->time[p->times++] = (cuts_time){asked.cut, ns};
  return status;
}

static tdm_status measure_all(measurement *x, double seconds, cuts_set *set) {
  const double end = now_ns() + seconds * 1e9;
  tdm_status status = TDM_OK;
  while (status == TDM_OK && set->count < MOST_PRODUCTS && now_ns() < end) {
    drawn d = draw_product(x);
    cuts_product *p = &set->product[set->count++];
    title_of(&d, p->title, sizeof p->title);
    for (int i = 0; status == TDM_OK && i < CUTS_OF_A_PRODUCT; i++) status = time_cut(x, &d, i == 0, p);
  }
  set->processors = asked.processors;
  return status;
}

static tdm_status fill(measurement *x) {
  const size_t bytes = (size_t)x->elements * 2;
  uint16_t *random = malloc(bytes);
  if (random == NULL) return TDM_ERROR_MEMORY;
  uint64_t seed = 1;
  /* Values of f16 and bf16 below 2 with random fractions and signs: they cost as much power as those of a model. */
  for (size_t i = 0; i < bytes / 2; i++) random[i] = (uint16_t)(0x3800 | (draw(&seed, 1 << 16) & 0x87ff));
  tdm_status status = TDM_OK;
  for (int i = 0; status == TDM_OK && i < ARRAYS; i++) {
    status = tdm_alloc(x->context, bytes, &x->array[i]);
    if (status == TDM_OK) status = tdm_copy(x->context, x->array[i], random, bytes, TDM_TO_DEVICE, NULL);
  }
  free(random);
  return status;
}

bool cuts_measure(const cuts_request *request, char *error, size_t size) {
  enum { BIAS = 1 << 16 /* more than the columns of a product */ };
  const double elements = request->most_flop / 2 + BIAS; /* no array of such a product is larger */
  measurement x = {.seed = request->seed,
                   .elements = elements < MOST_ELEMENTS ? (int64_t)elements : MOST_ELEMENTS,
                   .most_flop = request->most_flop};
  cuts_set set = {.product = calloc(MOST_PRODUCTS, sizeof *set.product)};
  if (set.product == NULL) return snprintf(error, size, "no memory for %d products", MOST_PRODUCTS), false;
  asked.seed = &x.seed;
  const tdm_options options = {.device = request->device, .kernel = "gemm=omp_gpu_wgmma,swiglu=omp_gpu_wgmma"};
  tdm_status status = tdm_open(&options, &x.context);
  if (status == TDM_OK) status = fill(&x);
  wg_choose_instead = choose;
  if (status == TDM_OK) status = measure_all(&x, request->seconds, &set);
  wg_choose_instead = NULL;
  if (status != TDM_OK) snprintf(error, size, "%s: %s", tdm_status_name(status), tdm_last_error());
  if (x.context != NULL) {
    for (int i = 0; i < ARRAYS; i++) tdm_free(x.context, x.array[i]);
    tdm_close(x.context);
  }
  bool ok = status == TDM_OK && cuts_write(&set, request, error, size);
  if (ok) printf("seed %llu: %d products to %s\n", (unsigned long long)request->seed, set.count, request->path);
  cuts_free(&set);
  return ok;
}
