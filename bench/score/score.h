/* tandem-bench score: ratios of two times, case by case, of what tandem-bench --shapes wrote. The results either have a peer's
 * answers, and the ratio is its time over ours; or they are of --all-kernels, and it is the best kernel's time over the chosen
 * one's; or they are of a simulated device, and it is the least clocks that any kernel could take over the predicted ones. With
 * both, the clocks of the kernels are predicted. */
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
/* --all-kernels: a chosen kernel is good if it takes at most 1.1 times as long as the best, and that share of the cases should
 * be good. The rest is for times that differ from run to run, and for estimates that are not times. */
#define SCORE_WELL_CHOSEN (1 / 1.1)
/* Where clocks are predicted, the best kernel's must not be better by more than the model's median error, which gfxsim time
 * prints (sim/time/errors.def). */
double score_well_predicted(void);
#define SCORE_GOAL 0.95

/* Is a case scored? */
typedef enum score_state {
  SCORE_COUNTS,
  SCORE_SHORT,      /* no: both sides are below SCORE_LEAST_SECONDS */
  SCORE_ALONE,      /* no: one kernel alone supports it, so there is no choice */
  SCORE_FAILED,     /* no: it failed here, or the peer's results differ, or one of the kernels failed */
  SCORE_UNSUPPORTED /* no: one side does not support it, or no peer measured it */
} score_state;

typedef struct score_item {
  tdm_case c;
  char label[BENCH_TEXT];   /* "gemm bf16 nt 64x8192x8192" */
  const char *kernel, *way; /* ours (the chosen one) and the peer's or the best one, or what predicted clocks went to; "" where
                               there is none */
  const char *reason;       /* of SCORE_FAILED and SCORE_UNSUPPORTED */
  const char *failed;       /* the kernel beside the chosen one that the reason is about; NULL: it is about the case */
  score_state state;
  int kind;                 /* of score_kind_title */
  double ours, peer, ratio; /* seconds (predicted: clocks) of kernel and way; ratio: peer over ours */
  double with_launch;       /* predicted: the ratio where the model's clocks of one launch belong to what any kernel needs */
  const char *floor;        /* predicted: what the ideal clocks are of, "mfma" or "hbm" */
  double estimate[2];       /* of the chosen kernel and the best one, in clocks; negative: there is none */
} score_item;

typedef struct score {
  json_t *rows; /* owns the texts */
  score_item *item;
  int count;
  bool of_kernels; /* of --all-kernels */
  bool predicted;  /* of a simulated device: clocks, and not seconds */
  char device[CASE_DEVICE_NAME], peer[BENCH_TEXT];
  char
      machine[2 *
              BENCH_TEXT]; /* of results on the host: its processor, and what it was built for; "" where FILE does not say it */
} score;

/* Of FILE.json, and of FILE.json.part while a run is not over. false: one line in error. */
bool score_read(score *s, const char *path, char *error, size_t size);
void score_free(score *s);

/* Judges the row of a case by its list of kernels (bench/shapes/kernels.h). false: the reason says what is wrong in the row. */
bool score_judge_kernels(score_item *item, const json_t *row, char *reason, size_t size);

/* ---- kinds.c: cases that one figure speaks of ---- */

int score_kind_of(const tdm_case *c);
int score_kinds(void);
void score_kind_title(int kind, char *text, size_t size); /* "gemm f32, m 9-128" */
bool score_is_odd(const tdm_case *c);    /* a product whose n or k, or a leading dimension, is no multiple of 8 */
bool score_is_decode(const tdm_case *c); /* attention of at most 8 queries, each with more keys */

/* The ratio from which on a case is good. */
double score_good(const score *s);
/* Figures of the cases of a kind; kind -1: of all. */
typedef struct score_figures {
  int scored, not_short; /* cases that count; those and the failed ones */
  int shorts, alone, failed, unsupported;
  double mean, worst;               /* geometric mean and least of the ratios; 0: none was scored */
  double mean_launch, worst_launch; /* the same of with_launch */
  int good, bad; /* at SCORE_GOOD (SCORE_WELL_CHOSEN, score_well_predicted) or better; below SCORE_BAD. Failed cases are bad */
} score_figures;
score_figures score_of(const score *s, int kind);
/* Of --all-kernels: is the share of good choices below SCORE_GOAL? */
bool score_misses_goal(const score *s);

/* ---- report.c, heat.c ---- */

/* The kinds, the worst cases, and what is not scored. before: NULL, or an earlier run whose figures stand beside those of
 * each kind. */
void score_print(FILE *out, const score *s, const score *before, int worst, table_style style, int width);
/* A cell for each case, as SVG. false: no memory. */
bool score_draw(FILE *out, const score *s);

#endif
