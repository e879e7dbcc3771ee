/* The chip that device code is compiled for. Only this file asks the compiler for it: elsewhere code asks for what a chip has.
 * A new chip is a row of src/base/chip.h and a branch here. Source of what its instructions can do: the ISA documents of CDNA 3
 * and 4. */
#ifndef TANDEM_HIP_DEVICE_CHIP_H
#define TANDEM_HIP_DEVICE_CHIP_H

#include "src/base/chip.h"

#if defined(__gfx942__)
enum { CHIP_NUMBER = TDM_GFX942 };
#define CHIP_LDS_BYTES 65536        /* of a CU */
#define CHIP_LDS_BANKS 32           /* of 4 bytes, as the widest reads see them */
#define CHIP_LOAD_TO_LDS_BYTES 4    /* that a lane moves with one load-to-LDS */
#define CHIP_TRANSPOSED_LDS_READS 0 /* ds_read_b64_tr_b16 */
#define CHIP_MFMA_16BIT_K 16        /* values of k of the 16 x 16 instruction for f16 and bf16 */
#define CHIP_PACKED_CONVERSIONS 0   /* v_cvt_pk_f16_f32, v_cvt_pk_bf16_f32: round two floats to nearest */
#define CHIP_LANE_SWAP 0            /* v_permlane32_swap_b32 */
#elif defined(__gfx950__)
enum { CHIP_NUMBER = TDM_GFX950 };
#define CHIP_LDS_BYTES 163840
#define CHIP_LDS_BANKS 64
#define CHIP_LOAD_TO_LDS_BYTES 16
#define CHIP_TRANSPOSED_LDS_READS 1
#define CHIP_MFMA_16BIT_K 32
#define CHIP_PACKED_CONVERSIONS 1
#define CHIP_LANE_SWAP 1
#else
#error "hip/device/chip.h: it says nothing about this chip; the chips of tandem's kernels are gfx942 and gfx950"
#endif

#define CHIP tdm_chips[CHIP_NUMBER]
static_assert(CHIP_LDS_BYTES == CHIP.lds_bytes && CHIP_LDS_BANKS == CHIP.lds_banks, "src/base/chip.h has other numbers");

#endif
