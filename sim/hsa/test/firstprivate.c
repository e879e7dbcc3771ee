/* LLVM 19 copies a region's firstprivate array from a stack frame that it has left (sim/hsa/hsa_copy.c says more). The values
 * were wrong when an earlier copy, here the one of `teams`, delayed that one. */
#include <omp.h>
#include <stdio.h>

enum { N = 64, PARTS = 10 };

int main(void) {
  int found[PARTS], teams[N], parts[PARTS], bad = 0;
  for (int i = 0; i < PARTS; i++) parts[i] = 100 + i;
  for (int x = 0; x < N; x++) teams[x] = -1;
#pragma omp target teams distribute firstprivate(parts) map(from : found) map(tofrom : teams) num_teams(1)
  for (int x = 0; x < N; x++) {
    teams[x] = omp_get_num_teams();
    for (int i = 0; i < PARTS; i++) found[i] = parts[i];
  }
  for (int i = 0; i < PARTS; i++) bad += found[i] != 100 + i;
  for (int x = 0; x < N; x++) bad += teams[x] != 1;
  printf("firstprivate: %d wrong\n", bad);
  return bad != 0;
}
