/* Steps and their plans. */
#include "graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "own.h"

void graph_begin(graph *g, tdm_context *context, tdm_context *beside, llama_error *error) {
  *g = (graph){.context = context, .beside = beside == NULL ? context : beside, .error = error};
}

void graph_end(graph *g) {
  for (int i = 0; i < g->plans; i++) tdm_plan_free(g->plan[i].plan);
  free(g->plan);
  free(g->step);
  *g = (graph){0};
}

void graph_rewind(graph *g) {
  g->steps = 0;
  for (int i = 0; i < g->plans; i++) {
    if (!g->plan[i].moving) continue;
    tdm_plan_free(g->plan[i].plan);
    g->plan[i].plan = NULL;
  }
}

/* The steps that wait for exchanges are none. */
static bool is_exchange(const graph_step *s) { return s->move != NULL && strcmp(s->op, "move") == 0; }

bool graph_run(const graph *g, int first, int end, llama_error *error) {
  for (int i = first; i < end; i++) {
    const graph_step *s = &g->step[i];
    if (s->move != NULL) {
      double start = llama_seconds();
      if (!s->move(s, error)) return false;
      if (s->mover != NULL) s->mover->seconds += llama_seconds() - start; /* a user's kernel has none (own.h) */
      continue;
    }
    if (s->run(g->plan[s->plan].plan, s) != TDM_OK) return llama_fail_tandem(error, s->name);
  }
  return true;
}

int graph_launches(const graph *g) {
  int count = 0;
  for (int i = 0; i < g->steps; i++) count += g->step[i].run != NULL;
  return count;
}

int graph_exchanges(const graph *g) {
  int count = 0;
  for (int i = 0; i < g->steps; i++) count += is_exchange(&g->step[i]);
  return count;
}

bool graph_run_exchanges(const graph *g, llama_error *error) {
  for (int i = 0; i < g->steps; i++) {
    const graph_step *s = &g->step[i];
    if (is_exchange(s) && (!s->move(s, error) || !s->mover->row->wait(s->mover, s->mover->begun, error))) return false;
  }
  return true;
}

static void fail(graph *g, const char *name, const char *what) {
  if (!g->failed) llama_fail(g->error, "%s: %s", name, what);
  g->failed = true;
}

/* The number of a step's plan, whose place may still be empty; -1 after an error. */
static int find_plan(graph *g, const char *name, bool moving) {
  for (int i = 0; i < g->plans; i++)
    if (strcmp(g->plan[i].name, name) == 0 && g->plan[i].variant == g->variant && g->plan[i].overlaps == g->overlaps) return i;
  graph_plan *more = realloc(g->plan, (size_t)(g->plans + 1) * sizeof *more);
  if (more == NULL) return fail(g, name, "no memory for the list of plans"), -1;
  g->plan = more;
  g->plan[g->plans] = (graph_plan){.name = name, .variant = g->variant, .overlaps = g->overlaps, .moving = moving};
  return g->plans++;
}

static graph_step *append(graph *g, const graph_step *step) {
  static graph_step unused; /* what is added after an error goes here */
  graph_step *more = g->failed ? NULL : realloc(g->step, (size_t)(g->steps + 1) * sizeof *more);
  if (more == NULL) return fail(g, step->name, "no memory for the list of steps"), &unused;
  g->step = more;
  g->step[g->steps] = *step;
  g->step[g->steps].layer = g->layer;
  return &g->step[g->steps++];
}

/* Makes the plan of `op` for *d, unless there is one of this name, and appends the step. */
#define STEP(op_name, moving, run_number, run_op, flops_of, bytes_of, out_pointer, ...)                 \
  do {                                                                                                  \
    int number = g->failed ? -1 : find_plan(g, name, moving);                                           \
    if (number >= 0 && g->plan[number].plan == NULL &&                                                  \
        tdm_##op_name##_plan(g->overlaps ? g->beside : g->context, d, &g->plan[number].plan) != TDM_OK) \
      fail(g, name, tdm_last_error());                                                                  \
    return append(g, &(graph_step){.op = #op_name,                                                      \
                                   .name = name,                                                        \
                                   .plan = number,                                                      \
                                   .number = run_number,                                                \
                                   .run = run_op,                                                       \
                                   .in = {__VA_ARGS__},                                                 \
                                   .out = out_pointer,                                                  \
                                   .flops = flops_of,                                                   \
                                   .bytes = (bytes_of) * (double)tdm_type_size(d->type)});              \
  } while (0)

static double times(int64_t a, int64_t b) { return (double)a * (double)b; }

void graph_mark(graph_step *s, graph_point point, const void *result, int64_t rows, int64_t cols, int64_t ld, tdm_type type) {
  s->point = point;
  s->result = result;
  s->rows = rows, s->cols = cols, s->ld = ld;
  s->type = type;
}

/* ---- Ops: FLOP as case/ counts them; bytes: each input once, each output once ---- */

static tdm_status run_gemm(const tdm_plan *plan, const graph_step *s) {
  return tdm_gemm_run(plan, s->in[0], s->in[1], s->out, NULL, s->in[2], NULL);
}

static graph_step *add_gemm(graph *g, const char *name, bool moving, const tdm_gemm_desc *d, const void *a, const void *b,
                            void *c, const void *residual) {
  double wide = (double)tdm_type_size(d->out) / (double)tdm_type_size(d->type), n = (double)d->batch;
  double inputs = (d->broadcast_a ? 1 : n) * times(d->m, d->k) + n * times(d->n, d->k), outputs = n * times(d->m, d->n) * wide;
  STEP(gemm, moving, 0, run_gemm, 2 * n * times(d->m, d->n) * (double)d->k, inputs + outputs * (residual != NULL ? 2 : 1), c, a,
       b, residual);
}

graph_step *graph_gemm(graph *g, const char *name, bool moving, const tdm_gemm_desc *d, const void *a, const void *b, void *c,
                       const void *residual) {
  graph_step *s = add_gemm(g, name, moving, d, a, b, c, residual);
  if (!g->failed) own_take_gemm(g->own, s, d);
  return s;
}

static tdm_status run_swiglu(const tdm_plan *plan, const graph_step *s) {
  return tdm_swiglu_run(plan, s->in[0], s->in[1], s->in[2], s->out, NULL);
}

graph_step *graph_swiglu(graph *g, const char *name, const tdm_swiglu_desc *d, const void *x, const void *gate, const void *up,
                         void *y) {
  STEP(swiglu, false, 0, run_swiglu, 4 * times(d->m, d->n) * (double)d->k,
       times(d->m, d->k) + 2 * times(d->n, d->k) + times(d->m, d->n), y, x, gate, up);
}

static tdm_status run_rmsnorm(const tdm_plan *plan, const graph_step *s) {
  return tdm_rmsnorm_run(plan, s->in[0], s->in[1], NULL, NULL, s->out, NULL);
}

graph_step *graph_rmsnorm(graph *g, const char *name, const tdm_rmsnorm_desc *d, const void *x, const void *weight, void *y) {
  STEP(rmsnorm, false, 0, run_rmsnorm, 4 * times(d->rows, d->cols), 2 * times(d->rows, d->cols) + (double)d->cols, y, x,
       weight);
}

static tdm_status run_attention(const tdm_plan *plan, const graph_step *s) {
  return tdm_attention_run_keys(plan, s->in[0], s->in[1], s->in[2], s->out, NULL, s->number, NULL);
}

/* Pairs of a query and a key that it sees, of one head. */
static double pairs_seen(const tdm_attention_desc *d, int64_t keys) {
  double before = (double)(keys - d->sq);
  return d->causal ? (double)d->sq * (before + ((double)d->sq + 1) / 2) : times(d->sq, keys);
}

static graph_step *add_attention(graph *g, const char *name, const tdm_attention_desc *d, int64_t keys, const void *q,
                                 const void *k, const void *v, void *o) {
  double heads_q = times(d->batch, d->heads_q), heads_kv = times(d->batch, d->heads_kv);
  STEP(attention, false, keys, run_attention, heads_q * pairs_seen(d, keys) * (4 * (double)d->head_dim + 5),
       2 * (heads_q * (double)d->sq + heads_kv * (double)keys) * (double)d->head_dim, o, q, k, v);
}

graph_step *graph_attention(graph *g, const char *name, const tdm_attention_desc *d, int64_t keys, const void *q, const void *k,
                            const void *v, void *o) {
  graph_step *s = add_attention(g, name, d, keys, q, k, v, o);
  if (!g->failed) own_take_attention(g->own, s, d);
  return s;
}

static tdm_status run_rope(const tdm_plan *plan, const graph_step *s) {
  return tdm_rope_run_at(plan, s->in[0], s->out, s->number, NULL);
}

graph_step *graph_rope(graph *g, const char *name, const tdm_rope_desc *d, int64_t position, void *x) {
  double elements = times(d->batch, d->seq) * times(d->heads, d->head_dim);
  STEP(rope, false, position, run_rope, 3 * elements, 2 * elements, x, x);
}

static tdm_status run_softmax(const tdm_plan *plan, const graph_step *s) {
  return tdm_softmax_run(plan, s->in[0], s->out, NULL);
}

graph_step *graph_softmax(graph *g, const char *name, bool moving, const tdm_softmax_desc *d, void *x) {
  double seen = (double)d->rows * ((double)d->cols - ((double)d->causal_rows - 1) / 2); /* at least as many columns as rows */
  STEP(softmax, moving, 0, run_softmax, 5 * seen, seen + times(d->rows, d->cols), x, x);
}

static tdm_status run_embedding(const tdm_plan *plan, const graph_step *s) {
  return tdm_embedding_run(plan, s->in[0], s->in[1], s->out, NULL);
}

graph_step *graph_embedding(graph *g, const char *name, const tdm_embedding_desc *d, const void *table, const int32_t *ids,
                            void *y) {
  STEP(embedding, false, 0, run_embedding, 0, 2 * times(d->tokens, d->d), y, table, ids);
}

static tdm_status run_silu_mul(const tdm_plan *plan, const graph_step *s) {
  return tdm_silu_mul_run(plan, s->in[0], s->in[1], s->out, NULL);
}

graph_step *graph_silu_mul(graph *g, const char *name, const tdm_silu_mul_desc *d, const void *gate, const void *up, void *y) {
  STEP(silu_mul, false, 0, run_silu_mul, 5 * times(d->rows, d->cols), 3 * times(d->rows, d->cols), y, gate, up);
}

static tdm_status run_add(const tdm_plan *plan, const graph_step *s) {
  return tdm_add_run(plan, s->in[0], s->in[1], s->out, NULL);
}

graph_step *graph_sum(graph *g, const char *name, const tdm_add_desc *d, const void *a, const void *b, void *c) {
  STEP(add, false, 0, run_add, times(d->rows, d->cols), 3 * times(d->rows, d->cols), c, a, b);
}

/* ---- Between ranks ---- */

static graph_step *append_move(graph *g, graph_step step) {
  step.op = "move";
  step.plan = -1;
  step.bytes = (double)step.number * (double)tdm_type_size(step.type);
  return append(g, &step);
}

static bool move_sum(const graph_step *s, llama_error *error) {
  return s->mover->row->sum(s->mover, s->out, s->number, s->type, error);
}

graph_step *graph_move_sum(graph *g, const char *name, mover *m, void *data, int64_t count, tdm_type type) {
  return append_move(g, (graph_step){.name = name, .mover = m, .move = move_sum, .out = data, .number = count, .type = type});
}

static bool move_sum_part(const graph_step *s, llama_error *error) {
  return s->mover->row->sum_part(s->mover, s->in[0], s->out, s->number, s->type, error);
}

graph_step *graph_move_sum_part(graph *g, const char *name, mover *m, const void *all, void *part, int64_t count,
                                tdm_type type) {
  return append_move(
      g,
      (graph_step){.name = name, .mover = m, .move = move_sum_part, .in = {all}, .out = part, .number = count, .type = type});
}

static bool move_join(const graph_step *s, llama_error *error) {
  return s->mover->row->join(s->mover, s->in[0], s->out, s->number, s->type, error);
}

graph_step *graph_move_join(graph *g, const char *name, mover *m, const void *part, void *all, int64_t count, tdm_type type) {
  return append_move(
      g, (graph_step){.name = name, .mover = m, .move = move_join, .in = {part}, .out = all, .number = count, .type = type});
}

static bool move_wait(const graph_step *s, llama_error *error) {
  return s->mover->row->wait(s->mover, s->mover->begun - s->number, error);
}

graph_step *graph_move_wait(graph *g, mover *m, int64_t later) {
  return append(g, &(graph_step){.op = "wait", .name = "wait", .plan = -1, .mover = m, .move = move_wait, .number = later});
}
