/* softmax on HIP: rows held in registers, and rows of any length. */
#include <string.h>

#include "args.h"
#include "hip/host/row_parts.h"

extern const hip_code tdm_code_softmax[];

enum { RAGGED_LOOP = HIP_ROWS_KEPT + 8, NEAR_2, NEAR_4 }; /* of its functions */

typedef struct softmax_plan {
  softmax_args args;
  hip_any_rows any;
  hip_near_rows near;
} softmax_plan;
_Static_assert(sizeof(softmax_plan) <= TDM_PLAN_ARGS, "fits the plan");

static hip_rows rows_of(const tdm_plan *plan) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  return (hip_rows){d->rows,
                    d->cols,
                    d->type,
                    .most = HIP_KEPT_ELEMENTS / (int)tdm_hip_chunk(d->type),
                    .packs = tdm_type_size(d->type) == 2,
                    .any = d->causal_rows > 0,
                    .twice = d->causal_rows == 0,
                    .ragged = RAGGED_LOOP};
}

static softmax_args args_of(const tdm_softmax_desc *d) {
  return (softmax_args){.ldx = d->ldx,
                        .ldy = d->ldy,
                        .causal_rows = d->causal_rows,
                        .per_causal_row = d->causal_rows > 0 ? 1 / (double)d->causal_rows : 0,
                        .groups = {.rows = d->rows, .cols = d->cols}};
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  softmax_plan own = {.args = args_of(d)};
  hip_rows rows = rows_of(plan);
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(tdm_hip_rows_prepare(plan, &own.args.groups, &own.any, &rows, (int64_t[]){d->ldx, d->ldy}, 2));
  if (!rows.any) TDM_TRY(tdm_hip_near_prepare(plan, &own.near, &rows, d->ldx != d->cols || d->ldy != d->cols, NEAR_2));
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  softmax_plan own;
  memcpy(&own, plan->args, sizeof own);
  own.args.x = buffers[0];
  own.args.y = buffers[1];
  return tdm_hip_near_launch(plan, &own.near, &own.any, &own.args.groups, &own.args, sizeof own.args, buffers, stream);
}

/* Three to six waves where a SIMD could hold eight: the vL1D has no room for what so many load. Rows that are not whole chunks
 * touch more lines than they fill: 501 f32 get 0.72 of the rate of memory with six waves and 0.91 with four, 777 bf16 0.91 and
 * 0.94, and with four chunks 1537 and 5001 bf16 get 0.89 and 0.91 with four waves, and 0.91 and 0.93 with three, predicted.
 * 1000 bf16 get 0.91 with six and 0.95 with four, on gfx942 0.88 and 0.97. */
static const hip_functions functions[] = {
    [HIP_ROWS_ANY] = {.code = tdm_code_softmax,
                      .stem = "softmax_any",
                      .waves = 8,
                      .fewer = {.types = TDM_16_BIT_TYPES, .waves = 4}},
    [HIP_ROWS_WHOLE] = {.code = tdm_code_softmax,
                        .stem = "softmax_loop",
                        .waves = 8,
                        .fewer = {.types = TDM_16_BIT_TYPES, .waves = 4}},
    [HIP_ROWS_KEPT] = {.code = tdm_code_softmax, .stem = "softmax_1", .waves = 8},
    {.code = tdm_code_softmax, .stem = "softmax_ragged_1", .waves = 6},
    {.code = tdm_code_softmax, .stem = "softmax_2", .waves = 6, .fewer = {.types = TDM_16_BIT_TYPES, .waves = 4}},
    {.code = tdm_code_softmax, .stem = "softmax_ragged_2", .waves = 4},
    {.code = tdm_code_softmax, .stem = "softmax_4", .waves = 8, .fewer = {.types = TDM_16_BIT_TYPES, .waves = 4}},
    {.code = tdm_code_softmax, .stem = "softmax_ragged_4", .waves = 3},
    {.code = tdm_code_softmax, .stem = "softmax_8", .waves = 4},
    {.code = tdm_code_softmax, .stem = "softmax_ragged_8", .waves = 4},
    [RAGGED_LOOP] = {.code = tdm_code_softmax, .stem = "softmax_ragged_loop", .waves = 4},
    [NEAR_2] = {.code = tdm_code_softmax, .stem = "softmax_near_2", .waves = 5},
    [NEAR_4] = {.code = tdm_code_softmax, .stem = "softmax_near_4", .waves = 4, .fewer = HIP_FEWER_WAVES(3)},
    {.stem = NULL}};

/* ---- Rows that are split over workgroups ---- */

typedef struct parts_plan {
  softmax_parts_args args;
  tdm_hip_kernel second;
} parts_plan;
_Static_assert(sizeof(parts_plan) <= TDM_PLAN_ARGS, "fits the plan");

static tdm_status prepare_parts(tdm_plan *plan) {
  const tdm_softmax_desc *d = &plan->desc.softmax;
  parts_plan own = {.args.rows = args_of(d)};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(tdm_hip_parts_prepare(plan, &own.args.parts, &own.second, 2 * sizeof *own.args.sums));
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static tdm_status launch_parts(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  parts_plan own;
  memcpy(&own, plan->args, sizeof own);
  own.args.rows.x = buffers[0];
  own.args.rows.y = buffers[1];
  own.args.sums = plan->workspace;
  return tdm_hip_parts_launch(plan, &own.second, &own.args, sizeof own.args, stream);
}

/* A compute unit is predicted to take 18,900 clocks for a row of 65536 bf16, 33,500 for one of 128256, and 41,900 in f32; on
 * gfx942 25,100, 46,100 and 48,100. */
static hip_row_cost cost_of(const tdm_plan *plan) {
  (void)plan;
  return (hip_row_cost){.each = {{0.23, 0.295}, {0.32, 0.34}}, .accesses = 2, .launches = 2, .again = 1};
}

static const hip_row_variant loop = {.rows = rows_of, .cost = cost_of}, registers = {.rows = rows_of, .in_registers = true};

const tdm_kernel tdm_softmax_hip_loop = {.name = "hip_loop",
                                         .op = TDM_OP_SOFTMAX,
                                         .backend = &tdm_backend_hip,
                                         .variant = &loop,
                                         .functions = functions,
                                         .supports = tdm_hip_loop_fits,
                                         .prepare = prepare,
                                         .launch = launch,
                                         .cost = tdm_hip_loop_cost};
const tdm_kernel tdm_softmax_hip_parts = {
    .name = "hip_parts",
    .op = TDM_OP_SOFTMAX,
    .backend = &tdm_backend_hip,
    .variant = &loop,
    .functions =
        HIP_FUNCTIONS([HIP_PARTS_FIRST] = {.code = tdm_code_softmax, .stem = "softmax_sums", .waves = HIP_PARTS_WAVES},
                      [HIP_PARTS_SECOND] = {.code = tdm_code_softmax, .stem = "softmax_parts", .waves = HIP_PARTS_WAVES}),
    .supports = tdm_hip_parts_fit,
    .prepare = prepare_parts,
    .launch = launch_parts,
    .cost = tdm_hip_parts_cost};
const tdm_kernel tdm_softmax_hip_registers = {.name = "hip_registers",
                                              .op = TDM_OP_SOFTMAX,
                                              .backend = &tdm_backend_hip,
                                              .variant = &registers,
                                              .functions = functions,
                                              .supports = tdm_hip_fits_registers,
                                              .prepare = prepare,
                                              .launch = launch};
