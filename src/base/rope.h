/* rope: what the kernels' tables and the bounds of errors have in common. */
#ifndef TANDEM_BASE_ROPE_H
#define TANDEM_BASE_ROPE_H

#include "tandem/rope.h"

/* The angle in radians by which pair i is rotated from one position to the next, with the scaling of the description. */
static inline double tdm_rope_frequency(const tdm_rope_desc *d, int64_t i) {
  const tdm_rope_scaling *s = &d->scaling;
  double frequency = __builtin_pow(d->theta, -2.0 * (double)i / (double)d->head_dim), kept = 0;
  if (s->trained > 0) {
    double rotations = (double)s->trained * frequency / 6.283185307179586;
    kept = rotations <= s->low ? 0 : rotations >= s->high ? 1 : (rotations - s->low) / (s->high - s->low);
  }
  return frequency * (kept + (1 - kept) / s->factor);
}

#endif
