/* Rows of the swiglu ladder's own steps on HIP. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../row.h"
#include "hip/host/tile_launch.h"
#include "step.h"

typedef struct ladder_variant {
  int tile_m, tile_n, threads;
  int load_bytes; /* of a lane at once */
} ladder_variant;

/* Loads of 16 bytes may begin at any multiple of 4; arrays that do not are left to the last step that loads by elements. */
extern const tdm_kernel tdm_swiglu_hip_step02_fused;

/* What a plan keeps in its args, beside the kernel in plan->hip. */
typedef struct step_work {
  swiglu_step_args args, elements_args;
  tdm_hip_kernel elements; /* of rows with a fallback */
} step_work;
_Static_assert(sizeof(step_work) <= TDM_PLAN_ARGS, "it fits the plan");

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const ladder_variant *s = plan->kernel->variant;
  enum { LINES = 256, MOST_LD = INT32_MAX / LINES / 2 };
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  int values = s->load_bytes / 2;
  if (d->type != TDM_BF16 || d->out != TDM_BF16 || d->layout != TDM_NT) {
    snprintf(reason, size, "a step of the ladder: only bf16 to bf16 in layout nt");
    return false;
  }
  if (d->k % values != 0 || d->ldx % values != 0 || d->ldg % values != 0 || d->ldu % values != 0) {
    snprintf(reason, size, "a step with loads of %d bytes: k, ldx, ldg and ldu must be multiples of %d", s->load_bytes, values);
    return false;
  }
  if (s->load_bytes > 2 && (d->ldx > MOST_LD || d->ldg > MOST_LD || d->ldu > MOST_LD)) {
    snprintf(reason, size, "a step with offsets of 32 bits: ldx, ldg and ldu must be at most %d", MOST_LD);
    return false;
  }
  return tdm_hip_tiles_fit(d->m, d->n, 1, s->tile_m, s->tile_n, reason, size);
}

static tdm_status load(tdm_plan *plan, const tdm_kernel *row, swiglu_step_args *args, tdm_hip_kernel *kernel) {
  const ladder_variant *s = row->variant;
  const tdm_swiglu_desc *d = &plan->desc.swiglu;
  *args = (swiglu_step_args){.m = d->m,
                             .n = d->n,
                             .k = d->k,
                             .ldx = d->ldx,
                             .ldg = d->ldg,
                             .ldu = d->ldu,
                             .ldy = d->ldy,
                             .tiles_n = (uint32_t)hip_ceil_div(d->n, s->tile_n)};
  *kernel =
      (tdm_hip_kernel){.grid = {(unsigned)hip_ceil_div(d->m, s->tile_m) * args->tiles_n, 1, 1}, .block = (unsigned)s->threads};
  return tdm_hip_function(plan, &row->functions[0], NULL, NULL, &kernel->function);
}

static tdm_status prepare(tdm_plan *plan) {
  const ladder_variant *s = plan->kernel->variant;
  step_work work = {0};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(load(plan, plan->kernel, &work.args, &plan->hip));
  if (s->load_bytes > 2) TDM_TRY(load(plan, plan->kernel->fallback.kernel, &work.elements_args, &work.elements));
  memcpy(plan->args, &work, sizeof work);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  step_work work;
  memcpy(&work, plan->args, sizeof work);
  bool falls_back = tdm_plan_falls_back(plan, buffers);
  swiglu_step_args *args = falls_back ? &work.elements_args : &work.args;
  args->x = buffers[0];
  args->wg = buffers[1];
  args->wu = buffers[2];
  args->y = buffers[3];
  return tdm_hip_launch(plan, falls_back ? &work.elements : &plan->hip, args, sizeof *args, stream);
}

#define LADDER_HIP_SWIGLU(row, text, object, tile_m, tile_n, threads, load_bytes, waves)              \
  LADDER_HIP_ROW(row, text, object, "swiglu_step", waves, TDM_OP_SWIGLU, (load_bytes) > 2 ? 4 : 0, 7, \
                 &tdm_swiglu_hip_step02_fused, tile_m, tile_n, threads, load_bytes)
#include "ladder.def"
