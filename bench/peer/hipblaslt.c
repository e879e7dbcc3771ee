/* hipBLASLt, loaded when it is asked for. Functions and values: https://rocm.docs.amd.com/projects/hipBLASLt/en/latest/ (API
 * and data type reference). Written without ROCm at hand: a stand-in is what tests it (bench/test/fake_blas.c). */
#include <dlfcn.h>
#include <string.h>

#include "column_major.h"

enum { SUCCESS = 0, OP_N = 111, OP_T = 112, COMPUTE_32F = 2, R_32F = 0, R_16F = 2, R_16BF = 14 };
enum { DESC_TRANSA = 0, DESC_TRANSB = 1, LAYOUT_BATCH_COUNT = 0, LAYOUT_BATCH_STRIDE = 1, PREF_WORKSPACE_BYTES = 1 };

/* The default of hipblaslt-bench. */
static const uint64_t WORKSPACE_BYTES = (uint64_t)128 << 20;

#define FUNCTIONS(X)                                                                                                        \
  X(Create, (void **handle))                                                                                                \
  X(GetVersion, (void *handle, int *version))                                                                               \
  X(MatmulDescCreate, (void **desc, int compute, int scale))                                                                \
  X(MatmulDescDestroy, (void *desc))                                                                                        \
  X(MatmulDescSetAttribute, (void *desc, int attribute, const void *value, size_t bytes))                                   \
  X(MatrixLayoutCreate, (void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld))                                \
  X(MatrixLayoutDestroy, (void *layout))                                                                                    \
  X(MatrixLayoutSetAttribute, (void *layout, int attribute, const void *value, size_t bytes))                               \
  X(MatmulPreferenceCreate, (void **preference))                                                                            \
  X(MatmulPreferenceDestroy, (void *preference))                                                                            \
  X(MatmulPreferenceSetAttribute, (void *preference, int attribute, const void *value, size_t bytes))                       \
  X(MatmulAlgoGetHeuristic, (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int requested, \
                             void *results, int *returned))                                                                 \
  X(Matmul, (void *handle, void *desc, const void *alpha, const void *a, void *layout_a, const void *b, void *layout_b,     \
             const void *beta, const void *c, void *layout_c, void *d, void *layout_d, const void *algo, void *workspace,   \
             size_t workspace_bytes, void *stream))

static struct {
  void *library, *handle, *workspace;
#define MEMBER(name, arguments) int(*name) arguments;
  FUNCTIONS(MEMBER)
#undef MEMBER
} lt;

/* What the current case needs: made once, as a user would. */
static struct {
  void *desc, *layout[3], *preference;
  bench_columns x;
  _Alignas(16) unsigned char result[512]; /* a hipblasLtMatmulHeuristicResult_t, whose first member is the algorithm */
} now;

static bool failed(int status, const char *function, char *reason, size_t size) {
  if (status != SUCCESS) snprintf(reason, size, "hipblasLt%s: hipblasStatus_t %d", function, status);
  return status != SUCCESS;
}
#define FAILED(name, ...) failed(lt.name(__VA_ARGS__), #name, reason, size)

static bool open_hipblaslt(int threads, char *version, char *reason, size_t size) {
  static const char *const files[] = {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"}; /* ROCm 7, 6 */
  int (*allocate)(void **pointer, size_t bytes), number = 0;
  (void)threads;
  for (size_t i = 0; i < sizeof files / sizeof files[0] && lt.library == NULL; i++)
    lt.library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
  if (lt.library == NULL) {
    snprintf(reason, size, "no libhipblaslt.so.1 or .so.0 could be loaded: it comes with ROCm");
    return false;
  }
  const char *missing = NULL;
#define FIND(name, arguments)                                 \
  bench_find_symbol(lt.library, "hipblasLt" #name, &lt.name); \
  if (lt.name == NULL) missing = "hipblasLt" #name;
  FUNCTIONS(FIND)
#undef FIND
  bench_find_symbol(lt.library, "hipMalloc", &allocate); /* of the runtime that the library itself is linked to */
  if (allocate == NULL) missing = "hipMalloc";
  if (missing != NULL) {
    snprintf(reason, size, "libhipblaslt lacks %s", missing);
    return false;
  }
  if (FAILED(Create, &lt.handle) || FAILED(GetVersion, lt.handle, &number)) return false;
  if (allocate(&lt.workspace, WORKSPACE_BYTES) != SUCCESS) {
    snprintf(reason, size, "hipMalloc: no %.0f MiB for hipBLASLt's workspace", (double)WORKSPACE_BYTES / 0x1p20);
    return false;
  }
  snprintf(version, BENCH_TEXT, "hipBLASLt %d.%d.%d", number / 100000, number / 100 % 1000, number % 100);
  return true;
}

static int data_type(tdm_type type) { return type == TDM_F32 ? R_32F : type == TDM_F16 ? R_16F : R_16BF; }

static void forget(void) {
  if (now.desc != NULL) lt.MatmulDescDestroy(now.desc);
  if (now.preference != NULL) lt.MatmulPreferenceDestroy(now.preference);
  for (int i = 0; i < 3; i++)
    if (now.layout[i] != NULL) lt.MatrixLayoutDestroy(now.layout[i]);
  memset(&now, 0, sizeof now);
}

static bool make_layout(int i, tdm_type type, char *reason, size_t size) {
  const bench_columns *x = &now.x;
  int32_t batch = x->batch;
  if (FAILED(MatrixLayoutCreate, &now.layout[i], data_type(type), (uint64_t)x->rows[i], (uint64_t)x->cols[i], x->ld[i]))
    return false;
  return batch == 1 ||
         !(FAILED(MatrixLayoutSetAttribute, now.layout[i], LAYOUT_BATCH_COUNT, &batch, sizeof batch) ||
           FAILED(MatrixLayoutSetAttribute, now.layout[i], LAYOUT_BATCH_STRIDE, &x->stride[i], sizeof x->stride[i]));
}

static bool choose(char *reason, size_t size) {
  int returned = 0;
  if (FAILED(MatmulPreferenceCreate, &now.preference) ||
      FAILED(MatmulPreferenceSetAttribute, now.preference, PREF_WORKSPACE_BYTES, &WORKSPACE_BYTES, sizeof WORKSPACE_BYTES) ||
      FAILED(MatmulAlgoGetHeuristic, lt.handle, now.desc, now.layout[0], now.layout[1], now.layout[2], now.layout[2],
             now.preference, 1, now.result, &returned))
    return false;
  if (returned == 0) snprintf(reason, size, "hipblaslt: its heuristic finds no algorithm for the case");
  return returned > 0;
}

/* What the runs of the case need is made here. */
static bool supports(const tdm_case *c, const char *device, char *reason, size_t size) {
  if (!bench_columns_supported(c, device, "hipblaslt", reason, size)) return false;
  forget();
  now.x = bench_columns_of(c);
  int32_t op_a = now.x.turn_first ? OP_T : OP_N, op_b = now.x.turn_second ? OP_T : OP_N;
  return !FAILED(MatmulDescCreate, &now.desc, COMPUTE_32F, R_32F) &&
         !FAILED(MatmulDescSetAttribute, now.desc, DESC_TRANSA, &op_a, sizeof op_a) &&
         !FAILED(MatmulDescSetAttribute, now.desc, DESC_TRANSB, &op_b, sizeof op_b) && make_layout(0, c->type, reason, size) &&
         make_layout(1, c->type, reason, size) && make_layout(2, c->out, reason, size) && choose(reason, size);
}

static bool run(const tdm_case *c, const case_array *arrays, void *const pointers[CASE_MAX_ARRAYS], char *reason, size_t size) {
  (void)c, (void)arrays;
  return !FAILED(Matmul, lt.handle, now.desc, &now.x.alpha, pointers[1], now.layout[0], pointers[0], now.layout[1], &now.x.beta,
                 pointers[2], now.layout[2], pointers[2], now.layout[2], now.result, lt.workspace, WORKSPACE_BYTES, NULL);
}

const bench_peer bench_hipblaslt = {"hipblaslt", open_hipblaslt, supports, run};
