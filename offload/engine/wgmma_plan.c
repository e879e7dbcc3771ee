#include "wgmma_plan.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "offload/device/cuda.h"
#include "src/base/types.h"
#include "wgmma_image.h"
#include "wgmma_launch.h"
#include "wgmma_pack.h"
#include "wgmma_shape.h"

enum {
  PROCESSORS = 132,   /* of an H100 and H200, for estimates without a device */
  OPERANDS = 3,       /* A, B, swiglu's second weight */
  MOST = INT_MAX / 2, /* so that a tile's end is in range too */
};

/* What a launch needs of an operand: where it lies, and how it is packed. */
typedef struct wg_source {
  wg_matrix matrix;
  wg_pack_job pack;
  int64_t bytes;  /* of one packed weight */
  bool must_pack; /* into the workspace; otherwise only an array that is not aligned to 16 bytes is packed */
  int box;        /* lines of a copy */
} wg_source;

typedef struct wg_work {
  wg_args args;
  wg_source source[OPERANDS]; /* A, B, the second weight */
  int64_t k, batch;
  void *context, *function, *pack;
  int processors, weights, shared_bytes, clusters;
} wg_work;

_Static_assert(sizeof(wg_work) <= TDM_PLAN_ARGS, "it fits the plan");

bool wg_runs_on(const tdm_context *context, char *reason, size_t size) {
  cuda_device device;
  if (!tdm_gpus_only(context, reason, size)) return false;
  if (wg_device_of(context, &device, reason, size) != TDM_OK) return false;
  if (device.capability == 90) return true;
  snprintf(reason, size, "needs the matrix units of compute capability 9.0, but the device has %d.%d", device.capability / 10,
           device.capability % 10);
  return false;
}

/* ---- What it supports ---- */

static bool fits(const wg_problem *x, const wg_matrix *m) {
  const int64_t most = INT64_C(1) << 38; /* tensor copies: strides below 2^40 bytes */
  return m->lines <= MOST && m->ld < most && (x->batch < 2 || m->stride < most);
}

/* Of the smallest tiles: 64 lines of P by 16 of Q. */
static int64_t most_tiles(const wg_problem *x) {
  const int64_t p = WG_LINES, q = 16, a = x->a.lines, b = x->b[0].lines;
  const int64_t upright = ((a + p - 1) / p) * ((b + q - 1) / q), swapped = ((b + p - 1) / p) * ((a + q - 1) / q);
  return upright > swapped ? upright : swapped;
}

static const wg_kernels *kernels_of(const tdm_plan *plan) { return plan->kernel->variant; }

bool wg_supports(const tdm_plan *plan, char *reason, size_t size) {
  const wg_problem problem = kernels_of(plan)->problem(plan), *x = &problem;
  if (plan->context->threads != 0)
    snprintf(reason, size, "takes as many threads as its tile needs, but the caller set %d", plan->context->threads);
  else if (x->k == 0)
    snprintf(reason, size, "k = 0: must be at least 1");
  else if (x->k > MOST || x->batch > MOST || !fits(x, &x->a) || !fits(x, &x->b[0]) || (x->weights == 2 && !fits(x, &x->b[1])))
    snprintf(reason, size, "m, n, k and batch must be below 2^30, strides below 2^38");
  else if (most_tiles(x) > MOST / (x->batch > 0 ? x->batch : 1))
    snprintf(reason, size, "more than 2^30 tiles");
  else
    return true;
  return false;
}

static wg_choice choose(const tdm_plan *plan, const wg_problem *x, int processors) {
  const wg_kernels *kernels = kernels_of(plan);
  return wg_choose(x, kernels->columns, kernels->count, processors, plan->context->teams > 0);
}

void wg_cost(const tdm_plan *plan, tdm_cost *cost) {
  const wg_problem problem = kernels_of(plan)->problem(plan);
  cuda_device device = {.processors = PROCESSORS};
  char reason[128];
  wg_device_of(plan->context, &device, reason, sizeof reason);
  *cost = (tdm_cost){choose(plan, &problem, device.processors).ns * TDM_H200_CLOCKS_PER_NS, "wgmma"};
}

/* ---- Plans ---- */

static int64_t round_up(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

static wg_source describe(const wg_problem *x, const wg_matrix *m, int box) {
  const int64_t inner = m->by_k ? x->k : m->lines, outer = m->by_k ? m->lines : x->k, matrices = m->broadcast ? 1 : x->batch;
  const int64_t row_pieces = (inner + WG_PIECE - 1) / WG_PIECE, ld = row_pieces * WG_PIECE;
  wg_source s = {.matrix = *m, .bytes = round_up(ld * outer * matrices * 2, 256), .must_pack = wg_must_pack(x, m), .box = box};
  s.pack = (wg_pack_job){.ld = m->ld,
                         .stride = m->stride,
                         .to_ld = ld,
                         .to_stride = ld * outer,
                         .pieces = row_pieces * outer * matrices,
                         .inner = (int)inner,
                         .outer = (int)outer,
                         .row_pieces = (int)row_pieces};
  /* What is never used must be aligned too. */
  if (outer == 1) s.matrix.ld = ld;
  if (matrices == 1) s.matrix.stride = s.matrix.ld * outer;
  return s;
}

/* Stages that fit beside the buffers of the epilogue. */
static int stages_of(int stage_bytes, int groups) {
  int room = WG_SHARED_BYTES - WG_HEAD_BYTES - WG_BARRIERS_BYTES - groups * 4 * WG_BUFFER_BYTES, stages = room / stage_bytes;
  return stages < WG_MOST_STAGES ? stages : WG_MOST_STAGES;
}

static void fill_args(wg_args *args, const wg_problem *x, const wg_output *o, const wg_choice *c) {
  const wg_matrix *p = c->swapped ? &x->b[0] : &x->a, *q = c->swapped ? &x->a : &x->b[0];
  const int64_t tiles_p = (p->lines + c->groups * WG_LINES - 1) / (c->groups * WG_LINES);
  *args = (wg_args){.ldc = o->ldc,
                    .stride_c = o->stride_c,
                    .ldr = o->ldr,
                    .stride_r = o->stride_r,
                    .alpha = o->alpha,
                    .steps = o->steps,
                    .short_way = wg_may_be_short(x, c),
                    .out = (int)x->out,
                    .ahead = o->ahead,
                    .vectors = (x->b[0].lines | x->ld_out) % 4 == 0,
                    .lines = (int)p->lines,
                    .columns = (int)q->lines,
                    .k_steps = (int)((x->k + WG_STEP - 1) / WG_STEP),
                    .groups = c->groups,
                    .stages = stages_of(wg_stage_bytes(x, c), c->groups),
                    .sharers = c->sharers,
                    .splits = c->splits,
                    .tiles_p = (int)((tiles_p + c->sharers - 1) / c->sharers),
                    .tiles_q = (int)((q->lines + c->n - 1) / c->n),
                    .swapped = c->swapped};
  /* A chain takes so long that this pays: 8192x8192x1024 with bias and gelu 7 % (bf16, H200). Without one it costs 1 %. */
  const bool chain = x->weights == 2 || o->steps > 0;
  args->apart = chain && c->groups == 2 && c->splits == 1 && args->k_steps >= args->stages;
  args->p.batches = !p->broadcast;
  args->q.batches = !q->broadcast;
  args->units = (int)(args->tiles_p * args->tiles_q * x->batch);
}

/* The kernel's name: "tdm_wg_gemm_bf16_kl"; k or l: is k contiguous in P and Q, or are the lines? */
static tdm_status find_kernel(wg_work *work, const tdm_plan *plan, const wg_problem *x, const wg_choice *c) {
  const wg_kernels *kernels = kernels_of(plan);
  const wg_matrix *p = c->swapped ? &x->b[0] : &x->a, *q = c->swapped ? &x->a : &x->b[0];
  char name[64];
  snprintf(name, sizeof name, "tdm_wg_%s_%s%s_%c%c", kernels->op, c->swapped && x->weights == 2 ? "swapped_" : "",
           x->type == TDM_F16 ? "f16" : "bf16", p->by_k ? 'k' : 'l', q->by_k ? 'k' : 'l');
  TDM_TRY(wg_function(plan, &kernels->image[c->number], name, true, &work->function));
  return wg_function(plan, &tdm_wg_pack_image[0], "tdm_wg_pack", false, &work->pack);
}

tdm_status wg_prepare(tdm_plan *plan, const wg_output *output) {
  const wg_problem problem = kernels_of(plan)->problem(plan), *x = &problem;
  wg_work work = {.k = x->k, .batch = x->batch, .weights = x->weights};
  cuda_device device;
  char reason[160];
  tdm_status status = wg_device_of(plan->context, &device, reason, sizeof reason);
  if (status != TDM_OK) return tdm_fail(status, "%s: device %s %s", plan->title, plan->context->device, reason);
  const wg_choice c = choose(plan, x, device.processors);
  fill_args(&work.args, x, output, &c);
  const int p_box = c.groups * WG_LINES, q_box = wg_q_box(c.n, true);
  work.source[0] = describe(x, &x->a, c.swapped ? q_box : p_box);
  for (int i = 0; i < x->weights; i++) work.source[1 + i] = describe(x, &x->b[i], c.swapped ? p_box : q_box);
  plan->workspace_bytes = 0;
  for (int i = 0; i < 1 + x->weights; i++)
    if (work.source[i].must_pack) plan->workspace_bytes += (size_t)work.source[i].bytes;
  work.context = device.context;
  work.processors = device.processors;
  work.shared_bytes =
      WG_HEAD_BYTES + work.args.stages * wg_stage_bytes(x, &c) + WG_BARRIERS_BYTES + c.groups * 4 * WG_BUFFER_BYTES;
  TDM_TRY(find_kernel(&work, plan, x, &c));
  /* A tile is a cluster's. Clusters that share k begin and end together with one tile; others go through tiles. */
  const int size = c.splits * c.sharers, at_once = device.processors / size;
  int64_t teams = c.splits > 1 || work.args.units < at_once ? work.args.units : at_once;
  tdm_plan_launch(plan, teams * size, (c.groups + 1) * WG_THREADS);
  work.clusters = plan->launch.teams / size > 0 ? plan->launch.teams / size : 1;
  plan->launch.teams = work.clusters * size;
  if (output->steps > 0 && output->steps <= WG_FEW)
    memcpy(work.args.few, output->step, (size_t)output->steps * sizeof(epilogue_step));
  else if (output->steps > 0)
    TDM_TRY(tdm_plan_upload(plan, output->step, (size_t)output->steps * sizeof(epilogue_step)));
  memcpy(plan->args, &work, sizeof work);
  return TDM_OK;
}

/* ---- Launches ---- */

static int make_map(const cuda_driver *d, const wg_work *work, const wg_source *s, const wg_matrix *m, uintptr_t base,
                    wg_map *map) {
  enum { RANK = 3, ELEMENT = 2 };
  const uint64_t inner = (uint64_t)(m->by_k ? work->k : m->lines), outer = (uint64_t)(m->by_k ? m->lines : work->k);
  const uint64_t extent[RANK] = {inner, outer, m->broadcast ? 1 : (uint64_t)work->batch};
  const uint64_t stride[RANK - 1] = {(uint64_t)m->ld * ELEMENT, (uint64_t)m->stride * ELEMENT};
  const unsigned box[RANK] = {WG_STEP, (unsigned)(m->by_k ? s->box : WG_LINES), 1};
  return wg_make_map(d, map, ELEMENT, RANK, base, extent, stride, box);
}

/* Adds the copy of an operand to `to`, and describes what it makes. */
static void add_pack(wg_pack_args *packs, const wg_source *s, const void *array, uintptr_t to, wg_matrix *packed) {
  wg_pack_job *job = &packs->job[packs->jobs++];
  *job = s->pack;
  job->from = array;
  job->to = (void *)to;
  packed->ld = job->to_ld;
  packed->stride = job->to_stride;
}

/* What a launch allocates: copies of arrays that are not aligned to 16 bytes, which only a run knows. */
typedef struct wg_scratch {
  uintptr_t memory[OPERANDS];
} wg_scratch;

static int launch_all(const cuda_driver *d, const tdm_plan *plan, wg_work *work, const void *const array[OPERANDS],
                      wg_scratch *scratch) {
  wg_args *args = &work->args;
  wg_pack_args packs = {.jobs = 0};
  uintptr_t workspace = (uintptr_t)plan->workspace;
  for (int i = 0; i < 1 + work->weights; i++) {
    const wg_source *s = &work->source[i];
    wg_operand *operand = (i > 0) == (args->swapped != 0) ? &args->p : &args->q;
    wg_matrix m = s->matrix;
    uintptr_t base = (uintptr_t)array[i];
    int code = 0;
    if (s->must_pack) {
      base = workspace;
      workspace += (uintptr_t)s->bytes;
      add_pack(&packs, s, array[i], base, &m);
    } else if (base % 16 != 0) {
      code = d->alloc(&scratch->memory[i], (size_t)s->bytes, WG_STREAM);
      base = scratch->memory[i];
      if (code == 0) add_pack(&packs, s, array[i], base, &m);
    }
    if (code == 0) code = make_map(d, work, s, &m, base, &operand->map[i == 2]);
    if (code != 0) return code;
  }
  if (packs.jobs > 0) {
    int code = wg_launch_pack(d, work->pack, &packs, work->processors);
    if (code != 0) return code;
  }
  const unsigned cluster = (unsigned)(args->splits * args->sharers);
  return wg_launch_blocks(d, work->function, (unsigned)work->clusters * cluster, (unsigned)(args->groups + 1) * WG_THREADS,
                          (unsigned)work->shared_bytes, cluster, args);
}

/* Also after a failure: nothing of this run is under way any more, and its copies are free, when it returns. */
static int launch_and_wait(const cuda_driver *d, const tdm_plan *plan, wg_work *work, const void *const array[OPERANDS]) {
  wg_scratch scratch = {{0}};
  int code = launch_all(d, plan, work, array, &scratch);
  int done = wg_finish(d, scratch.memory, OPERANDS);
  return code != 0 ? code : done;
}

tdm_status wg_launch(const tdm_plan *plan, const void *a, const void *const b[2], void *c, const void *bias,
                     const void *residual) {
  wg_work work;
  char reason[96];
  memcpy(&work, plan->args, sizeof work);
  const cuda_driver *d = cuda_driver_find(reason, sizeof reason);
  if (d == NULL) return tdm_fail(TDM_ERROR_DEVICE, "%s: device %s %s", plan->title, plan->context->device, reason);
  work.args.c = c;
  work.args.bias = bias;
  work.args.residual = residual;
  work.args.step = plan->table;
  const int64_t vector = 4 * tdm_bytes((tdm_type)work.args.out);
  work.args.vectors =
      work.args.vectors && ((uintptr_t)c | (uintptr_t)residual) % (uintptr_t)vector == 0 && (uintptr_t)bias % 8 == 0;
  if (((uintptr_t)c | (uintptr_t)residual) % 16 != 0 || (uintptr_t)bias % 4 != 0) work.args.short_way = 0;
  void *popped;
  int code = d->push(work.context);
  if (code != 0) return cuda_fail(plan->title, code);
  const void *const array[OPERANDS] = {a, b[0], b[1]};
  code = launch_and_wait(d, plan, &work, array);
  int last = d->pop(&popped);
  if (code == 0) code = last;
  return code == 0 ? TDM_OK : cuda_fail(plan->title, code);
}
