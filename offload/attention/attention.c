/* attention: flash attention. A team takes a tile of query rows of one head and loops over tiles of keys:
 *
 *   S = Q K^T               scores of the two tiles, kept by the team
 *   P = exp(S - max)        a row at a time; updates the row's running maximum and sum
 *   O = factor O + P V      factor = exp(old maximum - new maximum) of each row
 *
 * Causal: each row sees its keys up to the diagonal. Micro tiles above the diagonal are not computed. For those on it, P V
 * takes the keys that all rows of the micro tile see, and the few others are added row by row. A masked key is never
 * multiplied, so NaN and infinity in it have no effect. */
#include "offload/device/device.h"
#include "offload/device/target.h"
#include "offload/engine/tile.h"
#include "query_row.h"

/* Sizes. The host needs the GPU's too, because it plans for it. Strides are floats from row to row: of Q and O, and of S.
 * Multiples of 512 are avoided, because then the rows of a micro tile would share few sets of the L1. */
enum {
  MAX_HEAD_DIM = 256,
  GPU_ROWS = 64, /* query rows of a tile: with 128 keys 8 x 16 micro tiles, one for each of 128 threads */
  GPU_THREADS = 128,
  GPU_TEAMS = 1024, /* limits the workspace */
  GPU_HEAD_STRIDE = MAX_HEAD_DIM + 16,
#if TDM_ON_GPU
  TILE_ROWS = GPU_ROWS,
  TILE_KEYS = TILE_N,
  HEAD_STRIDE = GPU_HEAD_STRIDE,
  SCORE_STRIDE = TILE_KEYS + 4,
  PANEL_WIDTH = TILE_N, /* keys, or columns of V, in the panel */
  PANEL_STEPS = 1,      /* K steps in the panel */
#else
  TILE_ROWS = 252 / MICRO_M * MICRO_M, /* with head_dim 256, Q, O, S and the panel are 1.2 MiB, of an L2 of 1 to 2 MiB */
  TILE_KEYS = 384,
  HEAD_STRIDE = TILE_KEYS + 16,
  SCORE_STRIDE = HEAD_STRIDE, /* the same stride, so that one microkernel computes both products */
  PANEL_WIDTH = TILE_KEYS,
  PANEL_STEPS = (TILE_KEYS + TILE_K - 1) / TILE_K, /* all K steps of a product */
#endif
  PANEL_STEP = TILE_WORDS * PANEL_WIDTH,
};
_Static_assert(TILE_KEYS <= PANEL_WIDTH && HEAD_STRIDE >= MAX_HEAD_DIM && TILE_KEYS % MICRO_N == 0, "a row fits its stride");

#ifdef TDM_LEVEL_AMX
/* The panels of Q and of the probabilities, in the room of Q's rows in f32. */
enum { ROWS_PANEL = TILE_ROWS / MICRO_M * TILE_WORDS * MICRO_M };
_Static_assert(2 * ROWS_PANEL <= TILE_ROWS * HEAD_STRIDE && PANEL_STEPS == 1, "they fit, and a product has one K step");
#endif

/* What a launch needs in addition to its pointers: made with the plan, kept on the device. */
typedef struct attention_work {
  tdm_attention_desc d;
  int64_t tiles;     /* of one head */
  int64_t tile_rows; /* at most TILE_ROWS */
} attention_work;

/* What a team keeps of its tile. q and o: the rows in f32; s: scores, then probabilities; panel: keys or values. With AMX, q
 * has panels of pairs: Q, and after it the probabilities rounded to the type. */
typedef struct team_memory {
  float *q, *o, *s, *panel;
  float *max, *factor; /* of each row */
  tdm_vec *sum;        /* of each row, in as many partial sums as a vector has lanes */
} team_memory;

/* The two tiles that the team works on. */
typedef struct tile_pair {
  const tdm_attention_desc *d;
  int64_t skv; /* the run's */
  int64_t batch, head, first_row;
  int rows;
  int64_t first_key;
  int keys;
  tile_operand k, v;
} tile_pair;

/* The number of keys of the tile that row `row` of the tile sees. */
TDM_INLINE int seen(const tile_pair *t, int row) {
  int64_t last = tdm_min(row, t->rows - 1);
  return (int)tdm_min(t->keys, tdm_max(0, keys_seen(t->d, t->skv, t->first_row + last) - t->first_key));
}

/* The keys of the tile that are multiplied for all rows of the micro tile of row `row`: those that all of them see. AMX
 * multiplies whole blocks of keys, so it leaves the last part of a block that is cut by the diagonal to add_diagonal. */
TDM_INLINE int seen_by_all(const tile_pair *t, int row) {
  int count = seen(t, row / MICRO_M * MICRO_M);
#ifdef TDM_LEVEL_AMX
  if (count < t->keys) count -= count % (TILE_GROUP * WORD_BLOCK);
#endif
  return count;
}

/* ---- Products ---- */

#if TDM_ON_GPU
#define MICROKERNEL TDM_INLINE
#else
#define MICROKERNEL static __attribute__((noinline)) /* if it is inlined, not all of its sums stay in registers */
#endif

#ifdef TDM_LEVEL_AMX
#define WORDS_OF(k_count) pairs_words(k_count)
/* Micro panel at_m of Q, or of the probabilities. */
#define ROWS_OF(mem, scores, at_m) ((mem).q + ((scores) ? 0 : ROWS_PANEL) + (at_m) * TILE_STEP(MICRO_M))
#define SCORE_FACTOR(d) (d)->scale /* Q is not scaled, because that would round it */
#else
#define WORDS_OF(k_count) (k_count)
#define ROWS_OF(mem, scores, at_m) (((scores) ? (mem).q : (mem).s) + (at_m) * MICRO_M * ((scores) ? HEAD_STRIDE : SCORE_STRIDE))
#define SCORE_FACTOR(d) 1.0f
#endif

/* sums += rows of a * micro panel, over k_count. a_stride is a constant. */
MICROKERNEL void multiply_rows(tile_sums sums, const float *a, int a_stride, const float *b, int64_t k_count) {
  tile_multiply(sums, a, a_stride, 1, b, TDM_ON_GPU ? TILE_N : MICRO_N, WORDS_OF(k_count));
}

/* Sets the sums to 0, or to the micro tile of O times the factors of its rows. */
TDM_INLINE void begin_sums(tile_sums sums, const float *o, const float *factor, bool zero) {
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) TDM_UNROLL
  for (int j = 0; j < MICRO_VECTORS; j++)
    sums[i][j] = zero ? (tdm_vec){0} : factor[i] * tdm_vec_load(o + i * HEAD_STRIDE + j * TDM_LANES);
}

TDM_INLINE void store_sums(tile_sums sums, float *c, int c_stride, float factor) {
  TDM_UNROLL
  for (int i = 0; i < MICRO_M; i++) TDM_UNROLL
  for (int j = 0; j < MICRO_VECTORS; j++) tdm_vec_store(c + i * c_stride + j * TDM_LANES, factor * sums[i][j]);
}

/* scores (a constant): S = Q K^T. Otherwise: PANEL_WIDTH columns of O from `column` on, factor O + P V. A panel that holds
 * every K step is packed once. Otherwise it is packed again for each round of micro tiles, whose sums stay in registers. */
TDM_INLINE void multiply_tiles(const tile_pair *t, team_memory mem, bool scores, int64_t column, tdm_position self) {
  const tile_operand *b = scores ? &t->k : &t->v;
  int64_t b_column = scores ? t->first_key : column, first_k = scores ? 0 : t->first_key;
  int64_t depth = scores ? t->d->head_dim : t->keys, width = scores ? t->keys : tdm_min(PANEL_WIDTH, t->d->head_dim - column);
  int micros_m = (int)tdm_ceil_div(t->rows, MICRO_M), micros_n = (int)tdm_ceil_div(width, MICRO_N);
  const int a_stride = scores ? HEAD_STRIDE : SCORE_STRIDE, c_stride = scores ? SCORE_STRIDE : HEAD_STRIDE;
  bool packed_once = depth <= PANEL_STEPS * TILE_K;
  TILE_BEGIN_PRODUCTS();
  for (int first = 0; first < micros_m * micros_n; first += self.threads) {
    tile_micro at = tile_micro_at(first + self.thread, micros_m, micros_n);
    int row = at.m * MICRO_M, seen_by_any = seen(t, row + MICRO_M - 1);
    bool active = first + self.thread < micros_m * micros_n && (scores ? at.n * MICRO_N : 0) < seen_by_any;
    int64_t limit = scores ? depth : seen_by_all(t, row);
    const float *a = ROWS_OF(mem, scores, at.m);
    float *c = (scores ? mem.s : mem.o + column) + row * c_stride + at.n * MICRO_N;
    tile_sums sums;
    begin_sums(sums, c, mem.factor + row, scores || t->first_key == 0 || !active);
    for (int64_t k0 = 0; k0 < depth; k0 += TILE_K) {
      float *panel = mem.panel + k0 / TILE_K % PANEL_STEPS * PANEL_STEP;
      if (first == 0 || !packed_once) {
        TDM_TEAM_BARRIER(); /* the panel's last readers are done; Q is complete */
        tile_pack(panel, b, b_column, micros_n, first_k + k0, first_k + depth, false, self);
        TDM_TEAM_BARRIER(); /* the panel is complete */
      }
      panel += at.n * MICRO_N * (TDM_ON_GPU ? 1 : TILE_WORDS);
      if (active) multiply_rows(sums, a + k0, a_stride, panel, tdm_min(TILE_K, limit - k0));
    }
    if (active) store_sums(sums, c, c_stride, scores ? SCORE_FACTOR(t->d) : 1.0f);
  }
  TILE_END_PRODUCTS();
}

/* Adds the keys that some but not all rows of a micro tile see. */
TDM_INLINE void add_diagonal(const tile_pair *t, team_memory mem, tdm_position self, tdm_type type) {
  for (int r = self.thread; r < t->rows; r += self.threads) {
    int first = seen_by_all(t, r), end = seen(t, r);
    for (int64_t c = 0; first < end && c < t->d->head_dim; c += TDM_LANES) {
      float *o = mem.o + r * HEAD_STRIDE + c;
      tdm_vec sum = tdm_vec_load(o);
      for (int j = first; j < end; j++) {
        int64_t at = t->v.first + (t->first_key + j) * t->v.ld + c;
        sum += mem.s[r * SCORE_STRIDE + j] * tdm_vec_load_some(t->v.base, at, t->d->head_dim - c, type);
      }
      tdm_vec_store(o, sum);
    }
  }
}

/* ---- Softmax ---- */

#ifdef TDM_LEVEL_AMX
/* A row of probabilities, rounded, to its panel: the keys that its micro tile multiplies, and zeros up to whole blocks. */
TDM_INLINE void put_probabilities(const tile_pair *t, team_memory mem, int r, int count) {
  float *to = ROWS_OF(mem, false, r / MICRO_M) + r % MICRO_M * WORD_BLOCK;
  const float *s = mem.s + r * SCORE_STRIDE;
  for (int64_t j = 0, end = seen_by_all(t, r); j < end; j += TILE_GROUP * WORD_BLOCK, to += MICRO_M * WORD_BLOCK)
    for (int half = 0; half < TILE_GROUP; half++) { /* s has zeros from count to the end of a vector */
      int64_t at = j + half * TDM_LANES;
      tdm_vec_store_as(to, half * TDM_LANES, TDM_LEVEL_TYPES == 1u << TDM_F16 ? TDM_F16 : TDM_BF16,
                       at < count ? tdm_vec_load(s + at) : (tdm_vec){0});
    }
}
#endif

TDM_INLINE void softmax_rows(const tile_pair *t, team_memory mem, tdm_position self) {
  for (int r = self.thread; r < t->rows; r += self.threads) {
    int count = seen(t, r);
    mem.factor[r] = count == 0 ? 1 : row_softmax(mem.s + r * SCORE_STRIDE, count, &mem.max[r], &mem.sum[r]);
#ifdef TDM_LEVEL_AMX
    put_probabilities(t, mem, r, count);
#endif
  }
}

/* ---- A tile of query rows ---- */

/* Q in f32, times the scale. Rows that only fill the last micro tile are 0. */
TDM_INLINE void begin_rows(const tile_pair *t, const void *q, team_memory mem, tdm_position self, tdm_type type) {
  const tdm_attention_desc *d = t->d;
  int padded = (int)tdm_ceil_div(t->rows, MICRO_M) * MICRO_M;
#ifdef TDM_LEVEL_AMX
  tile_operand rows = {q, t->batch * d->q.batch + t->head * d->q.head, d->sq, d->q.row, true, type};
  tile_pack(mem.q, &rows, t->first_row, padded / MICRO_M, 0, d->head_dim, true, self);
#endif
  for (int r = self.thread; r < padded; r += self.threads) {
    mem.max[r] = -__builtin_inff();
    mem.sum[r] = (tdm_vec){0};
    mem.factor[r] = 1; /* of rows that only fill the last micro tile: no softmax writes it */
#ifndef TDM_LEVEL_AMX
    int64_t at = t->batch * d->q.batch + t->head * d->q.head + (t->first_row + r) * d->q.row;
    float *row = mem.q + r * HEAD_STRIDE;
    for (int64_t c = 0; c < d->head_dim; c += TDM_LANES)
      tdm_vec_store(row + c, d->scale * tdm_vec_load_some(q, at + c, r < t->rows ? d->head_dim - c : 0, type));
#endif
  }
}

TDM_INLINE void store_rows(const tile_pair *t, void *o, float *lse, team_memory mem, tdm_position self, tdm_type type) {
  const tdm_attention_desc *d = t->d;
  for (int r = self.thread; r < t->rows; r += self.threads) {
    int64_t row = t->first_row + r, at = t->batch * d->o.batch + t->head * d->o.head + row * d->o.row;
    bool any = keys_seen(d, t->skv, row) > 0;
    float sum = 0;
    for (int l = 0; l < TDM_LANES; l++) sum += mem.sum[r][l];
    for (int64_t c = 0; c < d->head_dim; c += TDM_LANES) {
      tdm_vec x = any ? tdm_vec_load(mem.o + r * HEAD_STRIDE + c) * (1 / sum) : (tdm_vec){0};
      tdm_vec_store_some(o, at + c, d->head_dim - c, type, x);
    }
    if (lse != NULL) lse[(t->batch * d->heads_q + t->head) * d->sq + row] = mem.max[r] + tdm_log(sum);
  }
}

/* The widest tiles first (causal: the last rows see the most keys), so that the teams end at about the same time. */
TDM_INLINE tile_pair tile_at(const attention_work *work, const void *k, const void *v, int64_t skv, int64_t unit) {
  const tdm_attention_desc *d = &work->d;
  int64_t heads = d->batch * d->heads_q, tile = work->tiles - 1 - unit / heads, head = unit % heads % d->heads_q;
  int64_t batch = unit % heads / d->heads_q, head_kv = head / (d->heads_q / d->heads_kv);
  tile_pair t = {.d = d, .skv = skv, .batch = batch, .head = head, .first_row = tile * work->tile_rows};
  t.rows = (int)tdm_min(work->tile_rows, d->sq - t.first_row);
  t.k = (tile_operand){k, batch * d->k.batch + head_kv * d->k.head, skv, d->k.row, true, d->type};
  t.v = (tile_operand){v, batch * d->v.batch + head_kv * d->v.head, d->head_dim, d->v.row, false, d->type};
  return t;
}

TDM_INLINE void attention_body(const attention_work *work, const void *q, const void *k, const void *v, void *o, float *lse,
                               int64_t skv, team_memory mem, int64_t *claimed, tdm_position self) {
  const tdm_attention_desc *d = &work->d;
  const int64_t units = d->batch * d->heads_q * work->tiles;
  for (int64_t unit = self.team; unit < units; unit = tdm_next_unit(unit, claimed, self)) {
    tile_pair t = tile_at(work, k, v, skv, unit);
    int64_t end = keys_seen(d, skv, t.first_row + t.rows - 1);
    TDM_BY_TYPE(d->type, begin_rows, &t, q, mem, self);
    for (; t.first_key < end; t.first_key += TILE_KEYS) {
      t.keys = (int)tdm_min(TILE_KEYS, end - t.first_key);
      multiply_tiles(&t, mem, true, 0, self);
      TDM_TEAM_BARRIER(); /* the scores are complete */
      softmax_rows(&t, mem, self);
      TDM_TEAM_BARRIER(); /* the probabilities and factors are complete */
      for (int64_t column = 0; column < d->head_dim; column += PANEL_WIDTH) multiply_tiles(&t, mem, false, column, self);
      if (!d->causal) continue;
      TDM_TEAM_BARRIER(); /* every micro tile of O is stored */
      TDM_BY_TYPE(d->type, add_diagonal, &t, mem, self);
    }
    TDM_TEAM_BARRIER(); /* O is complete */
    TDM_BY_TYPE(d->type, store_rows, &t, o, lse, mem, self);
  }
}

/* ---- Launch ---- */

/* The number of floats of the workspace for a team. GPUs have S, the panel and the rows' numbers in team memory instead. */
enum {
  ROW_NUMBERS = ((TDM_LANES + 2) * TILE_ROWS + 15) / 16 * 16, /* whole cache lines */
  GPU_SLICE = 2 * GPU_ROWS * GPU_HEAD_STRIDE,
  HOST_SLICE = 2 * TILE_ROWS * HEAD_STRIDE + TILE_ROWS * SCORE_STRIDE + PANEL_STEPS * PANEL_STEP + ROW_NUMBERS,
};

TDM_INLINE team_memory memory_of(float *slice, float *s, float *panel, float *numbers) {
  float *max = numbers + TDM_LANES * TILE_ROWS, *factor = max + TILE_ROWS;
  return (team_memory){slice, slice + TILE_ROWS * HEAD_STRIDE, s, panel, max, factor, (tdm_vec *)numbers};
}

/* ATTENTION_TEAM_ARRAYS: what a team declares. ATTENTION_MEMORY: all memory that team `team` works in. */
#if TDM_ON_GPU
#define ATTENTION_TEAM_ARRAYS                              \
  TDM_TEAM_MEMORY(float, team_s, TILE_ROWS *SCORE_STRIDE); \
  TDM_TEAM_MEMORY(float, team_panel, PANEL_STEP);          \
  TDM_TEAM_MEMORY(float, team_numbers, ROW_NUMBERS);
#define ATTENTION_MEMORY(workspace, team) \
  memory_of((float *)(workspace) + (team) * (int64_t)GPU_SLICE, team_s, team_panel, team_numbers)
#else
#define ATTENTION_TEAM_ARRAYS
#define ATTENTION_MEMORY(workspace, team) host_memory((float *)(workspace) + (team) * (int64_t)HOST_SLICE)

static team_memory host_memory(float *slice) {
  float *s = slice + 2 * TILE_ROWS * HEAD_STRIDE, *panel = s + TILE_ROWS * SCORE_STRIDE;
  return memory_of(slice, s, panel, panel + PANEL_STEPS * PANEL_STEP);
}
#endif

/* As few tiles as the largest size allows, then more until each worker has one. */
static void cut(attention_work *work, int64_t largest, int64_t micro, int64_t workers) {
  int64_t heads = work->d.batch * work->d.heads_q, micros = tdm_ceil_div(work->d.sq, micro);
  int64_t tiles = tdm_max(tdm_ceil_div(work->d.sq, largest), tdm_min(micros, tdm_ceil_div(workers, heads)));
  work->tile_rows = tdm_ceil_div(micros, tiles) * micro;
  work->tiles = tdm_ceil_div(work->d.sq, work->tile_rows);
}

static tdm_status prepare(tdm_plan *plan) {
  attention_work work = {.d = plan->desc.attention};
  int64_t slices, slice, threads = tdm_plan_workers(plan);
  if (plan->empty) return TDM_OK;
  if (plan->context->omp_device >= 0) {
    cut(&work, GPU_ROWS, GPU_ROWS, 1);
    tdm_plan_launch(plan, tdm_min(GPU_TEAMS, work.d.batch * work.d.heads_q * work.tiles), GPU_THREADS);
    slices = plan->launch.teams;
    slice = GPU_SLICE;
  } else {
    cut(&work, TILE_ROWS, MICRO_M, threads);
    tdm_plan_launch(plan, 1, threads);
    slices = tdm_min(work.d.batch * work.d.heads_q * work.tiles, (int64_t)plan->launch.teams * plan->launch.threads);
    slice = HOST_SLICE;
  }
  plan->workspace_bytes = (size_t)slices * (size_t)slice * sizeof(float);
  return tdm_plan_upload(plan, &work, sizeof work);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *q = buffers[0], *k = buffers[1], *v = buffers[2];
  void *o = buffers[3], *workspace = plan->workspace;
  float *lse = buffers[4];
  const attention_work *work = plan->table;
  int64_t skv = plan->desc.attention.skv;
  TDM_TARGET_TEAMS(plan->launch, q, k, v, o, lse, work, workspace, skv) {
    ATTENTION_TEAM_ARRAYS
    TDM_CLAIMS;
    TDM_PARALLEL {
      tdm_position self = tdm_my_position();
      attention_body(work, q, k, v, o, lse, skv, ATTENTION_MEMORY(workspace, self.team), TDM_CLAIMED, self);
    }
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_attention_omp) = {
    TDM_LEVEL_ROW("omp"), .op = TDM_OP_ATTENTION, .backend = &tdm_backend_omp,
    .prepare = prepare,   .launch = launch,       .rounds_weights = TDM_LEVEL_MATRIX,
    .rebindable = true};
