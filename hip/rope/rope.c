/* rope on HIP: its row, the table of its angles, and the launch of its kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "hip/host/row_launch.h"

extern const hip_code tdm_code_rope[];

enum { INTERLEAVED, HALF, HALF_ODD = 4 }; /* the row's functions, by twos; the last takes the place of HALF's second */

/* Scales the number of positions per radian of a pair, which is 1 over its frequency. Llama 3.1's ranges, by wavelength:
 * short ones stay, long ones grow by the factor, and between them the frequencies are mixed. */
static double scaled(const tdm_rope_scaling *s, double positions_per_radian) {
  const double wavelength = 2 * M_PI * positions_per_radian, trained = (double)s->trained;
  if (s->trained == 0 || wavelength * s->low >= trained) return positions_per_radian * s->factor;
  if (wavelength * s->high <= trained) return positions_per_radian;
  double smooth = (trained / wavelength - s->low) / (s->high - s->low);
  return 1 / ((1 - smooth) / (positions_per_radian * s->factor) + smooth / positions_per_radian);
}

/* Cosine and sine of (offset + s) theta^(-2 i / head_dim), scaled, computed in f64. Of `angles` of a position, those after the
 * last pair of a head are the first ones again. */
static void fill_sincos(float *sincos, const tdm_rope_desc *d, int64_t angles) {
  const int64_t half = d->head_dim / 2;
  for (int64_t i = 0; i < half; i++) {
    double positions_per_radian = scaled(&d->scaling, pow(d->theta, 2 * (double)i / (double)d->head_dim));
    float *to = sincos;
    for (int64_t s = 0; s < d->positions; s++, to += 2 * angles) {
      double angle = (double)(d->offset + s) / positions_per_radian;
      const float cosine = (float)cos(angle), sine = (float)sin(angle);
      for (int64_t at = i; at < angles; at += half) to[at] = cosine, to[angles + at] = sine;
    }
  }
}

static tdm_status upload_sincos(tdm_plan *plan, int64_t angles) {
  const tdm_rope_desc *d = &plan->desc.rope;
  size_t bytes, of_position;
  float *sincos = NULL;
  if (!__builtin_mul_overflow(angles, 2 * sizeof *sincos, &of_position) &&
      !__builtin_mul_overflow(d->positions, of_position, &bytes))
    sincos = malloc(bytes);
  if (sincos == NULL)
    return tdm_fail(TDM_ERROR_MEMORY,
                    "rope: positions = %" PRId64 ", head_dim = %" PRId64 ": no memory for a table of their angles",
                    d->positions, d->head_dim);
  fill_sincos(sincos, d, angles);
  tdm_status status = tdm_plan_upload(plan, sincos, bytes);
  free(sincos);
  return status;
}

/* Neighbouring heads that together are whole chunks, if nothing is between them: 1, 2 or 4. */
static int64_t joined_heads(const tdm_rope_desc *d) {
  if (d->style == TDM_ROPE_HALF || d->x.head != d->head_dim || d->y.head != d->head_dim) return 1;
  int64_t joined = 1;
  while (joined < d->heads && joined * d->head_dim % tdm_hip_chunk(d->type) != 0) joined *= 2;
  return joined < d->heads ? joined : d->heads;
}

/* Parts of a position's runs: fewer, so that a work-item computes a place and loads angles once for up to eight runs, as long
 * as there is work for the device. With four, 426 bf16 elements a head get 0.90 instead of 0.93 of the rate of memory,
 * predicted. */
static int64_t parts_of(const tdm_plan *plan, int64_t runs, int64_t chunks) {
  enum { MOST = 8 };
  int64_t each = 1;
  while (each < MOST && each < runs && chunks * (runs / (2 * each)) >= tdm_hip_items_wanted(plan)) each *= 2;
  return hip_ceil_div(runs, each);
}

enum { LANES = 64 };

/* The heads that a wave takes of those whose halves are not whole chunks. A head lies in one wave, whose lanes hand on elements
 * (halves of an odd number of 16-bit elements), or share some. 0: their kernels do not take the head. */
static int32_t packed_heads(const tdm_rope_desc *d, int64_t chunks) {
  const int64_t half = d->head_dim / 2, chunk = tdm_hip_chunk(d->type);
  if (d->style != TDM_ROPE_HALF || half % chunk == 0 || half < chunk || chunks > LANES) return 0;
  return (int32_t)(LANES / chunks);
}

typedef struct rope_plan {
  rope_args args;
  hip_blocks_plan blocks;
} rope_plan;
_Static_assert(sizeof(rope_plan) <= TDM_PLAN_ARGS, "fits the plan");

static tdm_status prepare(tdm_plan *plan) {
  const tdm_rope_desc *d = &plan->desc.rope;
  const bool halves = d->style == TDM_ROPE_HALF;
  const int64_t half = d->head_dim / 2, chunk = tdm_hip_chunk(d->type), pairs = halves ? chunk : chunk / 2;
  rope_plan own = {.args = {.seq = d->seq, .heads = d->heads, .half = half, .of_x = d->x, .of_y = d->y}};
  rope_args *args = &own.args;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  args->joined = joined_heads(d);
  args->runs = hip_ceil_div(d->heads, args->joined);
  args->angles = half + (half % pairs != 0 ? pairs - 1 : 0);
  const int64_t elements = halves ? half : args->joined * d->head_dim, chunks = hip_ceil_div(elements, chunk);
  args->parts = parts_of(plan, args->runs, d->batch * d->seq * chunks);
  args->turns = (int32_t)hip_ceil_div(args->runs, args->parts);
  TDM_TRY(upload_sincos(plan, args->angles));
  args->sincos = plan->table;
  own.blocks.any_items = chunks; /* they begin with their run */
  own.blocks.ahead = true;
  args->packed = packed_heads(d, chunks);
  const bool odd = args->packed > 0 && !tdm_hip_whole_dwords(half, d->type),
             swaps = plan->context->hip->chip->lds_bytes >= HIP_WIDE_LDS;
  own.blocks.instead = odd ? HALF_ODD : 0;
  /* 72 bf16, in packed heads, get 0.93 of the rate of memory with four waves, and 0.86 with three, predicted. Where pairs are
   * neighbours, and runs of heads no whole lines, five are too many: 1x8192x32x66 bf16 takes 226,441 clocks of an XCD of gfx950
   * with four, and 232,623 with five, predicted. */
  const int64_t loaded = halves ? half : elements;
  const bool lines = loaded * (int64_t)tdm_type_size(d->type) % plan->context->hip->chip->line_bytes == 0;
  if (halves)
    own.blocks.waves = odd ? 0 : swaps ? args->packed > 0 ? 4 : 0 : lines ? 0 : 2;
  else
    own.blocks.waves = lines ? 0 : 4;
  const int64_t rows = d->batch * d->seq * args->parts, beyond = HIP_BLOCK_THREADS * LANES;
  args->by_parts = hip_divisor_below(args->parts, rows + beyond);
  args->by_seq = hip_divisor_below(d->seq, rows + beyond);
  own.blocks.always = d->heads % args->joined != 0 || args->by_seq.factor == 0; /* the other kernels need the divisors */
  if (args->packed > 0) args->by_chunks = hip_divisor_of(chunks);
  if (args->packed > 0) own.blocks.whole_rows = hip_ceil_div(rows, args->packed);
  TDM_TRY(tdm_hip_blocks_prepare(plan, &own.blocks, halves ? HALF : INTERLEAVED, rows,
                                 args->packed > 0 ? LANES * chunk : elements, d->type,
                                 (int64_t[]){d->x.batch, d->x.seq, d->x.head, d->y.batch, d->y.seq, d->y.head}, 6));
  if (args->packed > 0) {
    own.blocks.whole.blocks.rows = rows;
    own.blocks.whole.blocks.rows_step *= args->packed;
  }
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  rope_plan own;
  tdm_hip_kernel kernel;
  memcpy(&own, plan->args, sizeof own);
  own.args.x = buffers[0];
  own.args.y = buffers[1];
  own.args.sincos += tdm_rope_skipped(plan) / plan->desc.rope.head_dim * 2 * own.args.angles;
  rope_args *args = &own.args;
  const hip_blocks_way *way = tdm_hip_blocks_choose(plan, &own.blocks, buffers, &kernel);
  args->blocks = way->blocks;
  if (way == &own.blocks.any) args->packed = 0;
  const int64_t positions = args->blocks.rows_step / args->parts;
  args->part_step = args->blocks.rows_step % args->parts;
  args->s_step = positions % args->seq;
  args->batch_step = positions / args->seq;
  return tdm_hip_launch(plan, &kernel, &own.args, sizeof own.args, stream);
}

/* Fewer waves than a SIMD could hold: each has two or three loads on their way, for which the vL1D keeps room. 426 bf16
 * elements a head get 0.85 of the rate of memory with eight waves, and 0.94 with five, predicted. Where lanes are swapped, 96
 * bf16 of rope_half get 0.92 with four and 0.94 with three; elsewhere halves that are not whole lines get 0.92 with six (64 and
 * 96 bf16), and 0.93 and 0.92 with two. 130 bf16 of rope_half_odd get 0.92 with four and 0.91 with three on gfx950, and 0.85
 * with three and 0.89 with two on gfx942. */
const tdm_kernel tdm_rope_hip_blocks = {
    .name = "hip_blocks",
    .op = TDM_OP_ROPE,
    .backend = &tdm_backend_hip,
    .functions =
        HIP_FUNCTIONS([2 * INTERLEAVED] = {.code = tdm_code_rope, .stem = "rope_interleaved_any", .waves = 6},
                      {.code = tdm_code_rope, .stem = "rope_interleaved", .waves = 5},
                      [2 * HALF] = {.code = tdm_code_rope, .stem = "rope_half_any", .waves = 4},
                      {.code = tdm_code_rope, .stem = "rope_half", .waves = 3, .fewer = HIP_FEWER_WAVES(6)},
                      [HALF_ODD] = {.code = tdm_code_rope, .stem = "rope_half_odd", .waves = 3, .fewer = HIP_FEWER_WAVES(2)}),
    .prepare = prepare,
    .launch = launch,
    .rebindable = true};
