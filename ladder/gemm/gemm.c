/* Rows of the own steps of the ladders of gemm on HIP: what they serve, and their launch. The tile and the work-items of each
 * are in the head of its file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../row.h"
#include "hip/host/tile_launch.h"
#include "step.h"

typedef struct ladder_variant {
  tdm_type type; /* of all arrays */
  tdm_layout layout;
  int most_k;
  int tile_m, tile_n, threads;
  int load_bytes; /* of a lane at once */
} ladder_variant;

enum { ANY_K = INT32_MAX / 4 };

/* Loads of 16 bytes may begin at any multiple of 4; arrays that do not are left to the last step that loads by elements. */
extern const tdm_kernel tdm_gemm_hip_step05_mfma;

/* What a plan keeps in its args, beside the kernel in plan->hip. */
typedef struct step_work {
  gemm_step_args args, elements_args;
  tdm_hip_kernel elements; /* of rows with a fallback */
} step_work;
_Static_assert(sizeof(step_work) <= TDM_PLAN_ARGS, "it fits the plan");

static bool has_fallback(const ladder_variant *s) { return s->load_bytes > 4; }

static bool supports_loads(const tdm_gemm_desc *d, int bytes, char *reason, size_t size) {
  enum { LINES = 256 };
  int64_t values = bytes / (int64_t)tdm_type_size(d->type);
  if (d->k % values != 0 || d->lda % values != 0 || d->ldb % values != 0) {
    snprintf(reason, size, "a step with loads of %d bytes: k, lda and ldb must be multiples of %" PRId64, bytes, values);
    return false;
  }
  if (d->lda > INT32_MAX / LINES / 2 || d->ldb > INT32_MAX / LINES / 2) {
    snprintf(reason, size, "a step with offsets of 32 bits: lda and ldb must be at most %d", INT32_MAX / LINES / 2);
    return false;
  }
  return true;
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const ladder_variant *s = plan->kernel->variant;
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (d->type != s->type || d->out != s->type || d->layout != s->layout) {
    snprintf(reason, size, "a step of a ladder: only %s to %s in layout %s", tdm_type_name(s->type), tdm_type_name(s->type),
             tdm_layout_names[s->layout]);
    return false;
  }
  if (d->batch != 1 || d->alpha != 1 || d->beta != 0 || d->epilogue_steps > 0) {
    snprintf(reason, size, "a step of a ladder: one matrix, alpha 1, beta 0, no epilogue");
    return false;
  }
  if (d->k > s->most_k) {
    snprintf(reason, size, "a step of a ladder: k must be at most %d", s->most_k);
    return false;
  }
  if (has_fallback(s) && !supports_loads(d, s->load_bytes, reason, size)) return false;
  return tdm_hip_tiles_fit(d->m, d->n, 1, s->tile_m, s->tile_n, reason, size);
}

static tdm_status load(tdm_plan *plan, const tdm_kernel *row, gemm_step_args *args, tdm_hip_kernel *kernel) {
  const ladder_variant *s = row->variant;
  const tdm_gemm_desc *d = &plan->desc.gemm;
  *args = (gemm_step_args){.m = d->m,
                           .n = d->n,
                           .k = d->k,
                           .lda = d->lda,
                           .ldb = d->ldb,
                           .ldc = d->ldc,
                           .tiles_m = (uint32_t)hip_ceil_div(d->m, s->tile_m),
                           .tiles_n = (uint32_t)hip_ceil_div(d->n, s->tile_n),
                           .xcds = (uint32_t)plan->context->hip->xcds};
  *kernel = (tdm_hip_kernel){.grid = {args->tiles_m * args->tiles_n, 1, 1}, .block = (unsigned)s->threads};
  return tdm_hip_function(plan, &row->functions[0], NULL, NULL, &kernel->function);
}

static tdm_status prepare(tdm_plan *plan) {
  const ladder_variant *s = plan->kernel->variant;
  step_work work = {0};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(load(plan, plan->kernel, &work.args, &plan->hip));
  if (has_fallback(s)) TDM_TRY(load(plan, plan->kernel->fallback.kernel, &work.elements_args, &work.elements));
  memcpy(plan->args, &work, sizeof work);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  step_work work;
  memcpy(&work, plan->args, sizeof work);
  bool falls_back = tdm_plan_falls_back(plan, buffers);
  gemm_step_args *args = falls_back ? &work.elements_args : &work.args;
  args->a = buffers[0];
  args->b = buffers[1];
  args->c = buffers[2];
  return tdm_hip_launch(plan, falls_back ? &work.elements : &plan->hip, args, sizeof *args, stream);
}

#define LADDER_HIP_GEMM(row, text, object, tile_m, tile_n, threads, load_bytes, waves)                                       \
  LADDER_HIP_ROW(row, text, object, "gemm_step", waves, TDM_OP_GEMM, (load_bytes) > 4 ? 4 : 0, 3, &tdm_gemm_hip_step05_mfma, \
                 TDM_BF16, TDM_NT, ANY_K, tile_m, tile_n, threads, load_bytes)
#define LADDER_HIP_SMALL_K(row, text, object, tile_m, tile_n, threads, most_k, waves)                                     \
  LADDER_HIP_ROW(row, text, object, "gemm_step", waves, TDM_OP_GEMM, 0, 0, NULL, TDM_F32, TDM_NN, most_k, tile_m, tile_n, \
                 threads, 4)
#include "ladder.def"
