/* A case: an op with its shape, types and settings. It is what the command line of tandem-check, tandem-bench and tandem-run
 * describes, what the tools allocate and fill, and what the f64 reference computes. Shared by the tools; the library does not
 * know it, and the reference shares no code with the library except for the analysis of errors (src/base/bound.h). One file per
 * op: case/<op>.c. */
#ifndef TANDEM_CASE_CASE_H
#define TANDEM_CASE_CASE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tandem/gemm.h"
#include "tandem/tandem.h"

enum { CASE_MAX_RANK = 6, CASE_MAX_ARRAYS = 6, CASE_MAX_EPILOGUE = 32, CASE_MAX_LEADING = 4, CASE_MOST_SHIFT = 1 << 20 };

typedef struct case_op case_op;

/* How inputs are filled. */
typedef enum case_fill {
  CASE_REAL,    /* random, nearly normal, mean 0 and deviation 1; indices are valid */
  CASE_EXACT,   /* integers from -4 to 4, so that every order of summation gives the same bits */
  CASE_BIG,     /* REAL times 1e15 (f16: 1e4): sums stay finite in f32, f16 results overflow */
  CASE_EQUAL,   /* all elements of a row are equal */
  CASE_SPECIAL, /* REAL; 1 element of 167, or fewer (fill.c), is NaN, an infinity, a zero or the least f16; indices also out of
                   range */
  CASE_HUGE,    /* REAL, rows times 1e19 .. 1e37 (f16: 1.8e4): squares overflow f32 */
  CASE_TINY,    /* REAL, rows times 1e-20 .. 1e-33 (f16: 1e-4 .. 1e-6): squares vanish in f32 */
  CASE_SUBNORMAL, /* REAL times 1e-40 (f16: 2^-24) */
  CASE_RISING,    /* REAL on stairs: a new maximum every 61 elements of a row; attention: jumps of 2^16 and other powers */
  CASE_NEGATIVE,  /* REAL, rows minus 100 .. 1e38 (f16: 6e4): every maximum is far below 0 */
  CASE_MASKED,    /* rows that begin with -infinity, the rest REAL; of some rows all are -infinity */
  CASE_EDGES,     /* every element is one of 20 special values: NaN, infinities, zeros, the largest, the least, 1, 90, ... */
  CASE_GUARD      /* REAL; NaN and infinities where some results must not see them: keys and values past the diagonal, logits
                     of ignored rows */
} case_fill;

typedef struct tdm_case {
  const case_op *op;
  int64_t shape[CASE_MAX_RANK]; /* in the order of op->shape_form */
  tdm_type type, out;
  tdm_layout layout;
  tdm_epilogue_step epilogue[CASE_MAX_EPILOGUE];
  int epilogue_steps;
  /* --set: each op reads the ones that it knows (op->settings); the parser refuses the others. 0 where nothing was said,
   * unless noted. */
  double alpha, beta;                              /* 1, 0 */
  int64_t ld[CASE_MAX_LEADING];                    /* leading dimensions, in the order of op->leading; 0: packed */
  int64_t batch /* 1 */, stride[CASE_MAX_LEADING]; /* gemm: matrices, and elements between them for a, b, c, r */
  bool broadcast_a, broadcast_b;                   /* gemm */
  bool residual, causal, lse, rope_half, sums;     /* rope_half: rope=half */
  bool wide;                                       /* ids and targets are int64 */
  double eps /* 1e-5 */, scale /* 0: the op's default */, theta /* 1e4 */;
  double factor /* 1 */, low /* 1 */, high /* 4 */; /* rope: scaling */
  int64_t trained;                                  /* rope: scaling */
  int64_t offset, ignore /* -100 */, causal_rows;
  int64_t first, total; /* embedding, cross_entropy: a part of a vocabulary */
  int64_t pad;    /* unused elements after each row of every matrix whose leading dimension is not given; i more in the i-th */
  int64_t spare;  /* attention: unused rows after each head's keys and values, as in a cache with space for more */
  int64_t apart;  /* attention: unused rows after each head's queries and results */
  int64_t longer; /* attention: keys, rope: positions of the plan beyond those of the run */
  bool swap;      /* attention: stored [batch, rows, heads, d]; rope: stored [batch, heads, seq, d] */
  int64_t shift;  /* every array begins this many elements after an aligned address; at most CASE_MOST_SHIFT */
  int in_place;   /* i: the i-th word of op->in_place, counted from 1; 0: no array shares memory */
  case_fill fill;
  const char *kernel; /* the kernel that a plan has chosen; NULL: not known. The error bound of attention depends on it */
  bool fill_given;    /* by --set fill=; otherwise tandem-check makes a pass with each fill that applies */
  uint64_t seed;
} tdm_case;

typedef enum case_element { CASE_F32, CASE_F16, CASE_BF16, CASE_I32, CASE_I64 } case_element;
/* Is it a type of ids and targets? */
static inline bool case_is_index(case_element element) { return element >= CASE_I32; }

/* One array of a case, in the order of the op's run arguments. Innermost stride is 1; gaps between rows belong to nobody and
 * must survive a run. */
/* Where the elements of an excerpt's array (case_op.excerpt) lie in the whole array: (i, j) at base + i row + j column. */
typedef struct case_gather {
  int64_t base, row, column;
  bool picked_rows, picked_columns; /* i or j is the number of a column that the caller picked */
  bool zero;                        /* the elements are 0, and not those of the whole array */
} case_gather;

/* An element of an input of the whole case. */
typedef double case_element_of_input(const void *data, int input, int64_t offset);

typedef struct case_array {
  const char *name; /* "a": also the option of tandem-run, --a FILE */
  case_element element;
  bool input, output; /* both: read and replaced (C with beta not 0) */
  bool used;          /* false: this case passes NULL */
  int rank;
  int64_t dim[4], stride[4]; /* elements */
  int64_t index_limit;       /* of indices: values are 0 .. index_limit - 1 */
  int same_as;               /* an output that a run puts into the memory of this input, -1: its own */
} case_array;

/* What one op knows about its cases. */
struct case_op {
  const char *name;       /* "gemm" */
  const char *shape_form; /* "MxNxK" */
  const char *what;       /* for --help: what the op computes, in the letters of shape_form */
  int shape_rank;
  bool has_layout, has_epilogue, has_out; /* which selectors it takes */
  const char *settings;                   /* the --set keys it takes beside `leading`, fill, pad, shift: "alpha beta batch" */
  const char *leading;                    /* its leading dimensions: "lda ldb ldc ldr" */
  const char *in_place;                   /* values of --set inplace=: "a b"; NULL: the op is never in place */
  const char *overflowing;                /* fills whose sums leave f32, unless they are of f16: "huge negative"; NULL: none */
  bool (*exact)(const tdm_case *c);       /* does CASE_EXACT give exact results? NULL: never */
  /* Fills arrays[]; returns how many the op's run takes. Only after plan accepted the case: it alone checks sizes. */
  int (*arrays)(const tdm_case *c, case_array arrays[CASE_MAX_ARRAYS]);
  tdm_status (*plan)(tdm_context *context, const tdm_case *c, tdm_plan **plan);
  tdm_status (*run)(const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS], tdm_stream *stream);
  /* With a plan for more than the case (`longer`); NULL: the op has none. */
  tdm_status (*run_part)(const tdm_case *c, const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS], tdm_stream *stream);
  /* The f64 reference: row `row` (all outer dims of the output array, flattened) of output array `output`, from host copies of
   * the inputs as they were before the run. For each element of the row its value before the rounding to the output type, and
   * the allowed absolute difference from it before that rounding. */
  void (*reference)(const tdm_case *c, const case_array *arrays, const void *const inputs[CASE_MAX_ARRAYS], int output,
                    int64_t row, double *value, double *bound);
  /* How many elements of input array `index` one element of the output depends on; NULL: 1. */
  int64_t (*reach)(const tdm_case *c, int index);
  /* The op's own version of some fills: the value of an element, from 64 random bits. false, or NULL: the common version.
   */
  bool (*own_value)(const tdm_case *c, int index, const case_array *array, int64_t row, int64_t column, uint64_t bits,
                    double *value);
  /* Makes *one the case of a single row of the result: row `row` of case_excerpts. An op with a product over columns (gemm,
   * swiglu) leaves only as many columns as the caller has picked; other rows are whole. from[] says which elements of the whole
   * case's arrays, outputs too, those of *one are. So some rows can be checked without the rest. */
  void (*excerpt)(const tdm_case *c, int64_t row, int columns, case_element_of_input *input, const void *data, tdm_case *one,
                  case_gather from[CASE_MAX_ARRAYS]);
  bool excerpt_picks; /* does it take the caller's columns? */
  double (*flops)(const tdm_case *c);
  double (*bytes)(const tdm_case *c); /* each input read once, each output written once */
};

extern const case_op *const case_ops[]; /* NULL-terminated */
const case_op *case_find_op(const char *name);

/* Runs the case's plan. */
tdm_status case_run(const tdm_case *c, const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS], tdm_stream *stream);

/* Defaults for an op: real f32 data, seed 0, empty shape. */
tdm_case case_default(const case_op *op);

/* Parsers. On bad text they return false and write one line to error that names the argument, the text and what is allowed. */
bool case_parse_shape(tdm_case *c, const char *text, char *error, size_t size);    /* "257x129x65" */
bool case_parse_epilogue(tdm_case *c, const char *text, char *error, size_t size); /* "bias+gelu+scale:0.5" */
bool case_parse_settings(tdm_case *c, const char *text, char *error, size_t size); /* "out=f16,beta=1" */
bool case_parse_type(tdm_type *type, const char *text, char *error, size_t size);
bool case_parse_layout(tdm_layout *layout, const char *text, char *error, size_t size);

/* For --help. The keys of --set that an op takes, with spaces between; and a line for each, with its default. with_places: also
 * those that say where arrays are in memory and what fills them. */
void case_list_settings(const case_op *op, bool with_places, char *text, size_t size);
void case_describe_settings(FILE *out, const case_op *op, bool with_places);

/* Of a case that plan accepted: can it be checked? Not where sums of its products overflow, which are f32 and of any order, so
 * that right results are infinities or NaN and the f64 reference is finite; and not in the place of another type. */
bool case_can_check(const tdm_case *c, char *error, size_t size);

/* The case as tandem-check arguments, every setting included: "gemm --dtype bf16 --layout nt ... 257x129x65 --seed 7". */
void case_print(const tdm_case *c, char *text, size_t size);

/* What case_print wrote, for people: "gemm bf16 nt 257x129x65". Without the names of the options, the seed and fill=real. */
void case_label(const char *printed, char *text, size_t size);

/* Of op->bytes, those that are written: each output once. */
double case_written_bytes(const tdm_case *c);

/* Bytes from the first to the last element. */
size_t case_array_bytes(const case_array *array);
size_t case_element_size(case_element element);
/* Element at a flat offset (in elements) as a double, and back (rounded to nearest even). Written apart from the library's. */
double case_get(const void *base, int64_t offset, case_element element);
void case_put(void *base, int64_t offset, case_element element, double value);
/* The same of `count` elements, from `offset` on in steps of `stride` elements: sums of products take a third of the time. */
void case_get_several(const void *base, int64_t offset, int64_t stride, int count, case_element element, double *to);
/* Is a stored element right, that is, within bound of value before it was rounded to its type? NaN is right only if value is
 * NaN, and an infinity only if rounding value +- bound can give it. If bound is CASE_OR_NAN, value is infinite and NaN is
 * right too. */
#define CASE_OR_NAN (-(double)INFINITY)
bool case_accepts(double got, double value, double bound, case_element element);
/* Rows of an array (all dims but the last, flattened), and the offset of row `row`. */
int64_t case_rows(const case_array *array);
int64_t case_row_offset(const case_array *array, int64_t row);
/* Fills an input as the case's fill and seed say; gaps are left alone. */
void case_fill_array(const tdm_case *c, int index, const case_array *array, void *base);
/* The values of large arrays: element i of array number `index` is element (i + case_block_phase(index)) % CASE_BLOCK of a
 * block of random values, for indices of whole numbers below index_limit. CASE_BLOCK is prime, so that no two of the first
 * million rows of an array begin at the same element. */
enum { CASE_BLOCK = 1048573 };
void case_fill_block(uint64_t seed, case_element element, int64_t index_limit, void *block);
int64_t case_block_phase(int index);
/* How many rows case_op.excerpt can make. */
int64_t case_excerpts(const tdm_case *c);
/* Fills memory with a value that no kernel computes: a quiet NaN with a payload of its own; for integers, a number far outside
 * of every table. */
void case_poison(void *base, size_t bytes, case_element element);

#endif
