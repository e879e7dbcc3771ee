/* The values of k that a workgroup of a K split sums. */
#ifndef TANDEM_HIP_ENGINE_K_PART_H
#define TANDEM_HIP_ENGINE_K_PART_H

#include "hip/args/find_tile.h"
#include "hip/device/mfma.h"

/* `count` from `first` on. */
typedef struct k_part {
  int64_t first, count;
} k_part;

/* Parts have `units` units of HIP_PART_UNIT bytes, the first `longer` of them one more. The last one also has the tail of k. */
DEVICE k_part k_part_of(int64_t k, int64_t units, uint32_t longer, uint32_t part, uint32_t parts, tdm_type type) {
  const int values = HIP_PART_UNIT / tdm_bytes(type);
  const int64_t more = part < longer ? part : longer, first = (part * units + more) * values;
  const int64_t end = part + 1 == parts ? k : first + (units + (part < longer)) * values;
  return (k_part){first, end - first};
}

#endif
