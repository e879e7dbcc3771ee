/* rope on HIP: its row, the table of its angles, and the launch of its kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_rope[];

enum { INTERLEAVED, HALF }; /* the row's functions, by twos */

/* Scales the number of positions per radian of a pair, which is 1 over its frequency. Llama 3.1's ranges, by wavelength:
 * short ones stay, long ones grow by the factor, and between them the frequencies are mixed. */
static double scaled(const tdm_rope_scaling *s, double positions_per_radian) {
  const double wavelength = 2 * M_PI * positions_per_radian, trained = (double)s->trained;
  if (s->trained == 0 || wavelength * s->low >= trained) return positions_per_radian * s->factor;
  if (wavelength * s->high <= trained) return positions_per_radian;
  double smooth = (trained / wavelength - s->low) / (s->high - s->low);
  return 1 / ((1 - smooth) / (positions_per_radian * s->factor) + smooth / positions_per_radian);
}

/* Cosine and sine of (offset + s) theta^(-2 i / head_dim), scaled, computed in f64. */
static void fill_sincos(float *sincos, const tdm_rope_desc *d) {
  int64_t half = d->head_dim / 2;
  for (int64_t i = 0; i < half; i++) {
    double positions_per_radian = scaled(&d->scaling, pow(d->theta, 2 * (double)i / (double)d->head_dim));
    float *to = sincos + i;
    for (int64_t s = 0; s < d->positions; s++, to += d->head_dim) {
      double angle = (double)(d->offset + s) / positions_per_radian;
      to[0] = (float)cos(angle);
      to[half] = (float)sin(angle);
    }
  }
}

static tdm_status upload_sincos(tdm_plan *plan) {
  const tdm_rope_desc *d = &plan->desc.rope;
  size_t bytes;
  float *sincos = NULL;
  if (!__builtin_mul_overflow(d->positions, d->head_dim * sizeof *sincos, &bytes)) sincos = malloc(bytes);
  if (sincos == NULL)
    return tdm_fail(TDM_ERROR_MEMORY,
                    "rope: positions = %" PRId64 ", head_dim = %" PRId64 ": no memory for a table of their angles",
                    d->positions, d->head_dim);
  fill_sincos(sincos, d);
  tdm_status status = tdm_plan_upload(plan, sincos, bytes);
  free(sincos);
  return status;
}

/* Heads that a work-item takes: more for each time that it computes a place, as long as there is work for the device. */
static int heads_each(const tdm_plan *plan, const tdm_rope_desc *d) {
  enum { MOST = 8 };
  int64_t chunks = d->batch * d->seq * hip_ceil_div(d->head_dim, 2 * tdm_hip_chunk(d->type));
  int each = 1;
  while (each < MOST && each < d->heads && chunks * (d->heads / (2 * each)) >= tdm_hip_items_wanted(plan)) each *= 2;
  return each;
}

typedef struct rope_plan {
  rope_args args;
  hip_blocks_plan blocks;
} rope_plan;

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rope_desc *d = &plan->desc.rope;
  const bool halves = d->style == TDM_ROPE_HALF;
  const int64_t half = d->head_dim / 2;
  rope_plan own = {.args = {.seq = d->seq, .heads = d->heads, .half = half, .of_x = d->x, .of_y = d->y}};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  own.args.each = heads_each(plan, d);
  own.args.parts = hip_ceil_div(d->heads, own.args.each);
  TDM_TRY(upload_sincos(plan));
  own.args.sincos = plan->table;
  own.blocks.any_items = hip_ceil_div(halves ? half : d->head_dim, tdm_hip_chunk(d->type)); /* chunks begin with their row */
  TDM_TRY(tdm_hip_blocks_prepare(plan, &own.blocks, halves ? HALF : INTERLEAVED, d->batch * d->seq * own.args.parts,
                                 halves ? half : d->head_dim, d->type,
                                 (int64_t[]){d->x.batch, d->x.seq, d->x.head, d->y.batch, d->y.seq, d->y.head}, 6));
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  rope_plan own;
  tdm_hip_kernel kernel;
  memcpy(&own, plan->args, sizeof own);
  own.args.x = buffers[0];
  own.args.y = buffers[1];
  own.args.sincos += tdm_rope_skipped(plan);
  own.args.blocks = tdm_hip_blocks_choose(plan, &own.blocks, buffers, &kernel)->blocks;
  return tdm_hip_launch(plan, &kernel, &own.args, sizeof own.args, stream);
}

const tdm_kernel tdm_rope_hip_blocks = {
    .name = "hip_blocks",
    .op = TDM_OP_ROPE,
    .backend = &tdm_backend_hip,
    .functions = HIP_FUNCTIONS([2 * INTERLEAVED] = {.code = tdm_code_rope, .stem = "rope_interleaved_any", .waves = 6},
                               {.code = tdm_code_rope, .stem = "rope_interleaved", .waves = 6},
                               [2 * HALF] = {.code = tdm_code_rope, .stem = "rope_half_any", .waves = 6},
                               {.code = tdm_code_rope, .stem = "rope_half", .waves = 6}),
    .prepare = prepare,
    .launch = launch,
    .rebindable = true};
