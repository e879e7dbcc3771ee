/* attention for few queries and many keys: decode. The queries of all heads that share a head of keys are rows of one unit,
 * so that its keys and values are read from memory once. Each head's keys are split, so that all teams have work. A unit is
 * one key split of one head:
 *
 *   S = Q K^T, P = exp(S - max), O = factor O + P V     for a block of keys at a time, as in attention.c
 *
 * Keys, then values of the block are copied to a panel, in f32; a host reads them where they are if that takes no
 * conversions, or if few rows use them. The second pass adds the parts of each row in their order. A masked key is never
 * multiplied. */
#include <inttypes.h>
#include <stdio.h>

#include "offload/device/chunk.h"
#include "offload/device/device.h"
#include "offload/device/target.h"
#include "query_row.h"

enum {
  MOST_ROWS = 16,   /* rows of a unit; with more, the tiles of attention.c, which hold operands in registers, are faster */
  BLOCK = 64,       /* keys: with head_dim 128 the panel is 32 KiB, so that it stays in the L1 for all rows */
  LEAST_PART = 256, /* keys */
  VECTOR_MOST = 16, /* TDM_LANES of every target divides it: the host plans for GPUs */
  COLUMNS = 8,      /* vectors of O that are summed at a time */
  DIRECT_ROWS = 4,  /* with up to so many, hosts convert 16-bit keys again for each row, which is faster than a panel */
  AHEAD = 16,       /* keys between the one that a host uses and the one that it prefetches */
  GPU_THREADS = 128,
  GPU_UNITS = 1024, /* teams that a GPU should have work for */
};

/* What a launch needs in addition to its pointers: made with the plan, kept on the device. */
typedef struct decode_work {
  tdm_attention_desc d;
  int64_t group, rows; /* query heads of a head of keys; rows of a unit: group * sq */
  int64_t stride;      /* floats from row to row of Q and O: head_dim in whole vectors */
} decode_work;

/* How a run's keys are split. */
typedef struct decode_cut {
  int64_t skv;
  int64_t parts, part_keys; /* of each head */
  int64_t units;            /* batch * heads_kv * parts */
} decode_cut;

/* Numbers of floats. A unit: [row][stride] results, then [row] maximum and [row] sum. A team: Q, scores, the panel, and the
 * rows' numbers. */
TDM_INLINE int64_t unit_floats(const decode_work *w) { return w->rows * (w->stride + 2); }
TDM_INLINE int64_t team_floats(const decode_work *w) {
  return w->rows * (w->stride + BLOCK + 2 + VECTOR_MOST) + BLOCK * w->stride;
}

typedef struct team_memory {
  float *q, *s, *panel;      /* panel: [key][stride] */
  float *max, *factor, *sum; /* sum: [row][VECTOR_MOST] */
  float *o, *numbers;        /* of the unit */
} team_memory;

TDM_INLINE team_memory memory_of(const decode_work *w, int64_t units, float *workspace, int64_t unit, int64_t team) {
  float *q = workspace + units * unit_floats(w) + team * team_floats(w), *s = q + w->rows * w->stride;
  float *o = workspace + unit * unit_floats(w), *panel = s + w->rows * BLOCK, *max = panel + BLOCK * w->stride;
  return (team_memory){q, s, panel, max, max + w->rows, max + 2 * w->rows, o, o + w->rows * w->stride};
}

/* A unit, and the current block of its keys. */
typedef struct decode_unit {
  const decode_work *work;
  int64_t skv; /* the run's */
  int64_t batch, head_kv, first_key, end_key;
  int64_t block, keys; /* the block's first key, and how many */
  int64_t at_k, at_v;  /* offsets of key 0 and value 0 */
} decode_unit;

TDM_INLINE decode_unit unit_at(const decode_work *w, decode_cut cut, int64_t unit) {
  const tdm_attention_desc *d = &w->d;
  int64_t head = unit / cut.parts, batch = head / d->heads_kv, head_kv = head % d->heads_kv;
  int64_t first = unit % cut.parts * cut.part_keys;
  return (decode_unit){.work = w,
                       .skv = cut.skv,
                       .batch = batch,
                       .head_kv = head_kv,
                       .first_key = first,
                       .end_key = tdm_min(first + cut.part_keys, cut.skv),
                       .at_k = batch * d->k.batch + head_kv * d->k.head,
                       .at_v = batch * d->v.batch + head_kv * d->v.head};
}

/* Row r of a unit is query r % sq of head r / sq of the group. */
TDM_INLINE int64_t row_offset(const decode_unit *u, const tdm_attention_strides *s, int64_t r) {
  const decode_work *w = u->work;
  return u->batch * s->batch + (u->head_kv * w->group + r / w->d.sq) * s->head + r % w->d.sq * s->row;
}

/* The number of keys of the block that row r sees. */
TDM_INLINE int seen(const decode_unit *u, int64_t r) {
  return (int)tdm_min(u->keys, tdm_max(0, keys_seen(&u->work->d, u->skv, r % u->work->d.sq) - u->block));
}

TDM_INLINE void begin_rows(const decode_unit *u, const void *q, team_memory mem, tdm_position self, tdm_type type) {
  const decode_work *w = u->work;
  for (int64_t r = self.thread; r < w->rows; r += self.threads) {
    int64_t at = row_offset(u, &w->d.q, r);
    mem.max[r] = -__builtin_inff();
    tdm_vec_store(mem.sum + r * VECTOR_MOST, (tdm_vec){0});
    for (int64_t c = 0; c < w->stride; c += TDM_LANES) {
      tdm_vec_store(mem.q + r * w->stride + c, w->d.scale * tdm_vec_load_some(q, at + c, w->d.head_dim - c, type));
      tdm_vec_store(mem.o + r * w->stride + c, (tdm_vec){0});
    }
  }
}

/* The block's keys or values, from the offset of key 0 on, with zeros after head_dim and after the last key of a vector of
 * scores. */
TDM_INLINE void fill_panel(const decode_unit *u, const void *x, int64_t at, int64_t stride, team_memory mem, tdm_position self,
                           tdm_type type) {
  int64_t vectors = u->work->stride / TDM_LANES, rows = tdm_ceil_div(u->keys, TDM_LANES) * TDM_LANES;
#if TDM_ON_GPU
  for (int64_t n = self.thread; n < rows * vectors; n += self.threads) {
    int64_t key = n / vectors, c = n % vectors * TDM_LANES, count = key < u->keys ? u->work->d.head_dim - c : 0;
    tdm_vec_store(mem.panel + key * u->work->stride + c, tdm_vec_load_some(x, at + (u->block + key) * stride + c, count, type));
  }
#else /* a division for each vector would take longer than the vector */
  (void)self;
  for (int64_t key = 0; key < rows; key++)
    for (int64_t v = 0; v < vectors; v++) {
      int64_t c = v * TDM_LANES, count = key < u->keys ? u->work->d.head_dim - c : 0;
      tdm_vec_store(mem.panel + key * u->work->stride + c,
                    tdm_vec_load_some(x, at + (u->block + key) * stride + c, count, type));
    }
#endif
}

/* Does a host read keys and values where they are? */
TDM_INLINE bool is_direct(const decode_work *w, tdm_type type) {
  return !TDM_ON_GPU && (type == TDM_F32 || w->rows <= DIRECT_ROWS);
}

/* Prefetches the part of a row that a vector at column c needs, AHEAD rows later, as far as there are rows. */
TDM_INLINE void fetch_ahead(const decode_unit *u, const void *x, int64_t at, int64_t key, int64_t stride, tdm_type type) {
  int64_t later = u->block + key + AHEAD;
  if (later < u->end_key) tdm_chunk_prefetch(x, at + later * stride, u->work->d.head_dim, type);
}

/* S: the products of each of TDM_LANES keys with a row are in one vector. After a transpose, the vectors add up to a vector
 * of scores. */
TDM_INLINE void multiply_keys(const decode_unit *u, team_memory mem, tdm_position self) {
  const decode_work *w = u->work;
  int64_t groups = tdm_ceil_div(u->keys, TDM_LANES), stride = w->stride;
  for (int64_t n = self.thread; n < groups * w->rows; n += self.threads) {
    int64_t first = n / w->rows * TDM_LANES, r = n % w->rows;
    if (first >= seen(u, r)) continue;
    const float *q = mem.q + r * stride, *k = mem.panel + first * stride;
    tdm_vec sums[TDM_LANES], total = {0};
    TDM_UNROLL
    for (int j = 0; j < TDM_LANES; j++) sums[j] = (tdm_vec){0};
    for (int64_t c = 0; c < stride; c += TDM_LANES) {
      tdm_vec x = tdm_vec_load(q + c);
      TDM_UNROLL
      for (int j = 0; j < TDM_LANES; j++) sums[j] += x * tdm_vec_load(k + j * stride + c);
    }
    tdm_vec_transpose(sums);
    TDM_UNROLL
    for (int j = 0; j < TDM_LANES; j++) total += sums[j];
    tdm_vec_store(mem.s + r * BLOCK + first, total);
  }
}

/* The same with keys in their array. A group after the last key has the last key again. */
TDM_INLINE void multiply_keys_direct(const decode_unit *u, const void *k, team_memory mem, tdm_type type) {
  const decode_work *w = u->work;
  int64_t row = w->d.k.row, whole = w->d.head_dim / TDM_LANES * TDM_LANES;
  for (int64_t first = 0; first < u->keys; first += TDM_LANES) {
    int64_t at[TDM_LANES];
    TDM_UNROLL
    for (int j = 0; j < TDM_LANES; j++) {
      at[j] = u->at_k + (u->block + tdm_min(first + j, u->keys - 1)) * row;
      fetch_ahead(u, k, u->at_k, first + j, row, type);
    }
    for (int64_t r = 0; r < w->rows; r++) {
      const float *q = mem.q + r * w->stride;
      tdm_vec sums[TDM_LANES], total = {0};
      if (first >= seen(u, r)) continue;
      TDM_UNROLL
      for (int j = 0; j < TDM_LANES; j++) sums[j] = (tdm_vec){0};
      for (int64_t c = 0; c < whole; c += TDM_LANES) {
        tdm_vec x = tdm_vec_load(q + c);
        TDM_UNROLL
        for (int j = 0; j < TDM_LANES; j++) sums[j] += x * tdm_vec_load_as(k, at[j] + c, type);
      }
      if (whole < w->d.head_dim) {
        tdm_vec x = tdm_vec_load(q + whole);
        for (int j = 0; j < TDM_LANES; j++) sums[j] += x * tdm_vec_load_some(k, at[j] + whole, w->d.head_dim - whole, type);
      }
      tdm_vec_transpose(sums);
      TDM_UNROLL
      for (int j = 0; j < TDM_LANES; j++) total += sums[j];
      tdm_vec_store(mem.s + r * BLOCK + first, total);
    }
  }
}

TDM_INLINE void softmax_rows(const decode_unit *u, team_memory mem, tdm_position self) {
  for (int64_t r = self.thread; r < u->work->rows; r += self.threads) {
    int count = seen(u, r);
    tdm_vec sum = tdm_vec_load(mem.sum + r * VECTOR_MOST);
    mem.factor[r] = count == 0 ? 1 : row_softmax(mem.s + r * BLOCK, count, &mem.max[r], &sum);
    tdm_vec_store(mem.sum + r * VECTOR_MOST, sum);
  }
}

/* O = factor O + P V, for `vectors` (a constant) vectors of row r from column c on. */
TDM_INLINE void multiply_columns(const decode_unit *u, team_memory mem, int64_t r, int64_t c, const int vectors) {
  int64_t stride = u->work->stride;
  const float *p = mem.s + r * BLOCK, *v = mem.panel + c;
  float *o = mem.o + r * stride + c;
  tdm_vec sums[COLUMNS];
  TDM_UNROLL
  for (int i = 0; i < vectors; i++) sums[i] = mem.factor[r] * tdm_vec_load(o + i * TDM_LANES);
  for (int j = 0, end = seen(u, r); j < end; j++, v += stride) {
    TDM_UNROLL
    for (int i = 0; i < vectors; i++) sums[i] += p[j] * tdm_vec_load(v + i * TDM_LANES);
  }
  TDM_UNROLL
  for (int i = 0; i < vectors; i++) tdm_vec_store(o + i * TDM_LANES, sums[i]);
}

/* The same with values in their array, for a row at a time. */
TDM_INLINE void multiply_columns_direct(const decode_unit *u, const void *v, team_memory mem, int64_t r, int64_t c,
                                        const int vectors, int64_t count, tdm_type type) {
  const float *p = mem.s + r * BLOCK;
  float *o = mem.o + r * u->work->stride + c;
  int64_t at = u->at_v + u->block * u->work->d.v.row + c;
  tdm_vec sums[COLUMNS];
  TDM_UNROLL
  for (int i = 0; i < vectors; i++) sums[i] = mem.factor[r] * tdm_vec_load(o + i * TDM_LANES);
  for (int j = 0, end = seen(u, r); j < end; j++, at += u->work->d.v.row) {
    if (r == 0 && c == 0) fetch_ahead(u, v, u->at_v, j, u->work->d.v.row, type);
    TDM_UNROLL
    for (int i = 0; i < vectors; i++) sums[i] += p[j] * tdm_vec_load_some(v, at + i * TDM_LANES, count - i * TDM_LANES, type);
  }
  TDM_UNROLL
  for (int i = 0; i < vectors; i++) tdm_vec_store(o + i * TDM_LANES, sums[i]);
}

TDM_INLINE void multiply_values_direct(const decode_unit *u, const void *v, team_memory mem, tdm_type type) {
  const int64_t width = COLUMNS * TDM_LANES, half = width / 2, columns = u->work->d.head_dim;
  for (int64_t r = 0; r < u->work->rows; r++) {
    int64_t c = 0;
    for (; c + width <= columns; c += width) multiply_columns_direct(u, v, mem, r, c, COLUMNS, width, type);
    if (c + half <= columns) multiply_columns_direct(u, v, mem, r, c, COLUMNS / 2, half, type), c += half;
    for (; c < columns; c += TDM_LANES) multiply_columns_direct(u, v, mem, r, c, 1, columns - c, type);
  }
}

TDM_INLINE void multiply_values(const decode_unit *u, team_memory mem, tdm_position self) {
  const int64_t width = COLUMNS * TDM_LANES;
  int64_t stride = u->work->stride, pieces = tdm_ceil_div(stride, width);
  for (int64_t n = self.thread; n < pieces * u->work->rows; n += self.threads) {
    int64_t r = n / pieces, c = n % pieces * width;
    if (c + width <= stride)
      multiply_columns(u, mem, r, c, COLUMNS);
    else
      for (; c < stride; c += TDM_LANES) multiply_columns(u, mem, r, c, 1);
  }
}

TDM_INLINE void store_numbers(const decode_unit *u, team_memory mem, tdm_position self) {
  int64_t rows = u->work->rows;
  for (int64_t r = self.thread; r < rows; r += self.threads) {
    tdm_vec parts = tdm_vec_load(mem.sum + r * VECTOR_MOST);
    float sum = 0;
    for (int l = 0; l < TDM_LANES; l++) sum += parts[l];
    mem.numbers[r] = mem.max[r];
    mem.numbers[rows + r] = sum;
  }
}

TDM_INLINE void decode_body(const decode_work *w, decode_cut cut, const void *q, const void *k, const void *v, float *workspace,
                            int64_t *claimed, tdm_position self, tdm_type type) {
  for (int64_t unit = self.team; unit < cut.units; unit = tdm_next_unit(unit, claimed, self)) {
    decode_unit u = unit_at(w, cut, unit);
    team_memory mem = memory_of(w, cut.units, workspace, unit, self.team);
    TDM_TEAM_BARRIER(); /* the numbers of the previous unit are stored */
    begin_rows(&u, q, mem, self, type);
    for (u.block = u.first_key; u.block < u.end_key; u.block += BLOCK) {
      u.keys = tdm_min(BLOCK, u.end_key - u.block);
      if (is_direct(w, type)) {
        multiply_keys_direct(&u, k, mem, type);
        softmax_rows(&u, mem, self);
        multiply_values_direct(&u, v, mem, type);
        continue;
      }
      TDM_TEAM_BARRIER(); /* the previous scores and values have been used */
      fill_panel(&u, k, u.at_k, w->d.k.row, mem, self, type);
      TDM_TEAM_BARRIER(); /* Q and the keys are complete */
      multiply_keys(&u, mem, self);
      TDM_TEAM_BARRIER(); /* the scores are complete, the keys have been used */
      softmax_rows(&u, mem, self);
      fill_panel(&u, v, u.at_v, w->d.v.row, mem, self, type);
      TDM_TEAM_BARRIER(); /* the probabilities, factors and values are complete */
      multiply_values(&u, mem, self);
    }
    TDM_TEAM_BARRIER(); /* every row's sum is complete */
    store_numbers(&u, mem, self);
  }
}

/* ---- The second pass: one row of O for a thread at a time ---- */

TDM_INLINE void add_parts(const decode_work *w, decode_cut cut, const float *workspace, void *o, float *lse, int64_t row,
                          tdm_type type) {
  const tdm_attention_desc *d = &w->d;
  int64_t head = row / w->rows, r = row % w->rows; /* head of keys, counted over all batches */
  decode_unit u = unit_at(w, cut, head * cut.parts);
  const float *first = workspace + head * cut.parts * unit_floats(w), *numbers = first + w->rows * w->stride + r;
  int64_t to = row_offset(&u, &d->o, r), step = unit_floats(w), at_lse = (head * w->group + r / d->sq) * d->sq + r % d->sq;
  float max = -__builtin_inff(), sum = 0;
  for (int64_t i = 0; i < cut.parts; i++) max = numbers[i * step] > max ? numbers[i * step] : max;
  float reference = max == -__builtin_inff() ? 0 : max;
  for (int64_t i = 0; i < cut.parts; i++)
    sum += tdm_exp_nonpositive(numbers[i * step] - reference) * numbers[i * step + w->rows];
  bool any = keys_seen(d, cut.skv, r % d->sq) > 0;
  for (int64_t c = 0; c < d->head_dim; c += TDM_LANES) {
    tdm_vec x = {0};
    for (int64_t i = 0; any && i < cut.parts; i++)
      x += tdm_exp_nonpositive(numbers[i * step] - reference) * tdm_vec_load(first + i * step + r * w->stride + c);
    tdm_vec_store_some(o, to + c, d->head_dim - c, type, any ? x * (1 / sum) : (tdm_vec){0});
  }
  if (lse != NULL) lse[at_lse] = max + tdm_log(sum);
}

TDM_INLINE void parts_body(const decode_work *w, decode_cut cut, const float *workspace, void *o, float *lse, tdm_position self,
                           tdm_type type) {
  int64_t workers = (int64_t)self.teams * self.threads, rows = cut.units / cut.parts * w->rows;
  for (int64_t row = self.team * (int64_t)self.threads + self.thread; row < rows; row += workers)
    add_parts(w, cut, workspace, o, lse, row, type);
}

/* ---- The row ---- */

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (plan->empty) return true;
  int64_t group = d->heads_q / d->heads_kv;
  if (group <= MOST_ROWS && d->sq <= MOST_ROWS / group) return true;
  snprintf(reason, size, "sq = %" PRId64 ", of %" PRId64 " heads that share keys: must be at most %d in total", d->sq, group,
           MOST_ROWS);
  return false;
}

/* Parts for every team; four for each of a host's threads, which may end at different times. The largest number of key
 * splits of a head, for this many keys and for fewer. */
static int64_t most_parts(const tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  int64_t wanted = plan->context->omp_device >= 0 ? GPU_UNITS : 4 * (int64_t)tdm_plan_workers(plan);
  return tdm_max(1, tdm_min(tdm_ceil_div(wanted, d->batch * d->heads_kv), d->skv / LEAST_PART));
}

static decode_cut cut_keys(const tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  decode_cut cut = {.skv = d->skv};
  cut.part_keys = tdm_max(1, tdm_ceil_div(tdm_ceil_div(d->skv, most_parts(plan)), BLOCK)) * BLOCK;
  cut.parts = tdm_max(1, tdm_ceil_div(d->skv, cut.part_keys));
  cut.units = d->batch * d->heads_kv * cut.parts;
  return cut;
}

static tdm_status prepare(tdm_plan *plan) {
  decode_work w = {.d = plan->desc.attention};
  bool on_gpu = plan->context->omp_device >= 0;
  if (plan->empty) return TDM_OK;
  int64_t units = w.d.batch * w.d.heads_kv * most_parts(plan);
  w.group = w.d.heads_q / w.d.heads_kv;
  w.rows = w.group * w.d.sq;
  w.stride = tdm_ceil_div(w.d.head_dim, VECTOR_MOST) * VECTOR_MOST;
  tdm_plan_launch(plan, on_gpu ? tdm_min(GPU_UNITS, units) : 1, on_gpu ? GPU_THREADS : tdm_plan_workers(plan));
  int64_t teams = on_gpu ? plan->launch.teams : tdm_min(units, (int64_t)plan->launch.teams * plan->launch.threads);
  plan->workspace_bytes = (size_t)(units * unit_floats(&w) + teams * team_floats(&w)) * sizeof(float);
  return tdm_plan_upload(plan, &w, sizeof w);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *q = buffers[0], *k = buffers[1], *v = buffers[2];
  void *o = buffers[3];
  float *lse = buffers[4], *workspace = plan->workspace;
  const decode_work *work = plan->table;
  const decode_cut cut = cut_keys(plan);
  int64_t skv = cut.skv, parts = cut.parts, part_keys = cut.part_keys, units = cut.units;
  tdm_type type = plan->desc.attention.type;
  TDM_TARGET_TEAMS(plan->launch, q, k, v, work, workspace, type, skv, parts, part_keys, units) {
    TDM_CLAIMS;
    TDM_PARALLEL {
      decode_cut own = {skv, parts, part_keys, units};
      TDM_BY_TYPE(type, decode_body, work, own, q, k, v, workspace, TDM_CLAIMED, tdm_my_position());
    }
  }
  TDM_TARGET_TEAMS(plan->launch, o, lse, work, workspace, type, skv, parts, part_keys, units)
  TDM_PARALLEL {
    decode_cut own = {skv, parts, part_keys, units};
    TDM_BY_TYPE(type, parts_body, work, own, workspace, o, lse, tdm_my_position());
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_attention_omp_decode) = {
    TDM_LEVEL_ROW("omp_decode"), .op = TDM_OP_ATTENTION, .backend = &tdm_backend_omp, .supports = supports,
    .prepare = prepare,          .launch = launch,       .rebindable = true};
