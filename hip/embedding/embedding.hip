// y[t] = table[ids[t]]: a copy of words, 16 bytes at a time.
#include "args.h"
#include "hip/device/arguments.h"
#include "hip/device/blocks.h"

DEVICE void set_pointers(embedding_args *p) { set_global(&p->table), set_global(&p->ids), set_global(&p->y); }

// What is copied for an id that has no row here: zeros if another part of the table has the row, NaN in every type if no part
// has it.
__attribute__((constant, aligned(16))) static const uint32_t not_here[][4] = {
    {0, 0, 0, 0},
    {0x7fff7fffu, 0x7fff7fffu, 0x7fff7fffu, 0x7fff7fffu},
};

// What is the same for all: bytes from row to row of the table and of y; narrow: they have 32 bits, so that
// a row is found by one product instead of three; here: ids that are less than so many after the first one have a row here.
typedef struct table_shape {
  uint64_t table_pitch, y_pitch, here;
  uint32_t items, items_step, whole, singles;  // of a row: whole chunks, and single elements at either end
  bool narrow;
} table_shape;

DEVICE table_shape shape_of(const embedding_args *p, tdm_type type) {
  const uint64_t t = (uint64_t)p->ldt * tdm_bytes(type), y = (uint64_t)p->ldy * tdm_bytes(type);
  const int64_t left = p->total > p->first ? p->total - p->first : 0, whole = (p->blocks.cols - 1) / chunk_length(type);
  return (table_shape){.table_pitch = t,
                       .y_pitch = y,
                       .here = (uint64_t)(left < p->vocab ? left : p->vocab),
                       .items = (uint32_t)p->blocks.items,
                       .items_step = (uint32_t)p->blocks.items_step,
                       .whole = (uint32_t)whole,
                       .singles = (uint32_t)(p->blocks.cols - whole * chunk_length(type)),
                       .narrow = ((t | y) >> 32) == 0};
}

DEVICE char *at_row(const void *base, uint64_t row, uint64_t pitch, bool narrow) {
  if (__builtin_expect(narrow, 1)) return (char *)base + (uint64_t)(uint32_t)row * (uint32_t)pitch;
  return (char *)base + row * pitch;
}

// block_walk in 32 bits: the host sees to it that a row has less than 2 GiB (embedding.c).
typedef struct token_walk {
  int64_t unit, first;
  uint32_t item, sub;
} token_walk;

DEVICE void next_token(token_walk *w, const hip_blocks *b, const table_shape *of) {
  w->unit += b->workgroups;
  w->first += b->rows_step;
  const uint32_t item = w->item + of->items_step, wrapped = item - of->items;
  w->sub += item >= of->items;
  w->item = item < wrapped ? item : wrapped;
}

DEVICE bool has_token(const token_walk *w, const hip_blocks *b) {
  const int64_t far = 1 << 30, rows = b->rows - w->first;
  return (int)w->sub < (int)(rows < far ? rows : far);
}

// An id as it is in memory. To extend an int32 at once would wait for it, and for all loads before it.
typedef struct raw_id {
  uint32_t low, high;
} raw_id;

DEVICE raw_id load_id(const embedding_args *p, const token_walk *w) {
  const bool is_64 = p->index == TDM_I64;
  const int64_t first = w->first < p->blocks.rows ? w->first : 0;
  const uint32_t shift = is_64 ? 3 : 2, sub = has_token(w, &p->blocks) ? w->sub << shift : 0;
  const char *at = (const char *)p->ids + (first << shift) + sub;
  raw_id id = {*(const __attribute__((address_space(1))) uint32_t *)at, 0};
  if (is_64) id.high = *(const __attribute__((address_space(1))) uint32_t *)(at + 4);
  return id;
}

DEVICE int64_t id_of(const embedding_args *p, raw_id id) {
  const uint32_t high = p->index == TDM_I64 ? id.high : (uint32_t)((int32_t)id.low >> 31);
  return (int64_t)((uint64_t)high << 32 | id.low);
}

// What a work-item copies of a row: a chunk, and a single element.
typedef struct row_piece {
  char *chunk, *single;  // where to
  bool has_chunk, has_single;
  uint32_t flags;  // in a vector register: as many masks would be spilled
  raw_chunk words;
  uint32_t one, extra;
} row_piece;

// A chunk BETWEEN two dwords of the table has one element that is not in `words`: the one AFTER them, or else the one before.
// It is in the words of the lane beside this one, except at an EDGE, where the lane loads it by itself: into `one`, or into
// `extra` if it loads TWO elements, because `one` then is the single element.
enum { BETWEEN = 1, AFTER = 2, EDGE = 4, TWO = 8 };

// Any row is whole chunks that begin with the first element of y at a dword, and single elements: one before the chunks at
// most, and at least one in all. A load takes room in the vL1D for each line that it touches. So chunks don't load the element
// beside their words by themselves: in rows of 94 bf16 the loads of a wave then touched 37 lines.
DEVICE row_piece load_piece(const embedding_args *p, const table_shape *of, const token_walk *w, int64_t id, bool any,
                            tdm_type type) {
  const int bytes = tdm_bytes(type);
  const bool exists = has_token(w, &p->blocks);
  const uint64_t row = (uint64_t)id - (uint64_t)p->first;
  const bool here = row < of->here;
  const char *from = at_row(p->table, row, of->table_pitch, of->narrow),
             *elsewhere = (const char *)not_here + ((uint64_t)id < (uint64_t)p->total ? 0 : 16);
  char *y = at_row((char *)p->y + w->first * (int64_t)of->y_pitch, w->sub, of->y_pitch, of->narrow);
  row_piece piece = {};
  if (!any) {
    piece.chunk = y + w->item * 16;
    piece.has_chunk = exists;
    piece.words = load_global(exists && here ? from + w->item * 16 : elsewhere);
    return piece;
  }
  const uint32_t item = w->item, skew = skew_at(y, true, type), at = item * 16 + skew * bytes;
  piece.has_chunk = exists && item < of->whole;
  piece.chunk = y + at;
  const bool loads = piece.has_chunk && here;
  const bool between = type != TDM_F32 && loads && (((uint32_t)(uintptr_t)from + skew * 2) & 2) != 0;
  const uint32_t words_at = between ? at + 2 - skew * 4 : at;
  piece.words = load_global(loads ? from + words_at : elsewhere);
  // Items from the second one on have the single elements after the chunks, except the last chunk's, which may be an edge.
  const bool last = skew != 0 && item + 1 == of->whole, leads = item < skew;
  const uint32_t tail = item - 1 - (item >= of->whole ? skew : 0);
  const uint32_t single_at = leads ? 0 : of->whole * 16 + (skew + tail) * bytes;
  piece.has_single = exists && (leads || (!last && tail < of->singles - skew));
  piece.single = y + single_at;
  const bool has_single = piece.has_single && here,
             edge = between && (skew != 0 ? lane_index() == WAVE - 1 || last : lane_index() == 0 || item == 0),
             two = edge && has_single;
  const uint32_t beside = at + skew * 14;
  piece.one = load_single(has_single || edge ? from + (has_single ? single_at : beside) : elsewhere, type);
  if (wave_any(two)) piece.extra = load_single(two ? from + beside : elsewhere, type);
  piece.flags = (between ? BETWEEN : 0) | (skew != 0 ? AFTER : 0) | (edge ? EDGE : 0) | (two ? TWO : 0);
  return piece;
}

// Of each lane the word of the lane before or after it, by data-parallel primitives.
template <int control>
DEVICE uint32_t lane_beside(uint32_t word) {
  return (uint32_t)__builtin_amdgcn_update_dpp(0, (int)word, control, 0xf, 0xf, true);
}
enum { DPP_LANE_AFTER = 0x130, DPP_LANE_BEFORE = 0x138 };

DEVICE raw_chunk shifted_words(const row_piece *piece) {
  const uint32_t own = (piece->flags & TWO) != 0 ? piece->extra : piece->one;
  const uint32_t after = lane_beside<DPP_LANE_AFTER>(piece->words.of_4[0]),
                 before = lane_beside<DPP_LANE_BEFORE>(piece->words.of_4[3]);
  const bool edge = (piece->flags & EDGE) != 0, is_later = (piece->flags & (BETWEEN | AFTER)) == BETWEEN;
  const uint32_t first = edge ? own << 16 : before, last = edge ? own : after;
  uint32_t of[5];
#pragma unroll
  for (int i = 0; i < 5; i++) {
    const uint32_t low = i < 4 ? piece->words.of_4[i] : last, high = i > 0 ? piece->words.of_4[i - 1] : first;
    of[i] = is_later ? high : low;
  }
  raw_chunk c;
  c.words = shifted_dwords((u32x4){of[0], of[1], of[2], of[3]}, of[4], (piece->flags & BETWEEN) * 16);
  return c;
}

DEVICE void store_piece(const row_piece *piece, bool any, tdm_type type) {
  raw_chunk words = any && type != TDM_F32 ? shifted_words(piece) : piece->words;
  if (piece->has_chunk) *(u32x4_at_dword *)piece->chunk = words.words;
  if (!any || !piece->has_single) return;
  if (type == TDM_F32)
    *(uint32_t *)piece->single = piece->one;
  else
    *(uint16_t *)piece->single = (uint16_t)piece->one;
}

// A piece is loaded while the one before is stored, and its id before that. Two pieces take turns: if one were copied to the
// other, the wave would wait for what it has just begun to load.
DEVICE void embedding_body(embedding_args *p, bool any, tdm_type type) {
  const hip_blocks *b = &p->blocks;
  const block_walk start = first_block(b);
  token_walk w = {start.unit, start.first, (uint32_t)start.item, (uint32_t)start.sub}, after = w;
  const raw_id first = load_id(p, &w);
  take_rest(p);
  const table_shape of = shape_of(p, type);
  if (b->units <= b->workgroups) {  // nothing follows that could be on its way
    const row_piece only = load_piece(p, &of, &w, id_of(p, first), any, type);
    store_piece(&only, any, type);
    return;
  }
  next_token(&after, b, &of);
  raw_id id = load_id(p, &after), id_after;
  row_piece piece = load_piece(p, &of, &w, id_of(p, first), any, type), next;
  const auto turn = [&](const row_piece *stored, row_piece *loaded, raw_id of_loaded, raw_id *later) {
    w = after;
    next_token(&after, b, &of);
    *later = load_id(p, &after);
    *loaded = load_piece(p, &of, &w, id_of(p, of_loaded), any, type);
    store_piece(stored, any, type);
  };
  while (w.unit < b->units) {
    turn(&piece, &next, id, &id_after);
    if (w.unit >= b->units) return;
    turn(&next, &piece, id_after, &id);
  }
}

#define EMBEDDING(name, waves, any, type)                                          \
  KERNEL WORKGROUP(HIP_BLOCK_THREADS, waves) void name(ARGUMENT(embedding_args)) { \
    embedding_args p = ARGUMENT_OF(embedding_args);                                \
    embedding_body(&p, any, type);                                                 \
  }
EMBEDDING(embedding_f32, 8, false, TDM_F32)
EMBEDDING(embedding_f16, 8, false, TDM_F16)
EMBEDDING(embedding_bf16, 8, false, TDM_BF16)
EMBEDDING(embedding_any_f32, 4, true, TDM_F32)
EMBEDDING(embedding_any_f16, 4, true, TDM_F16)
EMBEDDING(embedding_any_bf16, 4, true, TDM_BF16)
