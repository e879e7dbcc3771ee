/* Runs what Triton compiled (make.py) against C functions. Usage: triton FOLDER CHIP [FIXTURE] */
#include <stdio.h>
#include <stdlib.h>

#include "sim/include/gfxsim_counters.h"
#include "sim/include/gfxsim_time.h"
#include "sim/test/half_expect.h"

enum { MOST = 16384, BUFFERS = 4 };

/* The buffers' elements as numbers; the last one in use is the result. */
static float data[BUFFERS][MOST];
static double want[MOST], bound[MOST]; /* |got - want| <= bound */

typedef enum type { F32, F16, BF16 } type;

typedef struct fixture_test {
  const char *name;
  int buffers; /* the last is the result */
  type input, output;
  uint32_t grid[2];
  int ints[3], int_count;
  float number; /* the last argument where int_count says so */
  bool has_number;
  int results;
  void (*expect)(void);
} fixture_test;

/* ---- What C says ---- */

enum { COUNT = 1000, ROWS = 12, COLUMNS = 300, M = 100, N = 72, K = 96, LENGTH = 100, HEAD = 64 };
static const float epsilon = 1e-5f, log2_e = 1.44269504f;

static void vector_add(void) {
  for (int i = 0; i < COUNT; i++) want[i] = data[0][i] + data[1][i];
}

static void softmax(void) {
  for (int r = 0; r < ROWS; r++) {
    double sum = 0;
    for (int i = 0; i < COLUMNS; i++) sum += exp((double)data[0][r * COLUMNS + i]);
    for (int i = 0; i < COLUMNS; i++) {
      want[r * COLUMNS + i] = exp((double)data[0][r * COLUMNS + i]) / sum;
      bound[r * COLUMNS + i] = want[r * COLUMNS + i] * 0x1p-18;
    }
  }
}

static void rmsnorm(void) {
  for (int r = 0; r < ROWS; r++) {
    const float *x = data[0] + r * COLUMNS;
    double sum = 0;
    for (int i = 0; i < COLUMNS; i++) sum += (double)x[i] * x[i];
    for (int i = 0; i < COLUMNS; i++) {
      want[r * COLUMNS + i] = x[i] / sqrt(sum / COLUMNS + (double)epsilon) * data[1][i];
      bound[r * COLUMNS + i] = fabs(want[r * COLUMNS + i]) * 0x1p-10 + 0x1p-24; /* an ulp of f16 */
    }
  }
}

static void layernorm(void) {
  for (int r = 0; r < ROWS; r++) {
    const float *x = data[0] + r * COLUMNS;
    double mean = 0, square = 0;
    for (int i = 0; i < COLUMNS; i++) mean += (double)x[i] / COLUMNS;
    for (int i = 0; i < COLUMNS; i++) square += (x[i] - mean) * (x[i] - mean) / COLUMNS;
    for (int i = 0; i < COLUMNS; i++) {
      double term = (x[i] - mean) / sqrt(square + (double)epsilon) * data[1][i];
      want[r * COLUMNS + i] = term + data[2][i];
      bound[r * COLUMNS + i] = (fabs(term) + fabs((double)data[2][i]) + 1) * 0x1p-19;
    }
  }
}

static void matmul(void) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0, size = 0;
      for (int k = 0; k < K; k++) {
        sum += (double)data[0][i * K + k] * data[1][k * N + j];
        size += fabs((double)data[0][i * K + k] * data[1][k * N + j]);
      }
      want[i * N + j] = sum;
      bound[i * N + j] = size * K * 0x1p-24; /* any order of f32 sums */
    }
}

static void attention(void) {
  double p[LENGTH];
  for (int row = 0; row < LENGTH; row++) {
    double total = 0;
    for (int k = 0; k <= row; k++) {
      double s = 0;
      for (int d = 0; d < HEAD; d++) s += (double)data[0][row * HEAD + d] * data[1][k * HEAD + d];
      total += p[k] = exp(s / sqrt((double)HEAD));
    }
    for (int d = 0; d < HEAD; d++) {
      double sum = 0, size = 0;
      for (int k = 0; k <= row; k++) {
        sum += p[k] / total * data[2][k * HEAD + d];
        size += p[k] / total * fabs((double)data[2][k * HEAD + d]);
      }
      want[row * HEAD + d] = sum;
      bound[row * HEAD + d] = size * 0x1p-10; /* probabilities are f16 */
    }
  }
}

static const fixture_test tests[] = {
    {"vector_add", 3, F32, F32, {2, 1}, {COUNT}, 1, 0, false, COUNT, vector_add},
    {"softmax", 2, F32, F32, {ROWS, 1}, {COLUMNS}, 1, 0, false, ROWS *COLUMNS, softmax},
    {"rmsnorm", 3, F16, F16, {ROWS, 1}, {COLUMNS}, 1, 1e-5f, true, ROWS *COLUMNS, rmsnorm},
    {"layernorm", 4, F32, F32, {ROWS, 1}, {COLUMNS}, 1, 1e-5f, true, ROWS *COLUMNS, layernorm},
    {"matmul_f16", 3, F16, F32, {2, 2}, {M, N, K}, 3, 0, false, M *N, matmul},
    {"matmul_bf16", 3, BF16, F32, {2, 2}, {M, N, K}, 3, 0, false, M *N, matmul},
    {"attention", 4, F16, F32, {2, 1}, {LENGTH}, 1, log2_e / 8, true, LENGTH *HEAD, attention},
};

static const struct {
  const char *name, *chip, *kernel;
  uint32_t items, lds;
} fixtures[] = {
#define FIXTURE(name, chip, kernel, items, lds) {#name, #chip, kernel, items, lds},
#include "fixtures.def"
};
enum { FIXTURES = sizeof fixtures / sizeof fixtures[0], TESTS = sizeof tests / sizeof tests[0] };

/* ---- Running ---- */

static u32 to_bits(type t, float value) {
  return t == F32 ? (u32)bits(value) : t == F16 ? half_from(value) : bfloat_from(value);
}
static float from_bits(type t, u32 raw) { return t == F32 ? f(raw) : t == F16 ? (float)half_value(raw) : bfloat(raw); }

static size_t size_of(type t) { return t == F32 ? 4 : 2; }

/* Numbers in (-2, 2) that the type holds. */
static void fill(const fixture_test *t) {
  u32 state = 2463534242u;
  for (int n = 0; n < t->buffers - 1; n++)
    for (int i = 0; i < MOST; i++) {
      state ^= state << 13, state ^= state >> 17, state ^= state << 5; /* xorshift (Marsaglia 2003) */
      data[n][i] = from_bits(t->input, to_bits(t->input, (float)(i32)state * 0x1p-30f));
    }
  for (int i = 0; i < MOST; i++) want[i] = bound[i] = 0;
  t->expect();
}

static bool make_buffers(gfxsim_device *device, const fixture_test *t, u64 addresses[BUFFERS]) {
  static u8 raw[MOST * 4];
  for (int n = 0; n < t->buffers; n++) {
    size_t size = size_of(n == t->buffers - 1 ? t->output : t->input);
    for (int i = 0; i < MOST; i++) {
      u32 element = to_bits(t->input, data[n][i]);
      memcpy(raw + (size_t)i * size, &element, size);
    }
    if (gfxsim_alloc(device, MOST * size, &addresses[n]) != GFXSIM_OK ||
        gfxsim_write(device, addresses[n], raw, MOST * size) != GFXSIM_OK)
      return false;
  }
  return true;
}

/* Addresses, then 32-bit numbers, then two addresses of scratch that these kernels do not use. */
static size_t make_args(const fixture_test *t, const u64 *addresses, u8 args[128]) {
  size_t at = (size_t)t->buffers * sizeof *addresses;
  memset(args, 0, 128);
  memcpy(args, addresses, at);
  for (int n = 0; n < t->int_count; n++, at += 4) memcpy(args + at, &t->ints[n], 4);
  if (t->has_number) memcpy(args + at, &t->number, 4), at += 4;
  return (at + 7) / 8 * 8 + 16;
}

static int compare(gfxsim_device *device, const fixture_test *t, u64 result) {
  static u8 raw[MOST * 4];
  size_t size = size_of(t->output);
  if (gfxsim_read(device, result, raw, MOST * size) != GFXSIM_OK) return 1;
  for (int i = 0; i < t->results; i++) {
    u32 element = 0;
    memcpy(&element, raw + (size_t)i * size, size);
    double got = (double)from_bits(t->output, element);
    if (fabs(got - want[i]) <= bound[i]) continue;
    fprintf(stderr, "triton: %s: element %d is %.9g: must be %.9g, to %.3g\n", t->name, i, got, want[i], bound[i]);
    return 1;
  }
  return 0;
}

static int stop(const char *what) {
  fprintf(stderr, "triton: %s: %s\n", what, gfxsim_last_error());
  return 1;
}

static bool timed; /* in the order of the model's time */

static int run(const char *folder, int which, const fixture_test *t) {
  static u8 image[1 << 18];
  char path[512];
  u64 addresses[BUFFERS];
  u8 args[128];
  gfxsim_device *device = NULL;
  gfxsim_object *object;
  gfxsim_kernel *kernel;
  snprintf(path, sizeof path, "%s/%s-%s.hsaco", folder, t->name, fixtures[which].chip);
  FILE *file = fopen(path, "rb");
  if (file == NULL) return perror(path), 1;
  size_t bytes = fread(image, 1, sizeof image, file);
  fclose(file);
  fill(t);
  if (gfxsim_open(fixtures[which].chip, NULL, &device) != GFXSIM_OK ||
      gfxsim_load(device, image, bytes, &object) != GFXSIM_OK ||
      gfxsim_kernel_find(object, fixtures[which].kernel, &kernel) != GFXSIM_OK || !make_buffers(device, t, addresses))
    return stop(t->name);
  gfxsim_launch launch = {.grid = {t->grid[0], t->grid[1], 1},
                          .block = {fixtures[which].items, 1, 1},
                          .dynamic_lds = fixtures[which].lds,
                          .args = args,
                          .arg_bytes = make_args(t, addresses, args)};
  gfxsim_counters counters = {0};
  gfxsim_timing timing = {0};
  if (timed) {
    launch.counters = &counters;
    launch.timing = &timing;
  }
  int failed = gfxsim_run(kernel, &launch) == GFXSIM_OK ? compare(device, t, addresses[t->buffers - 1]) : stop(t->name);
  gfxsim_counters_release(&counters);
  gfxsim_timing_release(&timing);
  gfxsim_close(device);
  return failed;
}

int main(int argc, char **argv) {
  int ran = 0, failed = 0;
  timed = argc > 3 && strcmp(argv[argc - 1], "timed") == 0;
  argc -= timed;
  if (argc < 3) return fprintf(stderr, "usage: triton FOLDER CHIP [FIXTURE] [timed]\n"), 2;
  for (int n = 0; n < FIXTURES; n++)
    for (int t = 0; t < TESTS; t++) {
      if (strcmp(fixtures[n].chip, argv[2]) != 0 || strcmp(fixtures[n].name, tests[t].name) != 0) continue;
      if (argc > 3 && strcmp(argv[3], tests[t].name) != 0) continue;
      failed += run(argv[1], n, &tests[t]);
      ran++;
    }
  printf("%d fixtures, %d failed\n", ran, failed);
  return failed > 0 || ran != (argc > 3 ? 1 : TESTS);
}
