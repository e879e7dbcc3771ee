/* What test_host_plans.c, test_gpu_plans.c and hip/test_estimates.c share: they plan the cases of a table, and print what the
 * dispatcher did.
 */
#ifndef TANDEM_TEST_PLANS_H
#define TANDEM_TEST_PLANS_H

#include "case.h"

/* A case, written as on the command line of tandem-check. NULL: the default. */
typedef struct plans_case {
  const char *op, *dtype, *layout, *epilogue, *settings, *shape;
} plans_case;

/* Makes a case and prints its line. On an error it returns false and prints a line to stderr that begins with `test`. */
bool plans_begin(const char *test, const plans_case *texts, tdm_case *c);

/* Prints the lines of the plan's explanation that begin with one of these texts, indented; the last text is NULL. */
void plans_print_lines(const tdm_plan *plan, const char *const *beginnings);

/* The length of a refusal without the list of kernels at its end: the list depends on the build. */
int plans_refusal_length(const char *message);

#endif
