/* Files of cases, one on a line in the words of the command line, and the run over them: tandem-bench --shapes FILE. */
#ifndef TANDEM_BENCH_SHAPES_SHAPES_H
#define TANDEM_BENCH_SHAPES_SHAPES_H

#include "bench/report/report.h"

typedef struct bench_shape {
  tdm_case c;
  int line;               /* of the file, from 1 on */
  char title[BENCH_TEXT]; /* case_print's */
} bench_shape;

typedef struct bench_shapes {
  const char *path;
  bench_shape *shape;
  int count;
} bench_shapes;

/* Reads a file. false: one line in error, with the number of the line that is wrong. */
bool bench_shapes_read(bench_shapes *shapes, const char *path, char *error, size_t size);
/* One line, without a name and number of the file in its messages. */
bool bench_shape_parse(bench_shape *shape, const char *line, char *error, size_t size);
double bench_shape_bytes(const tdm_case *c); /* of all its arrays */
void bench_shapes_free(bench_shapes *shapes);

/* Of the cases of a file those that are measured, and where their results go. */
typedef struct bench_shapes_options {
  uint64_t every, offset;         /* case number `offset` (from 0 on) and each `every`-th after it */
  uint64_t most_bytes, most_flop; /* larger cases are left out, and counted; 0: none are */
  const char *json;               /* NULL: results are only printed */
  bool turns;                     /* a peer answers each result: run.c */
  bool all_kernels;               /* each case with every kernel that supports it: kernels.h */
  tdm_options device;             /* all_kernels: how the context was opened */
} bench_shapes_options;

/* The options that choose among a file's cases, as they were typed; NULL: not given. Used by tandem-bench and its tune. */
typedef struct bench_shapes_words {
  char *every, *offset, *most_bytes, *most_flop;
} bench_shapes_words;
/* Their rows of a popt table. */
#define BENCH_SHAPES_ROWS(words)                                                                                               \
  {"every", '\0', POPT_ARG_STRING, &(words).every, 0, "--shapes: only each N-th case", "N"},                                   \
      {"offset", '\0', POPT_ARG_STRING, &(words).offset, 0, "--shapes: the first case, counted from 0", "N"},                  \
      {"most-bytes", '\0', POPT_ARG_STRING, &(words).most_bytes, 0, "--shapes: leave out cases whose arrays are larger", "N"}, \
      {"most-flop", '\0', POPT_ARG_STRING, &(words).most_flop, 0, "--shapes: leave out cases with more FLOP", "N"}
/* The first option that was given, NULL: none was. */
const char *bench_shapes_given(const bench_shapes_words *words);
/* Reads them into *options; what was not given takes all cases. */
bool bench_shapes_numbers(const bench_shapes_words *words, bench_shapes_options *options, char *error, size_t size);
/* Is the case one that these options leave out for its size? */
bool bench_shapes_too_large(const bench_shapes_options *options, const tdm_case *c);

/* Shorter than the bench's own: a map has hundreds of cases. */
bench_limits bench_shapes_limits(const bench_machine *machine);

/* To be called before anything is measured: does the library take all cases, and are the results in options->json of this
 * device? The errors of both functions are one line, with *exit_code. */
bool bench_shapes_check(const bench_shapes *shapes, const bench_shapes_options *options, tdm_context *context, int *exit_code,
                        char *error, size_t size);

/* Measures the cases on the one device of run, which is open. Results that options->json already has are kept, and their cases
 * are not measured again. *exit_code: EXIT_PASSED, EXIT_FAILED, EXIT_NOTHING_RUN. false: one line in error. */
bool bench_shapes_run(const bench_shapes *shapes, const bench_shapes_options *options, tdm_context *context, bench_run *run,
                      int *exit_code, char *error, size_t size);

#endif
