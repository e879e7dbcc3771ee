/* attention on GPUs: flash attention as in attention.c, with a thread's scores and output in registers.
 *
 * A team of 64 threads takes 64 query rows of one head (32 if head_dim is above 64) and loops over tiles of 64 keys:
 *
 *   S = Q K^T    Q in team memory as [d][row], K in panels of 16 d x 64 keys
 *   P = exp(S - max), to team memory as [key][row]: a wave reads only what it wrote
 *   O = factor O + P V    V in panels of 16 keys x head_dim
 *
 * As in gpu_tile.h, the next panel is loaded from memory to registers while one is multiplied, and two panels alternate, so
 * that a panel costs one barrier. Tiles with masked keys, and those that are not whole, go through a second copy of the
 * loops. There a masked key is never multiplied, so NaN and infinity in it have no effect. */
#include <stdio.h>

#include "gpu.h"
#include "offload/device/device.h"
#include "offload/engine/gpu_epilogue.h"

enum {
  THREADS = 64,
  KEYS = 64,  /* of a tile */
  STEP = 16,  /* d or keys of a panel */
  PARTS = 8,  /* most vectors of 4 that a thread loads of a panel */
  PIECES = 2, /* vectors of a thread's scores of one row */
  SUMS = 16,  /* vectors of a thread's O, and most of its scores */
  KEY_PITCH = KEYS + 4,
  LONGEST_HEAD = 128,
  MEMORY_FLOATS = 10624, /* floats of team memory, for both sizes of heads */
};

typedef struct attention_arrays {
  const void *q, *k, *v;
  void *o;
  float *lse;
} attention_arrays;

/* Constants of a kernel, by the number of vectors of 4 that a thread has of a row of O: 2 for head_dim up to 64, 4 for up
 * to 128. */
TDM_INLINE int rows_of(int vectors) { return 16 / vectors; } /* of a thread */
TDM_INLINE int tile_rows(int vectors) { return 8 * rows_of(vectors); }
TDM_INLINE int head_of(int vectors) { return 32 * vectors; }
TDM_INLINE int p_pitch(int vectors) { return tile_rows(vectors) + 4; }
TDM_INLINE int v_pitch(int vectors) { return head_of(vectors) + 4; }

/* A team's memory: Q, P, then two panels. */
TDM_INLINE float *p_of(float *memory, int vectors) { return memory + tile_rows(vectors) * head_of(vectors); }
TDM_INLINE float *panel_of(float *memory, int buffer, int vectors) {
  return p_of(memory, vectors) + KEYS * p_pitch(vectors) + buffer * STEP * v_pitch(vectors);
}
_Static_assert(64 * 64 + KEYS * 68 + 2 * STEP * 68 <= MEMORY_FLOATS && 32 * 128 + KEYS * 36 + 2 * STEP * 132 <= MEMORY_FLOATS,
               "both fit");

/* The rows of a thread are in groups of 4 neighbours, as in gpu_tile.h; the 4 x 8 lanes of a wave have their own rows. */
TDM_INLINE int first_row_of(int thread, int vectors) {
  return thread / 32 * 4 * rows_of(vectors) + ((thread & 1) | (thread >> 4 & 1) << 1) * 4;
}

/* What a team works on. */
typedef struct unit {
  const attention_gpu_work *work;
  attention_arrays arrays;
  float *memory;
  int thread, buffer;
  int64_t skv;                         /* the run's */
  int64_t at_k, at_v;                  /* offset in elements of the head's first key */
  int64_t batch, head, first_row, end; /* end: one after the last key that any row sees */
} unit;

/* ---- Panels ---- */

typedef struct panel_words {
  gpu_words part[PARTS];
} panel_words;

/* Vector v of a thread: for K 4 d of a key, with 4 threads next to each other; for V 4 d of a key, row after row. */
TDM_INLINE int k_key(int thread, int v) { return thread / 4 + 16 * v; }
TDM_INLINE int k_column(int thread) { return thread % 4 * 4; }
TDM_INLINE int v_key(int thread, int v, int vectors) { return thread / (8 * vectors) + 8 / vectors * v; }
TDM_INLINE int v_column(int thread, int vectors) { return thread % (8 * vectors) * 4; }

TDM_INLINE gpu_words fetch_vector(const char *at, bool whole, int keys_left, int columns_left, tdm_type type) {
  if (!whole) return gpu_fetch_guarded(at, true, keys_left, columns_left, type);
  if (type == TDM_F32) return *(const TDM_GLOBAL gpu_words *)at;
  gpu_half_words two = *(const TDM_GLOBAL gpu_half_words *)at;
  return (gpu_words){two[0], two[1], 0, 0};
}

/* Loads columns step * STEP ... of the keys of the tile at first_key. */
TDM_INLINE panel_words fetch_k(const unit *u, int64_t first_key, int step, bool whole, tdm_type type) {
  const tdm_attention_desc *d = &u->work->d;
  panel_words words;
  int column = step * STEP + k_column(u->thread);
  TDM_UNROLL
  for (int v = 0; v < 4; v++) {
    int64_t key = first_key + k_key(u->thread, v);
    const char *at = (const char *)u->arrays.k + (u->at_k + key * d->k.row + column) * tdm_bytes(type);
    words.part[v] = fetch_vector(at, whole, key < u->skv, (int)d->head_dim - column, type);
  }
  return words;
}

TDM_INLINE void put_k(const unit *u, const panel_words *words, int vectors, tdm_type type) {
  float *to = panel_of(u->memory, u->buffer ^ 1, vectors) + k_column(u->thread) * KEY_PITCH;
  TDM_UNROLL
  for (int v = 0; v < 4; v++) TDM_UNROLL
  for (int e = 0; e < 4; e++) to[e * KEY_PITCH + k_key(u->thread, v)] = gpu_value(words->part[v], e, type);
}

/* Loads keys first_key ... of V. */
TDM_INLINE panel_words fetch_v(const unit *u, int64_t first_key, bool whole, int vectors, tdm_type type) {
  const tdm_attention_desc *d = &u->work->d;
  panel_words words;
  int column = v_column(u->thread, vectors);
  TDM_UNROLL
  for (int v = 0; v < 2 * vectors; v++) {
    int64_t key = first_key + v_key(u->thread, v, vectors);
    const char *at = (const char *)u->arrays.v + (u->at_v + key * d->v.row + column) * tdm_bytes(type);
    words.part[v] = fetch_vector(at, whole, key < u->skv, (int)d->head_dim - column, type);
  }
  return words;
}

TDM_INLINE void put_v(const unit *u, const panel_words *words, int vectors, tdm_type type) {
  float *to = panel_of(u->memory, u->buffer ^ 1, vectors) + v_column(u->thread, vectors);
  TDM_UNROLL
  for (int v = 0; v < 2 * vectors; v++) {
    gpu_vec x;
    TDM_UNROLL
    for (int e = 0; e < 4; e++) x[e] = gpu_value(words->part[v], e, type);
    *(gpu_vec *)(to + v_key(u->thread, v, vectors) * v_pitch(vectors)) = x;
  }
}

/* ---- Products ---- */

/* What a thread multiplies for one d or key: the values of its rows and of its columns. */
typedef struct thread_values {
  gpu_vec a[2], b[4];
} thread_values;

TDM_INLINE thread_values read_values(const float *a, const float *b, int rows, int pieces) {
  thread_values x;
  TDM_UNROLL
  for (int i = 0; i < rows / 4; i++) x.a[i] = *(const gpu_vec *)(a + gpu_row_of(4 * i));
  TDM_UNROLL
  for (int j = 0; j < pieces; j++) x.b[j] = *(const gpu_vec *)(b + gpu_column_of(j));
  return x;
}

/* Masked: row i sees the first seen[i] keys of the tile; this is key `key`. */
TDM_INLINE void multiply_values(gpu_vec *sums, const thread_values *x, int rows, int pieces, bool masked, const int *seen,
                                int key) {
  TDM_UNROLL
  for (int i = 0; i < rows; i++) TDM_UNROLL
  for (int j = 0; j < pieces; j++)
    if (!masked || key < seen[i]) sums[i * pieces + j] += x->a[i / 4][i % 4] * x->b[j];
}

/* sums += a panel. The rows of a and of the panel are a pitch apart. The next values are read while these are multiplied. */
TDM_INLINE void multiply_panel(gpu_vec *sums, const float *a, int a_pitch, const float *b, int b_pitch, int rows, int pieces,
                               bool masked, const int *seen, int key) {
  thread_values x = read_values(a, b, rows, pieces), y;
  TDM_NO_UNROLL
  for (int p = 0; p < STEP - 2; p += 2) {
    y = read_values(a + a_pitch, b + b_pitch, rows, pieces);
    multiply_values(sums, &x, rows, pieces, masked, seen, key + p);
    x = read_values(a + 2 * a_pitch, b + 2 * b_pitch, rows, pieces);
    multiply_values(sums, &y, rows, pieces, masked, seen, key + p + 1);
    a += 2 * a_pitch;
    b += 2 * b_pitch;
  }
  y = read_values(a + a_pitch, b + b_pitch, rows, pieces);
  multiply_values(sums, &x, rows, pieces, masked, seen, key + STEP - 2);
  multiply_values(sums, &y, rows, pieces, masked, seen, key + STEP - 1);
}

/* ---- Softmax ---- */

/* For each of a thread's rows: max is the same in the 8 lanes that share the row, sum is the lane's own part. */
typedef struct row_state {
  float max[8], sum[8];
} row_state;

/* Turns S into P, in team memory, and rescales O and the sums to the new maximum. The maximum ignores a NaN, but the NaN
 * makes the sum NaN. */
TDM_INLINE void softmax_tile(const unit *u, gpu_vec *s, gpu_vec *o, row_state *state, int vectors) {
  const int rows = rows_of(vectors);
  TDM_UNROLL
  for (int i = 0; i < rows; i++) {
    float max = state->max[i];
    TDM_UNROLL
    for (int j = 0; j < PIECES; j++) TDM_UNROLL
    for (int e = 0; e < 4; e++) max = s[i * PIECES + j][e] > max ? s[i * PIECES + j][e] : max;
    TDM_UNROLL
    for (int distance = 2; distance <= 8; distance *= 2) {
      float other = tdm_lane_xor(max, distance);
      max = other > max ? other : max;
    }
    float reference = max == -__builtin_inff() ? 0 : max; /* only -infinity so far: avoids inf - inf */
    float factor = tdm_exp_nonpositive(state->max[i] - reference), sum = 0;
    TDM_UNROLL
    for (int j = 0; j < PIECES; j++) TDM_UNROLL
    for (int e = 0; e < 4; e++) {
      s[i * PIECES + j][e] = tdm_exp_nonpositive(s[i * PIECES + j][e] - reference);
      sum += s[i * PIECES + j][e];
    }
    state->sum[i] = state->sum[i] * factor + sum;
    state->max[i] = max;
    TDM_UNROLL
    for (int j = 0; j < vectors; j++) o[i * vectors + j] *= factor;
  }
  float *p = p_of(u->memory, vectors) + first_row_of(u->thread, vectors);
  TDM_UNROLL
  for (int j = 0; j < PIECES; j++) TDM_UNROLL
  for (int e = 0; e < 4; e++) TDM_UNROLL
  for (int i = 0; i < rows; i += 4)
    *(gpu_vec *)(p + (gpu_column(u->thread) + gpu_column_of(j) + e) * p_pitch(vectors) + gpu_row_of(i)) =
        (gpu_vec){s[i * PIECES + j][e], s[(i + 1) * PIECES + j][e], s[(i + 2) * PIECES + j][e], s[(i + 3) * PIECES + j][e]};
}

/* Sets the scores of keys that a row does not see to -infinity. */
TDM_INLINE void mask_scores(const unit *u, gpu_vec *s, const int *seen, int vectors) {
  TDM_UNROLL
  for (int i = 0; i < rows_of(vectors); i++) TDM_UNROLL
  for (int j = 0; j < PIECES; j++) TDM_UNROLL
  for (int e = 0; e < 4; e++)
    if (gpu_column(u->thread) + gpu_column_of(j) + e >= seen[i]) s[i * PIECES + j][e] = -__builtin_inff();
}

/* ---- A tile of keys ---- */

/* `seen` is passed as it is. For a pointer that may be NULL, clang takes the memory from the runtime's heap, and then LLVM
 * 19 drops the loops of a bare region without a warning. */

/* The end of a panel: the other panel is written, and becomes the current one. */
TDM_INLINE void next_panel(unit *u) {
  TDM_SYNC_BLOCK(); /* the next panel is complete, and nobody reads this one any more */
  u->buffer ^= 1;
}

/* open: every row sees every key of the tile, and the tile is whole. whole: vectors may be loaded. */
TDM_INLINE void attend_tile(unit *u, int64_t first_key, gpu_vec *o, row_state *state, bool open, bool whole, int vectors,
                            tdm_type type) {
  const tdm_attention_desc *d = &u->work->d;
  const int rows = rows_of(vectors), k_steps = head_of(vectors) / STEP, v_steps = KEYS / STEP;
  const float *q = u->memory + first_row_of(u->thread, vectors),
              *p = p_of(u->memory, vectors) + first_row_of(u->thread, vectors);
  int column = gpu_column(u->thread), seen[8];
  gpu_vec s[SUMS];
  panel_words words;
  if (!open) {
    TDM_UNROLL
    for (int i = 0; i < rows; i++) {
      int64_t row = u->first_row + first_row_of(u->thread, vectors) + gpu_row_of(i);
      seen[i] = (int)tdm_max(0, tdm_min(KEYS, keys_seen(d, u->skv, tdm_min(row, d->sq - 1)) - first_key));
    }
  }
  TDM_UNROLL
  for (int i = 0; i < rows * PIECES; i++) s[i] = (gpu_vec){0};
  TDM_NO_UNROLL
  for (int step = 0; step < k_steps - 1; step++) {
    words = fetch_k(u, first_key, step + 1, whole, type);
    multiply_panel(s, q + step * STEP * tile_rows(vectors), tile_rows(vectors),
                   panel_of(u->memory, u->buffer, vectors) + column, KEY_PITCH, rows, PIECES, false, seen, 0);
    put_k(u, &words, vectors, type);
    next_panel(u);
  }
  words = fetch_v(u, first_key, whole, vectors, type);
  multiply_panel(s, q + (k_steps - 1) * STEP * tile_rows(vectors), tile_rows(vectors),
                 panel_of(u->memory, u->buffer, vectors) + column, KEY_PITCH, rows, PIECES, false, seen, 0);
  put_v(u, &words, vectors, type);
  if (!open) mask_scores(u, s, seen, vectors);
  softmax_tile(u, s, o, state, vectors);
  next_panel(u); /* P is complete too */
  TDM_NO_UNROLL
  for (int step = 0; step < v_steps - 1; step++) {
    words = fetch_v(u, first_key + (step + 1) * STEP, whole, vectors, type);
    multiply_panel(o, p + step * STEP * p_pitch(vectors), p_pitch(vectors), panel_of(u->memory, u->buffer, vectors) + column,
                   v_pitch(vectors), rows, vectors, !open, seen, step * STEP);
    put_v(u, &words, vectors, type);
    next_panel(u);
  }
  bool more = first_key + KEYS < u->end, next_whole = whole && first_key + 2 * KEYS <= u->skv;
  if (more) words = next_whole ? fetch_k(u, first_key + KEYS, 0, true, type) : fetch_k(u, first_key + KEYS, 0, false, type);
  multiply_panel(o, p + (v_steps - 1) * STEP * p_pitch(vectors), p_pitch(vectors),
                 panel_of(u->memory, u->buffer, vectors) + column, v_pitch(vectors), rows, vectors, !open, seen,
                 (v_steps - 1) * STEP);
  if (more) put_k(u, &words, vectors, type);
  next_panel(u);
}

/* ---- A tile of query rows ---- */

/* Q in f32, times the scale; what is outside is 0. */
TDM_INLINE void begin_rows(const unit *u, int vectors, tdm_type type) {
  const tdm_attention_desc *d = &u->work->d;
  int64_t base = u->batch * d->q.batch + u->head * d->q.head;
  for (int at = u->thread; at < tile_rows(vectors) * head_of(vectors) / 4; at += THREADS) {
    int row = at / (8 * vectors), column = at % (8 * vectors) * 4;
    int count = u->first_row + row < d->sq ? (int)d->head_dim - column : 0;
    gpu_vec x = d->scale * gpu_load(u->arrays.q, base + (u->first_row + row) * d->q.row + column, count, type);
    TDM_UNROLL
    for (int e = 0; e < 4; e++) u->memory[(column + e) * tile_rows(vectors) + row] = x[e];
  }
}

TDM_INLINE void store_rows(const unit *u, const gpu_vec *o, const row_state *state, int vectors, tdm_type type) {
  const tdm_attention_desc *d = &u->work->d;
  int64_t base = u->batch * d->o.batch + u->head * d->o.head;
  TDM_UNROLL
  for (int i = 0; i < rows_of(vectors); i++) {
    float sum = state->sum[i];
    TDM_UNROLL
    for (int distance = 2; distance <= 8; distance *= 2) sum += tdm_lane_xor(sum, distance);
    int64_t row = u->first_row + first_row_of(u->thread, vectors) + gpu_row_of(i);
    if (row >= d->sq) continue;
    bool any = keys_seen(d, u->skv, row) > 0;
    TDM_UNROLL
    for (int j = 0; j < vectors; j++) {
      int column = gpu_column(u->thread) + gpu_column_of(j);
      gpu_vec x = any ? o[i * vectors + j] * (1 / sum) : (gpu_vec){0};
      gpu_store(u->arrays.o, base + row * d->o.row + column, (int)d->head_dim - column, type, x);
    }
    if (u->arrays.lse != NULL && gpu_column(u->thread) == 0)
      u->arrays.lse[(u->batch * d->heads_q + u->head) * d->sq + row] = state->max[i] + tdm_log(sum);
  }
}

TDM_INLINE void attend_rows(unit *u, bool aligned, int vectors, tdm_type type) {
  const tdm_attention_desc *d = &u->work->d;
  gpu_vec o[SUMS];
  row_state state;
  TDM_UNROLL
  for (int i = 0; i < SUMS; i++) o[i] = (gpu_vec){0};
  TDM_UNROLL
  for (int i = 0; i < rows_of(vectors); i++) {
    state.max[i] = -__builtin_inff();
    state.sum[i] = 0;
  }
  begin_rows(u, vectors, type);
  u->buffer = 1;
  panel_words words = fetch_k(u, 0, 0, false, type);
  put_k(u, &words, vectors, type);
  next_panel(u); /* Q is complete too */
  /* The keys of tiles that all rows see completely. */
  int64_t open_end = tdm_min(keys_seen(d, u->skv, u->first_row), u->end) / KEYS * KEYS, first_key = 0;
  if (aligned) {
    TDM_NO_UNROLL
    for (; first_key < open_end; first_key += KEYS) attend_tile(u, first_key, o, &state, true, true, vectors, type);
  }
  TDM_NO_UNROLL
  for (; first_key < u->end; first_key += KEYS)
    attend_tile(u, first_key, o, &state, false, aligned && first_key + KEYS <= u->skv, vectors, type);
  store_rows(u, o, &state, vectors, type);
}

TDM_INLINE bool vectors_aligned(const void *base, tdm_attention_strides s, tdm_type type) {
  return (uintptr_t)base % (4 * (uintptr_t)tdm_bytes(type)) == 0 && s.row % 4 == 0 && s.head % 4 == 0 && s.batch % 4 == 0;
}

/* The widest tiles first (causal: the last rows see the most keys), so that the teams end at about the same time. */
TDM_INLINE void attention_typed(const attention_gpu_work *work, const attention_arrays *arrays, float *memory, int64_t skv,
                                int vectors, tdm_position self, tdm_type type) {
  const tdm_attention_desc *d = &work->d;
  bool aligned =
      d->head_dim == head_of(vectors) && vectors_aligned(arrays->k, d->k, type) && vectors_aligned(arrays->v, d->v, type);
  int64_t heads = d->batch * d->heads_q;
  for (int64_t index = self.team; index < heads * work->tiles; index += self.teams) {
    unit u = {.work = work, .arrays = *arrays, .memory = memory, .skv = skv, .thread = self.thread};
    u.head = index % heads % d->heads_q;
    u.batch = index % heads / d->heads_q;
    u.first_row = (work->tiles - 1 - index / heads) * tile_rows(vectors);
    u.end = keys_seen(d, skv, tdm_min(u.first_row + tile_rows(vectors), d->sq) - 1);
    int64_t head_kv = u.head / (d->heads_q / d->heads_kv);
    u.at_k = u.batch * d->k.batch + head_kv * d->k.head;
    u.at_v = u.batch * d->v.batch + head_kv * d->v.head;
    attend_rows(&u, aligned, vectors, type);
    TDM_SYNC_BLOCK(); /* the next unit writes where this one reads */
  }
}

/* ---- Launch ---- */

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  if (!tdm_threads_fit(plan->context, THREADS, reason, size)) return false;
  if (plan->desc.attention.head_dim <= LONGEST_HEAD) return true;
  snprintf(reason, size, "head_dim is above %d", LONGEST_HEAD);
  return false;
}

static int vectors_for(const tdm_attention_desc *d) { return d->head_dim <= 64 ? 2 : 4; }

attention_gpu_work attention_gpu_work_of(const tdm_attention_desc *d) {
  return (attention_gpu_work){*d, tdm_ceil_div(d->sq, tile_rows(vectors_for(d)))};
}

static tdm_status prepare(tdm_plan *plan) {
  if (plan->empty) return TDM_OK;
  attention_gpu_work work = attention_gpu_work_of(&plan->desc.attention);
  tdm_plan_launch(plan, work.d.batch * work.d.heads_q * work.tiles, THREADS);
  return tdm_plan_upload(plan, &work, sizeof work);
}

/* A region for each size of heads and type: a kernel's registers are those of its largest part. */
#define REGION(vectors, type)                                                        \
  TDM_TARGET_BARE(plan->launch, THREADS, q, k, v, o, lse, work) {                    \
    TDM_TEAM_MEMORY(float, memory, MEMORY_FLOATS);                                   \
    attention_arrays arrays = {q, k, v, o, lse};                                     \
    attention_typed(work, &arrays, memory, skv, vectors, tdm_bare_position(), type); \
  }

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *q = buffers[0], *k = buffers[1], *v = buffers[2];
  void *o = buffers[3];
  float *lse = buffers[4];
  const attention_gpu_work *work = plan->table;
  int64_t skv = plan->desc.attention.skv;
  bool small = vectors_for(&plan->desc.attention) == 2;
  switch (plan->desc.attention.type) {
    case TDM_F32:
      if (small) {
        REGION(2, TDM_F32);
      } else {
        REGION(4, TDM_F32);
      }
      break;
    case TDM_F16:
      if (small) {
        REGION(2, TDM_F16);
      } else {
        REGION(4, TDM_F16);
      }
      break;
    case TDM_BF16:
      if (small) {
        REGION(2, TDM_BF16);
      } else {
        REGION(4, TDM_BF16);
      }
      break;
  }
  return TDM_OK;
}

const tdm_kernel tdm_attention_omp_gpu = {.name = "omp_gpu",
                                          .op = TDM_OP_ATTENTION,
                                          .backend = &tdm_backend_omp,
                                          .runs_on = tdm_gpus_only,
                                          .supports = supports,
                                          .prepare = prepare,
                                          .launch = launch,
                                          .rebindable = true};
