/* gemm, before the tiles: copies A, B or both (engine/pack.h). */
#include "args.h"
#include "hip/engine/pack.h"

KERNEL WORKGROUP(PACK_WORKITEMS, 8) void gemm_pack_f16(gemm_pack_args g) { pack<2>(&g); }
KERNEL WORKGROUP(PACK_WORKITEMS, 8) void gemm_pack_bf16(gemm_pack_args g) { pack<2>(&g); }
