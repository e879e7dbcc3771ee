/* What a run on the host costs beside its arithmetic: the smallest cases, and plans. Times are of the calls of a loop without
 * anything between them: medians of 201 loops. Use: host-overhead [THREADS]; 0, the default, leaves it to the library. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tandem/add.h"
#include "tandem/attention.h"
#include "tandem/gemm.h"
#include "tandem/rmsnorm.h"
#include "tandem/softmax.h"

enum { LOOPS = 201, RUNS = 50 };

static tdm_context *context;
static tdm_plan *plan;
static _Alignas(64) float a[1 << 16], b[1 << 16], c[1 << 16];

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int ascending(const void *x, const void *y) {
  double p = *(const double *)x, q = *(const double *)y;
  return (p > q) - (p < q);
}

static void measure(const char *what, tdm_status (*call)(void)) {
  static double ns[LOOPS];
  for (int i = 0; i < LOOPS; i++) {
    double begin = now_ns();
    for (int j = 0; j < RUNS; j++)
      if (call() != TDM_OK) {
        fprintf(stderr, "host-overhead: %s: %s\n", what, tdm_last_error());
        exit(1);
      }
    ns[i] = (now_ns() - begin) / RUNS;
  }
  qsort(ns, LOOPS, sizeof ns[0], ascending);
  printf("%-28s %8.0f ns\n", what, ns[LOOPS / 2]);
}

static tdm_status plan_add(int64_t rows, int64_t cols) {
  tdm_add_desc d = tdm_add_default(rows, cols, TDM_F32);
  return tdm_add_plan(context, &d, &plan);
}
static tdm_status plan_rmsnorm(void) {
  tdm_rmsnorm_desc d = tdm_rmsnorm_default(1, 64, TDM_F32);
  return tdm_rmsnorm_plan(context, &d, &plan);
}
static tdm_status plan_softmax(void) {
  tdm_softmax_desc d = tdm_softmax_default(8, 64, TDM_F32);
  return tdm_softmax_plan(context, &d, &plan);
}
static tdm_status plan_gemm(int64_t size) {
  tdm_gemm_desc d = tdm_gemm_default(size, size, size, TDM_F32);
  return tdm_gemm_plan(context, &d, &plan);
}
static tdm_status plan_attention(void) {
  tdm_attention_desc d = tdm_attention_default(1, 1, 1, 1, 8, 64, TDM_F32);
  return tdm_attention_plan(context, &d, &plan);
}

static tdm_status run_add(void) { return tdm_add_run(plan, a, b, c, NULL); }
static tdm_status run_rmsnorm(void) { return tdm_rmsnorm_run(plan, a, b, NULL, NULL, c, NULL); }
static tdm_status run_softmax(void) { return tdm_softmax_run(plan, a, c, NULL); }
static tdm_status run_gemm(void) { return tdm_gemm_run(plan, a, b, c, NULL, NULL, NULL); }
static tdm_status run_attention(void) { return tdm_attention_run(plan, a, b, b, c, NULL, NULL); }

static tdm_status freed(tdm_status planned) { return planned == TDM_OK ? tdm_plan_free(plan) : planned; }
static tdm_status make_add(void) { return freed(plan_add(1, 8)); }
static tdm_status make_gemm(void) { return freed(plan_gemm(64)); }
static tdm_status make_attention(void) { return freed(plan_attention()); }

static void measure_run(const char *what, tdm_status planned, tdm_status (*run)(void)) {
  if (planned == TDM_OK) measure(what, run);
  if (planned == TDM_OK && tdm_plan_free(plan) == TDM_OK) return;
  fprintf(stderr, "host-overhead: %s: %s\n", what, tdm_last_error());
  exit(1);
}

int main(int count, char **arguments) {
  const int threads = count > 1 ? atoi(arguments[1]) : 0;
  if (tdm_open(&(tdm_options){.device = "host", .threads = threads}, &context) != TDM_OK) {
    fprintf(stderr, "host-overhead: %s\n", tdm_last_error());
    return 1;
  }
  measure_run("checks alone (add 0x8)", plan_add(0, 8), run_add);
  measure_run("add 1x8", plan_add(1, 8), run_add);
  measure_run("add 8x512", plan_add(8, 512), run_add);
  measure_run("rmsnorm 1x64", plan_rmsnorm(), run_rmsnorm);
  measure_run("softmax 8x64", plan_softmax(), run_softmax);
  measure_run("gemm 8x8x8", plan_gemm(8), run_gemm);
  measure_run("gemm 64x64x64", plan_gemm(64), run_gemm);
  measure_run("attention, 1 query, 8 keys", plan_attention(), run_attention);
  measure("plan and free: add", make_add);
  measure("plan and free: gemm", make_gemm);
  measure("plan and free: attention", make_attention);
  return tdm_close(context) != TDM_OK;
}
