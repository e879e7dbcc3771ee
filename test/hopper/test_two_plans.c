/* Plans of one kernel that need different amounts of shared memory, made before any of them runs: each must run. */
#include <stdio.h>
#include <string.h>

#include "offload/engine/wgmma_choice.h"
#include "tandem/gemm.h"

enum { SIZE = 128, ONE = 0x3f80 /* bf16 */, SUM = 0x4300 /* 128 */ };
static _Alignas(16) uint16_t a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
static int groups;

/* The first kernel, with that many warpgroups. */
static wg_choice choose(const wg_problem *x, const int *columns, int count, int processors, bool no_splits) {
  (void)x, (void)count, (void)processors, (void)no_splits;
  return (wg_choice){.n = columns[0], .groups = groups, .sharers = 1, .splits = 1, .ns = 1};
}

static int failed(const char *what) {
  printf("%s: %s\n", what, tdm_last_error());
  return 1;
}

static int run(const tdm_plan *plan, const char *what) {
  memset(c, 0, sizeof c);
  if (tdm_gemm_run(plan, a, b, c, NULL, NULL, NULL) != TDM_OK) return failed(what);
  for (int i = 0; i < SIZE * SIZE; i++)
    if (c[i] != SUM) {
      printf("%s: element %d is %#x: must be %#x\n", what, i, c[i], SUM);
      return 1;
    }
  return 0;
}

int main(void) {
  tdm_context *context = NULL;
  tdm_plan *plan[2] = {NULL, NULL};
  const tdm_gemm_desc desc = tdm_gemm_default(SIZE, SIZE, SIZE, TDM_BF16);
  int bad = 0;
  for (int i = 0; i < SIZE * SIZE; i++) a[i] = b[i] = ONE;
  wg_choose_instead = choose;
  if (tdm_open(&(tdm_options){.device = "omp:0", .kernel = "gemm=omp_gpu_wgmma"}, &context) != TDM_OK)
    return failed("tdm_open");
  for (int more = 0; more < 2 && !bad; more++) { /* the one that needs more first, and last */
    for (int i = 0; i < 2; i++) {
      groups = (i == 0) == (more == 0) ? 2 : 1;
      if (tdm_gemm_plan(context, &desc, &plan[i]) != TDM_OK) bad = failed("tdm_gemm_plan");
    }
    if (!bad) bad = run(plan[0], "the first plan") | run(plan[1], "the second plan");
    for (int i = 0; i < 2; i++)
      if (tdm_plan_free(plan[i]) != TDM_OK) bad = failed("tdm_plan_free");
  }
  if (tdm_close(context) != TDM_OK) bad = failed("tdm_close");
  return bad;
}
