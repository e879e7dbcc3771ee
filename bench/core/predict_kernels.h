/* Predicted clocks of a case with one kernel or several, on one set of arrays. Results are not checked: those of a prediction
 * are wrong. tandem-check and the bench's counts check the same kernels. */
#ifndef TANDEM_BENCH_CORE_PREDICT_KERNELS_H
#define TANDEM_BENCH_CORE_PREDICT_KERNELS_H

#include "bench/core/measure.h"

/* plans[0] is the chosen kernel's. A kernel whose bound by counts is above the best prediction is left out: its row has counts,
 * no prediction, and a reason. So has one that would take the host longer than limits->predict. The caller has set c and by,
 * and frees the counts of all rows. */
void bench_predict_kernels(tdm_context *const *contexts, tdm_plan *const *plans, int count, const bench_limits *limits,
                           bench_row *rows);

#endif
