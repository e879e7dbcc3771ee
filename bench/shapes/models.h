/* The models whose shapes are measured, and the seeded sample of their cases: tandem-bench shapes. */
#ifndef TANDEM_BENCH_SHAPES_MODELS_H
#define TANDEM_BENCH_SHAPES_MODELS_H

#include <stdbool.h>
#include <stdint.h>

/* Sizes in elements, 0: the model has no such part, or it is not measured. */
typedef struct bench_model {
  const char *name, *source; /* the published configuration */
  int64_t hidden, heads, kv_heads, head_dim;
  int64_t ffn;     /* hidden size of the feed-forward network */
  int64_t vocab;   /* rows of the embedding and of the last product */
  int64_t context; /* positions */
  bool gpt2;       /* weights stored [in, out], with bias, and gelu instead of a gate */
} bench_model;

extern const bench_model bench_models[];
extern const int bench_model_count;

/* A product of a model: C [m,n] = A [m,k] B. */
typedef struct bench_weight {
  int model; /* of bench_models */
  const char *layer;
  int64_t n, k;
  const char *layout, *epilogue; /* epilogue: NULL without */
  bool swiglu;                   /* gate and up projection in one */
} bench_weight;

enum { BENCH_MOST_WEIGHTS = 96 };
/* All products of all models. Returns how many. */
int bench_weights(bench_weight weights[BENCH_MOST_WEIGHTS]);

#endif
