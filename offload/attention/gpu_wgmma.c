/* attention on Hopper's GPUs, for every head_dim, length, stride and alignment: a row for f16 and bf16, whose kernels use the
 * matrix units (wgmma_kernels.c), and one for f32 (tma_kernels.c). Both read Q, K and V by tensor copies. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "offload/device/device.h"
#include "offload/device/target.h"
#include "offload/engine/wgmma_image.h"
#include "offload/engine/wgmma_launch.h"
#include "src/base/types.h"
#include "tma_args.h"
#include "wgmma_cut.h"

extern const wg_image tdm_wg_attention_image[], tdm_wg_attention_f32_image[];
static const int columns[] = {TDM_WGMMA_ATTENTION}, f32_columns[] = {TDM_WGMMA_ATTENTION_F32};

enum {
  ARRAYS = 3,         /* Q, K, V */
  PROCESSORS = 132,   /* of an H100 and H200, for estimates without a device */
  MOST = INT_MAX / 2, /* so that a tile's end is in range too */
  L2_KEYS = 24 << 20, /* bytes of K and V that stay in the L2 beside the rest */
};

/* What the rows differ in. */
typedef struct attend_variant {
  const wg_image *image;
  const int *columns; /* of its kernels, upwards; the last one has 256 */
  int element;        /* bytes */
  attend_tile (*tile)(int head);
  int (*values)(int head), (*shared_bytes)(int head); /* values: keys of a copy of V */
} attend_variant;

/* Q, K or V: as a run gets it, and as the kernel reads it. */
typedef struct attend_source {
  tdm_attention_strides stride, packed;
  int64_t bytes; /* of the packed array */
  bool must_pack;
} attend_source;

typedef struct attend_plan {
  attend_args args;
  attend_source source[ARRAYS];
  void *context, *function, *pack;
  int processors, head; /* head: columns of the kernel */
} attend_plan;

_Static_assert(sizeof(attend_plan) <= TDM_PLAN_ARGS, "it fits the plan");

static int64_t heads_of(const tdm_attention_desc *d, int array) { return array == 0 ? d->heads_q : d->heads_kv; }
static int64_t rows_of(const tdm_attention_desc *d, int array) { return array == 0 ? d->sq : d->skv; }
static tdm_attention_strides stride_of(const tdm_attention_desc *d, int array) {
  return array == 0 ? d->q : array == 1 ? d->k : d->v;
}

static const attend_variant *variant_of(const tdm_plan *plan) { return plan->kernel->variant; }

static int kernel_of(const tdm_plan *plan) {
  int i = 0;
  while (variant_of(plan)->columns[i] < plan->desc.attention.head_dim) i++;
  return i;
}

static attend_tile tile_of(const tdm_plan *plan) { return variant_of(plan)->tile(variant_of(plan)->columns[kernel_of(plan)]); }

/* Elements of 16 bytes. */
static int piece_of(const attend_variant *v) { return 16 / v->element; }

/* ---- What it supports ---- */

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const int64_t most_stride = INT64_C(1) << 37; /* tensor copies: strides below 2^40 bytes */
  const int64_t tiles = attend_tiles(d, tile_of(plan).rows);
  int64_t largest = 0;
  for (int i = 0; i < ARRAYS; i++) {
    const tdm_attention_strides s = stride_of(d, i);
    largest |= s.batch | s.head | s.row;
  }
  if (plan->context->threads != 0)
    snprintf(reason, size, "takes as many threads as its tile needs, but the caller set %d", plan->context->threads);
  else if (d->sq > MOST || d->skv > MOST || d->batch > MOST || d->heads_q > MOST || largest >= most_stride)
    snprintf(reason, size, "batch, heads, sq and skv must be below 2^30, strides below 2^37");
  else if (d->batch > 0 && tiles > 0 && d->heads_q > MOST / tiles / d->batch)
    snprintf(reason, size, "more than 2^30 tiles");
  else if (d->type != TDM_F32 &&
           (fabsf(d->scale) < 0x1p-60f || fabsf(d->scale) > 0x1p60f)) /* times 0, a masked score of -infinity is NaN */
    snprintf(reason, size, "needs a scale of 2^-60 to 2^60");
  else
    return true;
  return false;
}

/* ---- Estimate ---- */

static bool must_pack(const tdm_plan *plan, int array) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const tdm_attention_strides s = stride_of(d, array);
  const int piece = piece_of(variant_of(plan));
  return (rows_of(d, array) > 1 && s.row % piece != 0) || (heads_of(d, array) > 1 && s.head % piece != 0) ||
         (d->batch > 1 && s.batch % piece != 0);
}

/* Nanoseconds: of the launch with its wait, and of a copy that packs, beside its bytes. Bytes of memory in a nanosecond: of a
 * copy; of what is only read, 3640 to 4160 where a head has one query (head_dim 96 to 256). */
static const double LAUNCH = 12000, PACK = 3000, MEMORY = 3250, READ = 3900;

static void cost(const tdm_plan *plan, tdm_cost *cost) {
  const tdm_attention_desc *d = &plan->desc.attention;
  cuda_device device = {.processors = PROCESSORS};
  char reason[128];
  double ns;
  wg_device_of(plan->context, &device, reason, sizeof reason);
  const attend_tile tile = tile_of(plan);
  attend_choose_splits(d, &tile, device.processors, &ns);
  double bytes[ARRAYS], packed = 0;
  for (int i = 0; i < ARRAYS; i++) {
    bytes[i] = variant_of(plan)->element * (double)(d->batch * heads_of(d, i)) * (double)(rows_of(d, i) * d->head_dim);
    if (must_pack(plan, i)) packed += PACK + 2 * bytes[i] / MEMORY;
  }
  ns = fmax(ns, (bytes[0] + bytes[1] + bytes[2]) / READ) + packed;
  *cost = (tdm_cost){(LAUNCH + ns) * TDM_H200_CLOCKS_PER_NS, d->type == TDM_F32 ? "multiply-adds" : "wgmma"};
}

/* ---- Plans ---- */

static int64_t round_up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

static attend_source describe(const tdm_plan *plan, int array) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const attend_variant *v = variant_of(plan);
  const int64_t rows = rows_of(d, array), heads = heads_of(d, array), row = round_up(d->head_dim, piece_of(v));
  attend_source s = {.stride = stride_of(d, array), .packed = {heads * rows * row, rows * row, row}};
  s.must_pack = must_pack(plan, array);
  s.bytes = round_up(d->batch * heads * rows * row * v->element, 256);
  /* What is never used must be aligned too. */
  if (rows <= 1) s.stride.row = row;
  if (heads <= 1) s.stride.head = s.stride.row * (rows > 0 ? rows : 1);
  if (d->batch <= 1) s.stride.batch = s.stride.head * heads;
  return s;
}

static void fill_args(attend_args *args, const tdm_plan *plan, int splits) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const int64_t heads = d->batch * d->heads_q, group = d->heads_q / d->heads_kv;
  const int64_t tiles = attend_tiles(d, tile_of(plan).rows);
  const int64_t keys = 2 * variant_of(plan)->element * d->skv * d->head_dim, at_once = keys > 0 ? L2_KEYS / keys : heads;
  int64_t together = (at_once > 1 ? at_once : 1) * group;
  if (together > heads) together = heads;
  *args = (attend_args){.o_stride = d->o,
                        .factor = (float)(fabs((double)d->scale) * 1.4426950408889634),
                        .scale = d->scale,
                        .negative = d->scale < 0,
                        .sq = (int)d->sq,
                        .head_dim = (int)d->head_dim,
                        .causal = d->causal,
                        .heads_q = (int)d->heads_q,
                        .heads = (int)heads,
                        .group = (int)group,
                        .tiles = (int)tiles,
                        .together = (int)together,
                        .units = (int)(heads * tiles),
                        .splits = splits};
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const attend_variant *v = variant_of(plan);
  const attend_tile tile = tile_of(plan);
  attend_plan work = {.head = tile.head};
  cuda_device device;
  char reason[160];
  double ns;
  if (plan->empty) return TDM_OK;
  tdm_status status = wg_device_of(plan->context, &device, reason, sizeof reason);
  if (status != TDM_OK) return tdm_fail(status, "%s: device %s %s", plan->title, plan->context->device, reason);
  /* A split unit is a cluster's, and each cluster needs one. */
  const int splits = plan->context->teams > 0 ? 1 : attend_choose_splits(d, &tile, device.processors, &ns);
  fill_args(&work.args, plan, splits);
  plan->workspace_bytes = 0;
  for (int i = 0; i < ARRAYS; i++) {
    work.source[i] = describe(plan, i);
    if (work.source[i].must_pack) plan->workspace_bytes += (size_t)work.source[i].bytes;
  }
  work.context = device.context;
  work.processors = device.processors;
  char name[64];
  snprintf(name, sizeof name, "tdm_wg_attention_%s", tdm_type_name(d->type));
  TDM_TRY(wg_function(plan, &v->image[kernel_of(plan)], name, true, &work.function));
  TDM_TRY(wg_function(plan, &tdm_wg_pack_image[0], "tdm_wg_pack", false, &work.pack));
  const int64_t at_once = splits > 1 ? work.args.units : device.processors;
  tdm_plan_launch(plan, (work.args.units < at_once ? work.args.units : at_once) * splits, ATTEND_THREADS);
  memcpy(plan->args, &work, sizeof work);
  return TDM_OK;
}

/* ---- Launches ---- */

static int make_map(const cuda_driver *d, const tdm_plan *plan, int array, tdm_attention_strides stride, uintptr_t base,
                    wg_map *map) {
  const tdm_attention_desc *desc = &plan->desc.attention;
  const attend_variant *v = variant_of(plan);
  const attend_tile tile = tile_of(plan);
  const uint64_t bytes = (uint64_t)v->element;
  const uint64_t extent[4] = {(uint64_t)desc->head_dim, (uint64_t)rows_of(desc, array), (uint64_t)heads_of(desc, array),
                              (uint64_t)desc->batch};
  const uint64_t strides[3] = {(uint64_t)stride.row * bytes, (uint64_t)stride.head * bytes, (uint64_t)stride.batch * bytes};
  const int rows = array == 0 ? tile.rows : array == 1 ? tile.keys : v->values(tile.head);
  const unsigned box[4] = {(unsigned)(WG_LINE_BYTES / v->element), (unsigned)rows, 1, 1};
  return wg_make_map(d, map, v->element, 4, base, extent, strides, box);
}

/* Copies an array to `to`: the matrices of one batch after the other, as elements of 16 bits. */
static int pack(const cuda_driver *d, const attend_plan *work, const tdm_plan *plan, int array, const void *from,
                uintptr_t to) {
  const tdm_attention_desc *desc = &plan->desc.attention;
  const attend_source *s = &work->source[array];
  const int halves = variant_of(plan)->element / 2;
  const int64_t row_pieces = s->packed.row * halves / WG_PIECE, rows = rows_of(desc, array);
  wg_pack_job job = {.ld = s->stride.row * halves,
                     .stride = s->stride.head * halves,
                     .to_ld = s->packed.row * halves,
                     .to_stride = s->packed.head * halves,
                     .pieces = row_pieces * rows * heads_of(desc, array),
                     .inner = (int)desc->head_dim * halves,
                     .outer = (int)rows,
                     .row_pieces = (int)row_pieces};
  int code = 0;
  for (int64_t b = 0; code == 0 && b < desc->batch; b++) {
    job.from = (const uint16_t *)from + b * s->stride.batch * halves;
    job.to = (uint16_t *)to + b * s->packed.batch * halves;
    wg_pack_args args = {.job = {job}, .jobs = 1};
    code = wg_launch_pack(d, work->pack, &args, work->processors);
  }
  return code;
}

/* What a launch allocates: copies of arrays that are not aligned to 16 bytes, which only a run knows. */
typedef struct attend_scratch {
  uintptr_t memory[ARRAYS];
} attend_scratch;

static int launch_all(const cuda_driver *d, const tdm_plan *plan, attend_plan *work, const void *const array[ARRAYS],
                      attend_scratch *scratch) {
  const tdm_attention_desc *desc = &plan->desc.attention;
  attend_args *args = &work->args;
  wg_map *const map[ARRAYS] = {&args->q, &args->k, &args->v};
  uintptr_t workspace = (uintptr_t)plan->workspace;
  for (int i = 0; i < ARRAYS; i++) {
    const attend_source *s = &work->source[i];
    tdm_attention_strides stride = s->stride;
    uintptr_t base = (uintptr_t)array[i];
    int code = 0;
    if (rows_of(desc, i) == 0) continue; /* then nothing reads it */
    if (s->must_pack || base % 16 != 0) {
      if (s->must_pack) {
        base = workspace;
        workspace += (uintptr_t)s->bytes;
      } else {
        code = d->alloc(&scratch->memory[i], (size_t)s->bytes, WG_STREAM);
        base = scratch->memory[i];
      }
      if (code == 0) code = pack(d, work, plan, i, array[i], base);
      stride = s->packed;
    }
    if (code == 0) code = make_map(d, plan, i, stride, base, map[i]);
    if (code != 0) return code;
  }
  return wg_launch_blocks(d, work->function, (unsigned)plan->launch.teams / (unsigned)args->splits * (unsigned)args->splits,
                          ATTEND_THREADS, (unsigned)variant_of(plan)->shared_bytes(work->head), (unsigned)args->splits, args);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  attend_plan work;
  char reason[96];
  (void)stream;
  memcpy(&work, plan->args, sizeof work);
  const cuda_driver *d = cuda_driver_find(reason, sizeof reason);
  if (d == NULL) return tdm_fail(TDM_ERROR_DEVICE, "%s: device %s %s", plan->title, plan->context->device, reason);
  const tdm_attention_strides o = work.args.o_stride;
  work.args.o = buffers[3];
  work.args.lse = buffers[4];
  work.args.skv = (int)plan->desc.attention.skv; /* the run's */
  work.args.vectors = (uintptr_t)buffers[3] % 16 == 0 && (o.batch | o.head | o.row) % piece_of(variant_of(plan)) == 0;
  void *popped;
  int code = d->push(work.context);
  if (code != 0) return cuda_fail(plan->title, code);
  const void *const array[ARRAYS] = {buffers[0], buffers[1], buffers[2]};
  attend_scratch scratch = {{0}};
  code = launch_all(d, plan, &work, array, &scratch);
  /* Also after a failure nothing of this run is under way any more, and its copies are free, when it returns. */
  const int done = wg_finish(d, scratch.memory, ARRAYS), last = d->pop(&popped);
  if (code == 0) code = done != 0 ? done : last;
  return code == 0 ? TDM_OK : cuda_fail(plan->title, code);
}

/* Nanoseconds of a key on an H200: for each column of head_dim, and at least, in 16 bits with 128 rows; in f32 for each column
 * and row. */
static const double KEY = 0.107, LEAST_KEY = 10.8, F32_KEY = 0.0115;

static attend_tile wgmma_tile(int head) {
  return (attend_tile){head, ATTEND_ROWS, attend_keys(head), fmax(KEY * head, LEAST_KEY)};
}
static attend_tile tma_tile(int head) { return (attend_tile){head, tma_rows(head), TMA_KEYS, F32_KEY * head * tma_rows(head)}; }

static const attend_variant in_16_bits = {tdm_wg_attention_image, columns, 2, wgmma_tile, attend_keys, attend_shared_bytes};
static const attend_variant in_f32 = {tdm_wg_attention_f32_image, f32_columns, 4, tma_tile, tma_values, tma_shared_bytes};

const tdm_kernel tdm_attention_omp_gpu_wgmma = {.name = "omp_gpu_wgmma",
                                                .op = TDM_OP_ATTENTION,
                                                .backend = &tdm_backend_omp,
                                                .variant = &in_16_bits,
                                                .runs_on = wg_runs_on,
                                                .supports = supports,
                                                .prepare = prepare,
                                                .launch = launch,
                                                .cost = cost,
                                                .matrix_units = true,
                                                .types = TDM_16_BIT_TYPES,
                                                .rounds_weights = true,
                                                .rebindable = true};

const tdm_kernel tdm_attention_omp_gpu_tma = {.name = "omp_gpu_tma",
                                              .op = TDM_OP_ATTENTION,
                                              .backend = &tdm_backend_omp,
                                              .variant = &in_f32,
                                              .runs_on = wg_runs_on,
                                              .supports = supports,
                                              .prepare = prepare,
                                              .launch = launch,
                                              .cost = cost,
                                              .types = 1 << TDM_F32,
                                              .rebindable = true};
