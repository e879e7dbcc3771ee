/* OpenBLAS (https://www.openblas.net), loaded when it is asked for: the bench does not link it. */
#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "bench/core/count.h"
#include "bench/core/peer.h"

/* Values of the CBLAS interface. */
enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

typedef void (*sgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                         const float *b, int ldb, float beta, float *c, int ldc);
/* bf16 words in, f32 out; in builds with BUILD_BFLOAT16. */
typedef void (*sbgemm_fn)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const uint16_t *a, int lda,
                          const uint16_t *b, int ldb, float beta, float *c, int ldc);

static struct {
  void *library;
  sgemm_fn sgemm;
  sbgemm_fn sbgemm; /* NULL: not in this build */
  char version[64];
} blas;

static bool open_openblas(int threads, char *version, char *reason, size_t size) {
  blas.library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (blas.library == NULL) {
    snprintf(reason, size, "%s", dlerror());
    return false;
  }
  void (*set_threads)(int);
  const char *(*core)(void), *(*config)(void);
  bench_find_symbol(blas.library, "cblas_sgemm", &blas.sgemm);
  bench_find_symbol(blas.library, "cblas_sbgemm", &blas.sbgemm);
  bench_find_symbol(blas.library, "openblas_set_num_threads", &set_threads);
  bench_find_symbol(blas.library, "openblas_get_corename", &core);
  bench_find_symbol(blas.library, "openblas_get_config", &config);
  if (blas.sgemm == NULL || set_threads == NULL) {
    snprintf(reason, size, "libopenblas.so.0 has no %s", blas.sgemm == NULL ? "cblas_sgemm" : "openblas_set_num_threads");
    return false;
  }
  set_threads(threads);
  snprintf(version, BENCH_TEXT, "%.160s; kernels for %.40s; %d threads", config != NULL ? config() : "OpenBLAS",
           core != NULL ? core() : "an unknown core", threads);
  return true;
}

static bool refuse(char *reason, size_t size, const char *what) {
  snprintf(reason, size, "openblas: %s", what);
  return false;
}

static bool supports(const tdm_case *c, const char *device, char *reason, size_t size) {
  if (strcmp(c->op->name, "gemm") != 0) return refuse(reason, size, "has gemm alone");
  if (strcmp(device, "host") != 0) return refuse(reason, size, "runs on the host alone");
  if (c->epilogue_steps > 0) return refuse(reason, size, "has no epilogue");
  if (c->type == TDM_F16) return refuse(reason, size, "has no f16 gemm");
  if (c->type == TDM_BF16 && blas.sbgemm == NULL) return refuse(reason, size, "this build has no cblas_sbgemm");
  if (c->out != TDM_F32) return refuse(reason, size, "writes f32 alone: --set out=f32");
  for (int i = 0; i < 3; i++)
    if (c->shape[i] > INT_MAX || c->ld[i] > INT_MAX) return refuse(reason, size, "takes dimensions up to 2^31 - 1");
  return true;
}

static int leading(const case_array *array) { return (int)array->stride[array->rank - 2]; }

/* The first element of a matrix of the batch. */
static const void *matrix(const case_array *array, const void *base, int64_t index) {
  int64_t offset = array->rank == 3 ? index * array->stride[0] : 0; /* rank 2: one matrix for the whole batch */
  return (const char *)base + offset * (int64_t)case_element_size(array->element);
}

/* CBLAS reports only bad arguments, and ends the process. */
static bool run(const tdm_case *c, const case_array *arrays, void *const pointers[CASE_MAX_ARRAYS], char *reason, size_t size) {
  int m = (int)c->shape[0], n = (int)c->shape[1], k = (int)c->shape[2];
  int trans_a = c->layout == TDM_TN || c->layout == TDM_TT ? TRANS : NO_TRANS;
  int trans_b = c->layout == TDM_NT || c->layout == TDM_TT ? TRANS : NO_TRANS;
  int lda = leading(&arrays[0]), ldb = leading(&arrays[1]), ldc = leading(&arrays[2]);
  float alpha = (float)c->alpha, beta = (float)c->beta;
  for (int64_t i = 0; i < c->batch; i++) {
    const void *a = matrix(&arrays[0], pointers[0], i), *b = matrix(&arrays[1], pointers[1], i);
    float *out = (float *)(uintptr_t)matrix(&arrays[2], pointers[2], i);
    if (c->type == TDM_BF16)
      blas.sbgemm(ROW_MAJOR, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, out, ldc);
    else
      blas.sgemm(ROW_MAJOR, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, out, ldc);
  }
  (void)reason, (void)size;
  return true;
}

const bench_peer bench_openblas = {"openblas", open_openblas, supports, run};
