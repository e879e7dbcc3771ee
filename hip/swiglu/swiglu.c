/* swiglu on HIP: hip_128x64 for everything, hip_256x128 for what the pipeline can load. */
#include <stdio.h>
#include <string.h>

#include "../gemm/tiles.h"
#include "args.h"

extern const hip_code tdm_code_swiglu_128x64[], tdm_code_swiglu_256x128[];

/* What a plan keeps in its args. */
typedef struct swiglu_work {
  swiglu_args args;        /* without the run's pointers; aligned_*: as far as strides decide it */
  swiglu_args masked_args; /* hip_256x128: for arrays that do not begin at a dword */
  tdm_hip_kernel masked;
} swiglu_work;
_Static_assert(sizeof(swiglu_work) <= TDM_HIP_ARGS, "a plan has room for it");

static hip_stored stored_x(const tdm_swiglu_desc *d) { return (hip_stored){"x", d->m, d->k, d->ldx, 0}; }
static hip_stored stored_weight(const tdm_swiglu_desc *d, const char *name, int64_t ld) {
  bool along_k = d->layout == TDM_NT;
  return (hip_stored){name, along_k ? d->n : d->k, along_k ? d->k : d->n, ld, 0};
}

static swiglu_args make_args(const tdm_plan *plan, int tile_m, int tile_n) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  hip_stored x = stored_x(d), g = stored_weight(d, "wg", d->ldg), u = stored_weight(d, "wu", d->ldu), y = {.ld = d->ldy};
  swiglu_args args = {.m = d->m,
                      .n = d->n,
                      .k = d->k,
                      .ldx = d->ldx,
                      .ldg = d->ldg,
                      .ldu = d->ldu,
                      .ldy = d->ldy,
                      .out = d->out,
                      .aligned_x = tdm_hip_rows_aligned(&x, d->type, 16),
                      .aligned_g = tdm_hip_rows_aligned(&g, d->type, 16),
                      .aligned_u = tdm_hip_rows_aligned(&u, d->type, 16),
                      .aligned_fours = tdm_hip_rows_aligned(&y, d->out, 4 * (int)tdm_type_size(d->out)),
                      .weights_along_k = d->layout == TDM_NT};
  args.order = tdm_hip_tiles(plan, d->m, d->n, 1, tile_m, tile_n);
  args.workgroups = args.order.count;
  return args;
}

static tdm_hip_kernel make_launch(const swiglu_args *args, unsigned threads) {
  return (tdm_hip_kernel){.grid = {args->workgroups, 1, 1}, .block = threads};
}

static void set_pointers(swiglu_args *args, const tdm_plan *plan, void *const *buffers) {
  args->x = buffers[0];
  args->wg = buffers[1];
  args->wu = buffers[2];
  args->y = buffers[3];
  args->aligned_x = args->aligned_x && tdm_hip_at(args->x, 16);
  args->aligned_g = args->aligned_g && tdm_hip_at(args->wg, 16);
  args->aligned_u = args->aligned_u && tdm_hip_at(args->wu, 16);
  args->aligned_fours = args->aligned_fours && tdm_hip_at(args->y, 4 * (int)tdm_type_size(plan->desc.swiglu.out));
}

/* ---- hip_128x64 ---- */

enum { MASKED_M = 128, MASKED_N = 64, MASKED_THREADS = 256 };

static bool supports_masked(const tdm_plan *plan, char *reason, size_t size) {
  return tdm_hip_tiles_fit(plan->desc.swiglu.m, plan->desc.swiglu.n, 1, MASKED_M, MASKED_N, reason, size);
}

static tdm_status load_masked(tdm_plan *plan, swiglu_args *args, tdm_hip_kernel *kernel) {
  char name[64];
  *args = make_args(plan, MASKED_M, MASKED_N);
  *kernel = make_launch(args, MASKED_THREADS);
  snprintf(name, sizeof name, "swiglu_128x64_%s", tdm_type_name(plan->desc.swiglu.type));
  return tdm_hip_function(plan, tdm_code_swiglu_128x64, name, &kernel->function);
}

static tdm_status prepare_masked(tdm_plan *plan) {
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  swiglu_work work = {0};
  tdm_status status = load_masked(plan, &work.args, &plan->hip);
  memcpy(plan->args, &work, sizeof work);
  return status;
}

static tdm_status launch_masked(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  swiglu_work work;
  memcpy(&work, plan->args, sizeof work);
  set_pointers(&work.args, plan, buffers);
  return tdm_hip_launch(plan, &plan->hip, &work.args, sizeof work.args, stream);
}

const tdm_kernel tdm_swiglu_hip_128x64 = {"hip_128x64",    TDM_OP_SWIGLU,  &tdm_backend_hip,
                                          supports_masked, prepare_masked, launch_masked};

/* ---- hip_256x128 ---- */

enum { PIPE_M = 256, PIPE_N = 128, PIPE_THREADS = 512 };

static bool supports_pipe(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  const char *chip = plan->context->hip->chip;
  hip_stored x = stored_x(d), g = stored_weight(d, "wg", d->ldg), u = stored_weight(d, "wu", d->ldu);
  if (d->layout != TDM_NT && strcmp(chip, "gfx950") != 0) {
    snprintf(reason, size, "layout nt only: LDS transposes on gfx950, the chip is %s", chip);
    return false;
  }
  if (d->layout != TDM_NT && d->type == TDM_F32) {
    snprintf(reason, size, "f32 in layout nt only: LDS transposes 16-bit elements");
    return false;
  }
  return tdm_hip_pipeline_loads(&x, d->type, reason, size) && tdm_hip_pipeline_loads(&g, d->type, reason, size) &&
         tdm_hip_pipeline_loads(&u, d->type, reason, size) &&
         tdm_hip_tiles_fit(d->m, d->n, 1, MASKED_M, MASKED_N, reason, size);
}

static tdm_status prepare_pipe(tdm_plan *plan) {
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  char name[64];
  swiglu_work work = {.args = make_args(plan, PIPE_M, PIPE_N)};
  plan->hip = make_launch(&work.args, PIPE_THREADS);
  snprintf(name, sizeof name, "swiglu_256x128_%s_%s", d->layout == TDM_NT ? "nt" : "nn", tdm_type_name(d->type));
  TDM_TRY(tdm_hip_function(plan, tdm_code_swiglu_256x128, name, &plan->hip.function));
  TDM_TRY(load_masked(plan, &work.masked_args, &work.masked));
  memcpy(plan->args, &work, sizeof work);
  return TDM_OK;
}

/* Only a run tells where arrays begin: 16-bit ones at odd elements are left to hip_128x64's kernel. */
static tdm_status launch_pipe(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  swiglu_work work;
  memcpy(&work, plan->args, sizeof work);
  bool dwords = tdm_hip_at(buffers[0], 4) && tdm_hip_at(buffers[1], 4) && tdm_hip_at(buffers[2], 4);
  swiglu_args *args = dwords ? &work.args : &work.masked_args;
  set_pointers(args, plan, buffers);
  return tdm_hip_launch(plan, dwords ? &plan->hip : &work.masked, args, sizeof *args, stream);
}

const tdm_kernel tdm_swiglu_hip_256x128 = {"hip_256x128", TDM_OP_SWIGLU, &tdm_backend_hip,
                                           supports_pipe, prepare_pipe,  launch_pipe};
