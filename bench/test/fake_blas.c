/* A stand-in for librocblas and libhipblaslt that computes: naive column-major gemms over the stand-in device's memory
 * (fake.c), which is the host's. A wrong type, transposition, leading dimension or stride of the callers gives wrong results.
 * Elements are taken apart by the cases' own functions. */
#include <stdlib.h>
#include <string.h>

#include "case.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct matrix {
  int type; /* case_element */
  int64_t rows, cols, ld, stride;
  int batch;
} matrix;

enum { FAIL_INVALID = 3, N = 111, T = 112 };

static double at(const matrix *x, const void *base, int64_t i, int64_t j, int64_t matrix_index, int op) {
  int64_t row = op == T ? j : i, col = op == T ? i : j;
  return case_get(base, matrix_index * x->stride + col * x->ld + row, (case_element)x->type);
}

static int multiply(int op_a, int op_b, const float *alpha, const matrix *a, const void *pa, const matrix *b, const void *pb,
                    const float *beta, const matrix *c, void *pc) {
  int64_t m = op_a == T ? a->cols : a->rows, k = op_a == T ? a->rows : a->cols, n = op_b == T ? b->rows : b->cols;
  int64_t kb = op_b == T ? b->cols : b->rows;
  if ((op_a != N && op_a != T) || (op_b != N && op_b != T) || m != c->rows || n != c->cols || k != kb) return FAIL_INVALID;
  if (a->ld < a->rows || b->ld < b->rows || c->ld < c->rows || a->batch != c->batch || b->batch != c->batch)
    return FAIL_INVALID;
  for (int64_t z = 0; z < c->batch; z++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < m; i++) {
        double sum = 0, old = *beta == 0 ? 0 : (double)*beta * at(c, pc, i, j, z, N);
        for (int64_t p = 0; p < k; p++) sum += at(a, pa, i, p, z, op_a) * at(b, pb, p, j, z, op_b);
        case_put(pc, z * c->stride + j * c->ld + i, (case_element)c->type, (double)*alpha * sum + old);
      }
  return 0;
}

/* ---- rocBLAS ---- */

static int rocblas_element(int type) { return type == 151 ? CASE_F32 : type == 150 ? CASE_F16 : type == 168 ? CASE_BF16 : -1; }

EXPORT int rocblas_create_handle(void **handle);
EXPORT const char *rocblas_status_to_string(int status);
EXPORT int rocblas_get_version_string(char *text, size_t bytes);
EXPORT int rocblas_gemm_strided_batched_ex(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
                                           const void *a, int a_type, int lda, int64_t stride_a, const void *b, int b_type,
                                           int ldb, int64_t stride_b, const void *beta, const void *c, int c_type, int ldc,
                                           int64_t stride_c, void *d, int d_type, int ldd, int64_t stride_d, int batch,
                                           int compute_type, int algo, int32_t solution_index, uint32_t flags);

static int the_handle;
EXPORT int rocblas_create_handle(void **handle) { return *handle = &the_handle, 0; }
EXPORT const char *rocblas_status_to_string(int status) { return status == 0 ? "success" : "a stand-in's refusal"; }
EXPORT int rocblas_get_version_string(char *text, size_t bytes) { return snprintf(text, bytes, "stand-in"), 0; }
EXPORT int rocblas_gemm_strided_batched_ex(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
                                           const void *a, int a_type, int lda, int64_t stride_a, const void *b, int b_type,
                                           int ldb, int64_t stride_b, const void *beta, const void *c, int c_type, int ldc,
                                           int64_t stride_c, void *d, int d_type, int ldd, int64_t stride_d, int batch,
                                           int compute_type, int algo, int32_t solution_index, uint32_t flags) {
  matrix ma = {rocblas_element(a_type), trans_a == T ? k : m, trans_a == T ? m : k, lda, stride_a, batch};
  matrix mb = {rocblas_element(b_type), trans_b == T ? n : k, trans_b == T ? k : n, ldb, stride_b, batch};
  matrix mc = {rocblas_element(c_type), m, n, ldc, stride_c, batch};
  bool same = c == d && c_type == d_type && ldc == ldd && stride_c == stride_d && ma.type == mb.type;
  bool plain = compute_type == 151 && algo == 0 && solution_index == 0 && flags == 0 && handle == &the_handle;
  if (!same || !plain || ma.type < 0 || mc.type < 0) return FAIL_INVALID;
  return multiply(trans_a, trans_b, alpha, &ma, a, &mb, b, beta, &mc, d);
}

/* ---- hipBLASLt: every object is a block of its own ---- */

typedef struct operation {
  int32_t op[2];
} operation;

static int hip_element(int type) { return type == 0 ? CASE_F32 : type == 2 ? CASE_F16 : type == 14 ? CASE_BF16 : -1; }

static int make(void **object, size_t bytes) { return (*object = calloc(1, bytes)) != NULL ? 0 : FAIL_INVALID; }

#define LT(name, ...)                      \
  EXPORT int hipblasLt##name(__VA_ARGS__); \
  EXPORT int hipblasLt##name(__VA_ARGS__)

EXPORT int hipMalloc(void **pointer, size_t bytes);
EXPORT int hipMalloc(void **pointer, size_t bytes) { return make(pointer, bytes); }
LT(Create, void **handle) { return *handle = &the_handle, 0; }
LT(GetVersion, void *handle, int *version) { return *version = 100100, handle == &the_handle ? 0 : FAIL_INVALID; }
LT(MatmulDescCreate, void **desc, int compute, int scale) {
  return compute == 2 && scale == 0 ? make(desc, sizeof(operation)) : FAIL_INVALID;
}
LT(MatmulDescDestroy, void *desc) { return free(desc), 0; }
LT(MatmulDescSetAttribute, void *desc, int attribute, const void *value, size_t bytes) {
  if (attribute < 0 || attribute > 1 || bytes != sizeof(int32_t)) return FAIL_INVALID;
  memcpy(&((operation *)desc)->op[attribute], value, bytes);
  return 0;
}
LT(MatrixLayoutCreate, void **layout, int type, uint64_t rows, uint64_t cols, int64_t ld) {
  if (hip_element(type) < 0 || make(layout, sizeof(matrix)) != 0) return FAIL_INVALID;
  *(matrix *)*layout = (matrix){hip_element(type), (int64_t)rows, (int64_t)cols, ld, 0, 1};
  return 0;
}
LT(MatrixLayoutDestroy, void *layout) { return free(layout), 0; }
LT(MatrixLayoutSetAttribute, void *layout, int attribute, const void *value, size_t bytes) {
  matrix *x = layout;
  if (attribute == 0 && bytes == sizeof(int32_t)) return memcpy(&x->batch, value, bytes), 0;
  if (attribute == 1 && bytes == sizeof(int64_t)) return memcpy(&x->stride, value, bytes), 0;
  return FAIL_INVALID;
}
LT(MatmulPreferenceCreate, void **preference) { return make(preference, sizeof(uint64_t)); }
LT(MatmulPreferenceDestroy, void *preference) { return free(preference), 0; }
LT(MatmulPreferenceSetAttribute, void *preference, int attribute, const void *value, size_t bytes) {
  if (attribute != 1 || bytes != sizeof(uint64_t)) return FAIL_INVALID;
  memcpy(preference, value, bytes);
  return 0;
}
/* The algorithm is a mark, which Matmul wants back. */
static const char mark[16] = "the stand-in's";
LT(MatmulAlgoGetHeuristic, void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int requested,
   void *results, int *returned) {
  bool given = handle == &the_handle && desc != NULL && a != NULL && b != NULL && c == d && *(uint64_t *)preference > 0;
  if (!given || requested != 1) return FAIL_INVALID;
  memcpy(results, mark, sizeof mark);
  *returned = ((matrix *)c)->rows != 13; /* there are cases that it finds nothing for */
  return 0;
}
LT(Matmul, void *handle, void *desc, const void *alpha, const void *a, void *layout_a, const void *b, void *layout_b,
   const void *beta, const void *c, void *layout_c, void *d, void *layout_d, const void *algo, void *workspace,
   size_t workspace_bytes, void *stream) {
  const operation *o = desc;
  bool given = handle == &the_handle && memcmp(algo, mark, sizeof mark) == 0 && workspace != NULL && workspace_bytes > 0;
  if (!given || c != d || layout_c != layout_d || stream != NULL) return FAIL_INVALID;
  return multiply(o->op[0], o->op[1], alpha, layout_a, a, layout_b, b, beta, layout_c, d);
}
