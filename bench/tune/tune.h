/* tandem-bench tune: what its files share. command.c is the command and tunes by time; simulated.c tunes simulated devices by
 * predicted clocks; progress.c keeps what such a run has found, so that it can go on after an interrupt. */
#ifndef TANDEM_BENCH_TUNE_TUNE_H
#define TANDEM_BENCH_TUNE_TUNE_H

#include "bench/core/cases.h"
#include "bench/core/measure.h"
#include "bench/shapes/shapes.h"

enum { TUNE_SHAPES = 8, TUNE_CHOICE = 96, TUNE_ENTRIES = 5000 };

typedef struct tune_progress tune_progress;

typedef struct tune_tool {
  case_options selectors;
  const char *command; /* what the user typed */
  char *out, *seconds, *check, *workgroups, *rounds, *progress_file, *shapes, *predict;
  bench_shapes_words words;
  int exact, gains;
  const char *operand[1 + TUNE_SHAPES]; /* OP, SHAPE... */
  int operands;
  bench_case_list cases;
  bench_shapes_options sample; /* of --shapes: which cases */
  case_devices devices;
  bench_limits limits;
  bool simulated;
  tune_progress *progress; /* NULL: none is kept */
  char entry[TUNE_ENTRIES][320];
  int entries, failed, left_out, near_enough; /* cases: not tuned; --gains: where the heuristic's choice is good */
  char error[1024];
} tune_tool;

/* A kernel with parameters, and what is known of it. */
typedef struct tune_candidate {
  char choice[TUNE_CHOICE], key[160], floor[64], check[BENCH_TEXT];
  double value;     /* seconds; on simulated devices clocks, at least */
  double predicted; /* clocks; 0: not asked for */
  bool sampled;     /* a part of the workgroups was counted */
} tune_candidate;

/* Measures a candidate whose choice is set: its time, or its counts and, where asked, its predicted clocks. false: it was
 * refused, or failed; the line that says so is printed. */
bool tune_measure(tune_tool *t, const tdm_case *c, bool predict, tune_candidate *one);
/* Has the kernel of a choice this parameter? */
bool tune_takes(const tdm_case *c, const char *choice, const char *parameter);
/* The kernels of the device's backend, one after the other. NULL: no more. */
const char *tune_next_kernel(const tune_tool *t, const tdm_case *c, const char **rest, char name[TUNE_CHOICE]);

/* Finds the candidate with the fewest predicted clocks. false: there is none. own: NULL, or the kernel that the heuristic
 * chooses, by its name; *gain is then by how much its clocks are above the best ones, as a share of them, and infinite if it
 * takes too long to be predicted. */
bool tune_simulated(tune_tool *t, const tdm_case *c, const char *own, tune_candidate *best, double *gain);

/* ---- Progress: a file with a line for each candidate that was measured ---- */

/* Opens FILE, or begins it. What another command, version or device left there is refused. NULL: the reason. */
tune_progress *tune_progress_open(const char *path, const char *command, char *error, size_t size);
/* What is known of a candidate of a case; false: nothing. Then one->choice alone is read. */
bool tune_progress_find(const tune_progress *p, const char *title, bool predicted, tune_candidate *one);
/* false: the line can't be written; the reason. */
bool tune_progress_add(tune_progress *p, const char *title, bool predicted, const tune_candidate *one, char *error,
                       size_t size);
/* done: the table is written, and the file is deleted. */
void tune_progress_close(tune_progress *p, bool done);

#endif
