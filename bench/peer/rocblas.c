/* rocBLAS, loaded when it is asked for. Functions and values: https://rocm.docs.amd.com/projects/rocBLAS/en/latest/reference/
 * (level-3, extensions, enumerations). Written without ROCm at hand: a stand-in is what tests it (bench/test/fake_blas.c). */
#include <dlfcn.h>
#include <string.h>

#include "column_major.h"

enum {
  SUCCESS = 0,
  OPERATION_NONE = 111,
  OPERATION_TRANSPOSE = 112,
  DATATYPE_F16 = 150,
  DATATYPE_F32 = 151,
  DATATYPE_BF16 = 168
};
enum { ALGO_STANDARD = 0, NO_SOLUTION_INDEX = 0, NO_FLAGS = 0 };

typedef int (*gemm_fn)(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha, const void *a,
                       int a_type, int lda, int64_t stride_a, const void *b, int b_type, int ldb, int64_t stride_b,
                       const void *beta, const void *c, int c_type, int ldc, int64_t stride_c, void *d, int d_type, int ldd,
                       int64_t stride_d, int batch, int compute_type, int algo, int32_t solution_index, uint32_t flags);

static struct {
  void *library, *handle;
  gemm_fn gemm;
  const char *(*status_text)(int status);
} blas;

static bool open_rocblas(int threads, char *version, char *reason, size_t size) {
  static const char *const files[] = {"librocblas.so.5", "librocblas.so.4", "librocblas.so"}; /* ROCm 7, 6 */
  int (*create)(void **handle), (*version_of)(char *text, size_t bytes);
  char text[64] = "of an unknown version";
  (void)threads;
  for (size_t i = 0; i < sizeof files / sizeof files[0] && blas.library == NULL; i++)
    blas.library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
  if (blas.library == NULL) {
    snprintf(reason, size, "no librocblas.so.5 or .so.4 could be loaded: it comes with ROCm");
    return false;
  }
  bench_find_symbol(blas.library, "rocblas_create_handle", &create);
  bench_find_symbol(blas.library, "rocblas_gemm_strided_batched_ex", &blas.gemm);
  bench_find_symbol(blas.library, "rocblas_status_to_string", &blas.status_text);
  bench_find_symbol(blas.library, "rocblas_get_version_string", &version_of);
  if (create == NULL || blas.gemm == NULL || blas.status_text == NULL) {
    snprintf(reason, size,
             "librocblas lacks rocblas_create_handle, rocblas_gemm_strided_batched_ex or rocblas_status_to_string");
    return false;
  }
  int status = create(&blas.handle);
  if (status != SUCCESS) {
    snprintf(reason, size, "rocblas_create_handle: %s", blas.status_text(status));
    return false;
  }
  if (version_of != NULL) version_of(text, sizeof text);
  snprintf(version, BENCH_TEXT, "rocBLAS %s", text);
  return true;
}

static bool supports(const tdm_case *c, const char *device, char *reason, size_t size) {
  return bench_columns_supported(c, device, "rocblas", reason, size);
}

static int datatype(tdm_type type) { return type == TDM_F32 ? DATATYPE_F32 : type == TDM_F16 ? DATATYPE_F16 : DATATYPE_BF16; }

static bool run(const tdm_case *c, const case_array *arrays, void *const pointers[CASE_MAX_ARRAYS], char *reason, size_t size) {
  bench_columns x = bench_columns_of(c);
  int in = datatype(c->type), out = datatype(c->out);
  int status =
      blas.gemm(blas.handle, x.turn_first ? OPERATION_TRANSPOSE : OPERATION_NONE,
                x.turn_second ? OPERATION_TRANSPOSE : OPERATION_NONE, x.m, x.n, x.k, &x.alpha, pointers[1], in, (int)x.ld[0],
                x.stride[0], pointers[0], in, (int)x.ld[1], x.stride[1], &x.beta, pointers[2], out, (int)x.ld[2], x.stride[2],
                pointers[2], out, (int)x.ld[2], x.stride[2], x.batch, DATATYPE_F32, ALGO_STANDARD, NO_SOLUTION_INDEX, NO_FLAGS);
  (void)arrays;
  if (status != SUCCESS) snprintf(reason, size, "rocblas_gemm_strided_batched_ex: %s", blas.status_text(status));
  return status == SUCCESS;
}

const bench_peer bench_rocblas = {"rocblas", open_rocblas, supports, run};
