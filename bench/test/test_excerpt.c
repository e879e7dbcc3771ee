/* Rows of a result that are checked as small cases of their own: an excerpt must have the same reference as the whole case, and
 * a wrong element in a picked row must be found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/core/excerpt.h"
#include "bench/shapes/shapes.h"

/* Each op; every layout and setting that says where an excerpt's elements lie. */
static const char *const lines[] = {
    "gemm 9x70x33",
    "gemm --layout nt --dtype bf16 --epilogue bias+residual+gelu 70x130x40",
    "gemm --layout tn --dtype f16 --set lda=80,ldb=140,ldc=150,alpha=2 70x130x40",
    "gemm --layout tt --epilogue residual --set beta=0.5,pad=3 12x65x40",
    "gemm --layout nt --set batch=3,broadcast_b=1 5x66x32",
    "gemm --layout tn --set batch=3,broadcast_a=1,stride_b=5000 --epilogue residual 5x66x32",
    "swiglu 9x70x33",
    "swiglu --layout nt --dtype bf16 --set pad=5 9x70x33",
    "rmsnorm --dtype f16 20x33",
    "rmsnorm --set residual=1,pad=3,inplace=x+residual 20x33",
    "attention 2x4x2x9x17x16",
    "attention --set causal=1,lse=1 2x6x2x17x20x16",
    "attention --set causal=1,swap=1,pad=4,spare=3,apart=2 2x4x4x20x9x32",
    "attention --dtype bf16 3x4x1x1x70x64",
    "rope --set rope=half,offset=9 2x20x3x16",
    "rope --dtype bf16 --set swap=1,pad=2 2x20x3x16",
    "softmax 20x33",
    "softmax --set causal_rows=16,inplace=x 32x20",
    "silu_mul --dtype bf16 --set ldg=40 20x33",
    "add --set inplace=b,shift=3 20x33",
    "embedding --set ldt=50 30x100x40",
    "cross_entropy --dtype f16 --set pad=1 30x500",
};
enum { LINES = sizeof lines / sizeof lines[0] };

typedef struct fixture {
  tdm_context *context;
  tdm_plan *plan;
  bench_shape shape;
  bench_buffers buffers;
  void *pointers[CASE_MAX_ARRAYS];
} fixture;

static void open_case(fixture *f, const char *line) {
  char reason[1024];
  tdm_options options = {.device = "host"};
  if (!bench_shape_parse(&f->shape, line, reason, sizeof reason)) fail_msg("%s: %s", line, reason);
  const tdm_case *c = &f->shape.c;
  if (tdm_open(&options, &f->context) != TDM_OK || c->op->plan(f->context, c, &f->plan) != TDM_OK)
    fail_msg("%s: %s", line, tdm_last_error());
  if (!bench_buffers_open(&f->buffers, c, f->context, 1, 0, true, reason, sizeof reason)) fail_msg("%s: %s", line, reason);
  bench_buffers_pointers(&f->buffers, 0, 0, f->pointers);
}

static void close_case(fixture *f) {
  assert_true(bench_buffers_close(&f->buffers));
  assert_int_equal(tdm_plan_free(f->plan), TDM_OK);
  assert_int_equal(tdm_close(f->context), TDM_OK);
}

/* The arrays repeat the block, and an excerpt's value and bound are those of the whole case. */
static void compare_line(const char *line) {
  fixture f;
  bench_samples samples;
  char reason[1024] = "";
  open_case(&f, line);
  const tdm_case *c = &f.shape.c;
  void *inputs[CASE_MAX_ARRAYS] = {NULL};
  for (int i = 0; i < f.buffers.count; i++) {
    const case_array *array = &f.buffers.array[i];
    size_t bytes = case_array_bytes(array);
    if (!array->used || !array->input) continue;
    inputs[i] = malloc(bytes + 1);
    memcpy(inputs[i], f.pointers[i], bytes);
    for (size_t at = 0; at < bytes / case_element_size(array->element); at++) {
      int64_t in_block = ((int64_t)at + case_block_phase(i)) % CASE_BLOCK;
      if (case_get(inputs[i], (int64_t)at, array->element) != case_get(f.buffers.block[i], in_block, array->element))
        fail_msg("%s: %s[%zu] is not the block's", line, array->name, at);
    }
  }
  if (case_run(c, f.plan, f.pointers, NULL) != TDM_OK) fail_msg("%s: %s", line, tdm_last_error());
  if (!bench_verify_excerpts(&f.buffers, 0, &samples, reason, sizeof reason)) fail_msg("%s: %s", line, reason);
  assert_true(samples.count > 0);
  for (int i = 0; i < f.buffers.count; i++) {
    const case_array *array = &f.buffers.array[i];
    if (!array->used || strcmp(array->name, samples.array) != 0) continue;
    int64_t length = array->dim[array->rank - 1];
    double *value = malloc((size_t)length * sizeof *value), *bound = malloc((size_t)length * sizeof *bound);
    for (int s = 0; s < samples.count; s++) {
      int64_t row = -1;
      for (int64_t r = 0; r < case_rows(array); r++)
        if (case_row_offset(array, r) <= samples.at[s] && samples.at[s] < case_row_offset(array, r) + length) row = r;
      assert_true(row >= 0);
      c->op->reference(c, f.buffers.array, (const void *const *)inputs, i, row, value, bound);
      int64_t column = samples.at[s] - case_row_offset(array, row);
      if (samples.value[s] != value[column] || samples.bound[s] != bound[column])
        fail_msg("%s: %s[%lld]: an excerpt says %.17g within %g, the whole %.17g within %g", line, array->name,
                 (long long)samples.at[s], samples.value[s], samples.bound[s], value[column], bound[column]);
    }
    free(value);
    free(bound);
  }
  for (int i = 0; i < CASE_MAX_ARRAYS; i++) free(inputs[i]);
  close_case(&f);
}

/* Of every op. */
static void test_same_reference(void **state) {
  (void)state;
  for (int op = 0; case_ops[op] != NULL; op++) {
    bool there = case_ops[op]->excerpt != NULL, tested = false;
    size_t length = strlen(case_ops[op]->name);
    for (int i = 0; i < LINES; i++)
      tested = tested || (strncmp(lines[i], case_ops[op]->name, length) == 0 && lines[i][length] == ' ');
    if (!there || !tested) fail_msg("%s: must have an excerpt, and a line in this test", case_ops[op]->name);
  }
  for (int i = 0; i < LINES; i++) compare_line(lines[i]);
}

/* One wrong element, and a row that was not written. */
static void test_finds(void **state) {
  (void)state;
  fixture f;
  bench_samples samples;
  char reason[1024] = "";
  open_case(&f, "gemm --dtype bf16 --layout nt 300x2000x64");
  assert_false(bench_verify_excerpts(&f.buffers, 0, NULL, reason, sizeof reason)); /* nothing was run */
  assert_non_null(strstr(reason, "wrong: c: element 0 is NaN or was not written"));
  assert_int_equal(case_run(&f.shape.c, f.plan, f.pointers, NULL), TDM_OK);
  assert_true(bench_verify_excerpts(&f.buffers, 0, &samples, reason, sizeof reason));
  assert_int_equal(samples.count, BENCH_MOST_SAMPLES);
  assert_int_equal(samples.at[0], 0);
  int64_t last = 300 * 2000 - 1, unpicked = 1;
  double before = case_get(f.pointers[2], last, CASE_BF16);
  case_put(f.pointers[2], last, CASE_BF16, before * 1.02 + 0.1);
  assert_false(bench_verify_excerpts(&f.buffers, 0, NULL, reason, sizeof reason));
  assert_non_null(strstr(reason, "wrong: c: element 599999 is "));
  case_put(f.pointers[2], last, CASE_BF16, before);
  assert_true(bench_verify_excerpts(&f.buffers, 0, NULL, reason, sizeof reason));
  for (int s = 0; s < samples.count; s++) assert_true(samples.at[s] != unpicked);
  case_put(f.pointers[2], unpicked, CASE_BF16, NAN); /* between picked columns of a picked row */
  assert_false(bench_verify_excerpts(&f.buffers, 0, NULL, reason, sizeof reason));
  assert_non_null(strstr(reason, "wrong: c: element 1 is NaN"));
  close_case(&f);
}

/* A larger array than the block, and a case of another seed after it. */
static void test_large(void **state) {
  (void)state;
  compare_line("add 1100x1000");
  compare_line("add --dtype bf16 --seed 5 1100x1000");
  compare_line("embedding --seed 6 30x100x40");
  compare_line("embedding --seed 6 30x200x40");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_reference), cmocka_unit_test(test_finds),
                                     cmocka_unit_test(test_large)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
