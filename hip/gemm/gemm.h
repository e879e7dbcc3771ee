/* What the rows of gemm on HIP share (gemm.c). Each row's variant is a hip_tile_kernel, or begins with one. */
#ifndef TANDEM_HIP_GEMM_GEMM_H
#define TANDEM_HIP_GEMM_GEMM_H

#include "hip/host/tile_launch.h"

/* The kernel of hip_128x128, which supports everything. Rows that load dwords fall back to it. */
extern const hip_tile_kernel gemm_general;
/* Adds the partial sums of a K split. Every row that can split K launches it second; hip_128x128 lists it. */
extern const hip_code tdm_code_gemm_reduce[];
#define GEMM_REDUCE {.code = tdm_code_gemm_reduce, .stem = "gemm_reduce", .waves = 8}
extern const tdm_kernel tdm_gemm_hip_128x128;

static inline bool gemm_transposed_a(const tdm_gemm_desc *d) { return d->layout == TDM_TN || d->layout == TDM_TT; }
static inline bool gemm_transposed_b(const tdm_gemm_desc *d) { return d->layout == TDM_NT || d->layout == TDM_TT; }
hip_stored gemm_stored_a(const tdm_gemm_desc *d);
hip_stored gemm_stored_b(const tdm_gemm_desc *d);
hip_tile_work gemm_work(const tdm_gemm_desc *d);

/* Does this kernel support the plan's split? */
bool gemm_supports_split(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size);
/* The estimate with the plan's split. If the plan has none, with the best one. Sets *split to the one it took. */
tdm_cost gemm_best_split(const tdm_plan *plan, hip_tile_shape tile, int *split);
/* Writes that split into the plan. */
void gemm_set_split(tdm_plan *plan, hip_tile_shape tile);

/* The rows' functions. layout: of the function's name; NULL if one function does all layouts. */
tdm_status gemm_prepare(tdm_plan *plan, const hip_tile_kernel *kernel, const char *layout);
tdm_status gemm_launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream);
/* Does hip_128x128 support the plan? */
bool gemm_supports_general(const tdm_plan *plan, char *reason, size_t size);
/* For rows that load dwords: do the kernel and its fallback support the plan? */
bool gemm_supports_dwords(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size);
/* The cost of rows whose variant is a hip_tile_kernel, with one tile for all plans. */
void gemm_cost_split(const tdm_plan *plan, tdm_cost *cost);

#endif
