/* Host side of the kernels over rows: their geometry. */
#ifndef TANDEM_HIP_ROWS_H
#define TANDEM_HIP_ROWS_H

#include "blocks.h"
#include "hip.h"

/* Units and geometry of an elementwise kernel; `packed`: the arrays have no gaps, so they are one long row. */
void tdm_hip_blocks(tdm_plan *plan, hip_blocks *blocks, int64_t rows, int64_t cols, bool packed, tdm_type type);
/* Finds STEM_f32, STEM_f16 or STEM_bf16. */
tdm_status tdm_hip_function_of(tdm_plan *plan, const hip_code *code, const char *stem, tdm_type type);

#endif
