/* gemm on HIP: hip_128x128 for everything, hip_256x256 and the hip_tile rows for what can be loaded in dwords, hip_small_k
 * if all of K fits into LDS. All except the last can split K. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "hip/host/cost.h"
#include "hip/host/tile_launch.h"

extern const hip_code tdm_code_gemm_128x128[], tdm_code_gemm_256x256[], tdm_code_gemm_small_k[], tdm_code_gemm_reduce[];

static bool transposed_a(const tdm_gemm_desc *d) { return d->layout == TDM_TN || d->layout == TDM_TT; }
static bool transposed_b(const tdm_gemm_desc *d) { return d->layout == TDM_NT || d->layout == TDM_TT; }

static hip_stored stored_a(const tdm_gemm_desc *d) {
  bool t = transposed_a(d);
  return (hip_stored){"a", t ? d->k : d->m, t ? d->m : d->k, d->lda, d->batch > 1 ? d->stride_a : 0};
}
static hip_stored stored_b(const tdm_gemm_desc *d) {
  bool t = transposed_b(d);
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
  hip_stored a = stored_a(d), b = stored_b(d);
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
                    .a_along_k = !transposed_a(d),
                    .b_along_k = transposed_b(d)};
  args.order = tdm_hip_tiles(plan, d->m, d->n, d->batch * parts, kernel->tile_m, kernel->tile_n);
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
}

static const hip_tile_op op = {
    sizeof(gemm_args), make_args, set_pointers, {tdm_code_gemm_128x128, "gemm_128x128", 128, 128, 256}};
_Static_assert(sizeof(gemm_args) <= HIP_TILE_ARGS, "it fits the plan");

/* ---- K splits ---- */

static hip_tile_work work_of(const tdm_gemm_desc *d) {
  return (hip_tile_work){.m = d->m, .n = d->n, .k = d->k, .batch = d->batch, .type = d->type, .out = d->out};
}

/* The estimate of a run, with the plan's split, or with the best split if the plan has none; then it sets *split. */
static tdm_cost best_split(const tdm_plan *plan, hip_tile_shape tile, int *split) {
  static const int splits[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  enum { LEAST_UNITS = 4, SECOND_LAUNCH = 5000 }; /* units of a part; clocks, about 2 us */
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_tile_work work = work_of(d);
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

static void set_split(tdm_plan *plan, hip_tile_shape tile) {
  int split = 1;
  if (!plan->empty) best_split(plan, tile, &split);
  if (split > 1) plan->tuning.of[TDM_TUNE_SPLIT] = split;
}

static bool supports_split(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size) {
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
  return tdm_hip_tiles_fit(d->m, d->n, matrices, kernel->tile_m, kernel->tile_n, reason, size);
}

static tdm_status prepare_split(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  char name[32];
  size_t used = strlen(plan->explain);
  plan->workspace_bytes = (size_t)(d->batch * parts_of(plan) * d->m * ((d->n + 3) / 4 * 4)) * sizeof(float);
  snprintf(plan->explain + used, sizeof plan->explain - used,
           "split: %d K splits, %zu bytes of partial sums, added by %u workgroups of gemm_reduce\n", parts_of(plan),
           plan->workspace_bytes, reducers(plan));
  snprintf(name, sizeof name, "gemm_reduce_%s", tdm_type_name(d->type));
  return tdm_hip_tile_then(plan, tdm_code_gemm_reduce, name, reducers(plan), REDUCE_THREADS);
}

static tdm_status prepare(tdm_plan *plan, const hip_tile_kernel *kernel, const char *variant) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(tdm_plan_upload(plan, d->epilogue, (size_t)d->epilogue_steps * sizeof(tdm_epilogue_step)));
  TDM_TRY(tdm_hip_tile_prepare(plan, &op, kernel, variant, d->type));
  return parts_of(plan) > 1 ? prepare_split(plan) : TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  return tdm_hip_tile_launch(plan, &op, buffers, stream);
}

/* ---- hip_128x128 ---- */

static bool supports_general(const tdm_plan *plan, char *reason, size_t size) {
  return supports_split(plan, &op.general, reason, size);
}

/* Two workgroups share a CU (WORKGROUP(256, 2)), and registers hold the loads of one K step. */
static const hip_tile_shape general_tile = {
    .m = 128, .n = 128, .waves_m = 2, .waves_n = 2, .resident = 2, .valu = HIP_MASKED_VALU, .waits = true};

static tdm_status prepare_general(tdm_plan *plan) {
  set_split(plan, general_tile);
  return prepare(plan, &op.general, "");
}

static void cost_general(const tdm_plan *plan, tdm_cost *cost) {
  int split;
  *cost = best_split(plan, general_tile, &split);
}

const tdm_kernel tdm_gemm_hip_128x128 = {.name = "hip_128x128",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_hip,
                                         .supports = supports_general,
                                         .prepare = prepare_general,
                                         .launch = launch,
                                         .matrix_units = true,
                                         .cost = cost_general,
                                         .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT};

/* ---- hip_256x256 ---- */

static const hip_tile_kernel pipe = {tdm_code_gemm_256x256, "gemm_256x256", 256, 256, 512};
static const hip_tile_shape pipe_tile = {.m = 256, .n = 256, .waves_m = 2, .waves_n = 4, .overlapped = true};

/* The row falls back to hip_128x128, so that must support the plan too. */
static bool supports_dwords(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored a = stored_a(d), b = stored_b(d);
  return tdm_hip_pipeline_loads(&a, d->type, reason, size) && tdm_hip_pipeline_loads(&b, d->type, reason, size) &&
         supports_split(plan, kernel, reason, size) && supports_general(plan, reason, size);
}

static bool supports_pipe(const tdm_plan *plan, char *reason, size_t size) {
  return supports_dwords(plan, &pipe, reason, size);
}

static tdm_status prepare_pipeline(tdm_plan *plan, const hip_tile_kernel *kernel) {
  set_split(plan, pipe_tile);
  return prepare(plan, kernel, tdm_layout_names[plan->desc.gemm.layout]);
}
static tdm_status prepare_pipe(tdm_plan *plan) { return prepare_pipeline(plan, &pipe); }

static void cost_pipe(const tdm_plan *plan, tdm_cost *cost) {
  int split;
  *cost = best_split(plan, pipe_tile, &split);
}

const tdm_kernel tdm_gemm_hip_256x256 = {.name = "hip_256x256",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_hip,
                                         .supports = supports_pipe,
                                         .prepare = prepare_pipe,
                                         .launch = launch,
                                         .matrix_units = true,
                                         .cost = cost_pipe,
                                         .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT,
                                         .fallback = {4, 3, &tdm_gemm_hip_128x128}};

/* The same with instructions of 32 x 32 results: as many clocks for as many products, with half as many instructions. It is
 * chosen only by name or by a tuned table: its estimate is that of hip_256x256, which comes later in the table. */
static bool supports_mfma32(const tdm_plan *plan, char *reason, size_t size) {
  if (plan->desc.gemm.type == TDM_F32) {
    snprintf(reason, size, "f16 and bf16 only");
    return false;
  }
  return supports_pipe(plan, reason, size);
}

static tdm_status prepare_mfma32(tdm_plan *plan) {
  static const hip_tile_kernel kernel = {tdm_code_gemm_256x256, "gemm_256x256_mfma32", 256, 256, 512};
  return prepare_pipeline(plan, &kernel);
}

const tdm_kernel tdm_gemm_hip_256x256_mfma32 = {.name = "hip_256x256_mfma32",
                                                .op = TDM_OP_GEMM,
                                                .backend = &tdm_backend_hip,
                                                .supports = supports_mfma32,
                                                .prepare = prepare_mfma32,
                                                .launch = launch,
                                                .matrix_units = true,
                                                .cost = cost_pipe,
                                                .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT,
                                                .fallback = {4, 3, &tdm_gemm_hip_128x128}};

/* ---- hip_tile_16x64 ... hip_tile_256x128 ---- */

typedef struct gemm_tile {
  hip_tile_kernel kernel;
  int waves_m, waves_n, least_depth, most_depth;
} gemm_tile;

static size_t tile_lds(const tdm_plan *plan, const gemm_tile *t, int depth) {
  size_t row =
      strcmp(plan->context->hip->chip, "gfx950") == 0 ? GEMM_UNIT : GEMM_UNIT / 2; /* bytes of a line in a stage (lines.h) */
  return (size_t)(depth * (t->kernel.tile_m + t->kernel.tile_n)) * row;
}

static hip_tile_shape tile_shape(const tdm_plan *plan, const gemm_tile *t, int depth) {
  enum { MOST_WAVES = 4 }; /* waves on a SIMD that the registers allow (tile_loop.h) */
  int by_lds = (int)(plan->context->hip->lds_bytes / tile_lds(plan, t, depth)),
      by_waves = 4 * MOST_WAVES / (t->waves_m * t->waves_n);
  return (hip_tile_shape){.m = t->kernel.tile_m,
                          .n = t->kernel.tile_n,
                          .waves_m = t->waves_m,
                          .waves_n = t->waves_n,
                          .resident = by_lds < by_waves ? by_lds : by_waves,
                          .waits = depth == 2};
}

/* The estimate with the plan's depth and split, or with the best ones if the plan has none; then it sets them. */
static tdm_cost best_tile(const tdm_plan *plan, const gemm_tile *t, tdm_tuning *tuning) {
  tdm_cost best = {0};
  int named = plan->tuning.of[TDM_TUNE_DEPTH], first = named > 0 ? named : t->least_depth,
      last = named > 0 ? named : t->most_depth;
  *tuning = plan->tuning;
  for (int depth = first; depth <= last && tile_lds(plan, t, depth) <= plan->context->hip->lds_bytes; depth++) {
    int split;
    tdm_cost cost = best_split(plan, tile_shape(plan, t, depth), &split);
    if (depth > first && cost.clocks >= best.clocks) continue;
    best = cost;
    tuning->of[TDM_TUNE_DEPTH] = depth;
    tuning->of[TDM_TUNE_SPLIT] = split > 1 ? split : plan->tuning.of[TDM_TUNE_SPLIT];
  }
  return best;
}

static bool supports_tile(const tdm_plan *plan, const gemm_tile *t, char *reason, size_t size) {
  enum { ONE_FRAGMENT = 16 };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  int depth = plan->tuning.of[TDM_TUNE_DEPTH];
  if ((t->kernel.tile_m == ONE_FRAGMENT && transposed_a(d)) || (t->kernel.tile_n == ONE_FRAGMENT && !transposed_b(d))) {
    snprintf(reason, size, "layout %s: a tile with 16 lines of %s needs it stored along k", tdm_layout_names[d->layout],
             t->kernel.tile_m == ONE_FRAGMENT ? "a" : "b");
    return false;
  }
  if (depth > 0 && (depth < t->least_depth || depth > t->most_depth)) {
    snprintf(reason, size, "depth = %d: must be %d to %d", depth, t->least_depth, t->most_depth);
    return false;
  }
  if (tile_lds(plan, t, depth) > plan->context->hip->lds_bytes) {
    snprintf(reason, size, "depth = %d: %zu bytes of LDS, a workgroup of %s may have %zu", depth, tile_lds(plan, t, depth),
             plan->context->hip->chip, plan->context->hip->lds_bytes);
    return false;
  }
  return supports_dwords(plan, &t->kernel, reason, size);
}

static tdm_status prepare_tile(tdm_plan *plan, const gemm_tile *t) {
  char stem[40];
  tdm_tuning tuning;
  hip_tile_kernel kernel = t->kernel;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  best_tile(plan, t, &tuning);
  plan->tuning = tuning;
  snprintf(stem, sizeof stem, "%s_%d", kernel.stem, tuning.of[TDM_TUNE_DEPTH]);
  kernel.stem = stem;
  return prepare(plan, &kernel, tdm_layout_names[plan->desc.gemm.layout]);
}

#define GEMM_TILE(m, n, waves_m, waves_n, least, most)                                                                       \
  extern const hip_code tdm_code_gemm_tile_##m##x##n[];                                                                      \
  static const gemm_tile tile_##m##x##n = {                                                                                  \
      {tdm_code_gemm_tile_##m##x##n, "gemm_tile_" #m "x" #n, m, n, 64 * waves_m * waves_n}, waves_m, waves_n, least, most};  \
  static bool supports_##m##x##n(const tdm_plan *plan, char *reason, size_t size) {                                          \
    return supports_tile(plan, &tile_##m##x##n, reason, size);                                                               \
  }                                                                                                                          \
  static tdm_status prepare_##m##x##n(tdm_plan *plan) { return prepare_tile(plan, &tile_##m##x##n); }                        \
  static void cost_##m##x##n(const tdm_plan *plan, tdm_cost *cost) {                                                         \
    tdm_tuning tuning;                                                                                                       \
    *cost = best_tile(plan, &tile_##m##x##n, &tuning);                                                                       \
  }                                                                                                                          \
  const tdm_kernel tdm_gemm_hip_tile_##m##x##n = {.name = "hip_tile_" #m "x" #n,                                             \
                                                  .op = TDM_OP_GEMM,                                                         \
                                                  .backend = &tdm_backend_hip,                                               \
                                                  .supports = supports_##m##x##n,                                            \
                                                  .prepare = prepare_##m##x##n,                                              \
                                                  .launch = launch,                                                          \
                                                  .matrix_units = true,                                                      \
                                                  .cost = cost_##m##x##n,                                                    \
                                                  .takes = TDM_ORDER_PARAMETERS | 1 << TDM_TUNE_SPLIT | 1 << TDM_TUNE_DEPTH, \
                                                  .fallback = {4, 3, &tdm_gemm_hip_128x128}};
#include "tiles.def"
#undef GEMM_TILE

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
    snprintf(reason, size, "k = %" PRId64 ": at most %" PRId64 " of %s fit into %s's LDS at once", d->k, most,
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

/* Like hip_128x128, but nothing waits for loads after the first ones. */
static void cost_small_k(const tdm_plan *plan, tdm_cost *cost) {
  hip_tile_shape tile = general_tile;
  hip_tile_work work = work_of(&plan->desc.gemm);
  size_t lds = (size_t)small_k_steps(&plan->desc.gemm) * 2 * 128 * STEP_BYTES;
  tile.waits = false;
  tile.resident = 2 * lds <= plan->context->hip->lds_bytes ? 2 : 1;
  tdm_hip_tile_cost(plan, &tile, &work, cost);
}

const tdm_kernel tdm_gemm_hip_small_k = {.name = "hip_small_k",
                                         .op = TDM_OP_GEMM,
                                         .backend = &tdm_backend_hip,
                                         .supports = supports_small_k,
                                         .prepare = prepare_small_k,
                                         .launch = launch,
                                         .matrix_units = true,
                                         .cost = cost_small_k,
                                         .takes = TDM_ORDER_PARAMETERS};
