/* Speeds over a peer's, case by case, of what tandem-bench --shapes wrote while a peer answered: tandem-bench score. */
#ifndef TANDEM_BENCH_SCORE_SCORE_H
#define TANDEM_BENCH_SCORE_SCORE_H

#include <jansson.h>

#include "bench/report/table.h"
#include "bench/shapes/shapes.h"

/* Where both sides are faster, the launch decides, and the case is not scored. */
#define SCORE_LEAST_SECONDS 20e-6
/* What the shares of a kind are counted by. */
#define SCORE_GOOD 0.7
#define SCORE_BAD 0.5

/* What becomes of a case. */
typedef enum score_state {
  SCORE_COUNTS,
  SCORE_SHORT,      /* both below SCORE_LEAST_SECONDS */
  SCORE_FAILED,     /* it failed here, or the peer's results differ */
  SCORE_UNSUPPORTED /* by one side, or no peer measured it */
} score_state;

typedef struct score_item {
  tdm_case c;
  char label[BENCH_TEXT];   /* "gemm bf16 nt 64x8192x8192" */
  const char *kernel, *way; /* ours and the peer's; "" where there is none */
  const char *reason;       /* of SCORE_FAILED and SCORE_UNSUPPORTED */
  score_state state;
  int kind;                 /* of score_kind_title */
  double ours, peer, ratio; /* seconds; ratio: peer's over ours, 1 is as fast as the peer */
} score_item;

typedef struct score {
  json_t *rows; /* owns the texts */
  score_item *item;
  int count;
  char device[CASE_DEVICE_NAME], peer[BENCH_TEXT];
} score;

/* Of FILE.json, and of FILE.json.part while a run is not over. false: one line in error. */
bool score_read(score *s, const char *path, char *error, size_t size);
void score_free(score *s);

/* ---- kinds.c: cases that one figure speaks of ---- */

int score_kind_of(const tdm_case *c);
int score_kinds(void);
void score_kind_title(int kind, char *text, size_t size); /* "gemm f32, m 9-128" */
bool score_is_odd(const tdm_case *c);    /* a product whose n or k, or a leading dimension, is no multiple of 8 */
bool score_is_decode(const tdm_case *c); /* attention of at most 8 queries, each with more keys */

/* Figures of the cases of a kind; kind -1: of all. */
typedef struct score_figures {
  int scored, not_short; /* cases that count; those and the failed ones */
  int shorts, failed, unsupported;
  double mean, worst; /* geometric mean and least of the ratios; 0: none was scored */
  int good, bad;      /* at SCORE_GOOD or better; below SCORE_BAD. Failed cases are bad */
} score_figures;
score_figures score_of(const score *s, int kind);

/* ---- report.c, heat.c ---- */

/* The kinds, the worst cases, and what is not scored. */
void score_print(FILE *out, const score *s, int worst, table_style style, int width);
/* A cell for each case, as SVG. false: no memory. */
bool score_draw(FILE *out, const score *s);

#endif
