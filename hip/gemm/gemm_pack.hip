/* gemm, before the tiles: copies A, B or both (engine/pack.h). */
#include "args.h"
#include "hip/engine/pack.h"

DEVICE void pack_two(const hip_pack_first *first) {
  const gemm_pack_args *g = whole_argument<gemm_pack_args>();
  if (first->of_row[0] != 0) return pack_known(first, g);
  fetch_args(g);
  pack<2>(g);
}
#define PACK_KERNEL(name)                                                   \
  KERNEL WORKGROUP(PACK_WORKITEMS, 8) void name(ARGUMENT(gemm_pack_args)) { \
    const hip_pack_first first = FIRST_OF_ARGUMENT(hip_pack_first);         \
    pack_two(&first);                                                       \
  }
PACK_KERNEL(gemm_pack_f16)
PACK_KERNEL(gemm_pack_bf16)
