/* gemm on HIP: hip_128x128 for everything, hip_256x256 for what the pipeline can load, hip_small_k where all of K fits LDS. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../cost.h"
#include "args.h"
#include "tiles.h"

extern const hip_code tdm_code_gemm_128x128[], tdm_code_gemm_256x256[], tdm_code_gemm_small_k[];

static bool turned_a(const tdm_gemm_desc *d) { return d->layout == TDM_TN || d->layout == TDM_TT; }
static bool turned_b(const tdm_gemm_desc *d) { return d->layout == TDM_NT || d->layout == TDM_TT; }

static hip_stored stored_a(const tdm_gemm_desc *d) {
  bool t = turned_a(d);
  return (hip_stored){"a", t ? d->k : d->m, t ? d->m : d->k, d->lda, d->batch > 1 ? d->stride_a : 0};
}
static hip_stored stored_b(const tdm_gemm_desc *d) {
  bool t = turned_b(d);
  return (hip_stored){"b", t ? d->n : d->k, t ? d->k : d->n, d->ldb, d->batch > 1 ? d->stride_b : 0};
}

static unsigned make_args(const tdm_plan *plan, const hip_tile_kernel *kernel, void *made) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored a = stored_a(d), b = stored_b(d);
  bool batch = d->batch > 1, residual = plan->buffers[4].used;
  int fours = 4 * (int)tdm_type_size(d->out);
  hip_stored c = {.ld = d->ldc, .stride = batch ? d->stride_c : 0};
  hip_stored r = {.ld = residual ? d->ldr : 0, .stride = residual && batch ? d->stride_r : 0};
  gemm_args args = {.steps = plan->table,
                    .m = d->m,
                    .n = d->n,
                    .k = d->k,
                    .lda = d->lda,
                    .ldb = d->ldb,
                    .ldc = d->ldc,
                    .ldr = d->ldr,
                    .stride_a = d->stride_a,
                    .stride_b = d->stride_b,
                    .stride_c = d->stride_c,
                    .stride_r = d->stride_r,
                    .step_count = d->epilogue_steps,
                    .alpha = d->alpha,
                    .beta = d->beta,
                    .type = d->type,
                    .out = d->out,
                    .aligned_a = tdm_hip_rows_aligned(&a, d->type, 16),
                    .aligned_b = tdm_hip_rows_aligned(&b, d->type, 16),
                    .aligned_fours = tdm_hip_rows_aligned(&c, d->out, fours) && tdm_hip_rows_aligned(&r, d->out, fours),
                    .a_along_k = !turned_a(d),
                    .b_along_k = turned_b(d)};
  args.order = tdm_hip_tiles(plan, d->m, d->n, d->batch, kernel->tile_m, kernel->tile_n);
  args.workgroups = args.order.count;
  memcpy(made, &args, sizeof args);
  return args.workgroups;
}

static void set_pointers(const tdm_plan *plan, void *const *buffers, void *made) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  gemm_args *args = made;
  int fours = 4 * (int)tdm_type_size(d->out);
  args->a = buffers[0];
  args->b = buffers[1];
  args->c = buffers[2];
  args->bias = buffers[3];
  args->residual = buffers[4];
  args->aligned_a = args->aligned_a && tdm_hip_at(args->a, 16);
  args->aligned_b = args->aligned_b && tdm_hip_at(args->b, 16);
  args->aligned_fours = args->aligned_fours && tdm_hip_at(args->c, fours) && tdm_hip_at(args->residual, fours) &&
                        tdm_hip_at(args->bias, 4 * (int)tdm_type_size(d->type));
}

static const hip_tile_op op = {
    sizeof(gemm_args), make_args, set_pointers, {tdm_code_gemm_128x128, "gemm_128x128", 128, 128, 256}};
_Static_assert(sizeof(gemm_args) <= HIP_TILE_ARGS, "a plan has room for it");

static tdm_status prepare(tdm_plan *plan, const hip_tile_kernel *kernel, const char *variant) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (!plan->empty) TDM_TRY(tdm_plan_upload(plan, d->epilogue, (size_t)d->epilogue_steps * sizeof(tdm_epilogue_step)));
  return tdm_hip_tile_prepare(plan, &op, kernel, variant, d->type);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  return tdm_hip_tile_launch(plan, &op, buffers, stream);
}

static void cost_of(const tdm_plan *plan, const hip_tile_shape *tile, tdm_cost *cost) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_tile_work work = {.m = d->m, .n = d->n, .k = d->k, .batch = d->batch, .type = d->type, .out = d->out};
  tdm_hip_tile_cost(plan, tile, &work, cost);
}

/* ---- hip_128x128 ---- */

static bool supports_general(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return tdm_hip_tiles_fit(d->m, d->n, d->batch, op.general.tile_m, op.general.tile_n, reason, size);
}

static tdm_status prepare_general(tdm_plan *plan) { return prepare(plan, &op.general, ""); }

/* Two workgroups share a CU (WORKGROUP(256, 2)), and registers hold one step of loads. */
static const hip_tile_shape general_tile = {
    .m = 128, .n = 128, .waves_m = 2, .waves_n = 2, .resident = 2, .valu = HIP_MASKED_VALU, .waits = true};

static void cost_general(const tdm_plan *plan, tdm_cost *cost) { cost_of(plan, &general_tile, cost); }

const tdm_kernel tdm_gemm_hip_128x128 = {.name = "hip_128x128",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_hip,
                                         .supports = supports_general,
                                         .prepare = prepare_general,
                                         .launch = launch,
                                         .cost = cost_general,
                                         .takes = TDM_ORDER_PARAMETERS};

/* ---- hip_256x256 ---- */

static const char *const layout_names[] = {"nn", "nt", "tn", "tt"};

static bool supports_pipe(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored a = stored_a(d), b = stored_b(d);
  return tdm_hip_pipeline_loads(&a, d->type, reason, size) && tdm_hip_pipeline_loads(&b, d->type, reason, size) &&
         supports_general(plan, reason, size);
}

static tdm_status prepare_pipe(tdm_plan *plan) {
  static const hip_tile_kernel kernel = {tdm_code_gemm_256x256, "gemm_256x256", 256, 256, 512};
  return prepare(plan, &kernel, layout_names[plan->desc.gemm.layout]);
}

static void cost_pipe(const tdm_plan *plan, tdm_cost *cost) {
  static const hip_tile_shape tile = {.m = 256, .n = 256, .waves_m = 2, .waves_n = 4, .overlapped = true};
  cost_of(plan, &tile, cost);
}

const tdm_kernel tdm_gemm_hip_256x256 = {.name = "hip_256x256",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_hip,
                                         .supports = supports_pipe,
                                         .prepare = prepare_pipe,
                                         .launch = launch,
                                         .cost = cost_pipe,
                                         .takes = TDM_ORDER_PARAMETERS,
                                         .detour = {4, 3, "hip_128x128"}};

/* The same with instructions of 32 x 32 results: as many clocks for as many products, half as many instructions. Chosen by name
 * or by a table of tuned kernels alone: it is estimated like hip_256x256, which stands behind it. */
static bool supports_mfma32(const tdm_plan *plan, char *reason, size_t size) {
  if (plan->desc.gemm.type == TDM_F32) {
    snprintf(reason, size, "f16 and bf16 only");
    return false;
  }
  return supports_pipe(plan, reason, size);
}

static tdm_status prepare_mfma32(tdm_plan *plan) {
  static const hip_tile_kernel kernel = {tdm_code_gemm_256x256, "gemm_256x256_mfma32", 256, 256, 512};
  return prepare(plan, &kernel, layout_names[plan->desc.gemm.layout]);
}

const tdm_kernel tdm_gemm_hip_256x256_mfma32 = {.name = "hip_256x256_mfma32",
                                                .op = TDM_OP_GEMM,
                                                .backend = &tdm_backend_hip,
                                                .supports = supports_mfma32,
                                                .prepare = prepare_mfma32,
                                                .launch = launch,
                                                .cost = cost_pipe,
                                                .takes = TDM_ORDER_PARAMETERS,
                                                .detour = {4, 3, "hip_128x128"}};

/* ---- hip_small_k ---- */

enum { STEP_BYTES = 128 }; /* of K, as in the kernel */

static int64_t small_k_steps(const tdm_gemm_desc *d) {
  int64_t values = STEP_BYTES / (int64_t)tdm_type_size(d->type);
  return d->k <= values ? 1 : d->k <= 2 * values ? 2 : 4;
}

static bool supports_small_k(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  bool f32 = d->type == TDM_F32, roomy = strcmp(plan->context->hip->chip, "gfx950") == 0;
  int64_t most = f32 && !roomy ? 64 : 128;
  if (d->k > most) {
    snprintf(reason, size, "k = %" PRId64 ": at most %" PRId64 " of %s lie in %s's LDS at once", d->k, most,
             tdm_type_name(d->type), plan->context->hip->chip);
    return false;
  }
  return supports_general(plan, reason, size);
}

static tdm_status prepare_small_k(tdm_plan *plan) {
  char stem[24];
  hip_tile_kernel kernel = op.general;
  snprintf(stem, sizeof stem, "gemm_small_k%d", (int)small_k_steps(&plan->desc.gemm));
  kernel.code = tdm_code_gemm_small_k;
  kernel.stem = stem;
  return prepare(plan, &kernel, "");
}

/* As hip_128x128, but nothing waits for loads after the first ones. */
static void cost_small_k(const tdm_plan *plan, tdm_cost *cost) {
  hip_tile_shape tile = general_tile;
  size_t lds = (size_t)small_k_steps(&plan->desc.gemm) * 2 * 128 * STEP_BYTES;
  tile.waits = false;
  tile.resident = 2 * lds <= plan->context->hip->lds_bytes ? 2 : 1;
  cost_of(plan, &tile, cost);
}

const tdm_kernel tdm_gemm_hip_small_k = {.name = "hip_small_k",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_hip,
                                         .supports = supports_small_k,
                                         .prepare = prepare_small_k,
                                         .launch = launch,
                                         .cost = cost_small_k,
                                         .takes = TDM_ORDER_PARAMETERS};
