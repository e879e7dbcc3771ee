/* How far a sample's counts may lie from those of all workgroups. */
#include <math.h>

#include "count.h"

/* Student's t for 95 %, two-sided. Source: any table; beyond 30 degrees of freedom within 2 % of 2. */
static double t_quantile(double freedom) {
  static const double table[] = {12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  if (freedom >= 30) return 2.04;
  if (freedom >= 11) return 2.23;
  return table[freedom < 1 ? 0 : (int)freedom - 1];
}

/* The variance of systematic samples by the differences of neighbours (Wolter, "Introduction to Variance Estimation", 8.2:
 * estimator v2): where work changes slowly along the grid, neighbours are alike, and the spread over the whole grid does not
 * count as an error. Its 2 / 3 of (count - 1) degrees of freedom hold for equal normal values. */
double estimate_error(const u64 *value, size_t step, u64 count, u64 groups) {
  if (count < 2) return -1;
  double sum = 0, squares = 0;
  for (u64 n = 0; n < count; n++) {
    sum += (double)value[n * step];
    if (n == 0) continue;
    double difference = (double)value[n * step] - (double)value[(n - 1) * step];
    squares += difference * difference;
  }
  if (sum == 0) return 0;
  double mean = sum / (double)count, left = 1 - (double)count / (double)groups;
  double variance_of_mean = left * squares / (2 * (double)(count - 1)) / (double)count;
  return t_quantile(2 * (double)(count - 1) / 3) * sqrt(variance_of_mean) / mean;
}
