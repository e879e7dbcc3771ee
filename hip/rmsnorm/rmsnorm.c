/* rmsnorm on HIP: rows held in registers, and rows of any length. */
#include <string.h>

#include "args.h"
#include "hip/host/row_parts.h"

extern const hip_code tdm_code_rmsnorm[];

enum { RAGGED_LOOP = HIP_ROWS_KEPT + 6, NEAR_2, NEAR_4, RESIDUAL }; /* of its functions; RESIDUAL: the first with one */

typedef struct rmsnorm_plan {
  rmsnorm_args args;
  hip_any_rows any;
  hip_near_rows near;
} rmsnorm_plan;
_Static_assert(sizeof(rmsnorm_plan) <= TDM_PLAN_ARGS, "fits the plan");

/* f32 with 8 chunks in each work-item, and the residual besides, would not fit into the 128 registers of 1024 work-items. So
 * longer rows of f32 get two waves each: 1169 and 2048 get 0.97 and 0.99 of the rate of memory, and 0.87 and 0.97 with four;
 * but 3001 bf16 0.92 instead of 0.94, predicted. A loop with a residual gets two waves where a SIMD could hold four: each loads
 * 6 KiB at once, for which the vL1D has no room. 1024 x 20000 bf16 take 519,366 clocks with two, and 540,477 with four,
 * predicted. A last row of 128256 that is alone takes 93,000 clocks in f32 and 46,000 in bf16. */
static hip_rows rows_of(const tdm_plan *plan) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  return (hip_rows){d->rows,
                    d->cols,
                    d->type,
                    .most = 4,
                    .pairs = d->type == TDM_F32 && !d->residual,
                    .twice = !d->residual,
                    .waves = d->residual ? 2 : 0,
                    .ragged = RAGGED_LOOP,
                    .dwords = 1u << 1,
                    .alone = 0.18,
                    .functions = d->residual ? RESIDUAL : 0};
}

static rmsnorm_args args_of(const tdm_rmsnorm_desc *d) {
  return (rmsnorm_args){.ldx = d->ldx,
                        .ldr = d->ldr,
                        .lds = d->lds,
                        .ldy = d->ldy,
                        .eps = d->eps,
                        .per_col = 1 / (double)d->cols,
                        .groups = {.rows = d->rows, .cols = d->cols}};
}

static void set_buffers(rmsnorm_args *args, void *const *buffers) {
  args->x = buffers[0];
  args->weight = buffers[1];
  args->residual = buffers[2];
  args->beside = args->residual != NULL ? args->residual : args->weight;
  args->sum = buffers[3];
  args->y = buffers[4];
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  rmsnorm_plan own = {.args = args_of(d)};
  hip_rows rows = rows_of(plan);
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  const int64_t leading[] = {d->ldx, d->ldy, d->ldr, d->lds};
  TDM_TRY(tdm_hip_rows_prepare(plan, &own.args.groups, &own.any, &rows, leading, d->residual ? 4 : 2));
  if (!d->residual) TDM_TRY(tdm_hip_near_prepare(plan, &own.near, &rows, d->ldx != d->cols || d->ldy != d->cols, NEAR_2));
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  rmsnorm_plan own;
  memcpy(&own, plan->args, sizeof own);
  set_buffers(&own.args, buffers);
  return tdm_hip_near_launch(plan, &own.near, &own.any, &own.args.groups, &own.args, sizeof own.args, buffers, stream);
}

/* Three waves of ragged rows where a SIMD could hold four: their pieces touch more lines than they fill, for which the vL1D has
 * to have room. 1001 bf16 got 0.85 of the rate of memory with four, and get 0.95, predicted. Of the short rows without gaps
 * gfx942 takes four waves: 98304x85 bf16 takes 139,525 predicted clocks of an XCD with four, and 148,953 with five. */
static const hip_functions functions[] = {
    [HIP_ROWS_ANY] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_any", .waves = 4},
    [HIP_ROWS_WHOLE] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_loop", .waves = 4},
    [HIP_ROWS_KEPT] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_1", .waves = 8},
    {.code = tdm_code_rmsnorm, .stem = "rmsnorm_ragged_1", .waves = 4},
    {.code = tdm_code_rmsnorm, .stem = "rmsnorm_2", .waves = 4},
    {.code = tdm_code_rmsnorm, .stem = "rmsnorm_ragged_2", .waves = 3},
    {.code = tdm_code_rmsnorm, .stem = "rmsnorm_4", .waves = 4},
    {.code = tdm_code_rmsnorm, .stem = "rmsnorm_ragged_4", .waves = 3},
    [RAGGED_LOOP] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_ragged_loop", .waves = 4},
    [NEAR_2] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_near_2", .waves = 5, .fewer = HIP_FEWER_WAVES(4)},
    [NEAR_4] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_near_4", .waves = 4, .fewer = HIP_FEWER_WAVES(3)},
    [RESIDUAL + HIP_ROWS_ANY] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_residual_any", .waves = 4},
    [RESIDUAL + HIP_ROWS_WHOLE] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_residual_loop", .waves = 4},
    [RESIDUAL + HIP_ROWS_KEPT] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_residual_1", .waves = 8},
    {.code = tdm_code_rmsnorm, .stem = "rmsnorm_residual_ragged_1", .waves = 4},
    {.code = tdm_code_rmsnorm, .stem = "rmsnorm_residual_2", .waves = 4},
    {.code = tdm_code_rmsnorm, .stem = "rmsnorm_residual_ragged_2", .waves = 3},
    {.code = tdm_code_rmsnorm, .stem = "rmsnorm_residual_4", .waves = 4},
    {.code = tdm_code_rmsnorm, .stem = "rmsnorm_residual_ragged_4", .waves = 3},
    [RESIDUAL + RAGGED_LOOP] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_residual_ragged_loop", .waves = 4},
    {.stem = NULL}};

/* ---- Rows that are split over workgroups ---- */

typedef struct parts_plan {
  rmsnorm_parts_args args;
  tdm_hip_kernel second;
} parts_plan;
_Static_assert(sizeof(parts_plan) <= TDM_PLAN_ARGS, "fits the plan");

static tdm_status prepare_parts(tdm_plan *plan) {
  const tdm_rmsnorm_desc *d = &plan->desc.rmsnorm;
  parts_plan own = {.args.rows = args_of(d)};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(tdm_hip_parts_prepare(plan, &own.args.parts, &own.second, sizeof *own.args.sums));
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static tdm_status launch_parts(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  parts_plan own;
  memcpy(&own, plan->args, sizeof own);
  set_buffers(&own.args.rows, buffers);
  own.args.sums = plan->workspace;
  return tdm_hip_parts_launch(plan, &own.second, &own.args, sizeof own.args, stream);
}

/* A compute unit is predicted to take 19,000 clocks for a row of 65536 bf16, and 15,950 for one of 32768 f32; on gfx942 20,300
 * and 16,350. */
static hip_row_cost cost_of(const tdm_plan *plan) {
  const bool residual = plan->desc.rmsnorm.residual;
  return (hip_row_cost){
      .each = {{0.21, 0.36}, {0.24, 0.37}}, .accesses = residual ? 4 : 2, .launches = 2, .again = residual ? 2 : 1};
}

static const hip_row_variant loop = {.rows = rows_of, .cost = cost_of}, registers = {.rows = rows_of, .in_registers = true};

const tdm_kernel tdm_rmsnorm_hip_loop = {.name = "hip_loop",
                                         .op = TDM_OP_RMSNORM,
                                         .backend = &tdm_backend_hip,
                                         .variant = &loop,
                                         .functions = functions,
                                         .supports = tdm_hip_loop_fits,
                                         .prepare = prepare,
                                         .launch = launch,
                                         .cost = tdm_hip_loop_cost};
const tdm_kernel tdm_rmsnorm_hip_parts = {
    .name = "hip_parts",
    .op = TDM_OP_RMSNORM,
    .backend = &tdm_backend_hip,
    .variant = &loop,
    .functions =
        HIP_FUNCTIONS([HIP_PARTS_FIRST] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_sums", .waves = HIP_PARTS_WAVES},
                      [HIP_PARTS_SECOND] = {.code = tdm_code_rmsnorm, .stem = "rmsnorm_parts", .waves = HIP_PARTS_WAVES}),
    .supports = tdm_hip_parts_fit,
    .prepare = prepare_parts,
    .launch = launch_parts,
    .cost = tdm_hip_parts_cost};
const tdm_kernel tdm_rmsnorm_hip_registers = {.name = "hip_registers",
                                              .op = TDM_OP_RMSNORM,
                                              .backend = &tdm_backend_hip,
                                              .variant = &registers,
                                              .functions = functions,
                                              .supports = tdm_hip_fits_registers,
                                              .prepare = prepare,
                                              .launch = launch};
