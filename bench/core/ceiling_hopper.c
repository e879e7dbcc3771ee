#include "bench/core/ceiling_hopper.h"

#include "bench/core/machine.h"
#include "offload/device/cuda.h"

#ifndef BENCH_HOPPER

int bench_ceiling_hopper(void *memory, double *f16, double *bf16) {
  (void)memory, (void)f16, (void)bf16;
  return 0; /* the program has no kernel for it */
}

#else

extern const struct {
  const void *begin;
  size_t size;
} bench_hopper_image[];

enum { POINTER_CONTEXT = 1, PROCESSORS = 16, CAPABILITY_MAJOR = 75, FUNCTION_SHARED_BYTES = 8, HOPPER = 9 };
enum { SHARED_BYTES = 1024 + (128 + HOPPER_COLUMNS) * 128, FIRST_STEPS = 1024, PASSES = 8 };
static const double PASS_SECONDS = 0.02;

/* The best of several passes, each long enough to hide the launch. */
static int best_rate(const cuda_driver *d, void *function, int processors, void *memory, double *best) {
  hopper_chains_args args = {memory, memory, FIRST_STEPS};
  void *arguments[] = {&args};
  const cuda_launch launch = {
      .grid = {(unsigned)processors, 1, 1}, .block = {HOPPER_THREADS, 1, 1}, .shared_bytes = SHARED_BYTES};
  for (int pass = 0; pass < PASSES;) {
    double start = bench_seconds();
    int code = d->launch(&launch, function, arguments, NULL);
    if (code == 0) code = d->synchronize(NULL);
    if (code != 0) return code;
    double seconds = bench_seconds() - start;
    if (seconds < PASS_SECONDS) {
      args.steps *= 2;
      continue;
    }
    double flop = 2.0 * 128 * HOPPER_COLUMNS * HOPPER_STEP_K * args.steps * processors;
    if (flop / seconds > *best) *best = flop / seconds;
    pass++;
  }
  return 0;
}

/* In the memory's context. */
static int measure(const cuda_driver *d, void *memory, double *rate[2]) {
  static const char *const names[2] = {"bench_hopper_f16", "bench_hopper_bf16"};
  int device, major = 0, processors = 0;
  void *module = NULL, *function;
  int code = d->get_device(&device);
  if (code == 0) code = d->device_attribute(&major, CAPABILITY_MAJOR, device);
  if (code == 0) code = d->device_attribute(&processors, PROCESSORS, device);
  if (code != 0 || major != HOPPER) return code;
  code = d->load(&module, bench_hopper_image[0].begin);
  for (int i = 0; i < 2 && code == 0; i++) {
    code = d->function(&function, module, names[i]);
    if (code == 0) code = d->function_set(function, FUNCTION_SHARED_BYTES, SHARED_BYTES);
    if (code == 0) code = best_rate(d, function, processors, memory, rate[i]);
  }
  int last = module != NULL ? d->unload(module) : 0;
  return code != 0 ? code : last;
}

int bench_ceiling_hopper(void *memory, double *f16, double *bf16) {
  char reason[128];
  void *context, *popped;
  double *rate[2] = {f16, bf16};
  const cuda_driver *d = cuda_driver_find(reason, sizeof reason);
  if (d == NULL || d->pointer_attribute(&context, POINTER_CONTEXT, (uintptr_t)memory) != 0) return 0; /* another vendor's GPU */
  int code = d->push(context);
  if (code != 0) return code;
  code = measure(d, memory, rate);
  int last = d->pop(&popped);
  return code != 0 ? code : last;
}

#endif
