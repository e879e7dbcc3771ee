/* The standard sets as tables of texts, written as on the command line of tandem-check. */
#ifndef TANDEM_TEST_SETS_H
#define TANDEM_TEST_SETS_H

#include "check.h"

typedef enum check_factor_kind { CHECK_DTYPE, CHECK_LAYOUT, CHECK_EPILOGUE, CHECK_SETTINGS, CHECK_SHAPE } check_factor_kind;

enum { CHECK_MAX_FACTORS = 8 };

/* One thing that varies: its levels end with NULL. */
typedef struct check_factor {
  check_factor_kind kind;
  const char *const *levels;
} check_factor;

/* One case in addition to the combinations; NULL: the default. */
typedef struct check_single {
  const char *dtype, *layout, *epilogue, *settings, *shape;
} check_single;

typedef struct check_op_set {
  const char *op;
  int factors;
  check_factor factor[CHECK_MAX_FACTORS]; /* applied in this order */
  const check_single *single, *huge;      /* each ends with a NULL shape */
} check_op_set;

extern const check_op_set check_op_sets[]; /* ends with a NULL op */

/* More cases of an op; each array ends with a NULL op. */
typedef struct check_more {
  const char *op;
  const check_single *single;
} check_more;

extern const check_more check_always[];   /* sets_always.c: CHECK_ALWAYS */
extern const check_more check_extreme[];  /* sets_extreme.c: values at the ends of f32, maxima that rise and fall */
extern const check_more check_streamed[]; /* sets_streamed.c: CHECK_STREAMED */
extern const check_more check_kernel[];   /* sets_always.c: CHECK_KERNEL */

/* ---- Cases about memory (sets_memory.c): they always run, each by the kernel of this name (NULL: the one that is chosen) ----
 */

typedef struct check_named {
  const char *op, *kernel;
  check_single single;
} check_named;

/* Offsets beyond 2^31 and 2^32, of elements and of bytes, over sparse arrays. They end with a NULL op. */
extern const check_named check_far[];

/* The K loop of a kernel, or its loop over keys. Cases have one step, two, and as many as the pipeline holds; and one element
 * more and one less. */
typedef struct check_loop {
  const char *op, *kernel;
  bool hip;          /* a kernel of the HIP path */
  bool pairs;        /* the kernel takes only rows of whole dwords: 16-bit types vary by two elements */
  int bytes;         /* of a step along k; 0: a step is `elements` long */
  int elements;      /* of a step */
  int depth;         /* steps under way */
  const char *types; /* "f32 f16": the types that the kernel supports, one after the other */
  const char *layouts, *settings;
  const char *shape; /* with %d for the loop's length */
} check_loop;
extern const check_loop check_loops[];

#endif
