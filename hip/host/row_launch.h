/* Host side of the kernels over rows: their grids, and what several ops share. */
#ifndef TANDEM_HIP_HOST_ROW_LAUNCH_H
#define TANDEM_HIP_HOST_ROW_LAUNCH_H

#include "hip.h"
#include "hip/args/binary.h"
#include "hip/args/blocks.h"
#include "hip/args/row_groups.h"

/* Elements of a 16-byte access. */
int64_t tdm_hip_chunk(tdm_type type);
/* Work-items that give each SIMD two waves: with fewer, latencies show. */
int64_t tdm_hip_items_wanted(const tdm_plan *plan);

/* Do all buffers begin at a dword? */
bool tdm_hip_at_dwords(const tdm_plan *plan, void *const *buffers);

/* ---- Rows that are reduced ---- */

/* What the VALUs of a SIMD work for a wave of a loop kernel, in clocks: for a turn of rows, for a batch, and for a step, which
 * is a chunk in each lane. */
typedef struct hip_wave_cost {
  double row, batch, step;
} hip_wave_cost;

/* What all kernels of an op know of its rows. */
typedef struct hip_rows {
  int64_t rows, cols;
  tdm_type type;
  int most;           /* chunks of a row that a work-item keeps in registers, of those kernels that do: 1, 2, 4 or 8 */
  bool packs;         /* two rows rather share a wave than leave it a quarter empty: softmax, whose VALUs have most work */
  bool pairs;         /* two waves may keep a row that is too long for one */
  bool any;           /* the kernel for any rows is needed, whatever their length */
  bool twice;         /* loops read a row twice */
  int waves;          /* that a SIMD gets of a loop; 0: as the table says */
  int ragged;         /* the function for ragged rows that no work-items keep in registers; 0: that for any rows takes them */
  unsigned dwords;    /* buffers, as bits, that the kernels for ragged rows need at a dword: rmsnorm's weights */
  double alone;       /* clocks for a byte of a long row that is read twice, if a compute unit has one workgroup alone */
  int functions;      /* number of the first of the functions for these rows */
  hip_wave_cost wave; /* of a loop, to choose the row groups' size by; 0: they have eight chunks in each work-item */
} hip_rows;

/* The number of chunks that each work-item has to keep, 1, 2, 4 or 8, so that a row fits into a row group's registers; 0: it
 * does not fit. */
int tdm_hip_kept(const tdm_hip_device *device, const hip_rows *rows);
/* The work-items of a row group in a kernel for rows of any length. */
int64_t tdm_hip_loop_group(const tdm_hip_device *device, const hip_rows *rows);

/* What an element of a row costs. each: clocks that a compute unit takes for an element of rows of whole chunks, of 16 bits and
 * of f32: on gfx950, and on gfx942 (tdm_hip_half_lines). accesses: of an element in memory, reads and writes. Of hip_parts: its
 * launches, and the reads that the second one repeats. */
typedef struct hip_row_cost {
  double each[2][2];
  int accesses, launches, again;
} hip_row_cost;

/* Variants of an op's kernels: its rows and their cost, and whether the kernel keeps a row in registers. Both kinds share a
 * list of functions: one for all rows, one for rows of whole chunks, and two each that keep 1, 2, 4 and 8 chunks: of rows of
 * whole chunks, and of ragged rows, whose ends are no whole chunks, or which begin between two dwords. */
typedef struct hip_row_variant {
  hip_rows (*rows)(const tdm_plan *plan);
  hip_row_cost (*cost)(const tdm_plan *plan); /* NULL for kernels that are chosen by their place in the table */
  bool in_registers;
} hip_row_variant;
enum { HIP_ROWS_ANY, HIP_ROWS_WHOLE, HIP_ROWS_KEPT };

/* For `supports` of a kernel whose variant is in_registers: does a row fit? */
bool tdm_hip_fits_registers(const tdm_plan *plan, char *reason, size_t size);

/* What a plan keeps of its rows besides its kernel's argument: the functions for rows that are not whole chunks at dwords. */
typedef struct hip_any_rows {
  void *function;
  void *ragged; /* takes rows that begin alike in all arrays; NULL: there is none */
  bool always;  /* by their lengths alone */
  unsigned dwords;
} hip_any_rows;

/* Row groups of `size` work-items, of which each takes `turns` rows before the grid strides, and the plan's grid, for function
 * `number` of the row. */
void tdm_hip_row_groups(tdm_plan *plan, hip_row_groups *groups, const hip_rows *rows, int64_t size, int64_t turns, int number);

/* Finds the kernels of the plan's variant, and sets its row groups and its grid. leading: that of each array, `arrays` of
 * them. */
tdm_status tdm_hip_rows_prepare(tdm_plan *plan, hip_row_groups *groups, hip_any_rows *any, const hip_rows *rows,
                                const int64_t *leading, int arrays);
/* Launches the kernel for whole chunks if all arrays begin at dwords; else the one for ragged rows if they begin alike, or the
 * one for any rows. */
tdm_status tdm_hip_rows_launch(const tdm_plan *plan, const hip_any_rows *any, const void *args, size_t bytes,
                               void *const *buffers, tdm_stream *stream);

/* Short rows without gaps between them (hip/device/near_rows.h): work-items that share one, the rows that a wave loads at once,
 * their bytes, and the waves of a SIMD at most. */
typedef struct hip_near_group {
  int64_t size, rows, bytes, waves;
} hip_near_group;
/* of_four: bytes that a wave loads at most if four work-items share a row. false: for gaps, or rows too long or too few. */
bool tdm_hip_near_group(const tdm_plan *plan, hip_near_group *group, const hip_rows *rows, bool gaps, int64_t of_four);

/* A way to launch the kernels for short rows without gaps between them, from a dword on; without a function there is none. */
typedef struct hip_near_rows {
  void *function;
  hip_row_groups groups;
} hip_near_rows;

/* Finds it: the function is number `number` of the row for ranges of up to HIP_NEAR_BYTES / 2, or the next one. gaps: between
 * rows of any array. The plan's grid stays as it is. */
tdm_status tdm_hip_near_prepare(tdm_plan *plan, hip_near_rows *near, const hip_rows *rows, bool gaps, int number);
/* Launches it where the pointers of a run allow, else the kernels for any rows. groups: those in `args`. */
tdm_status tdm_hip_near_launch(const tdm_plan *plan, const hip_near_rows *near, const hip_any_rows *any, hip_row_groups *groups,
                               const void *args, size_t bytes, void *const *buffers, tdm_stream *stream);

/* ---- Elementwise ops ---- */

/* One of two ways to launch an elementwise kernel. */
typedef struct hip_blocks_way {
  void *function;
  hip_blocks blocks;
} hip_blocks_way;

/* Rows of whole chunks at dwords, and any rows: these may need a chunk more. */
typedef struct hip_blocks_plan {
  hip_blocks_way whole, any;
  bool always;        /* any rows, by their lengths alone, or by the caller's word */
  bool ahead;         /* the caller's: the kernel loads from one unit to the next, so few workgroups should have many units */
  int waves;          /* the caller's: that a SIMD gets of the function for whole chunks; 0: as the table says */
  int instead;        /* the caller's: the function for whole chunks, if it is not the usual one; 0: it is */
  int64_t any_items;  /* the caller's: of a row, for the kernel for any rows; 0: a chunk each, and one more for one that begins
                      * before the row */
  int64_t whole_rows; /* the caller's: rows for the function for whole chunks, if it takes several as one; 0: it does not */
} hip_blocks_plan;

/* Finds STEM_TYPE of function 2 `number` of the row for any rows, and of the next one for whole chunks; sets their units. cols:
 * of a row; `leading`: what else must be whole dwords. */
tdm_status tdm_hip_blocks_prepare(tdm_plan *plan, hip_blocks_plan *b, int number, int64_t rows, int64_t cols, tdm_type type,
                                  const int64_t *leading, int count);
/* The way for the run's pointers. Sets *kernel. */
const hip_blocks_way *tdm_hip_blocks_choose(const tdm_plan *plan, const hip_blocks_plan *b, void *const *buffers,
                                            tdm_hip_kernel *kernel);

/* Finds STEM_TYPE of number `number` of the row's functions. */
tdm_status tdm_hip_row_function(tdm_plan *plan, int number, tdm_type type, void **function);

/* Ops of two arrays: args contains the leading dimensions. */
tdm_status tdm_hip_binary_prepare(tdm_plan *plan, binary_args args, int64_t rows, int64_t cols, tdm_type type);
tdm_status tdm_hip_binary_launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream);

#endif
