/* Memory of a team: what its threads share, by the runtime and by omp_pteam_mem_alloc, and regions in which one thread hands
 * work to the others. */
#include <omp.h>
#include <stdio.h>

enum { TEAMS = 4, THREADS = 128 };

int main(void) {
  int out[TEAMS * THREADS] = {0}, sums[TEAMS] = {0}, bad = 0;
#pragma omp target teams num_teams(TEAMS) thread_limit(THREADS) map(from : out)
  {
    int shared[THREADS];
#pragma omp allocate(shared) allocator(omp_pteam_mem_alloc)
#pragma omp parallel
    {
      int t = omp_get_thread_num(), n = omp_get_num_threads();
      for (int i = t; i < THREADS; i += n) shared[i] = omp_get_team_num() * THREADS + i;
#pragma omp barrier
      for (int i = t; i < THREADS; i += n) out[omp_get_team_num() * THREADS + i] = shared[THREADS - 1 - i];
    }
  }
#pragma omp target teams num_teams(TEAMS) thread_limit(THREADS) map(from : sums)
  {
    int values[THREADS], sum = 0;
#pragma omp parallel for
    for (int i = 0; i < THREADS; i++) values[i] = i;
    for (int i = 0; i < THREADS; i++) sum += values[i];
    sums[omp_get_team_num()] = sum;
  }
  for (int i = 0; i < TEAMS * THREADS; i++) bad += out[i] != i / THREADS * THREADS + THREADS - 1 - i % THREADS;
  for (int i = 0; i < TEAMS; i++) bad += sums[i] != THREADS * (THREADS - 1) / 2;
  printf("team: bad %d\n", bad);
  return bad > 0;
}
