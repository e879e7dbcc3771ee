/* What a launch costs through LLVM's runtime and the HSA door: processor time of the process, a run of each kind. At most 1 ms.
 */
#include <stdio.h>
#include <time.h>

enum { LAUNCHES = 500 };

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static int report(const char *what, double start) {
  double each = 1e3 * (seconds() - start) / LAUNCHES;
  printf("%s: %.3f ms of processor time\n", what, each);
  return each > 1;
}

int main(void) {
  int slow = 0;
#pragma omp target
  {} /* the first one loads the image */
  double start = seconds();
  for (int n = 0; n < LAUNCHES; n++)
#pragma omp target
  {
  }
  slow |= report("workgroups of 256, 1", start);
  start = seconds();
  for (int n = 0; n < LAUNCHES; n++)
#pragma omp target teams num_teams(4)
#pragma omp parallel
  {
  }
  slow |= report("workgroups of 256, 4", start);
  return slow;
}
