/* The rooflines of what tandem-bench --json writes; --plot draws the same. */
#ifndef TANDEM_BENCH_REPORT_ROOFLINE_READ_H
#define TANDEM_BENCH_REPORT_ROOFLINE_READ_H

#include <jansson.h>

#include "roofline.h"

/* Adds the rows of a run. names: what devices are called in the picture, for files that don't have it: "omp:0=NVIDIA H200".
 * false: it is not what --json wrote. */
bool bench_add_roofline(roofline *r, const json_t *root, const char *const *names);

#endif
