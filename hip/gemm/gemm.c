/* gemm on HIP: hip_128x128 for everything, hip_256x256 for what the pipeline can load, hip_small_k where all of K fits LDS. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "tiles.h"

extern const hip_code tdm_code_gemm_128x128[], tdm_code_gemm_256x256[], tdm_code_gemm_small_k[];

/* What a plan keeps in its args. */
typedef struct gemm_work {
  gemm_args args;        /* without the run's pointers; aligned_*: as far as strides decide it */
  gemm_args masked_args; /* hip_256x256: for arrays that do not begin at a dword */
  tdm_hip_kernel masked;
} gemm_work;
_Static_assert(sizeof(gemm_work) <= TDM_HIP_ARGS, "a plan has room for it");

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

/* ---- Shared ---- */

static gemm_args make_args(const tdm_plan *plan, int tile_m, int tile_n) {
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
  args.order = tdm_hip_tiles(plan, d->m, d->n, d->batch, tile_m, tile_n);
  args.workgroups = args.order.count;
  return args;
}

static tdm_hip_kernel make_launch(const gemm_args *args, unsigned threads) {
  return (tdm_hip_kernel){.grid = {args->workgroups, 1, 1}, .block = threads};
}

/* The run's pointers, and what they say of alignment. */
static void set_pointers(gemm_args *args, const tdm_plan *plan, void *const *buffers) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
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

static tdm_status upload_steps(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return tdm_plan_upload(plan, d->epilogue, (size_t)d->epilogue_steps * sizeof(tdm_epilogue_step));
}

/* ---- hip_128x128 ---- */

enum { MASKED_TILE = 128, MASKED_THREADS = 256 };

static bool supports_masked(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  return tdm_hip_tiles_fit(d->m, d->n, d->batch, MASKED_TILE, MASKED_TILE, reason, size);
}

static tdm_status load_masked(tdm_plan *plan, gemm_args *args, tdm_hip_kernel *kernel) {
  char name[64];
  *args = make_args(plan, MASKED_TILE, MASKED_TILE);
  *kernel = make_launch(args, MASKED_THREADS);
  snprintf(name, sizeof name, "gemm_128x128_%s", tdm_type_name(plan->desc.gemm.type));
  return tdm_hip_function(plan, tdm_code_gemm_128x128, name, &kernel->function);
}

static tdm_status prepare_masked(tdm_plan *plan) {
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  gemm_work work = {0};
  TDM_TRY(upload_steps(plan));
  tdm_status status = load_masked(plan, &work.args, &plan->hip);
  memcpy(plan->args, &work, sizeof work);
  return status;
}

static tdm_status launch_masked(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  gemm_work work;
  memcpy(&work, plan->args, sizeof work);
  set_pointers(&work.args, plan, buffers);
  return tdm_hip_launch(plan, &plan->hip, &work.args, sizeof work.args, stream);
}

const tdm_kernel tdm_gemm_hip_128x128 = {"hip_128x128",   TDM_OP_GEMM,    &tdm_backend_hip,
                                         supports_masked, prepare_masked, launch_masked};

/* ---- hip_256x256 ---- */

enum { PIPE_TILE = 256, PIPE_THREADS = 512 };

static const char *const layout_names[] = {"nn", "nt", "tn", "tt"};

static bool supports_pipe(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const char *chip = plan->context->hip->chip;
  hip_stored a = stored_a(d), b = stored_b(d);
  if (d->layout != TDM_NT && strcmp(chip, "gfx950") != 0) {
    snprintf(reason, size, "layout nt only: LDS transposes on gfx950, the chip is %s", chip);
    return false;
  }
  if (d->layout != TDM_NT && d->type == TDM_F32) {
    snprintf(reason, size, "f32 in layout nt only: LDS transposes 16-bit elements");
    return false;
  }
  return tdm_hip_pipeline_loads(&a, d->type, reason, size) && tdm_hip_pipeline_loads(&b, d->type, reason, size) &&
         tdm_hip_tiles_fit(d->m, d->n, d->batch, MASKED_TILE, MASKED_TILE, reason, size);
}

static tdm_status prepare_pipe(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  char name[64];
  gemm_work work = {0};
  TDM_TRY(upload_steps(plan));
  work.args = make_args(plan, PIPE_TILE, PIPE_TILE);
  plan->hip = make_launch(&work.args, PIPE_THREADS);
  snprintf(name, sizeof name, "gemm_256x256_%s_%s", layout_names[d->layout], tdm_type_name(d->type));
  TDM_TRY(tdm_hip_function(plan, tdm_code_gemm_256x256, name, &plan->hip.function));
  TDM_TRY(load_masked(plan, &work.masked_args, &work.masked));
  memcpy(plan->args, &work, sizeof work);
  return TDM_OK;
}

/* Only a run tells where arrays begin: 16-bit ones at odd elements are left to hip_128x128's kernel. */
static tdm_status launch_pipe(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  gemm_work work;
  memcpy(&work, plan->args, sizeof work);
  bool dwords = tdm_hip_at(buffers[0], 4) && tdm_hip_at(buffers[1], 4);
  gemm_args *args = dwords ? &work.args : &work.masked_args;
  set_pointers(args, plan, buffers);
  return tdm_hip_launch(plan, dwords ? &plan->hip : &work.masked, args, sizeof *args, stream);
}

const tdm_kernel tdm_gemm_hip_256x256 = {"hip_256x256", TDM_OP_GEMM,  &tdm_backend_hip,
                                         supports_pipe, prepare_pipe, launch_pipe};

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
  return tdm_hip_tiles_fit(d->m, d->n, d->batch, MASKED_TILE, MASKED_TILE, reason, size);
}

static tdm_status prepare_small_k(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  char name[64];
  TDM_TRY(upload_steps(plan));
  gemm_work work = {.args = make_args(plan, MASKED_TILE, MASKED_TILE)};
  plan->hip = make_launch(&work.args, MASKED_THREADS);
  memcpy(plan->args, &work, sizeof work);
  snprintf(name, sizeof name, "gemm_small_k%d_%s", (int)small_k_steps(d), tdm_type_name(d->type));
  return tdm_hip_function(plan, tdm_code_gemm_small_k, name, &plan->hip.function);
}

const tdm_kernel tdm_gemm_hip_small_k = {"hip_small_k",    TDM_OP_GEMM,     &tdm_backend_hip,
                                         supports_small_k, prepare_small_k, launch_masked};
