/* Which cases a run measures. */
#include <stdlib.h>
#include <string.h>

#include "bench/core/cases.h"
#include "bench/core/text.h"

/* What is measured if no shape is given: sizes that a host computes in milliseconds, most of them larger than its caches. The
 * options are those of the command line; NULL: the default. */
static const struct {
  const char *op, *shape, *dtype, *layout, *epilogue, *settings;
  bool brief; /* one of the few of --brief */
} standard[] = {
    {"gemm", "1024x1024x1024", "f32", NULL, NULL, NULL, true},
    {"gemm", "2048x2048x2048", "f32", NULL, NULL, NULL, false},
    {"gemm", "1024x1024x1024", "f16", NULL, NULL, NULL, false},
    {"gemm", "2048x2048x2048", "f16", NULL, NULL, NULL, false},
    {"gemm", "1024x1024x1024", "bf16", NULL, NULL, NULL, true},
    {"gemm", "2048x2048x2048", "bf16", NULL, NULL, NULL, false},
    {"gemm", "1024x1024x1024", "f32", "nt", "bias+gelu", NULL, false},
    {"gemm", "4096x4096x64", "f32", NULL, NULL, NULL, false}, /* small K: C is most of the traffic */
    {"gemm", "1x8192x2048", "f32", "nt", NULL, NULL, false},  /* decode: B is all of the traffic */
    {"gemm", "1x8192x2048", "bf16", "nt", NULL, NULL, true},
    {"swiglu", "512x1024x1024", "f32", NULL, NULL, NULL, true},
    {"rmsnorm", "8192x2048", "f32", NULL, NULL, NULL, false},
    {"rmsnorm", "8192x2048", "bf16", NULL, NULL, NULL, true},
    {"rmsnorm", "8192x2048", "f32", NULL, NULL, "residual=1", false},
    {"attention", "1x16x16x1024x1024x64", "f32", NULL, NULL, "causal=1", false},
    {"attention", "1x16x8x1024x1024x64", "bf16", NULL, NULL, "causal=1", true},
    {"attention", "1x32x8x1x8192x128", "bf16", NULL, NULL, "causal=1", true}, /* decode */
    {"rope", "4x1024x16x64", "f32", NULL, NULL, NULL, true},
    {"softmax", "8192x2048", "f32", NULL, NULL, NULL, true},
    {"embedding", "8192x32000x2048", "f32", NULL, NULL, NULL, true},
    {"silu_mul", "8192x2048", "f32", NULL, NULL, NULL, true},
    {"add", "8192x2048", "f32", NULL, NULL, NULL, false},
    {"add", "8192x2048", "bf16", NULL, NULL, NULL, true},
    {"cross_entropy", "2048x32000", "f32", NULL, NULL, NULL, true},
};
enum { STANDARD = sizeof standard / sizeof standard[0] };

/* The case of a row of the table, changed by the selectors of the command line. */
static bool standard_case(int i, const case_options *options, tdm_case *c, char *error, size_t size) {
  case_options own = *options;
  own.dtype = own.dtype != NULL ? own.dtype : (char *)(uintptr_t)standard[i].dtype;
  if (own.layout == NULL) own.layout = (char *)(uintptr_t)standard[i].layout;
  if (own.epilogue == NULL) own.epilogue = (char *)(uintptr_t)standard[i].epilogue;
  if (own.settings == NULL) own.settings = (char *)(uintptr_t)standard[i].settings;
  *c = case_default(c->op);
  return case_options_apply(&own, c, error, size) && case_parse_shape(c, standard[i].shape, error, size);
}

/* Selectors can make two cases of the standard set equal. */
static bool is_known(const bench_case_list *list, const tdm_case *c) {
  char text[BENCH_TEXT], other[BENCH_TEXT];
  case_print(c, text, sizeof text);
  for (int i = 0; i < list->count; i++) {
    case_print(&list->c[i], other, sizeof other);
    if (strcmp(text, other) == 0) return true;
  }
  return false;
}

static bool add_standard(bench_case_list *list, const case_op *op, bool brief, const case_options *options, char *error,
                         size_t size) {
  for (int i = 0; i < STANDARD; i++) {
    tdm_case c = {.op = op};
    if (strcmp(standard[i].op, op->name) != 0 || (brief && !standard[i].brief)) continue;
    if (!standard_case(i, options, &c, error, size)) return false;
    if (!is_known(list, &c)) list->c[list->count++] = c;
  }
  return true;
}

/* Random data alone, also with maxima that grow, for which attention and softmax do more: NaN would look like an element that
 * was not written, and equal or small integers can be cheaper. */
static bool check_fill(const bench_case_list *list, char *error, size_t size) {
  for (int i = 0; i < list->count; i++) {
    if (list->c[i].fill == CASE_REAL || list->c[i].fill == CASE_RISING) continue;
    snprintf(error, size, "--set fill: must be real or rising, or not be given: figures are of random data");
    return false;
  }
  return true;
}

bool bench_choose_cases(bench_case_list *list, const char *op_name, const char *shape, bool brief, const case_options *options,
                        char *error, size_t size) {
  list->count = 0;
  if (op_name == NULL) {
    if (!case_options_for_all(options, error, size)) return false;
    for (int i = 0; case_ops[i] != NULL; i++)
      if (!add_standard(list, case_ops[i], brief, options, error, size)) return false;
    return true;
  }
  const case_op *op = case_find_op(op_name);
  if (op == NULL) {
    snprintf(error, size, "OP = '%s': must be one of %s, or nothing: all of them", op_name, case_op_list());
    return false;
  }
  if (shape == NULL) return add_standard(list, op, brief, options, error, size) && check_fill(list, error, size);
  list->c[0] = case_default(op);
  list->count = 1;
  return case_options_apply(options, &list->c[0], error, size) && case_parse_shape(&list->c[0], shape, error, size) &&
         check_fill(list, error, size);
}
