/* tandem-bench ladder: what its files share. command.c is the command, predictions.c reads and judges the predictions in the
 * heads of the steps' files, ladder_report.c prints and draws. docs/ladder.md has the form of a step. */
#ifndef TANDEM_BENCH_LADDER_LADDER_H
#define TANDEM_BENCH_LADDER_LADDER_H

#include "bench/core/measure.h"

/* A step: what the head of its file says. */
typedef struct ladder_step {
  const char *ladder, *side; /* the folder: an op, or small_k; "hip" or "omp" */
  int number;
  const char *idea, *kernel; /* "naive"; as --kernel takes it */
  const char *file, *title, *what, *why, *limit;
  const char *epilogue; /* that its case has beside, or "" */
  const char *wrong;    /* what is wrong with it, or "" */
  const char *device;   /* "host" or "omp", whose alone it is, or "" */
  const char *predict;  /* lines */
} ladder_step;

enum { LADDER_MAX_PREDICTIONS = 8 };

/* ---- Predictions ---- */

typedef enum ladder_kind { LADDER_COUNTER, LADDER_FLOOR, LADDER_CAUGHT, LADDER_RIGHT } ladder_kind;

/* "gfx942 512x512x64: loads / before = 3.5 to 4.2" */
typedef struct ladder_prediction {
  char text[160];  /* as it stands in the file */
  char device[16]; /* "gfx942", "host", "omp"; "": all devices of the step's side */
  char shape[64];  /* a shape of which all workgroups run; "": the ladder's shape */
  ladder_kind kind;
  int counter, divisor; /* numbers of counters; divisor -1: none */
  bool before;          /* divided by the same counter of the step before */
  double low, high;
  char floor[16];
} ladder_prediction;

/* A line. false: one line in error. */
bool ladder_parse(ladder_prediction *p, const char *line, int length, char *error, size_t size);
/* The step's predictions; -1: one line in error. */
int ladder_predictions(const ladder_step *step, ladder_prediction list[LADDER_MAX_PREDICTIONS], char *error, size_t size);
/* Is it about this device: "sim:gfx950", "host", "omp:0"? */
bool ladder_about(const ladder_prediction *p, const char *device);

typedef enum ladder_verdict {
  LADDER_HELD,
  LADDER_NOT_HELD,
  LADDER_NO_FIGURE,    /* the counter that it names was not counted: also a failure */
  LADDER_OTHER_SHAPE,  /* not judged: it is about the ladder's own shape */
  LADDER_NOT_PREDICTED /* not judged: it is about predicted clocks, which were not asked for, or would take too long */
} ladder_verdict;
/* before: the row of the step before, or NULL. measured: what was found, in words. */
ladder_verdict ladder_judge(const ladder_prediction *p, const bench_row *row, const bench_row *before, char *measured,
                            size_t size);

/* ---- The run ---- */

/* One step on one device. */
typedef struct ladder_result {
  const ladder_step *step;
  int device;     /* number in the list */
  char shape[64]; /* "": the ladder's, in the table */
  bench_row row;
} ladder_result;

/* One prediction on one device. */
typedef struct ladder_finding {
  const ladder_step *step;
  const char *device;
  ladder_prediction prediction;
  ladder_verdict verdict;
  char measured[96];
} ladder_finding;

typedef struct ladder_run {
  bench_machine machine;
  const char *ladder;
  case_devices devices;
  ladder_result **result;
  int results;
  ladder_finding *finding;
  int findings;
  bool predicts; /* clocks of simulated devices */
} ladder_run;

/* A counter by its name in predictions, over all launches of a run: counts are added; of allocated resources it is the maximum,
 * of waves per SIMD the minimum. NAN: the row has no such figure. */
double ladder_counter(const bench_row *row, const char *name);
/* The launch with the most clocks. There is at least one. */
const bench_launch *ladder_longest(const bench_counts *counts);
/* The clocks, or seconds, that the case needs at the device's ceiling; 0: not known. */
double ladder_ceiling(const bench_row *row);
double ladder_cost(const bench_row *row); /* clocks at least, or the median of seconds */

void ladder_print(FILE *out, const ladder_run *run);
bool ladder_write_json(const char *path, const ladder_run *run, char *error, size_t size);
bool ladder_write_plot(const char *path, const ladder_run *run, char *error, size_t size);

#endif
