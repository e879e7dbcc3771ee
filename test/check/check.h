/* The checker: one case through the library, against its f64 reference. */
#ifndef TANDEM_TEST_CHECK_H
#define TANDEM_TEST_CHECK_H

#include "case.h"

typedef enum check_outcome {
  CHECK_PASSED,
  CHECK_UNSUPPORTED, /* no kernel or device serves it: counted, with the reason */
  CHECK_REFUSED,     /* the library says that an argument is wrong, or another call failed */
  CHECK_WRONG,       /* elements differ from the reference by more than their bound */
  CHECK_OUTSIDE,     /* memory that belongs to nobody was written: before, after or between the rows of an array */
  CHECK_INPUT,       /* an input was changed */
  CHECK_UNSTABLE,    /* a second run gave other bits */
  CHECK_INCONCLUSIVE /* all is right, but nearly all expected values are 0 or NaN (fewer than one a row and one in 1000 are
                        not): a wrong kernel may pass too */
} check_outcome;

typedef struct check_report {
  check_outcome outcome;
  char array[16];       /* WRONG, OUTSIDE, INPUT, UNSTABLE: where */
  int64_t row, column;  /* of its first such element; OUTSIDE: column is counted from the row's first element */
  int64_t wrong, total; /* elements: WRONG: both; INCONCLUSIVE: total */
  char kernel[40];      /* that ran it; "" where none did */
  double share;         /* the largest error, as a share of what was allowed for it; f32 outputs only */
  char text[640];       /* what is wrong, one line or more; "" when passed */
} check_report;

typedef struct check_settings {
  tdm_context *context;
  const char *where;    /* options that reproduce the context: " --device host --teams 3" */
  bool trace;           /* say each case before its launch, on stderr */
  bool canaries;        /* arrays as on real devices, even if the device could watch their bounds */
  const char *chosen;   /* run only cases that one of these kernels serves, with commas or spaces between; NULL: all */
  int64_t sampled_rows; /* compare this many rows of an output, spread over it; 0: all */
} check_settings;

/* Plans, runs twice and compares one case with its own fill. */
check_outcome check_case(const check_settings *settings, const tdm_case *c, check_report *report);

/* Is a kernel among those that are wanted? */
bool check_is_wanted(const check_settings *settings, const char *kernel);

/* "tandem-check ...": the command line that repeats a case. */
void check_command(const check_settings *settings, const tdm_case *c, char *text, size_t size);

/* ---- Standard sets (sets.c) ---- */

/* What --every does with a case of a set. */
typedef enum check_kind {
  CHECK_ROTATED, /* it is one of those that --every and --offset choose from */
  CHECK_ALWAYS,  /* it runs with every choice */
  CHECK_STREAMED /* as ROTATED, but only in the host's set: its results are large enough for non-temporal stores */
} check_kind;

typedef void (*check_visit)(void *user, const tdm_case *c, check_kind kind);

/* Which cases of an op: a set that holds every pair of levels, all combinations, arrays of more than 2^31 elements, or the few
 * that --cover runs by every kernel. */
typedef enum check_extent { CHECK_PAIRS, CHECK_FULL, CHECK_HUGE, CHECK_KERNEL } check_extent;

/* Visits an op's set. false: the tables are wrong, with one line in error. */
bool check_set(const case_op *op, check_extent extent, check_visit visit, void *user, char *error, size_t size);

/* A case, and the kernel that is to run it; NULL: the one that is chosen. */
typedef void (*check_visit_named)(void *user, const char *kernel, const tdm_case *c);

/* Visits the op's cases about memory (sets_memory.c), with the kernels of the HIP path or without them, each with the data that
 * it is to have. */
bool check_memory_set(const case_op *op, bool hip, check_visit_named visit, void *user, char *error, size_t size);

#endif
