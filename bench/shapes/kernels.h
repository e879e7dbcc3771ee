/* tandem-bench --shapes --all-kernels: a case with each kernel that supports it; and the predictions of a map. */
#ifndef TANDEM_BENCH_SHAPES_KERNELS_H
#define TANDEM_BENCH_SHAPES_KERNELS_H

#include "bench/report/report.h"

/* A context that plans an op with one kernel, opened when the kernel is first needed. */
typedef struct bench_kernel {
  const char *op;
  char name[64];
  tdm_context *context; /* NULL: the kernel can't run on the device */
} bench_kernel;

typedef struct bench_kernels {
  tdm_context *context; /* the caller's, in which the dispatcher chooses */
  tdm_options device;   /* how that one was opened; kernel is not read */
  bench_kernel *list;
  int count;
} bench_kernels;

/* Measures the case of *row, whose c, title, device and by are set: with the kernel that the dispatcher chooses, which *row is
 * about, and with each other one that supports the case. NULL: no memory. Else a list:
 *   [{"kernel": "omp", "outcome": "ok", "reason": "", "checked": "8 rows ...", "seconds": {"median": 0.001, ...},
 *     "estimate_clocks": 123456}, ...]
 * On a simulated device an entry has in place of seconds "clocks_predicted", null where the kernel was left out because its
 * bound is above the best prediction (the reason says so), and "clocks_at_least".
 * The chosen kernel is the first. The outcome is "ok" or "failed". The estimate is the dispatcher's, null if it has none. The
 * list is empty if no kernel supports the case or the chosen one did not run. */
json_t *bench_kernels_measure(bench_kernels *k, const bench_limits *limits, bench_row *row);
/* The clocks in the line "KERNEL: estimate N clocks, ..." of explain, or in "not KERNEL: estimate ...". Negative: there is no
 * such line. */
double bench_estimate_of(const char *explain, const char *kernel);
/* Predicts the case of *row with the kernel that the dispatcher chooses, on a simulated device. */
void bench_kernels_predict(tdm_context *context, const bench_limits *limits, bench_row *row);
/* Kernels of the list whose outcome is "failed". */
int bench_kernels_failed(const json_t *list);
/* false: a context could not be closed, tdm_last_error says why. */
bool bench_kernels_close(bench_kernels *k);

/* The table of such a run: bench_timed_begin's counterpart. */
table bench_kernels_begin(FILE *out, const bench_run *run);
void bench_kernels_row(table *t, const bench_row *row, const json_t *list);
/* That of bench_kernels_predict. */
table bench_predictions_begin(FILE *out, const bench_run *run);
void bench_predictions_row(table *t, const bench_row *row);

#endif
