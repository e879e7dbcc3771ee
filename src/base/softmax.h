/* softmax: which columns a row sees, for kernels and for the bounds of errors. */
#ifndef TANDEM_BASE_SOFTMAX_H
#define TANDEM_BASE_SOFTMAX_H

#include "inline.h"
#include "tandem/softmax.h"

/* The number of columns that a row sees: all of them, or those up to the diagonal of its causal matrix. */
TDM_INLINE int64_t tdm_softmax_seen(const tdm_softmax_desc *d, int64_t row) {
  if (d->causal_rows == 0) return d->cols;
  int64_t seen = row % d->causal_rows + 1 - d->causal_rows + d->cols;
  return seen < 0 ? 0 : seen < d->cols ? seen : d->cols;
}

#endif
