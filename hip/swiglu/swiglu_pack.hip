/* swiglu, before the tiles: copies x, its weights or all of them (engine/pack.h). */
#include "args.h"
#include "hip/engine/pack.h"

KERNEL WORKGROUP(PACK_WORKITEMS, 8) void swiglu_pack_f16(swiglu_pack_args g) { fetch_args(&g), pack<3>(&g); }
KERNEL WORKGROUP(PACK_WORKITEMS, 8) void swiglu_pack_bf16(swiglu_pack_args g) { fetch_args(&g), pack<3>(&g); }
