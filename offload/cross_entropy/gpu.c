/* cross_entropy on GPUs: a team, or a wave where rows are short, takes a row at a time. A thread takes four pieces of it at a
 * time, relative to one maximum. */
#include "offload/device/device.h"
#include "offload/engine/gpu_exp_sum.h"
#include "src/base/loss.h"

enum {
  PIECES = 4,
  WAVE = 32,
  MOST_THREADS = 1024, /* of a team for few long rows: one of 128256 bf16 then takes a quarter of the time */
  SHORT = 256,         /* pieces of a row that a wave takes */
  LONG = 2048,         /* pieces that are worth MOST_THREADS */
  MOST_TEAMS = 1 << 27 /* numbers of groups have 32 bits */
};

/* Groups take rows in turn. The groups of a wave stay together: they exchange registers. */
TDM_INLINE void cross_entropy_rows(const void *logits, const void *targets, float *loss, tdm_cross_entropy_desc d, float *slots,
                                   int groups, tdm_position self, tdm_type type) {
  const int place = self.team % groups;
  TDM_NO_UNROLL
  for (int64_t row = self.team; row - place < d.rows; row += self.teams) {
    bool is_row = row < d.rows;
    int64_t target = is_row ? tdm_index(targets, row, d.targets) : 0;
    bool part = d.total != 0, counts = is_row && target != d.ignore && (part || (target >= 0 && target < d.vocab));
    gpu_exp_row r = {.x = logits, .cut = gpu_cut(row * d.ldl, counts ? (int)d.vocab : 0, true, self, type)};
    gpu_exp_sum s = gpu_exp_begin(gpu_exp_edge(&r, type), type);
    TDM_NO_UNROLL
    for (int begin = 0; begin < r.cut.pieces; begin += self.threads * PIECES) {
      gpu_piece x[PIECES];
      gpu_exp_fetch(x, &r, begin, PIECES, self, type);
      s = gpu_exp_add(s, &r, x, begin, PIECES, self, type);
    }
    s = gpu_exp_reduce(s, slots, self, type);
    float value = target == d.ignore ? 0 : __builtin_nanf("");
    if (counts && !part) value = tdm_log(s.sum) + (s.max - tdm_load(logits, row * d.ldl + target, type));
    if (is_row && self.thread == 0 && !part) loss[row] = value;
    if (is_row && self.thread == 0 && part) {
      int64_t local = tdm_loss_column(&d, target);
      float logit = counts && local >= 0 ? tdm_load(logits, row * d.ldl + local, type) : 0;
      tdm_loss_part result = tdm_loss_part_of(&d, target, s.max, s.sum, logit);
      loss[row * TDM_LOSS_PARTS] = counts ? result.max : 0;
      loss[row * TDM_LOSS_PARTS + 1] = counts ? result.sum : 0;
      loss[row * TDM_LOSS_PARTS + 2] = counts ? result.target : 0;
    }
  }
}

/* The description is passed as scalars, as in rmsnorm/gpu.c. */
#define REGION(threads, group, kind)                                                                       \
  TDM_TARGET_BARE(plan->launch, threads, logits, targets, loss) {                                          \
    GPU_ROW_SLOTS(slots);                                                                                  \
    tdm_cross_entropy_desc of = {.rows = rows, .vocab = vocab, .ldl = ldl, .ignore = ignore};              \
    of.targets = index, of.first = first, of.total = total;                                                \
    GPU_ROW_BY_TYPE(kind, type, cross_entropy_rows, logits, targets, loss, of, slots, (threads) / (group), \
                    gpu_group_position(threads, group));                                                   \
  }
#define BY_KIND(threads, group)      \
  if (type == TDM_F32) {             \
    REGION(threads, group, TDM_F32); \
  } else {                           \
    REGION(threads, group, TDM_F16); \
  }

/* ---- Plan ---- */

extern const tdm_kernel tdm_cross_entropy_omp;

/* The threads of a row. */
static int group_of(const tdm_cross_entropy_desc *d) {
  int64_t pieces = d->vocab / gpu_piece_elements(d->type);
  if (pieces <= SHORT) return WAVE;
  return pieces >= LONG && d->rows <= GPU_FEW_ROWS ? MOST_THREADS : GPU_ROW_THREADS;
}

static int threads_of(const tdm_cross_entropy_desc *d) { return group_of(d) == MOST_THREADS ? MOST_THREADS : GPU_ROW_THREADS; }

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  const int64_t most = INT32_MAX - 1024; /* elements of a row are counted in 32 bits */
  if (d->vocab <= most && plan->context->teams <= MOST_TEAMS)
    return tdm_threads_fit(plan->context, threads_of(d), reason, size);
  snprintf(reason, size, "more than %" PRId64 " columns or %d teams", most, MOST_TEAMS);
  return false;
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  int64_t teams = tdm_ceil_div(d->rows, threads_of(d) / group_of(d));
  tdm_plan_launch(plan, tdm_min(teams, MOST_TEAMS), threads_of(d));
  return tdm_plan_upload(plan, d, sizeof *d); /* for the fallback */
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *logits = buffers[0];
  const void *targets = buffers[1];
  float *loss = buffers[2];
  const tdm_cross_entropy_desc *d = &plan->desc.cross_entropy;
  int64_t rows = d->rows, vocab = d->vocab, ldl = d->ldl, first = d->first, total = d->total;
  int32_t ignore = d->ignore;
  tdm_index_type index = d->targets;
  tdm_type type = d->type;
  switch (group_of(d)) {
    case WAVE: BY_KIND(GPU_ROW_THREADS, WAVE); break;
    case GPU_ROW_THREADS: BY_KIND(GPU_ROW_THREADS, GPU_ROW_THREADS); break;
    case MOST_THREADS: BY_KIND(MOST_THREADS, MOST_THREADS); break;
  }
  return TDM_OK;
}

const tdm_kernel tdm_cross_entropy_omp_gpu = {.name = "omp_gpu",
                                              .op = TDM_OP_CROSS_ENTROPY,
                                              .backend = &tdm_backend_omp,
                                              .runs_on = tdm_gpus_only,
                                              .supports = supports,
                                              .prepare = prepare,
                                              .launch = launch,
                                              .fallback = {16, 0x1, &tdm_cross_entropy_omp}};
