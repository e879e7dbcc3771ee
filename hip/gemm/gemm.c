/* What the rows of gemm on HIP share: the argument of their kernels, the K splits, and the launch. */
#include "gemm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"

hip_stored gemm_stored_a(const tdm_gemm_desc *d) {
  bool t = gemm_transposed_a(d);
  return (hip_stored){"a", t ? d->k : d->m, t ? d->m : d->k, d->lda, d->batch > 1 ? d->stride_a : 0};
}
hip_stored gemm_stored_b(const tdm_gemm_desc *d) {
  bool t = gemm_transposed_b(d);
  return (hip_stored){"b", t ? d->n : d->k, t ? d->k : d->n, d->ldb, d->batch > 1 ? d->stride_b : 0};
}

static int parts_of(const tdm_plan *plan) { return plan->tuning.of[TDM_TUNE_SPLIT] > 1 ? plan->tuning.of[TDM_TUNE_SPLIT] : 1; }
static int64_t units_of(const tdm_gemm_desc *d) { return d->k / (GEMM_UNIT / (int64_t)tdm_type_size(d->type)); }

/* Workgroups of gemm_reduce, which stride over the work: two rounds of what the device holds at a time are enough. */
static unsigned reducers(const tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  int64_t most = (int64_t)plan->context->hip->compute_units * 16, all = d->batch * d->m * ((d->n + 3) / 4) / REDUCE_THREADS + 1;
  return (unsigned)(all < most ? all : most);
}

static unsigned make_args(const tdm_plan *plan, const hip_tile_kernel *kernel, void *made) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  bool batch = d->batch > 1, residual = plan->buffers[4].used;
  int fours = 4 * (int)tdm_type_size(d->out), parts = parts_of(plan);
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
                    .ldp = (d->n + 3) / 4 * 4,
                    .part_units = units_of(d) / parts,
                    .parts = parts,
                    .longer_parts = (int32_t)(units_of(d) % parts),
                    .batch = d->batch,
                    .alpha = d->alpha,
                    .beta = d->beta,
                    .type = d->type,
                    .out = d->out,
                    .aligned_a = tdm_hip_rows_aligned(&a, d->type, 16),
                    .aligned_b = tdm_hip_rows_aligned(&b, d->type, 16),
                    .aligned_fours = tdm_hip_rows_aligned(&c, d->out, fours) && tdm_hip_rows_aligned(&r, d->out, fours),
                    .a_along_k = !gemm_transposed_a(d),
                    .b_along_k = gemm_transposed_b(d)};
  enum { MOST_LEADING = INT32_MAX / 256 / (int)sizeof(float) }; /* of a tile's 256 rows */
  bool plain = d->alpha == 1 && d->beta == 0 && d->epilogue_steps == 0 && d->n % 4 == 0;
  args.direct = parts > 1 ? args.ldp <= MOST_LEADING : plain && args.aligned_fours && d->ldc <= MOST_LEADING;
  args.order = tdm_hip_tiles(plan, d->m, d->n, d->batch * parts, kernel->tile.m, kernel->tile.n);
  args.reducers = reducers(plan);
  memcpy(made, &args, sizeof args);
  return args.order.count;
}

static void set_pointers(const tdm_plan *plan, void *const *buffers, void *made) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  gemm_args *args = made;
  int fours = 4 * (int)tdm_type_size(d->out);
  args->a = buffers[0];
  args->b = buffers[1];
  args->c = buffers[2];
  args->partial = plan->workspace;
  args->bias = buffers[3];
  args->residual = buffers[4];
  args->aligned_a = args->aligned_a && tdm_hip_at(args->a, 16);
  args->aligned_b = args->aligned_b && tdm_hip_at(args->b, 16);
  args->aligned_fours = args->aligned_fours && tdm_hip_at(args->c, fours) && tdm_hip_at(args->residual, fours) &&
                        tdm_hip_at(args->bias, 4 * (int)tdm_type_size(d->type));
  args->direct = args->direct && (args->parts > 1 || args->aligned_fours);
}

static const hip_tile_op op = {sizeof(gemm_args), make_args, set_pointers};
_Static_assert(sizeof(gemm_args) <= HIP_TILE_ARGS, "it fits the plan");

/* ---- K splits ---- */

hip_tile_work gemm_work(const tdm_gemm_desc *d) {
  return (hip_tile_work){.m = d->m, .n = d->n, .k = d->k, .batch = d->batch, .type = d->type, .out = d->out};
}

/* The estimate of a run, with the plan's split, or with the best split if the plan has none; then it sets *split. */
tdm_cost gemm_best_split(const tdm_plan *plan, hip_tile_shape tile, int *split) {
  static const int splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  enum { LEAST_UNITS = 4, SECOND_LAUNCH = 5000 }; /* units of a part; clocks, about 2 us */
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_tile_work work = gemm_work(d);
  tdm_cost best = {0};
  for (size_t i = 0; i < sizeof splits / sizeof splits[0]; i++) {
    tdm_cost cost;
    bool named = plan->tuning.of[TDM_TUNE_SPLIT] > 0;
    tile.split = named ? plan->tuning.of[TDM_TUNE_SPLIT] : splits[i];
    if (!named && i > 0 && units_of(d) / tile.split < LEAST_UNITS) break;
    tdm_hip_tile_cost(plan, &tile, &work, &cost);
    if (tile.split > 1) cost.clocks += SECOND_LAUNCH;
    if (i == 0 || cost.clocks < best.clocks) {
      best = cost;
      *split = tile.split;
    }
    if (named) break;
  }
  return best;
}

void gemm_set_split(tdm_plan *plan, hip_tile_shape tile) {
  int split = 1;
  if (!plan->empty) gemm_best_split(plan, tile, &split);
  if (split > 1) plan->tuning.of[TDM_TUNE_SPLIT] = split;
}

void gemm_cost_split(const tdm_plan *plan, tdm_cost *cost) {
  const hip_tile_kernel *kernel = plan->kernel->variant;
  int split;
  *cost = gemm_best_split(plan, kernel->tile, &split);
}

bool gemm_supports_split(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  int parts = parts_of(plan);
  int64_t units = units_of(d), elements, matrices;
  if (parts > 1 && parts > units) {
    snprintf(reason, size, "split = %d: k = %" PRId64 " of %s has %" PRId64 " whole units of %d bytes", parts, d->k,
             tdm_type_name(d->type), units, GEMM_UNIT);
    return false;
  }
  if (__builtin_mul_overflow(d->batch, (int64_t)parts, &matrices)) {
    snprintf(reason, size, "split = %d: batch = %" PRId64 " times as many parts overflow 63 bits", parts, d->batch);
    return false;
  }
  if (parts > 1 &&
      (__builtin_mul_overflow(d->m, d->n + 3, &elements) || __builtin_mul_overflow(elements, d->batch, &elements) ||
       __builtin_mul_overflow(elements, 4 * (int64_t)parts, &elements))) {
    snprintf(reason, size, "split = %d: the bytes of the partial sums overflow 63 bits", parts);
    return false;
  }
  return tdm_hip_tiles_fit(d->m, d->n, matrices, kernel->tile.m, kernel->tile.n, reason, size);
}

/* Such a row has to support what its fallback, hip_128x128, supports. */
bool gemm_supports_dwords(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  return tdm_hip_pipeline_loads(&a, d->type, reason, size) && tdm_hip_pipeline_loads(&b, d->type, reason, size) &&
         gemm_supports_split(plan, kernel, reason, size) &&
         gemm_supports_split(plan, plan->kernel->fallback.kernel->variant, reason, size);
}

static const hip_functions reduce = GEMM_REDUCE;

static tdm_status prepare_split(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  size_t used = strlen(plan->explain);
  plan->workspace_bytes = (size_t)(d->batch * parts_of(plan) * d->m * ((d->n + 3) / 4 * 4)) * sizeof(float);
  snprintf(plan->explain + used, sizeof plan->explain - used,
           "split: %d K splits, %zu bytes of partial sums, added by %u workgroups of gemm_reduce\n", parts_of(plan),
           plan->workspace_bytes, reducers(plan));
  return tdm_hip_tile_then(plan, &reduce, d->type, reducers(plan), REDUCE_THREADS);
}

tdm_status gemm_prepare(tdm_plan *plan, const hip_tile_kernel *kernel, const char *layout) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(tdm_plan_upload(plan, d->epilogue, (size_t)d->epilogue_steps * sizeof(tdm_epilogue_step)));
  TDM_TRY(tdm_hip_tile_prepare(plan, &op, kernel, layout, d->type));
  return parts_of(plan) > 1 ? prepare_split(plan) : TDM_OK;
}

tdm_status gemm_launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  return tdm_hip_tile_launch(plan, &op, buffers, stream);
}
