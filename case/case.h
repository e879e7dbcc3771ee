/* A case: an op with its shape, types and settings. It is what the command line of tandem-check, tandem-bench and tandem-run
 * describes, what the tools allocate and fill, and what the f64 reference computes. Shared by the tools; the library does not
 * know it, and the reference shares no code with the library. One file per op: case/<op>.c. */
#ifndef TANDEM_CASE_H
#define TANDEM_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tandem/gemm.h"
#include "tandem/tandem.h"

enum { CASE_MAX_RANK = 6, CASE_MAX_ARRAYS = 6, CASE_MAX_EPILOGUE = 32 };

typedef struct case_op case_op;

/* How inputs are filled. EXACT: small integers, so that every order of summation gives the same bits. REAL: normal random data.
 * The others are REAL with something planted. */
typedef enum case_fill { CASE_EXACT, CASE_REAL, CASE_BIG, CASE_EQUAL, CASE_SPECIAL } case_fill;

typedef struct tdm_case {
  const case_op *op;
  int64_t shape[CASE_MAX_RANK]; /* in the order of op->shape_form */
  tdm_type type, out;
  tdm_layout layout;
  tdm_epilogue_step epilogue[CASE_MAX_EPILOGUE];
  int epilogue_steps;
  /* --set: each op reads the ones that it knows; the parser refuses the others. 0 where nothing was said, unless noted. */
  double alpha, beta; /* 1, 0 */
  int64_t lda, ldb, ldc, batch /* 1 */;
  bool residual, causal, lse;
  double eps /* 1e-5 */, scale /* 0: the op's default */, theta /* 1e4 */;
  bool rope_half;
  int64_t offset;
  case_fill fill;
  uint64_t seed;
} tdm_case;

typedef enum case_element { CASE_F32, CASE_F16, CASE_BF16, CASE_I32 } case_element;

/* One array of a case, in the order of the op's run arguments. Innermost stride is 1; gaps between rows belong to nobody and
 * must survive a run. */
typedef struct case_array {
  const char *name; /* "a": also the option of tandem-run, --a FILE */
  case_element element;
  bool input, output; /* both: read and replaced (C with beta) */
  bool used;          /* false: this case passes NULL */
  int rank;
  int64_t dim[4], stride[4]; /* elements */
  int64_t index_limit;       /* CASE_I32: values are 0 .. index_limit - 1 */
} case_array;

/* What one op knows about its cases. */
struct case_op {
  const char *name;       /* "gemm" */
  const char *shape_form; /* "MxNxK" */
  int shape_rank;
  bool has_layout, has_epilogue, has_out; /* which selectors it takes */
  const char *settings;                   /* the --set keys it takes: "alpha beta lda ldb ldc batch out" */
  bool exact;                             /* made of sums and products: CASE_EXACT applies (gemm: depends on the epilogue) */
  /* Fills arrays[]; returns how many the op's run takes. */
  int (*arrays)(const tdm_case *c, case_array arrays[CASE_MAX_ARRAYS]);
  tdm_status (*plan)(tdm_context *context, const tdm_case *c, tdm_plan **plan);
  tdm_status (*run)(const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS], tdm_stream *stream);
  /* The f64 reference: row `row` (all outer dims of the output array, flattened) of output array `output`, from host copies of
   * the inputs as they were before the run. value[i] and bound[i] (allowed absolute difference) for each element of the row. */
  void (*reference)(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                    int64_t row, double *value, double *bound);
  double (*flops)(const tdm_case *c);
  double (*bytes)(const tdm_case *c); /* each input read once, each output written once */
};

extern const case_op *const case_ops[]; /* NULL-terminated */
const case_op *case_find_op(const char *name);

/* Defaults for an op: real f32 data, seed 0, empty shape. */
tdm_case case_default(const case_op *op);

/* Parsers. On bad text they return false and write one line to error that names the argument, the text and what is allowed. */
bool case_parse_shape(tdm_case *c, const char *text, char *error, size_t size);    /* "257x129x65" */
bool case_parse_epilogue(tdm_case *c, const char *text, char *error, size_t size); /* "bias+gelu+scale:0.5" */
bool case_parse_settings(tdm_case *c, const char *text, char *error, size_t size); /* "out=f16,beta=1" */
bool case_parse_type(tdm_type *type, const char *text, char *error, size_t size);
bool case_parse_layout(tdm_layout *layout, const char *text, char *error, size_t size);

/* The case as tandem-check arguments, every setting included: "gemm --dtype bf16 --layout nt ... 257x129x65 --seed 7". */
void case_print(const tdm_case *c, char *text, size_t size);

/* Bytes from the first to the last element. */
size_t case_array_bytes(const case_array *array);
size_t case_element_size(case_element element);
/* Element at a flat offset (in elements) as a double, and back (rounded to nearest even). Written apart from the library's. */
double case_get(const void *base, int64_t offset, case_element element);
void case_put(void *base, int64_t offset, case_element element, double value);
/* Rows of an array (all dims but the last, flattened), and the offset of row `row`. */
int64_t case_rows(const case_array *array);
int64_t case_row_offset(const case_array *array, int64_t row);
/* Fills an input as the case's fill and seed say; gaps are left alone. */
void case_fill_array(const tdm_case *c, int index, const case_array *array, void *base);

#endif
