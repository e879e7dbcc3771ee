/* A forward pass as a list of steps, each one run of a plan: made once, run as often as wanted. */
#ifndef LLAMA_GRAPH_H
#define LLAMA_GRAPH_H

#include <tandem/add.h>
#include <tandem/attention.h>
#include <tandem/embedding.h>
#include <tandem/gemm.h>
#include <tandem/rmsnorm.h>
#include <tandem/rope.h>
#include <tandem/silu_mul.h>
#include <tandem/softmax.h>
#include <tandem/swiglu.h>

#include "memory.h"
#include "mover.h"

/* Results that all versions have: where they are compared. In the order of a layer. */
typedef enum graph_point {
  POINT_NONE,
  POINT_EMBEDDING,
  POINT_NORM1,
  POINT_ATTENTION, /* heads, before the output projection */
  POINT_MIDDLE,    /* after the first residual add */
  POINT_NORM2,
  POINT_MLP, /* silu(gate) * up */
  POINT_LAYER,
  POINT_NORM,
  POINT_LOGITS
} graph_point;

typedef struct graph_step graph_step;
struct graph_step {
  const char *op;   /* "gemm": the library's */
  const char *name; /* "qkv": what it is in the model */
  int64_t layer;    /* -1: in none */
  int plan;         /* its number in the graph */
  tdm_status (*run)(const tdm_plan *plan, const graph_step *step);
  bool (*move)(const graph_step *step, llama_error *error); /* in place of run: between ranks, without a plan; own.h's */
  mover *mover;
  const void *in[4]; /* in the order of the op's run; the output stands apart */
  void *out;
  int64_t number; /* of a run that its plan has many of: attention's keys, rope's first position */
  void *own;      /* the user's kernel that runs in place of the plan, and its sizes: own.h */
  int64_t own_size[4];
  double flops, bytes;
  /* The result as rows, where a point is named. */
  graph_point point;
  const void *result;
  int64_t rows, cols, ld;
  tdm_type type;
};

/* A plan goes by its step's name: all layers share it. */
typedef struct graph_plan {
  const char *name;
  int variant;
  bool overlaps;
  tdm_plan *plan; /* NULL: to be made again */
  bool moving;    /* it knows how many tokens are in the cache */
} graph_plan;

typedef struct graph {
  tdm_context *context, *beside; /* beside: of products that run while exchanges are on their way */
  graph_plan *plan;
  int plans;
  graph_step *step;
  int steps;
  int variant;             /* of what is added: plans of one name may have different rows */
  bool overlaps;           /* what is added runs beside an exchange */
  int64_t layer;           /* of what is added */
  struct own_kernels *own; /* in place of the library's; NULL: none */
  llama_error *error;
  bool failed; /* an error stands in *error; what is added from then on is left out */
} graph;

/* beside: NULL, context serves all. */
void graph_begin(graph *g, tdm_context *context, tdm_context *beside, llama_error *error);
void graph_end(graph *g);
/* Forgets all steps, and the plans that know how many tokens are in the cache. */
void graph_rewind(graph *g);
/* Runs steps [first, end). */
bool graph_run(const graph *g, int first, int end, llama_error *error);
/* Steps that are runs of the library's ops, each one kernel. */
int graph_launches(const graph *g);
/* Exchanges between ranks. */
int graph_exchanges(const graph *g);
/* Runs only the exchanges, each ended before the next. */
bool graph_run_exchanges(const graph *g, llama_error *error);

/* ---- Appending a step: the plan of this name is made when there is none. Pointers are in the order of the op's run. The
 * result is the step's; it is good until the next one. ---- */
graph_step *graph_gemm(graph *g, const char *name, bool moving, const tdm_gemm_desc *d, const void *a, const void *b, void *c,
                       const void *residual);
graph_step *graph_swiglu(graph *g, const char *name, const tdm_swiglu_desc *d, const void *x, const void *gate, const void *up,
                         void *y);
graph_step *graph_rmsnorm(graph *g, const char *name, const tdm_rmsnorm_desc *d, const void *x, const void *weight, void *y);
/* Over the first `keys` of the description's. */
graph_step *graph_attention(graph *g, const char *name, const tdm_attention_desc *d, int64_t keys, const void *q, const void *k,
                            const void *v, void *o);
/* From `position` on, one of the description's. */
graph_step *graph_rope(graph *g, const char *name, const tdm_rope_desc *d, int64_t position, void *x);
graph_step *graph_softmax(graph *g, const char *name, bool moving, const tdm_softmax_desc *d, void *x);
graph_step *graph_embedding(graph *g, const char *name, const tdm_embedding_desc *d, const void *table, const int32_t *ids,
                            void *y);
graph_step *graph_silu_mul(graph *g, const char *name, const tdm_silu_mul_desc *d, const void *gate, const void *up, void *y);
graph_step *graph_sum(graph *g, const char *name, const tdm_add_desc *d, const void *a, const void *b, void *c);

/* ---- Between ranks: elements of a type. A step ends only with the `wait` that is appended for it ---- */
graph_step *graph_move_sum(graph *g, const char *name, mover *m, void *data, int64_t count, tdm_type type);
graph_step *graph_move_sum_part(graph *g, const char *name, mover *m, const void *all, void *part, int64_t count,
                                tdm_type type);
graph_step *graph_move_join(graph *g, const char *name, mover *m, const void *part, void *all, int64_t count, tdm_type type);
/* For all but the last `later` of the moves so far. */
graph_step *graph_move_wait(graph *g, mover *m, int64_t later);

/* Names the rows that a step has made. */
void graph_mark(graph_step *s, graph_point point, const void *result, int64_t rows, int64_t cols, int64_t ld, tdm_type type);

#endif
