/* The table of ops: apart from what tools without the library use. */
#include <string.h>

#include "op.h"

const case_op *const case_ops[] = {
#define TDM_OP(number, name, row, omp, hip, of) &of,
#include "src/ops.def"
    NULL,
};

const case_op *case_find_op(const char *name) {
  for (int i = 0; case_ops[i] != NULL; i++)
    if (strcmp(case_ops[i]->name, name) == 0) return case_ops[i];
  return NULL;
}
