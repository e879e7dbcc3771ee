/* cross_entropy of a part of a vocabulary: the three results of a row. */
#ifndef TANDEM_BASE_LOSS_H
#define TANDEM_BASE_LOSS_H

#include "inline.h"
#include "tandem/cross_entropy.h"

typedef struct tdm_loss_part {
  float max, sum, target;
} tdm_loss_part;
enum { TDM_LOSS_PARTS = 3 };

/* The target's column of this part; -1: another part has it, or none. */
TDM_INLINE int64_t tdm_loss_column(const tdm_cross_entropy_desc *d, int64_t target) {
  return target >= d->first && target - d->first < d->vocab ? target - d->first : -1;
}

/* Of a row that counts; logit: the target's, 0 if another part has it. */
TDM_INLINE tdm_loss_part tdm_loss_part_of(const tdm_cross_entropy_desc *d, int64_t target, float max, float sum, float logit) {
  bool known = target >= 0 && target < d->total;
  return (tdm_loss_part){sum == sum ? max : sum, sum, known ? logit : __builtin_nanf("")};
}

#endif
