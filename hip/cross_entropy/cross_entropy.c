/* cross_entropy on HIP: its row, and the launch of its kernel. */
#include <string.h>

#include "args.h"
#include "hip/host/row_parts.h"

extern const hip_code tdm_code_cross_entropy[];

/* A way to launch the kernels for short rows. */
typedef struct short_way {
  void *function;
  hip_row_groups groups;
  int32_t turns;
} short_way;

typedef struct cross_entropy_plan {
  cross_entropy_args args;
  hip_any_rows any;
  bool is_short;
  short_way ragged; /* for pointers that are not at dwords, if the plan's own is not for them */
  short_way near;   /* for rows without gaps, from a dword on; without a function there is none */
} cross_entropy_plan;
_Static_assert(sizeof(cross_entropy_plan) <= TDM_PLAN_ARGS, "fits the plan");

/* Functions for short rows: eight work-items with one chunk each, or sixteen, of whole chunks and then ragged; and eight with
 * two each. */
enum { SHORT_CHUNKS = 16, SHORT_8X1 = HIP_ROWS_KEPT, SHORT_16X1 = SHORT_8X1 + 2, SHORT_8X2 = SHORT_16X1 + 2, NEAR_2, NEAR_4 };

/* The clocks of a wave are those of the VALUs of gfx950, by counts, in loops of 1537 to 9001 elements. For rows of whole chunks
 * a turn takes 140 less, and on gfx942 an element takes 30 instead of 22; that changes few choices. */
static hip_rows rows_of(const tdm_plan *plan) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  const double step = 22 * (double)tdm_hip_chunk(d->type);
  return (hip_rows){d->rows, d->vocab, d->type, .most = 0, .wave = {.row = 500, .batch = 100, .step = step}};
}

static cross_entropy_args args_of(const tdm_cross_entropy_desc *d) {
  return (cross_entropy_args){.ldl = d->ldl,
                              .first = d->first,
                              .total = d->total,
                              .ignore = d->ignore,
                              .index = (int32_t)d->targets,
                              .groups = {.rows = d->rows, .cols = d->vocab}};
}

/* Pieces of rows that do not begin at cache lines are in one line more than they need, so sixteen work-items load them and not
 * eight. Each lane of a group keeps a turn's row; fewer turns if there are too few rows for the device. */
static tdm_status find_short(tdm_plan *plan, short_way *way, const hip_rows *r, int64_t leading, bool ragged) {
  const int64_t chunks = r->cols / tdm_hip_chunk(r->type), line = plan->context->hip->chip->line_bytes;
  const bool lines = !ragged && leading % line * (int64_t)tdm_type_size(r->type) % line == 0;
  const int number = chunks <= 8 ? SHORT_8X1 + ragged : lines ? SHORT_8X2 : SHORT_16X1 + ragged;
  const int32_t size = chunks <= 8 || lines ? 8 : 16;
  way->turns = size;
  while (way->turns > 2 && r->rows < hip_ceil_div(way->turns * tdm_hip_items_wanted(plan), size)) way->turns /= 2;
  tdm_hip_row_groups(plan, &way->groups, r, size, way->turns, number);
  return tdm_hip_row_function(plan, number, r->type, &way->function);
}

static tdm_status prepare_short(tdm_plan *plan, cross_entropy_plan *own, const hip_rows *r, int64_t leading) {
  const bool always = r->cols % tdm_hip_chunk(r->type) != 0 || !tdm_hip_whole_dwords(leading, r->type);
  short_way usual;
  own->is_short = true;
  TDM_TRY(find_short(plan, &own->ragged, r, leading, true));
  TDM_TRY(find_short(plan, &usual, r, leading, always)); /* the last one sets the plan's grid */
  own->args.groups = usual.groups;
  own->args.turns = usual.turns;
  plan->hip.function = usual.function;
  return TDM_OK;
}

/* Rows without gaps between them, short enough for a wave to load two of them at once or more, or one that is not whole chunks:
 * the loop takes rows of whole chunks as fast, but odd lengths of 16-bit types slower: 1169 and 1501 bf16 got 0.87 and 0.85 of
 * the rate of memory in it, and get 0.97 and 1.01, predicted. The kernel for short rows writes the loss of rows without
 * elements.
 *
 * Up to 88 elements of 16 bits are shared by four work-items: the VALUs are the limit of such rows, and eight work-items, which
 * read a dword each in a step, leave most of their last step idle. 66 bf16 got 0.78 of the rate of memory with eight, and get
 * 0.92, predicted; 96 would lose 2 %, and f32, of which the VALUs have half as much to do, as much. */
static tdm_status find_near(tdm_plan *plan, short_way *way, const hip_rows *r, int64_t leading) {
  hip_near_group group;
  const int64_t of_four = r->type == TDM_F32 ? HIP_NEAR_BYTES / 2 : HIP_NEAR_BYTES * 11 / 16;
  if (!tdm_hip_near_group(plan, &group, r, leading != r->cols, of_four) || (group.rows == 1 && group.bytes % 16 == 0))
    return TDM_OK;
  const int number = group.bytes > HIP_NEAR_BYTES / 2 ? NEAR_4 : NEAR_2;
  tdm_hip_row_groups(plan, &way->groups, r, group.size, 1, number);
  const int64_t most = group.waves * plan->context->hip->compute_units, of_turn = HIP_ROWS_WORKGROUP / group.size;
  if (way->groups.workgroups > most) way->groups.workgroups = most;
  const int64_t turns = hip_ceil_div(r->rows, of_turn * way->groups.workgroups);
  if (turns > INT32_MAX) return TDM_OK;
  way->turns = (int32_t)turns;
  way->groups.workgroups = hip_ceil_div(r->rows, of_turn * way->turns);
  return tdm_hip_row_function(plan, number, r->type, &way->function);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  cross_entropy_plan own = {.args = args_of(d)};
  hip_rows rows = rows_of(plan);
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(rows.cols / tdm_hip_chunk(rows.type) <= SHORT_CHUNKS
              ? prepare_short(plan, &own, &rows, d->ldl)
              : tdm_hip_rows_prepare(plan, &own.args.groups, &own.any, &rows, &d->ldl, 1));
  const tdm_hip_kernel usual = plan->hip; /* also for pointers that are not at dwords */
  TDM_TRY(find_near(plan, &own.near, &rows, d->ldl));
  plan->hip = usual;
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static void set_buffers(cross_entropy_args *args, void *const *buffers) {
  args->logits = buffers[0];
  args->targets = buffers[1];
  args->loss = buffers[2];
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  cross_entropy_plan own;
  memcpy(&own, plan->args, sizeof own);
  set_buffers(&own.args, buffers);
  const bool at_dwords = tdm_hip_at_dwords(plan, buffers);
  const short_way *way = at_dwords ? own.near.function != NULL ? &own.near : NULL : own.is_short ? &own.ragged : NULL;
  if (way == NULL && !own.is_short) return tdm_hip_rows_launch(plan, &own.any, &own.args, sizeof own.args, buffers, stream);
  tdm_hip_kernel kernel = plan->hip;
  if (way != NULL) {
    kernel = (tdm_hip_kernel){
        .function = way->function, .grid = {(unsigned)way->groups.workgroups, 1, 1}, .block = (unsigned)way->groups.threads};
    own.args.groups = way->groups;
    own.args.turns = way->turns;
  }
  return tdm_hip_launch(plan, &kernel, &own.args, sizeof own.args, stream);
}

/* ---- Rows that are split over workgroups ---- */

_Static_assert(sizeof(cross_entropy_parts_args) <= TDM_PLAN_ARGS, "fits the plan");

static tdm_status prepare_parts(tdm_plan *plan) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  cross_entropy_parts_args args = {.rows = args_of(d)};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(tdm_hip_parts_prepare(plan, &args.parts, NULL, 2 * sizeof *args.sums));
  plan->workspace_bytes += (size_t)d->rows * sizeof *args.sums;
  TDM_TRY(tdm_hip_upload_counters(plan, NULL, 0, (size_t)d->rows));
  memcpy(plan->args, &args, sizeof args);
  return TDM_OK;
}

static tdm_status launch_parts(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  cross_entropy_parts_args args;
  memcpy(&args, plan->args, sizeof args);
  set_buffers(&args.rows, buffers);
  args.sums = plan->workspace;
  args.counters = plan->table;
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

/* A compute unit is predicted to take 13,400 clocks for a row of 65536 bf16, 21,200 for one of 128256, and 26,800 in f32; on
 * gfx942 15,400, 25,200 and 30,600. */
static hip_row_cost cost_of(const tdm_plan *plan) {
  (void)plan;
  return (hip_row_cost){.each = {{0.13, 0.175}, {0.16, 0.205}}, .accesses = 1, .launches = 1};
}

static const hip_row_variant loop = {.rows = rows_of, .cost = cost_of};

/* Loops over long rows get three waves where a SIMD could hold four: each loads 4 KiB at once, and what has no room in the vL1D
 * fills its queue, at which waves wait that could compute. 50257 and 131072 bf16 get 0.86 and 0.87 of the rate of memory with
 * four, and 0.95 and 0.97 with three, predicted.
 *
 * gfx942 has LDS for no more. */
#define NEAR_FEWER HIP_FEWER_WAVES(3)

const tdm_kernel tdm_cross_entropy_hip_loop = {
    .name = "hip_loop",
    .op = TDM_OP_CROSS_ENTROPY,
    .backend = &tdm_backend_hip,
    .variant = &loop,
    .functions =
        HIP_FUNCTIONS([HIP_ROWS_ANY] = {.code = tdm_code_cross_entropy, .stem = "cross_entropy_ragged", .waves = 3},
                      [HIP_ROWS_WHOLE] = {.code = tdm_code_cross_entropy, .stem = "cross_entropy", .waves = 3},
                      [SHORT_8X1] = {.code = tdm_code_cross_entropy, .stem = "cross_entropy_short_8x1", .waves = 6},
                      {.code = tdm_code_cross_entropy, .stem = "cross_entropy_short_ragged_8x1", .waves = 6},
                      {.code = tdm_code_cross_entropy, .stem = "cross_entropy_short_16x1", .waves = 6},
                      {.code = tdm_code_cross_entropy, .stem = "cross_entropy_short_ragged_16x1", .waves = 6},
                      {.code = tdm_code_cross_entropy, .stem = "cross_entropy_short_8x2", .waves = 5},
                      {.code = tdm_code_cross_entropy, .stem = "cross_entropy_near_2", .waves = 6, .fewer = NEAR_FEWER},
                      {.code = tdm_code_cross_entropy, .stem = "cross_entropy_near_4", .waves = 4, .fewer = NEAR_FEWER}),
    .prepare = prepare,
    .launch = launch,
    .cost = tdm_hip_loop_cost};
const tdm_kernel tdm_cross_entropy_hip_parts = {.name = "hip_parts",
                                                .op = TDM_OP_CROSS_ENTROPY,
                                                .backend = &tdm_backend_hip,
                                                .variant = &loop,
                                                .functions = HIP_FUNCTIONS([HIP_PARTS_FIRST] = {.code = tdm_code_cross_entropy,
                                                                                                .stem = "cross_entropy_parts",
                                                                                                .waves = HIP_PARTS_WAVES}),
                                                .supports = tdm_hip_parts_fit,
                                                .prepare = prepare_parts,
                                                .launch = launch_parts,
                                                .cost = tdm_hip_parts_cost};
