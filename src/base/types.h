/* Facts of the element types, from their table (types.def). */
#ifndef TANDEM_BASE_TYPES_H
#define TANDEM_BASE_TYPES_H

#include "inline.h"
#include "tandem/tandem.h"

enum {
#define TDM_TYPE(number, name, ...) TDM_INDEX_OF_##name,
#include "types.def"
  TDM_TYPES
};

/* Types as bits 1 << tdm_type: what a kernel supports if its row lists nothing. */
enum {
  TDM_USUAL_TYPES = 0
#define TDM_TYPE(number, name, bytes, unit, least, beyond, usual) | (usual) << number
#include "types.def"
};

/* The 16-bit types, as bits. A new one is added here only after all kernels whose rows name this list support it. */
enum { TDM_16_BIT_TYPES = 1 << TDM_F16 | 1 << TDM_BF16 };

/* Bytes of an element. With a constant type this is a constant, in device code too. */
TDM_INLINE int tdm_bytes(tdm_type type) {
  int found = 0; /* without a branch: in HIP's loops a switch that folds still changes the order of instructions */
#define TDM_TYPE(number, name, bytes, ...) found = type == number ? bytes : found;
#include "types.def"
  return found;
}

/* How a type rounds. */
typedef struct tdm_rounding {
  double unit;   /* half the distance from 1 to the next value: the largest relative error of one rounding */
  double least;  /* the smallest value above 0 */
  double beyond; /* magnitudes from here on become infinite */
} tdm_rounding;

static inline tdm_rounding tdm_rounding_of(tdm_type type) {
  switch (type) {
#define TDM_TYPE(number, name, bytes, unit, least, beyond, usual) \
  case number: return (tdm_rounding){unit, least, beyond};
#include "types.def"
  }
  return (tdm_rounding){0, 0, 0};
}

#endif
