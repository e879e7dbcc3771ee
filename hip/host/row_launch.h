/* Host side of the kernels over rows: their grids, and what several ops share. */
#ifndef TANDEM_HIP_HOST_ROW_LAUNCH_H
#define TANDEM_HIP_HOST_ROW_LAUNCH_H

#include "hip.h"
#include "hip/args/binary.h"
#include "hip/args/blocks.h"
#include "hip/args/row_groups.h"

/* Elements of a 16-byte access. */
int64_t tdm_hip_chunk(tdm_type type);
/* Sets the units and the grid of an elementwise kernel whose work-items take `chunk` elements of a row each. */
void tdm_hip_blocks(tdm_plan *plan, hip_blocks *blocks, int64_t rows, int64_t cols, int64_t chunk);
/* Sets the row groups and the grid of a kernel that reduces rows; a work-item keeps at most `kept` chunks. */
void tdm_hip_row_groups(tdm_plan *plan, hip_row_groups *groups, int64_t rows, int64_t cols, int64_t kept, tdm_type type);
/* The number of chunks that each work-item has to keep, 1, 2, 4 or (f32) 8, so that a row fits into a row group's registers; 0:
 * it does not fit. */
int tdm_hip_kept(int64_t cols, tdm_type type);
/* For a kernel's `supports`: is tdm_hip_kept above 0? */
bool tdm_hip_fits_registers(int64_t cols, tdm_type type, char *reason, size_t size);
/* Variants of the ops that have one kernel for rows of any length, and kernels that keep a row in registers. The functions of
 * the latter row are those for 1, 2, 4 and (f32) 8 chunks in each work-item, in this order. */
typedef struct hip_row_variant {
  bool in_registers;
} hip_row_variant;
extern const hip_row_variant hip_row_registers, hip_row_loop;
/* Finds the kernel of the plan's variant, and sets its row groups and its grid. */
tdm_status tdm_hip_rows_prepare(tdm_plan *plan, hip_row_groups *groups, int64_t rows, int64_t cols, tdm_type type);

/* Finds STEM_TYPE of number `number` of the row's functions. */
tdm_status tdm_hip_row_function(tdm_plan *plan, int number, tdm_type type);

/* Elementwise ops of two arrays: args contains the leading dimensions. */
tdm_status tdm_hip_binary_prepare(tdm_plan *plan, binary_args args, int64_t rows, int64_t cols, tdm_type type);
tdm_status tdm_hip_binary_launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream);

#endif
