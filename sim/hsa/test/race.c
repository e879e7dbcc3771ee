/* Wrong: threads read what others wrote to the team's memory, without a barrier between. The device runtime's own pattern in
 * the same kernel is suppressed; this is not. */
#include <omp.h>
#include <stdio.h>

enum { THREADS = 128 };

int main(void) {
  int out[THREADS] = {0};
#pragma omp target teams num_teams(2) thread_limit(THREADS) map(tofrom : out)
  {
    int shared[THREADS];
#pragma omp allocate(shared) allocator(omp_pteam_mem_alloc)
#pragma omp parallel
    {
      int t = omp_get_thread_num();
      shared[t] = t;
      if (omp_get_team_num() == 0) out[t] = shared[THREADS - 1 - t]; /* race: the access */
    }
  }
  printf("race: %d\n", out[0]);
  return 0;
}
