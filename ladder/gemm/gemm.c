/* Rows of the gemm ladder's own steps on HIP (hip_NN_*.hip): what they serve, and their launch. The tile and the work-items of
 * each are in the head of its file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../hip/gemm/tiles.h"
#include "step.h"

typedef struct gemm_step {
  hip_tile_kernel kernel;
  int load_bytes; /* of a lane at once */
} gemm_step;

/* What a plan keeps in its args, beside the kernel in plan->hip. */
typedef struct step_work {
  gemm_step_args args, elements_args;
  tdm_hip_kernel elements; /* of rows with a detour */
} step_work;
_Static_assert(sizeof(step_work) <= TDM_HIP_ARGS, "a plan has room for it");

static bool supports_loads(const tdm_gemm_desc *d, int bytes, char *reason, size_t size) {
  enum { LINES = 256 };
  int64_t values = bytes / (int64_t)tdm_type_size(TDM_BF16);
  if (d->k % values != 0 || d->lda % values != 0 || d->ldb % values != 0) {
    snprintf(reason, size, "a step with loads of %d bytes: k, lda and ldb must be multiples of %" PRId64, bytes, values);
    return false;
  }
  if (d->lda > INT32_MAX / LINES / 2 || d->ldb > INT32_MAX / LINES / 2 || d->k > INT32_MAX / 4) {
    snprintf(reason, size, "a step with offsets of 32 bits: lda and ldb must be at most %d, k at most %d",
             INT32_MAX / LINES / 2, INT32_MAX / 4);
    return false;
  }
  return true;
}

static bool supports(const tdm_plan *plan, const gemm_step *s, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (d->type != TDM_BF16 || d->out != TDM_BF16 || d->layout != TDM_NT) {
    snprintf(reason, size, "a step of the ladder: bf16 to bf16 in layout nt alone");
    return false;
  }
  if (d->batch != 1 || d->alpha != 1 || d->beta != 0 || d->epilogue_steps > 0) {
    snprintf(reason, size, "a step of the ladder: one matrix, alpha 1, beta 0, no epilogue");
    return false;
  }
  if (s->load_bytes > 2 && !supports_loads(d, s->load_bytes, reason, size)) return false;
  return tdm_hip_tiles_fit(d->m, d->n, 1, s->kernel.tile_m, s->kernel.tile_n, reason, size);
}

/* Loads of 16 bytes may begin at any multiple of 4; arrays that do not are left to the last step that loads by elements. */
extern const hip_code tdm_code_gemm_hip_05_mfma[];
static const gemm_step elements = {{tdm_code_gemm_hip_05_mfma, "gemm_step", 64, 64, 256}, 2};

static tdm_status load(tdm_plan *plan, const gemm_step *s, gemm_step_args *args, tdm_hip_kernel *kernel) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  *args = (gemm_step_args){.m = d->m,
                           .n = d->n,
                           .k = d->k,
                           .lda = d->lda,
                           .ldb = d->ldb,
                           .ldc = d->ldc,
                           .tiles_m = (uint32_t)hip_ceil_div(d->m, s->kernel.tile_m),
                           .tiles_n = (uint32_t)hip_ceil_div(d->n, s->kernel.tile_n),
                           .xcds = (uint32_t)plan->context->hip->xcds};
  *kernel = (tdm_hip_kernel){.grid = {args->tiles_m * args->tiles_n, 1, 1}, .block = s->kernel.threads};
  return tdm_hip_function(plan, s->kernel.code, s->kernel.stem, &kernel->function);
}

static tdm_status prepare(tdm_plan *plan, const gemm_step *s) {
  step_work work = {0};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(load(plan, s, &work.args, &plan->hip));
  if (s->load_bytes > 2) TDM_TRY(load(plan, &elements, &work.elements_args, &work.elements));
  memcpy(plan->args, &work, sizeof work);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  step_work work;
  memcpy(&work, plan->args, sizeof work);
  bool detours = tdm_plan_detours(plan, buffers);
  gemm_step_args *args = detours ? &work.elements_args : &work.args;
  args->a = buffers[0];
  args->b = buffers[1];
  args->c = buffers[2];
  return tdm_hip_launch(plan, detours ? &work.elements : &plan->hip, args, sizeof *args, stream);
}

#define LADDER_HIP_GEMM(id, text, tile_m, tile_n, threads, load_bytes)                                         \
  extern const hip_code tdm_code_gemm_##id[];                                                                  \
  static const gemm_step step_##id = {{tdm_code_gemm_##id, "gemm_step", tile_m, tile_n, threads}, load_bytes}; \
  static bool supports_##id(const tdm_plan *plan, char *reason, size_t size) {                                 \
    return supports(plan, &step_##id, reason, size);                                                           \
  }                                                                                                            \
  static tdm_status prepare_##id(tdm_plan *plan) { return prepare(plan, &step_##id); }                         \
  const tdm_kernel tdm_gemm_##text = {.name = #text,                                                           \
                                      .op = TDM_OP_GEMM,                                                       \
                                      .backend = &tdm_backend_hip,                                             \
                                      .supports = supports_##id,                                               \
                                      .prepare = prepare_##id,                                                 \
                                      .launch = launch,                                                        \
                                      .detour = {(load_bytes) > 2 ? 4 : 0, 3, "hip_step05_mfma"},              \
                                      .by_name = true};
#include "ladder.def"
