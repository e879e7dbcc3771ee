/* Measures the simulator: bf16 gemm 512 x 512 x 512 with MFMA (speed_gemm.hip), without checks and with all of them,
 * on all processors and on one. Prints the best of some runs; the result is compared with sums made in C.
 * Usage: gfxsim-bench FILE.hsaco */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output.h"
#include "sim/include/gfxsim.h"

enum { N = 512, TILE = 128, REPEAT = 5 };

static uint16_t a[N][N], b[N][N];
static float c[N][N];

static uint16_t bf16(float value) { /* small integers: nothing is lost */
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}
static float a_value(int i, int k) { return (float)((i * 7 + k * 13) % 9 - 4); }
static float b_value(int k, int j) { return (float)((k * 5 + j * 11) % 7 - 3); }

static bool right(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j += 37) {
      float sum = 0;
      for (int k = 0; k < N; k++) sum += a_value(i, k) * b_value(k, j);
      if (c[i][j] == sum) continue;
      fprintf(stderr, "gfxsim-bench: c[%d][%d] = %g: must be %g\n", i, j, c[i][j], sum);
      return false;
    }
  return true;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show(const gfxsim_report *report, void *user) {
  (void)user;
  fprintf(stderr, "gfxsim-bench: %s: %s: %s\n", gfxsim_kind_name(report->kind), report->instruction, report->message);
}

/* Seconds of the fastest launch; 0 after a failure. */
static double measure(const void *object_data, size_t bytes, const gfxsim_options *options) {
  gfxsim_device *device = NULL;
  gfxsim_object *object;
  gfxsim_kernel *kernel;
  struct {
    uint64_t a, b, c;
    int32_t n, k;
  } args = {.n = N, .k = N};
  const char *chip = gfxsim_object_chip(object_data, bytes);
  if (chip == NULL || gfxsim_open(chip, options, &device) != GFXSIM_OK) return 0;
  double best = 0;
  bool good = gfxsim_load(device, object_data, bytes, &object) == GFXSIM_OK &&
              gfxsim_kernel_find(object, "gemm_bf16", &kernel) == GFXSIM_OK &&
              gfxsim_alloc(device, sizeof a, &args.a) == GFXSIM_OK && gfxsim_alloc(device, sizeof b, &args.b) == GFXSIM_OK &&
              gfxsim_alloc(device, sizeof c, &args.c) == GFXSIM_OK && gfxsim_write(device, args.a, a, sizeof a) == GFXSIM_OK &&
              gfxsim_write(device, args.b, b, sizeof b) == GFXSIM_OK;
  gfxsim_launch launch = {.grid = {N / TILE, N / TILE, 1}, .block = {256, 1, 1}, .args = &args, .arg_bytes = sizeof args};
  for (int n = 0; n < REPEAT && good; n++) {
    double start = now();
    good = gfxsim_run(kernel, &launch) == GFXSIM_OK;
    double seconds = now() - start;
    if (n == 0 || seconds < best) best = seconds;
  }
  good = good && gfxsim_read(device, args.c, c, sizeof c) == GFXSIM_OK;
  gfxsim_close(device);
  return good && right() ? best : 0;
}

int main(int argc, char **argv) {
  output_begin("gfxsim-bench");
  static uint8_t data[1 << 20];
  static const struct {
    const char *name;
    gfxsim_options options;
  } ways[] = {
      {"checks off, all threads", {.unchecked = GFXSIM_CHECK_ALL, .report = show}},
      {"checks off, 1 thread", {.unchecked = GFXSIM_CHECK_ALL, .threads = 1, .report = show}},
      {"all checks, all threads", {.report = show}},
      {"all checks, 1 thread", {.threads = 1, .report = show}},
  };
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) return fprintf(stderr, "usage: gfxsim-bench FILE.hsaco\n"), 2;
  size_t bytes = fread(data, 1, sizeof data, file);
  fclose(file);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) {
      a[i][k] = bf16(a_value(i, k));
      b[i][k] = bf16(b_value(k, i)); /* by columns */
    }
  for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
    double seconds = measure(data, bytes, &ways[w].options);
    if (seconds == 0) return fprintf(stderr, "gfxsim-bench: %s\n", gfxsim_last_error()), 1;
    printf("%-24s %.3f s\n", ways[w].name, seconds);
  }
  return 0;
}
