/* Plans whose last workgroups add the parts, in runs that fall back: such a run launches the general kernel and a second one.
 * Aligned runs of the same plan come before and after, so that a run that uses parts or counters of another one is wrong. Sums
 * are exact, so results must be equal. Use: hip-fallback DEVICE, as in sim:gfx950. */
#include "../api/api.h"

#include <math.h>
#include <stdio.h>

#include "hip/host/hip.h"
#include "src/base/elem.h"
#include "src/core/kernel.h"
#include "tandem/attention.h"
#include "tandem/gemm.h"
#include "tandem/swiglu.h"

enum { OFF = 2 }; /* bytes from an aligned address: no dword begins there */

static const char *device;
static char logged[1024];

static void log_line(void *user, const char *line) {
  (void)user;
  snprintf(logged, sizeof logged, "%s", line);
}

static int setup(void **state) {
  (void)state;
  clear_environment();
  setenv("TANDEM_VERBOSE", "1", 1);
  return 0;
}

/* A device without memory pools: a run has no place for copies of its operands. */
static tdm_context *open_without_pools(const char *op, const char *kernel) {
  tdm_context *context = NULL;
  char option[64];
  snprintf(option, sizeof option, "%s=%s", op, kernel);
  ACCEPTED(tdm_open(&(tdm_options){.device = device, .kernel = option, .log = log_line}, &context));
  context->hip->pools = false;
  return context;
}

static char *device_bytes(tdm_context *context, size_t bytes) {
  void *memory = NULL;
  ACCEPTED(tdm_alloc(context, bytes, &memory));
  return memory;
}

static void must_have_counters(const tdm_plan *plan, const char *kernel) {
  if (strstr(tdm_plan_explain(plan), "added by the last workgroup") == NULL)
    fail_msg("%s: the plan has no counters: %s", kernel, tdm_plan_explain(plan));
}

/* Frees all that a test has made. */
static void close_all(tdm_context *context, tdm_plan *plan, char *const *memory, size_t count) {
  ACCEPTED(tdm_plan_free(plan));
  for (size_t i = 0; i < count; i++) ACCEPTED(tdm_free(context, memory[i]));
  ACCEPTED(tdm_close(context));
}

/* The run's line in the log says whether it fell back. */
static void must_fall_back(bool wanted, const char *kernel) {
  if ((strstr(logged, "as pointers are not aligned") != NULL) != wanted)
    fail_msg("%s: it must%s fall back: %s", kernel, wanted ? "" : " not", logged);
}

/* ---- gemm ---- */

enum { M = 150, N = 134, DEPTH = 1160 };

static int small(int run, int64_t i) { return (int)((i * 2654435761 >> 7) + 5 * run) % 9 - 4; }

static void multiply(const char *kernel, tdm_type type, tdm_layout layout) {
  static uint16_t a[M * DEPTH], b[N * DEPTH], bias[N];
  static float c[M * N];
  tdm_context *context = open_without_pools("gemm", kernel);
  tdm_plan *plan = NULL;
  char *at_a = device_bytes(context, sizeof a + OFF), *at_b = device_bytes(context, sizeof b + OFF),
       *at_bias = device_bytes(context, sizeof bias), *at_c = device_bytes(context, sizeof c);
  const tdm_epilogue_step steps[] = {{.op = TDM_BIAS}, {.op = TDM_RELU}};
  tdm_gemm_desc d = tdm_gemm_default(M, N, DEPTH, type);
  d.layout = layout;
  d.out = TDM_F32;
  d.epilogue = steps;
  d.epilogue_steps = 2;
  ACCEPTED(tdm_gemm_plan(context, &d, &plan));
  must_have_counters(plan, kernel);
  for (int run = 0; run < 5; run++) {
    const size_t off_a = run == 1 || run == 2 ? OFF : 0, off_b = run == 1 || run == 3 ? OFF : 0;
    for (int64_t i = 0; i < M * DEPTH; i++) tdm_store(a, i, type, (float)small(run, i));
    for (int64_t i = 0; i < N * DEPTH; i++) tdm_store(b, i, type, (float)small(run + 3, i));
    for (int64_t i = 0; i < N; i++) tdm_store(bias, i, type, (float)small(run + 1, i));
    memset(c, 0xff, sizeof c); /* NaN */
    ACCEPTED(tdm_copy(context, at_a + off_a, a, sizeof a, TDM_TO_DEVICE, NULL));
    ACCEPTED(tdm_copy(context, at_b + off_b, b, sizeof b, TDM_TO_DEVICE, NULL));
    ACCEPTED(tdm_copy(context, at_bias, bias, sizeof bias, TDM_TO_DEVICE, NULL));
    ACCEPTED(tdm_copy(context, at_c, c, sizeof c, TDM_TO_DEVICE, NULL));
    ACCEPTED(tdm_gemm_run(plan, at_a + off_a, at_b + off_b, at_c, at_bias, NULL, NULL));
    must_fall_back(off_a + off_b > 0, kernel);
    ACCEPTED(tdm_copy(context, c, at_c, sizeof c, TDM_TO_HOST, NULL));
    for (int64_t i = 0; i < M; i++)
      for (int64_t j = 0; j < N; j++) {
        int sum = small(run + 1, j);
        for (int64_t k = 0; k < DEPTH; k++)
          sum += small(run, i * DEPTH + k) * small(run + 3, layout == TDM_NT ? j * DEPTH + k : k * N + j);
        if (c[i * N + j] != (float)(sum > 0 ? sum : 0))
          fail_msg("%s, run %d: c[%d, %d] is %g, must be %d", kernel, run, (int)i, (int)j, (double)c[i * N + j],
                   sum > 0 ? sum : 0);
      }
  }
  close_all(context, plan, (char *const[]){at_a, at_b, at_bias, at_c}, 4);
}

static void gemm(void **state) {
  (void)state;
  multiply("hip_tile_64x128:split=4:depth=3", TDM_F16, TDM_NT);
  multiply("hip_tile_128x128:split=2:depth=2", TDM_BF16, TDM_NN);
  multiply("hip_tile_16x64:split=3", TDM_BF16, TDM_NN);
}

/* ---- swiglu, whose fallback does not split K ---- */

static void gate(const char *kernel, tdm_type type) {
  enum { ROWS = 20, COLUMNS = 70 };
  static uint16_t x[ROWS * DEPTH], weights[2][COLUMNS * DEPTH];
  static float y[ROWS * COLUMNS];
  tdm_context *context = open_without_pools("swiglu", kernel);
  tdm_plan *plan = NULL;
  char *at_x = device_bytes(context, sizeof x + OFF), *at_y = device_bytes(context, sizeof y),
       *at_w[] = {device_bytes(context, sizeof weights[0] + OFF), device_bytes(context, sizeof weights[1] + OFF)};
  tdm_swiglu_desc d = tdm_swiglu_default(ROWS, COLUMNS, DEPTH, type);
  d.layout = TDM_NT;
  d.out = TDM_F32;
  ACCEPTED(tdm_swiglu_plan(context, &d, &plan));
  must_have_counters(plan, kernel);
  for (int run = 0; run < 5; run++) {
    const size_t off_x = run == 1 || run == 2 ? OFF : 0, off_w = run == 1 || run == 3 ? OFF : 0;
    for (int64_t i = 0; i < ROWS * DEPTH; i++) tdm_store(x, i, type, (float)small(run, i));
    memset(y, 0xff, sizeof y); /* NaN */
    ACCEPTED(tdm_copy(context, at_x + off_x, x, sizeof x, TDM_TO_DEVICE, NULL));
    for (int w = 0; w < 2; w++) {
      for (int64_t i = 0; i < COLUMNS * DEPTH; i++) tdm_store(weights[w], i, type, (float)small(run + 3 + w, i));
      ACCEPTED(tdm_copy(context, at_w[w] + off_w, weights[w], sizeof weights[w], TDM_TO_DEVICE, NULL));
    }
    ACCEPTED(tdm_copy(context, at_y, y, sizeof y, TDM_TO_DEVICE, NULL));
    ACCEPTED(tdm_swiglu_run(plan, at_x + off_x, at_w[0] + off_w, at_w[1] + off_w, at_y, NULL));
    must_fall_back(off_x + off_w > 0, kernel);
    ACCEPTED(tdm_copy(context, y, at_y, sizeof y, TDM_TO_HOST, NULL));
    for (int64_t i = 0; i < ROWS; i++)
      for (int64_t j = 0; j < COLUMNS; j++) {
        int gate = 0, up = 0;
        for (int64_t k = 0; k < DEPTH; k++) {
          gate += small(run, i * DEPTH + k) * small(run + 3, j * DEPTH + k);
          up += small(run, i * DEPTH + k) * small(run + 4, j * DEPTH + k);
        }
        const double wanted = gate / (1 + exp(-gate)) * up;
        if (!(fabs(y[i * COLUMNS + j] - wanted) <= 1e-5 * fabs(wanted) + 1e-5))
          fail_msg("%s, run %d: y[%d, %d] is %g, must be %g", kernel, run, (int)i, (int)j, (double)y[i * COLUMNS + j], wanted);
      }
  }
  close_all(context, plan, (char *const[]){at_x, at_w[0], at_w[1], at_y}, 4);
}

static void swiglu(void **state) {
  (void)state;
  gate("hip_tile_16x32:split=3", TDM_F16);
  gate("hip_tile_32x64:split=2", TDM_BF16);
  gate("hip_tile_64x64:split=2", TDM_F16);
}

/* ---- attention ---- */

/* Queries of 0 make every result the mean of V, and `lse` the logarithm of the number of keys. Numbers of keys are powers of
 * two, and tiles of 64 keys have values of their own, in each run others: means are exact. */
static void attend(const char *kernel, int dim, tdm_type type) {
  enum { BATCH = 2, HEADS = 3, GROUP = 2, QUERIES = 3, KEYS = 1024, TILE = 64 };
  enum { MOST = BATCH * HEADS * KEYS * 128, ROWS = BATCH * HEADS * GROUP * QUERIES };
  static char x[MOST * sizeof(float)], result[ROWS * 128 * sizeof(float)];
  static float lse[ROWS];
  static const struct {
    int64_t keys;
    bool off;
  } runs[] = {{KEYS, false}, {KEYS, true}, {256, true}, {KEYS, false}, {64, true}, {128, false}, {0, true}, {KEYS, true}};
  const size_t moved = type == TDM_F32 ? sizeof(float) : OFF;
  tdm_context *context = open_without_pools("attention", kernel);
  tdm_plan *plan = NULL;
  char *zeros = device_bytes(context, sizeof x), *values = device_bytes(context, sizeof x + moved),
       *out = device_bytes(context, sizeof result + moved), *sums = device_bytes(context, sizeof lse);
  tdm_attention_desc d = tdm_attention_default(BATCH, HEADS * GROUP, HEADS, QUERIES, KEYS, dim, type);
  d.lse = 1;
  memset(x, 0, sizeof x);
  ACCEPTED(tdm_copy(context, zeros, x, sizeof x, TDM_TO_DEVICE, NULL));
  ACCEPTED(tdm_attention_plan(context, &d, &plan));
  if (plan->table == NULL) fail_msg("%s: the plan has no counters", kernel);
  for (size_t run = 0; run < sizeof runs / sizeof *runs; run++) {
    const int64_t keys = runs[run].keys;
    const size_t off = runs[run].off ? moved : 0, off_out = run % 3 == 0 ? off : 0;
    float mean = 0;
    for (int64_t i = 0; i < BATCH * HEADS * KEYS * dim; i++)
      tdm_store(x, i, type, (float)(i / dim % KEYS / TILE + 20 * (int64_t)(run % 2) + 1));
    for (int64_t i = 0; i < keys; i++) mean += (float)(i / TILE + 20 * (int64_t)(run % 2) + 1);
    mean = keys == 0 ? 0 : mean / (float)keys;
    memset(result, 0xff, sizeof result); /* NaN */
    memset(lse, 0xff, sizeof lse);
    ACCEPTED(tdm_copy(context, values + off, x, sizeof x, TDM_TO_DEVICE, NULL));
    ACCEPTED(tdm_copy(context, out + off_out, result, sizeof result, TDM_TO_DEVICE, NULL));
    ACCEPTED(tdm_copy(context, sums, lse, sizeof lse, TDM_TO_DEVICE, NULL));
    ACCEPTED(tdm_attention_run_keys(plan, zeros, zeros, values + off, out + off_out, (void *)sums, keys, NULL));
    must_fall_back(off > 0, kernel);
    ACCEPTED(tdm_copy(context, result, out + off_out, sizeof result, TDM_TO_HOST, NULL));
    ACCEPTED(tdm_copy(context, lse, sums, sizeof lse, TDM_TO_HOST, NULL));
    for (int i = 0; i < ROWS * dim; i++)
      if (tdm_load(result, i, type) != mean)
        fail_msg("%s, run %zu, element %d: %.9g, must be %.9g", kernel, run, i, (double)tdm_load(result, i, type),
                 (double)mean);
    for (int i = 0; i < ROWS; i++)
      if (keys == 0 ? lse[i] != -INFINITY : !(fabs(lse[i] - log((double)keys)) < 1e-6))
        fail_msg("%s, run %zu, lse %d: %.9g", kernel, run, i, (double)lse[i]);
  }
  close_all(context, plan, (char *const[]){zeros, values, out, sums}, 4);
}

static void attention(void **state) {
  (void)state;
  attend("hip_decode64", 64, TDM_F16);
  attend("hip_decode96", 96, TDM_F16);
  attend("hip_decode128", 128, TDM_F16);
  attend("hip_decode_f32", 128, TDM_F32);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup(gemm, setup), cmocka_unit_test_setup(swiglu, setup),
                                     cmocka_unit_test_setup(attention, setup)};
  if (argc != 2) {
    fprintf(stderr, "hip-fallback: use: hip-fallback DEVICE, as in sim:gfx950\n");
    return 2;
  }
  device = argv[1];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
