/* What the rows of gemm on HIP share (gemm.c). Each row's variant is a hip_tile_kernel, or begins with one. */
#ifndef TANDEM_HIP_GEMM_GEMM_H
#define TANDEM_HIP_GEMM_GEMM_H

#include "args.h"
#include "hip/host/pack.h"
#include "hip/host/tile_parts.h"

/* The kernel of hip_128x128, which supports everything. Rows that load dwords fall back to it. */
extern const hip_tile_kernel gemm_general;
/* Adds the partial sums of a K split. Rows whose last workgroups do not add them launch it second; hip_128x128 lists it. */
extern const hip_code tdm_code_gemm_reduce[];
#define GEMM_REDUCE {.code = tdm_code_gemm_reduce, .stem = "gemm_reduce", .waves = 8}
/* Copies operands that tiles can't load (gemm_pack.c). Every row that loads dwords can launch it first. */
extern const hip_code tdm_code_gemm_pack[];
#define GEMM_PACK {.code = tdm_code_gemm_pack, .stem = "gemm_pack", .waves = 8}
extern const tdm_kernel tdm_gemm_hip_128x128, tdm_gemm_hip_rows, tdm_gemm_hip_elements;
extern const tdm_kernel tdm_gemm_hip_shifted_32x32, tdm_gemm_hip_shifted_64x64, tdm_gemm_hip_shifted_64x128;

static inline bool gemm_transposed_a(const tdm_gemm_desc *d) { return d->layout == TDM_TN || d->layout == TDM_TT; }
static inline bool gemm_transposed_b(const tdm_gemm_desc *d) { return d->layout == TDM_NT || d->layout == TDM_TT; }
static inline hip_stored gemm_stored_a(const tdm_gemm_desc *d) {
  bool t = gemm_transposed_a(d);
  return (hip_stored){"a", t ? d->k : d->m, t ? d->m : d->k, d->lda, d->batch > 1 ? d->stride_a : 0};
}
static inline hip_stored gemm_stored_b(const tdm_gemm_desc *d) {
  bool t = gemm_transposed_b(d);
  return (hip_stored){"b", t ? d->n : d->k, t ? d->k : d->n, d->ldb, d->batch > 1 ? d->stride_b : 0};
}
/* Do all rows of both operands begin at multiples of `bytes`? */
static inline bool gemm_begin_at(const tdm_gemm_desc *d, int bytes) {
  const hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  return tdm_hip_rows_aligned(&a, d->type, bytes) && tdm_hip_rows_aligned(&b, d->type, bytes);
}
static inline hip_tile_output gemm_output(const tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return (hip_tile_output){d->m, d->n, d->batch, d->type};
}
/* Tiles for each CU, on the average. */
static inline double gemm_tiles_of_cu(const tdm_plan *plan, const hip_tile_shape *tile) {
  const hip_tile_output output = gemm_output(plan);
  return tdm_hip_tiles_of(&output, tile) / plan->context->hip->compute_units;
}
/* What the estimate of a tile with its split is made of. */
hip_tile_work gemm_work(const tdm_plan *plan, const hip_tile_shape *tile);
/* The end (gemm_end.c). */
/* Elements from one row to the next of what a tile writes and adds; offsets in a tile's 256 rows must fit in 32 bits. */
enum { GEMM_MOST_LEADING = INT32_MAX / 256 / (int)sizeof(float) };
/* The leading dimension of C or of the residual. */
int64_t gemm_ld_of_rows(const tdm_gemm_desc *d, int64_t ld);
bool gemm_long_steps(const tdm_gemm_desc *d);
bool gemm_rows_aligned(const tdm_gemm_desc *d, int bytes);
bool gemm_plain(const tdm_gemm_desc *d);
/* The step of GEMM_ADDS that is a function, or NULL. */
const tdm_epilogue_step *gemm_map_of(const tdm_gemm_desc *d);
/* GEMM_DIRECT, GEMM_ADDS or GEMM_NEAR, of a tile whose sums go to C, with offsets of 32 bits. */
int gemm_end_of(const tdm_gemm_desc *d);
bool gemm_f32_chain(const tdm_gemm_desc *d);
/* Clocks of a CU for an element of a tile, and (*of_rows) for one in a fragment that has rows. */
double gemm_chain(const tdm_plan *plan, const hip_tile_shape *tile, double *of_rows);
/* Clocks of a workgroup before its first element; where what is added is asked for before the sums are there; and what a tile
 * takes less because its end is prepared. */
double gemm_before_chain(const tdm_plan *plan, const hip_tile_shape *tile);
double gemm_before_asked(const tdm_gemm_desc *d);
double gemm_prepared_clocks(const tdm_plan *plan, const hip_tile_shape *tile);
/* Turns (gemm_turns.c). of_xcd: how many of a tile's parts an XCD has at the same time. work: without turns; gemm_add_turns
 * adds what they save. gemm_set_turns, for tiles that can take turns, sets by which share of K a tile begins later than its
 * neighbours (gemm_args), where they do. */
void gemm_add_turns(const tdm_plan *plan, const hip_tile_shape *tile, int of_xcd, hip_tile_work *work);
void gemm_set_turns(const tdm_plan *plan, const hip_tile_shape *tile, int of_xcd, const hip_tile_work *work, gemm_first *first);

/* What the estimate of a tile is multiplied by for products of its kind (gemm_share.c). */
double gemm_tile_share(const tdm_plan *plan, const hip_tile_shape *tile);

/* Does this kernel support the plan's split? */
bool gemm_supports_split(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size);
/* Clocks of a kernel with that split that tdm_hip_tile_cost leaves out. */
typedef double gemm_more(const tdm_plan *plan, int split);
/* The estimate with the plan's split, or with the best one. Sets *split to the one it took. more: or NULL. */
tdm_cost gemm_best_split(const tdm_plan *plan, hip_tile_shape tile, gemm_more *more, int *split);
/* gfx950: of hip_shifted's kernels, of few rows or columns and a long K (gemm_few.c). tile: of which one workgroup is on a CU
 * at a time; of_cu: so many are on the CU with the most; whole: by the kernel that shifts nothing. False for other products. */
bool gemm_few_clocks(const tdm_plan *plan, const hip_tile_shape *tile, int split, double of_cu, bool whole, double *clocks);
/* The estimate of gemm_best_split with that split and without an epilogue. */
double gemm_plain_clocks(const tdm_plan *plan, hip_tile_shape tile, int split);
/* Writes that split into the plan. */
void gemm_set_split(tdm_plan *plan, hip_tile_shape tile, gemm_more *more);

/* What runs launch whose arrays begin where the plan's kernel can't load them: a kernel, the plan of its argument (its split
 * and the like), the estimate, and the layout of the function's name or NULL. */
typedef struct gemm_fallback {
  tdm_plan *plan;
  const hip_tile_kernel *kernel;
  double clocks;
  const char *layout;
} gemm_fallback;

/* The rows' functions. layout: of the function's name; NULL if one function does all layouts. fallback: or NULL. */
tdm_status gemm_prepare(tdm_plan *plan, const hip_tile_kernel *kernel, const char *layout, const gemm_fallback *fallback);
/* The same for tiles, which load dwords: runs fall back to another row (gemm_fallback.c). */
tdm_status gemm_prepare_dwords(tdm_plan *plan, const hip_tile_kernel *kernel, const char *layout);
/* What hip_128x128, whose kernel is `general`, takes for the plan, with its split, if neither operand begins at a dword. */
double gemm_unaligned_clocks(const tdm_plan *plan, const hip_tile_kernel *general);
/* The tile of hip_rows and hip_elements: 0, 1, 2 for 16, 32 and 64 rows: the smallest one of which there are no more than CUs,
 * or that of 64 rows. */
int gemm_rows_place(const tdm_plan *plan);
hip_tile_shape gemm_rows_tile(int place);
/* The same for the estimates. Waves share no lines, and nothing goes through LDS but the sums: as if a workgroup had one wave.
 * A load has half of a line of 128 bytes from each of 16 rows, and the vL1D has room for whole lines. */
hip_tile_shape gemm_rows_shape(hip_tile_shape tile);
/* gemm_best_split for the two, on gfx942 with a margin: there other kernels' estimates are 3 to 10 % too high on average. */
tdm_cost gemm_rows_best_split(const tdm_plan *plan, hip_tile_shape tile, gemm_more *more, int *split);
/* How often each CU is filled with workgroups. */
double gemm_rows_rounds(const tdm_plan *plan, const hip_tile_shape *tile, int split);
/* What workgroups that share a CU take more: `clocks` each, or less if their loads take as long. */
double gemm_rows_beside(const tdm_plan *plan, const hip_tile_shape *tile, int split, double clocks);
/* Makes *as the plan of another row for arrays at any address, with nothing tuned, or of the same row. */
void gemm_plan_as(const tdm_plan *plan, const tdm_kernel *row, tdm_plan *as);
/* Makes *as the plan of hip_rows for arrays at any address, with the best split, if there is one, and *kernel its kernel. */
bool gemm_rows_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks);
/* The same of hip_elements. */
bool gemm_elements_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks);
/* The same of hip_shifted_32x32, hip_shifted_64x64 and hip_shifted_64x128. */
bool gemm_shifted_32x32_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks);
bool gemm_shifted_64x64_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks);
bool gemm_shifted_64x128_of(const tdm_plan *plan, tdm_plan *as, hip_tile_kernel *kernel, double *clocks);
tdm_status gemm_launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream);
/* Does hip_128x128 support the plan? */
bool gemm_supports_general(const tdm_plan *plan, char *reason, size_t size);
/* 16 bytes that are not at a multiple of 16 take a branch of it, in which a thread waits for them before it loads the next: 4
 * times for each operand, 2000 clocks each. 1000x1000x1001 in nt takes 65,932 clocks then (gfxsim time). */
enum { GEMM_UNALIGNED_TURNS = 4 * 2000 };
/* Of the operands that are. */
int gemm_unaligned_valu(const tdm_gemm_desc *d);
/* For rows that load dwords: do the kernel and its fallback support the plan? */
bool gemm_supports_dwords(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size);
/* The cost of rows whose variant is a hip_tile_kernel, with one tile for all plans. */
void gemm_cost_split(const tdm_plan *plan, tdm_cost *cost);

/* ---- For kernels that load dwords, gemm_pack copies operands into the workspace: rows that are not whole dwords, and those
 * that do not begin at cache lines, if it saves clocks. An operand that does not begin at a dword is copied into memory that
 * the run borrows, if that takes less than hip_128x128 ---- */

enum { GEMM_PACKS_A = 1, GEMM_PACKS_B = 2 };
/* Which operands this kernel has copied: bits. 0 for kernels that take everything. */
int gemm_packs(const tdm_plan *plan, const hip_tile_kernel *kernel);
/* Does the plan's depth load rows along k by cache lines (engine/cache_lines.h)? Then they may begin anywhere in a line. */
static inline bool gemm_by_cache_lines(const tdm_plan *plan, const hip_tile_kernel *kernel) {
  return kernel->tile.cache_lines > 0 && plan->tuning.of[TDM_TUNE_DEPTH] == kernel->tile.cache_lines;
}
/* Both operands. packs: those that gemm_packs names, or 0 where that does not matter. */
hip_copies gemm_copies(const tdm_gemm_desc *d, int packs);
bool gemm_supports_pack(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size);
double gemm_pack_clocks(const tdm_plan *plan, const hip_tile_kernel *kernel);
/* Lines that a K step loads again, for each line of an operand that is not copied. */
double gemm_loads_again(const tdm_plan *plan, int which);
/* After tdm_hip_tile_prepare: the launch before the tiles, if there is one, and its part of the workspace. fallback: the
 * clocks of hip_128x128 if neither operand begins at a dword. */
tdm_status gemm_prepare_pack(tdm_plan *plan, const hip_tile_kernel *kernel, double fallback);
/* The bytes that a run borrows for copies of operands that do not begin at dwords; and the pointers of gemm_pack, if the run
 * needs it, and of these copies in the tile's argument. */
size_t gemm_borrowed_bytes(const tdm_plan *plan, void *const *buffers);
bool gemm_pack_pointers(const tdm_plan *plan, void *const *buffers, char *borrowed, void *pack_args, void *tile_args);

#endif
