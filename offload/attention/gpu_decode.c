/* attention for few queries and many keys on GPUs. The queries of all heads that share a head of keys are rows of one unit,
 * whose keys are split over the teams, so keys and values are read from memory once. A wave takes keys one after another,
 * with its lanes across head_dim. A team adds up its waves, and a second region the parts, each in a fixed order. A masked
 * key is never multiplied. */
#include <inttypes.h>
#include <stdio.h>

#include "gpu.h"
#include "offload/device/device.h"
#include "offload/engine/gpu_row.h"

/* KEYS: that a wave loads at a time. UNITS: about as many as keep the device busy. LEAST: keys of a part. */
enum { THREADS = 128, WAVES = THREADS / TDM_WAVE, ROWS = 8, KEYS = 4, HEAD = 128, UNITS = 1056, LEAST = 32 };

typedef struct decode_work {
  tdm_attention_desc d;
  int group, rows; /* query heads of a head of keys; rows of a unit: group * sq */
} decode_work;

/* How a run's keys are split. */
typedef struct decode_cut {
  int64_t skv, keys; /* of a head; of a part */
  int parts;         /* of each head of keys */
} decode_cut;

/* The floats that a unit stores: [row][head_dim] results, [row] maximum, [row] sum. */
TDM_INLINE int64_t unit_floats(const decode_work *w) { return w->rows * (w->d.head_dim + 2); }

/* What a wave has of a row: the elements of its lanes, one maximum and one sum. */
typedef struct decode_row {
  float q[ROWS][4], o[ROWS][4], max[ROWS], sum[ROWS];
  int64_t seen[ROWS]; /* keys */
} decode_row;

/* Row r of a unit is query r % sq of head r / sq of the group. */
TDM_INLINE int64_t row_offset(const decode_work *w, const tdm_attention_strides *s, int64_t batch, int64_t head_kv, int r) {
  int sq = (int)w->d.sq;
  return batch * s->batch + (head_kv * w->group + r / sq) * s->head + r % sq * s->row;
}

typedef uint32_t word_of_lane __attribute__((may_alias));
typedef uint64_t words_of_lane __attribute__((may_alias));

/* The words of a lane's elements, in one access of 4, 8 or 16 bytes, a constant. */
TDM_INLINE gpu_piece load_words(const void *base, int64_t offset, int bytes) {
  uintptr_t at = (uintptr_t)base + (uintptr_t)offset;
  if (bytes == 16) return *(const TDM_GLOBAL gpu_piece *)at;
  if (bytes == 4) return (gpu_piece){*(const TDM_GLOBAL word_of_lane *)at, 0, 0, 0};
  words_of_lane two = *(const TDM_GLOBAL words_of_lane *)at;
  return (gpu_piece){(uint32_t)two, (uint32_t)(two >> 32), 0, 0};
}

/* `each` elements from d on, a constant; 0 from head_dim on. whole: one access. */
TDM_INLINE void load_lane(float *to, const void *base, int64_t at, int d, int head_dim, int each, bool whole, tdm_type type) {
  if (whole) {
    gpu_piece words = {0};
    if (d < head_dim) words = load_words(base, (at + d) * tdm_size(type), each * (int)tdm_size(type));
    TDM_UNROLL
    for (int e = 0; e < each; e++) to[e] = gpu_piece_get(words, e, type);
  } else {
    TDM_UNROLL
    for (int e = 0; e < each; e++) to[e] = d + e < head_dim ? tdm_load(base, at + d + e, type) : 0;
  }
}

TDM_INLINE void begin(decode_row *x, const decode_work *w, int64_t skv, const void *q, int64_t batch, int64_t head, int lane,
                      int rows, int each, tdm_type type) {
  TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    int real = r < w->rows ? r : w->rows - 1;
    load_lane(x->q[r], q, row_offset(w, &w->d.q, batch, head, real), lane * each, (int)w->d.head_dim, each, false, type);
    TDM_UNROLL
    for (int e = 0; e < each; e++) x->q[r][e] *= w->d.scale, x->o[r][e] = 0;
    x->max[r] = -__builtin_inff();
    x->sum[r] = 0;
    x->seen[r] = keys_seen(&w->d, skv, real % w->d.sq);
  }
}

/* Adds keys first ..., of which the wave has `count`. */
TDM_INLINE void take_keys(decode_row *x, float (*k)[4], float (*v)[4], int64_t first, int count, int rows, int each) {
  TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    float s[KEYS], most = x->max[r];
    TDM_UNROLL
    for (int j = 0; j < KEYS; j++) {
      s[j] = 0;
      TDM_UNROLL
      for (int e = 0; e < each; e++) s[j] += x->q[r][e] * k[j][e];
      s[j] = gpu_lanes_reduce(s[j], TDM_WAVE, TDM_SUM);
      bool seen = j < count && first + j < x->seen[r];
      most = seen && s[j] > most ? s[j] : most;
    }
    float reference = most == -__builtin_inff() ? 0 : most; /* only -infinity so far: avoids inf - inf */
    float factor = tdm_exp_nonpositive(x->max[r] - reference);
    x->sum[r] *= factor;
    TDM_UNROLL
    for (int e = 0; e < each; e++) x->o[r][e] *= factor;
    TDM_UNROLL
    for (int j = 0; j < KEYS; j++) {
      bool seen = j < count && first + j < x->seen[r];
      float p = seen ? tdm_exp_nonpositive(s[j] - reference) : 0;
      x->sum[r] += p;
      TDM_UNROLL
      for (int e = 0; e < each; e++) x->o[r][e] += seen ? p * v[j][e] : 0;
    }
    x->max[r] = most;
  }
}

/* Team memory: [wave][row] of HEAD results, a maximum and a sum. */
enum { MEMORY_ROW = HEAD + 2, MEMORY_FLOATS = WAVES * ROWS * MEMORY_ROW };

TDM_INLINE void decode_unit(const decode_work *w, decode_cut cut, const void *q, const void *k, const void *v, float *memory,
                            int unit, bool whole, tdm_position self, int rows, int each, tdm_type type) {
  const tdm_attention_desc *d = &w->d;
  const int lane = self.thread % TDM_WAVE, wave = self.thread / TDM_WAVE, head_dim = (int)d->head_dim;
  int64_t head = unit / cut.parts, batch = head / d->heads_kv, head_kv = head % d->heads_kv;
  int64_t begin_key = unit % cut.parts * cut.keys, end = tdm_min(begin_key + cut.keys, cut.skv);
  int64_t at_k = batch * d->k.batch + head_kv * d->k.head, at_v = batch * d->v.batch + head_kv * d->v.head;
  decode_row x;
  begin(&x, w, cut.skv, q, batch, head_kv, lane, rows, each, type);
  TDM_NO_UNROLL
  for (int64_t first = begin_key + wave * KEYS; first < end; first += WAVES * KEYS) {
    float keys[KEYS][4], values[KEYS][4];
    int count = (int)tdm_min(KEYS, end - first);
    TDM_UNROLL
    for (int j = 0; j < KEYS; j++) {
      int64_t key = first + (j < count ? j : count - 1);
      load_lane(keys[j], k, at_k + key * d->k.row, lane * each, head_dim, each, whole, type);
      load_lane(values[j], v, at_v + key * d->v.row, lane * each, head_dim, each, whole, type);
    }
    take_keys(&x, keys, values, first, count, rows, each);
  }
  TDM_UNROLL
  for (int r = 0; r < rows; r++) {
    float *to = memory + (wave * ROWS + r) * MEMORY_ROW;
    TDM_UNROLL
    for (int e = 0; e < each; e++)
      if (lane * each + e < HEAD) to[lane * each + e] = x.o[r][e]; /* waves of 64 lanes have more elements */
    if (lane == 0) to[HEAD] = x.max[r], to[HEAD + 1] = x.sum[r];
  }
}

/* Adds up the waves of a unit; each thread takes a column. */
TDM_INLINE void store_unit(const decode_work *w, float *workspace, const float *memory, int unit, tdm_position self) {
  float *o = workspace + unit * unit_floats(w), *numbers = o + w->rows * w->d.head_dim;
  TDM_NO_UNROLL
  for (int r = 0; r < w->rows; r++) {
    const float *from = memory + r * MEMORY_ROW;
    float max = -__builtin_inff(), sum = 0, x = 0;
    TDM_UNROLL
    for (int i = 0; i < WAVES; i++) max = from[i * ROWS * MEMORY_ROW + HEAD] > max ? from[i * ROWS * MEMORY_ROW + HEAD] : max;
    float reference = max == -__builtin_inff() ? 0 : max;
    TDM_UNROLL
    for (int i = 0; i < WAVES; i++) {
      const float *part = from + i * ROWS * MEMORY_ROW;
      float factor = tdm_exp_nonpositive(part[HEAD] - reference);
      sum += factor * part[HEAD + 1];
      if (self.thread < w->d.head_dim) x += factor * part[self.thread];
    }
    if (self.thread < w->d.head_dim) o[r * w->d.head_dim + self.thread] = x;
    if (self.thread == 0) numbers[r] = max, numbers[w->rows + r] = sum;
  }
}

/* The second region: a team for each row of a head of keys; each thread takes a column. */
TDM_INLINE void add_parts(const decode_work *w, decode_cut cut, const float *workspace, void *o, float *lse, tdm_position self,
                          tdm_type type) {
  const tdm_attention_desc *d = &w->d;
  int r = self.team % w->rows, head = self.team / w->rows, c = self.thread; /* head of keys, counted over all batches */
  int64_t step = unit_floats(w), query = r % d->sq;
  const float *first = workspace + (int64_t)head * cut.parts * step, *numbers = first + w->rows * d->head_dim + r;
  float max = -__builtin_inff(), sum = 0, x = 0;
  for (int i = 0; i < cut.parts; i++) max = numbers[i * step] > max ? numbers[i * step] : max;
  float reference = max == -__builtin_inff() ? 0 : max;
  for (int i = 0; i < cut.parts; i++) {
    float factor = tdm_exp_nonpositive(numbers[i * step] - reference);
    sum += factor * numbers[i * step + w->rows];
    if (c < d->head_dim) x += factor * first[i * step + r * d->head_dim + c];
  }
  bool any = keys_seen(d, cut.skv, query) > 0;
  int64_t to = row_offset(w, &d->o, head / d->heads_kv, head % d->heads_kv, r);
  if (c < d->head_dim) tdm_store(o, to + c, type, any ? x * (1 / sum) : 0);
  if (c == 0 && lse != NULL) lse[((int64_t)head * w->group + r / d->sq) * d->sq + query] = max + tdm_log(sum);
}

/* ---- The row ---- */

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (!tdm_threads_fit(plan->context, THREADS, reason, size)) return false;
  if (plan->empty) return true;
  int64_t group = d->heads_q / d->heads_kv;
  if (plan->context->teams > 0)
    snprintf(reason, size, "needs as many teams as key splits, but the caller set %d", plan->context->teams);
  else if (group > ROWS || d->sq > ROWS / group)
    snprintf(reason, size, "sq = %" PRId64 ", of %" PRId64 " heads that share keys: must be at most %d in total", d->sq, group,
             ROWS);
  else if (d->head_dim > HEAD)
    snprintf(reason, size, "head_dim is above %d", HEAD);
  else if (d->batch > INT32_MAX / UNITS / d->heads_kv)
    snprintf(reason, size, "more than 2^31 - 1 parts of heads");
  else
    return true;
  return false;
}

/* A run with fewer keys does not have more parts. */
static decode_cut cut_keys(const tdm_attention_desc *d) {
  decode_cut cut = {.skv = d->skv};
  cut.parts = (int)tdm_max(1, tdm_min(tdm_ceil_div(UNITS, d->batch * d->heads_kv), d->skv / LEAST));
  cut.keys = tdm_max(1, tdm_ceil_div(d->skv, cut.parts));
  return cut;
}

static tdm_status prepare(tdm_plan *plan) {
  decode_work w = {.d = plan->desc.attention};
  if (plan->empty) return TDM_OK;
  w.group = (int)(w.d.heads_q / w.d.heads_kv);
  w.rows = w.group * (int)w.d.sq;
  int64_t units = w.d.batch * w.d.heads_kv * cut_keys(&w.d).parts;
  tdm_plan_launch(plan, units, THREADS);
  plan->workspace_bytes = (size_t)(units * unit_floats(&w)) * sizeof(float);
  return tdm_plan_upload(plan, &w, sizeof w);
}

/* Clocks of an MI300X: those that the longest pipe needs at least, as gfxsim counts them for 63 keys, and for 2176 keys in
 * 68 parts. With few parts it is slower than omp_gpu_mma, which takes a row's keys one team after the other, but faster for
 * each of them. */
static void cost(const tdm_plan *plan, tdm_cost *cost) {
  static const double of_key[2][4] = {{440, 710, 1240, 2540}, {500, 800, 1400, 3500}}; /* of a wave with 1, 2, 4, 8 rows */
  const tdm_attention_desc *d = &plan->desc.attention;
  const decode_cut cut = cut_keys(d);
  const int waves = 2; /* of a team; TDM_WAVE is the host's here */
  const int64_t rows = d->heads_q / d->heads_kv * d->sq, units = d->batch * d->heads_kv * cut.parts;
  const int64_t keys = tdm_ceil_div(cut.keys, waves * KEYS) * KEYS;
  const double a_key = of_key[d->head_dim > 64][rows <= 1 ? 0 : rows <= 2 ? 1 : rows <= 4 ? 2 : 3];
  const double of_parts = (double)tdm_ceil_div(units * waves, MI300X_SIMDS) * (600 + a_key * (double)keys);
  const double of_sum = (double)tdm_ceil_div(d->batch * d->heads_kv * rows * waves, MI300X_SIMDS) * (1400 + 180.0 * cut.parts);
  *cost = (tdm_cost){.clocks = of_parts + of_sum, .floor = "issue"};
}

/* A region for each of 1, 2, 4 and 8 rows and each width of heads: a kernel's registers are those of its largest part. */
#define REGION(rows, each)                                                                               \
  TDM_TARGET_BARE(first, THREADS, q, k, v, work, workspace) {                                            \
    decode_cut own = {skv, keys, parts};                                                                 \
    TDM_TEAM_MEMORY(float, memory, MEMORY_FLOATS);                                                       \
    tdm_position self = gpu_position(THREADS);                                                           \
    TDM_BY_TYPE(type, decode_unit, work, own, q, k, v, memory, self.team, whole != 0, self, rows, each); \
    TDM_SYNC_BLOCK(); /* every wave's results are written */                                             \
    store_unit(work, workspace, memory, self.team, self);                                                \
  }
#define BY_WIDTH(rows)  \
  if (head_dim <= 64) { \
    REGION(rows, 2);    \
  } else {              \
    REGION(rows, 4);    \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const tdm_attention_desc *d = &plan->desc.attention;
  const void *q = buffers[0], *k = buffers[1], *v = buffers[2];
  void *o = buffers[3];
  float *lse = buffers[4], *workspace = plan->workspace;
  const decode_work *work = plan->table;
  tdm_type type = d->type;
  int64_t head_dim = d->head_dim, rows = d->heads_q / d->heads_kv * d->sq;
  int64_t strides = d->k.batch | d->k.head | d->k.row | d->v.batch | d->v.head | d->v.row | head_dim;
  int whole = strides % 4 == 0 && ((uintptr_t)k | (uintptr_t)v) % 16 == 0;
  const decode_cut cut = cut_keys(d);
  int64_t skv = cut.skv, keys = cut.keys;
  int parts = cut.parts;
  tdm_launch first = plan->launch, second = plan->launch;
  first.teams = (int)(d->batch * d->heads_kv) * parts;
  second.teams = (int)(d->batch * d->heads_kv * rows);
  if (rows <= 1) {
    BY_WIDTH(1);
  } else if (rows <= 2) {
    BY_WIDTH(2);
  } else if (rows <= 4) {
    BY_WIDTH(4);
  } else {
    BY_WIDTH(8);
  }
  TDM_TARGET_BARE(second, THREADS, work, workspace, o, lse) {
    decode_cut own = {skv, keys, parts};
    TDM_BY_TYPE(type, add_parts, work, own, workspace, o, lse, gpu_position(THREADS));
  }
  return TDM_OK;
}

const tdm_kernel tdm_attention_omp_gpu_decode = {.name = "omp_gpu_decode",
                                                 .op = TDM_OP_ATTENTION,
                                                 .backend = &tdm_backend_omp,
                                                 .runs_on = tdm_gpus_only,
                                                 .supports = supports,
                                                 .prepare = prepare,
                                                 .launch = launch,
                                                 .cost = TDM_FOR_GFX942 ? cost : NULL,
                                                 .rebindable = true};
