/* rope on HIP: its row, the table of its angles, and the launch of its kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_rope[];

/* What scaling makes of a pair's slowness, the positions in which it turns by 1. Llama 3.1's ranges, by wavelengths: short ones
 * stay, long ones grow by the factor, between them the frequencies are mixed. */
static double scaled(const tdm_rope_scaling *s, double slowness) {
  const double wavelength = 2 * M_PI * slowness, trained = (double)s->trained;
  if (s->trained == 0 || wavelength * s->low >= trained) return slowness * s->factor;
  if (wavelength * s->high <= trained) return slowness;
  double smooth = (trained / wavelength - s->low) / (s->high - s->low);
  return 1 / ((1 - smooth) / (slowness * s->factor) + smooth / slowness);
}

/* Cosine and sine of (offset + s) theta^(-2 i / head_dim), scaled, computed in f64. */
static void fill_turns(float *turns, const tdm_rope_desc *d) {
  int64_t half = d->head_dim / 2;
  for (int64_t i = 0; i < half; i++) {
    double slowness = scaled(&d->scaling, pow(d->theta, 2 * (double)i / (double)d->head_dim));
    float *to = turns + i;
    for (int64_t s = 0; s < d->positions; s++, to += d->head_dim) {
      double angle = (double)(d->offset + s) / slowness;
      to[0] = (float)cos(angle);
      to[half] = (float)sin(angle);
    }
  }
}

static tdm_status upload_turns(tdm_plan *plan) {
  const tdm_rope_desc *d = &plan->desc.rope;
  size_t bytes;
  float *turns = NULL;
  if (!__builtin_mul_overflow(d->positions, d->head_dim * sizeof *turns, &bytes)) turns = malloc(bytes);
  if (turns == NULL)
    return tdm_fail(TDM_ERROR_MEMORY,
                    "rope: positions = %" PRId64 ", head_dim = %" PRId64 ": no memory for a table of their angles",
                    d->positions, d->head_dim);
  fill_turns(turns, d);
  tdm_status status = tdm_plan_upload(plan, turns, bytes);
  free(turns);
  return status;
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rope_desc *d = &plan->desc.rope;
  rope_args args = {.seq = d->seq, .heads = d->heads, .half = d->head_dim / 2, .of_x = d->x, .of_y = d->y};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  TDM_TRY(upload_turns(plan));
  args.turns = plan->table;
  tdm_hip_blocks(plan, &args.blocks, d->batch * d->seq * d->heads, args.half, tdm_hip_chunk(d->type));
  memcpy(plan->args, &args, sizeof args);
  return tdm_hip_function_of(plan, tdm_code_rope, d->style == TDM_ROPE_HALF ? "rope_half" : "rope_interleaved", d->type);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  rope_args args;
  memcpy(&args, plan->args, sizeof args);
  args.x = buffers[0];
  args.y = buffers[1];
  args.turns += tdm_rope_skipped(plan);
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

const tdm_kernel tdm_rope_hip_blocks = {.name = "hip_blocks",
                                        .op = TDM_OP_ROPE,
                                        .backend = &tdm_backend_hip,
                                        .prepare = prepare,
                                        .launch = launch,
                                        .rebindable = true};
