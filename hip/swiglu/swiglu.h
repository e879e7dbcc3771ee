/* What swiglu's files on HIP share. */
#ifndef TANDEM_HIP_SWIGLU_SWIGLU_H
#define TANDEM_HIP_SWIGLU_SWIGLU_H

#include "args.h"
#include "hip/host/pack.h"
#include "hip/host/tile_parts.h"

static inline hip_tile_output swiglu_output(const tdm_swiglu_desc *d) { return (hip_tile_output){d->m, d->n, 1, d->type}; }

/* Operands in their order: x, wg, wu. */
enum { SWIGLU_OPERANDS = 3 };
hip_operand swiglu_operand(const tdm_swiglu_desc *d, int of);

/* swiglu_pack copies operands for kernels that load dwords. Bit 1 << of: this one. 0 for kernels that take everything. */
int swiglu_packs(const tdm_plan *plan, const hip_tile_kernel *kernel);
/* All operands. packs: those that swiglu_packs names, or 0 where that does not matter. */
hip_copies swiglu_copies(const tdm_swiglu_desc *d, int packs);
double swiglu_pack_clocks(const tdm_plan *plan, const hip_tile_kernel *kernel);
/* Lines that a K step loads again, for each line of an operand that is not copied. */
double swiglu_loads_again(const tdm_plan *plan, const hip_tile_kernel *kernel, int of);
/* After tdm_hip_tile_prepare: the launch before the tiles, if there is one, and the workspace. */
tdm_status swiglu_prepare_pack(tdm_plan *plan, const hip_tile_kernel *kernel);

/* Of a hip_tile_op. */
size_t swiglu_borrowed_bytes(const tdm_plan *plan, void *const *buffers);
bool swiglu_pack_pointers(const tdm_plan *plan, void *const *buffers, char *borrowed, void *pack_args, void *tile_args);

extern const hip_code tdm_code_swiglu_pack[];
#define SWIGLU_PACK {.code = tdm_code_swiglu_pack, .stem = "swiglu_pack", .waves = 8}

/* ---- K splits of kernels whose tile.last_adds is set ---- */

/* The plan's split, or 1. */
int swiglu_parts(const tdm_plan *plan, const hip_tile_kernel *kernel);
bool swiglu_supports_split(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size);
/* The estimate without copies, with the plan's split, or with the best one. Sets *split to the one it took. */
tdm_cost swiglu_best_split(const tdm_plan *plan, const hip_tile_shape *tile, const hip_tile_work *work, int *split);
/* The order of workgroups, their turns, and what they need of the plan's split. work: of the estimate. */
void swiglu_set_parts(const tdm_plan *plan, const hip_tile_kernel *kernel, const hip_tile_work *work, swiglu_args *args);
void swiglu_set_part_pointers(const tdm_plan *plan, swiglu_args *args);
/* The workspace for parts, and a counter for each tile. */
tdm_status swiglu_prepare_split(tdm_plan *plan, const hip_tile_kernel *kernel);

#endif
