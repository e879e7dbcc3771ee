/* What an op tells the dispatcher: its outputs and their error bounds, for shadow runs, and the keys of its tuned entries. Each
 * src/op/<op>.c ends with its row. */
#ifndef TANDEM_DISPATCH_OP_H
#define TANDEM_DISPATCH_OP_H

#include "src/core/plan.h"

/* ---- Shadow runs (shadow.c) ---- */

enum { TDM_SHADOW_RANK = 4 };

/* An output as rows: all dimensions except the last are flattened. The stride of the last one is 1. */
typedef struct shadow_view {
  int buffer, rank;
  int64_t dim[TDM_SHADOW_RANK], stride[TDM_SHADOW_RANK];
  tdm_type type;
  bool exact; /* both kernels must give the same value */
} shadow_view;

/* A row of an output that is compared. */
typedef struct shadow_row {
  const tdm_plan *plan;           /* the device's */
  const tdm_epilogue_step *steps; /* gemm */
  void *const *inputs;            /* host copies from before the run, in the order of the plan's buffers */
  const void *expected;           /* the oracle's output */
  const shadow_view *view;
  int64_t row, at; /* offset of its first element */
} shadow_row;

/* ---- Tuned tables (tuned.c) ---- */

enum { TDM_TUNED_RANK = 6 };

/* What an entry is for, and what is asked for. */
typedef struct tdm_tuned_key {
  char chip[16]; /* "gfx950", "gfx942", "host", "omp" */
  tdm_op op;
  tdm_type type, out;
  char layout[8]; /* nn, nt, tn, tt; attention: causal, full; others: - */
  int rank;
  int64_t shape[TDM_TUNED_RANK];
  const char *less_aligned; /* an operand whose rows begin less aligned than packed ones, as tables have them; NULL: none */
} tdm_tuned_key;

/* What is fixed about an op's entries. */
typedef struct tdm_tuned_form {
  int least, most;     /* sizes of a shape; a size that is left out is 1 */
  const char *layouts; /* "nn nt" */
  const char *shape;   /* for messages: "MxNxK" */
} tdm_tuned_form;

/* For an op's row: sets everything except the chip. */
void tdm_tuned_key_set(tdm_tuned_key *key, tdm_type type, tdm_type out, const char *layout, int rank, const int64_t *shape);
/* The same for each operand of key->type in rows: do they begin as aligned as packed ones? */
void tdm_tuned_key_rows(tdm_tuned_key *key, const char *operand, int64_t ld, int64_t columns);

/* ---- The row ---- */

#define SHADOW_OR_NAN (-(double)INFINITY)

typedef struct tdm_op_row {
  /* The outputs of a plan: one or two. */
  int (*views)(const tdm_plan *plan, shadow_view views[2]);
  /* The error bound of one kernel for the wanted columns of a row (base/bound.h), or SHADOW_OR_NAN: a kernel may give an
   * infinity or NaN. NULL: all outputs are exact. */
  void (*errors)(const shadow_row *r, const unsigned char *wanted, double *error);
  const tdm_tuned_form *tuned; /* NULL: the op has no tuned entries */
  /* Fills in type, out, layout and shape of a plan's key. */
  void (*key)(const tdm_plan *plan, tdm_tuned_key *key);
} tdm_op_row;

/* built_in.c: what the library consists of. Of the rooms above it, the dispatcher uses only these names. */
typedef struct tdm_built_in {
  const tdm_op_row *row;
  const tdm_kernel *const *omp, *const *hip; /* each ends with NULL; hip is NULL in builds without the HIP path */
} tdm_built_in;
extern const tdm_built_in tdm_built_in_ops[TDM_OP_COUNT];
/* The steps of the ladders, which run by name; ends with NULL. */
extern const tdm_kernel *const tdm_built_in_steps[];
/* omp, then hip if it is built; ends with NULL. */
extern const tdm_backend *const tdm_built_in_backends[];

#endif
