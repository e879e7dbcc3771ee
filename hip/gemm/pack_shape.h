/* The workgroups of gemm_pack, shared by host and device. */
#ifndef TANDEM_HIP_GEMM_PACK_SHAPE_H
#define TANDEM_HIP_GEMM_PACK_SHAPE_H

#include "args.h"

/* Blocks of PACK_THREADS chunks that a workgroup copies at a time. In workgroups of one block each a small copy would take
 * as long as their dispatch, 16 clocks each. */
enum { PACK_BLOCKS = 4, PACK_WORKITEMS = PACK_BLOCKS * PACK_THREADS };

#endif
