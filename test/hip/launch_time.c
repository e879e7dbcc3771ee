/* What tdm_add_run adds to the bare launch call, and what a plan costs: of the host's time alone. Both launch an empty grid's
 * worth of work: one element. Use: hip-launch DEVICE [MOST_US]: fails where a run adds more than that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hip/args/binary.h"
#include "hip/host/hip.h"
#include "hip/host/library.h"
#include "output.h"

enum { ROUNDS = 200, CALLS = 50 };

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

/* The launch call itself, with an argument that was made before. */
static hipError_t bare(const tdm_plan *plan, void **extra) {
  return plan->context->hip->library->ModuleLaunchKernel(plan->hip.function, 1, 1, 1, plan->hip.block, 1, 1, 0, NULL, NULL,
                                                         extra);
}

static double least(double a, double b) { return a < b ? a : b; }

static int fail(void) {
  fprintf(stderr, "hip-launch: %s\n", tdm_last_error());
  return 1;
}

/* The shortest of many rounds of each, in turn: whatever else the machine does only makes a round longer. */
static int measure(tdm_context *context, float *a, double most) {
  tdm_add_desc desc = tdm_add_default(1, 1, TDM_F32);
  tdm_plan *plan;
  if (tdm_add_plan(context, &desc, &plan) != TDM_OK) return fail();
  binary_args args;
  size_t bytes = sizeof args;
  memcpy(&args, plan->args, sizeof args);
  args.a = args.b = args.c = a;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
  double run_us = 1e9, bare_us = 1e9, plan_us = 1e9;
  int failed = 0;
  for (int round = 0; round < ROUNDS; round++) {
    double start = microseconds();
    for (int i = 0; i < CALLS; i++) failed |= bare(plan, extra) != hipSuccess;
    double middle = microseconds();
    for (int i = 0; i < CALLS; i++) failed |= tdm_add_run(plan, a, a, a, NULL) != TDM_OK;
    double end = microseconds();
    bare_us = least(bare_us, (middle - start) / CALLS);
    run_us = least(run_us, (end - middle) / CALLS);
    tdm_plan *another;
    if (tdm_add_plan(context, &desc, &another) != TDM_OK) return fail();
    plan_us = least(plan_us, microseconds() - end);
    tdm_plan_free(another);
  }
  tdm_plan_free(plan);
  if (failed) return fail();
  printf("%s: bare launch call %.3f us, tdm_add_run %.3f us: it adds %.3f us; a plan takes %.3f us\n",
         tdm_context_device(context), bare_us, run_us, run_us - bare_us, plan_us);
  return run_us - bare_us > most;
}

int main(int argc, char **argv) {
  tdm_context *context;
  void *a;
  output_begin("hip-launch");
  if (argc < 2) {
    fprintf(stderr, "hip-launch: use: hip-launch DEVICE [MOST_US]\n");
    return 2;
  }
  if (tdm_open(&(tdm_options){.device = argv[1]}, &context) != TDM_OK || tdm_alloc(context, sizeof(float), &a) != TDM_OK)
    return fail();
  if (tdm_copy(context, a, &(float){1}, sizeof(float), TDM_TO_DEVICE, NULL) != TDM_OK) return fail();
  int code = measure(context, a, argc > 2 ? atof(argv[2]) : 1e9);
  tdm_free(context, a);
  tdm_close(context);
  return code;
}
