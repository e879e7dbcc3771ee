// y[t] = table[ids[t]]: a copy of words, 16 bytes at a time.
#include "args.h"
#include "hip/device/blocks.h"

// In which row of the table the id is; below 0: it has no row here.
DEVICE int64_t table_row(const embedding_args *p, int64_t id) {
  return id >= p->first && id < p->total && id - p->first < p->vocab ? id - p->first : -1;
}

// What is copied for an id that has no row here: zeros if another part of the table has the row, NaN in every type if no part
// has it.
__attribute__((constant, aligned(16))) static const uint32_t not_here[][4] = {
    {0, 0, 0, 0},
    {0x7fff7fffu, 0x7fff7fffu, 0x7fff7fffu, 0x7fff7fffu},
};
DEVICE const char *elsewhere_of(const embedding_args *p, int64_t id) {
  return (const char *)not_here[id >= 0 && id < p->total ? 0 : 1];
}

// What a work-item copies of a row: a chunk, and a single element.
typedef struct row_piece {
  char *chunk, *single;  // where to; null: it has none
  uint32_t flags;        // in a vector register: as many masks would be spilled
  raw_chunk words;
  uint32_t one, extra;
} row_piece;

// A chunk BETWEEN two dwords of the table has one element that is not in `words`: the one AFTER them, or else the one before.
// It is in the words of the lane beside this one, except at an EDGE, where the lane loads it by itself: into `one`, or into
// `extra` if it loads TWO elements, because `one` then is the single element.
enum { BETWEEN = 1, AFTER = 2, EDGE = 4, TWO = 8 };

DEVICE row_piece load_whole(const embedding_args *p, const block_walk *w, int64_t id, tdm_type type) {
  const int64_t row = table_row(p, id);
  const char *from = (const char *)p->table + row * p->ldt * tdm_bytes(type) + w->item * 16;
  row_piece piece = {};
  if (has_row(w, &p->blocks)) piece.chunk = (char *)chunk_at(p->y, p->ldy, w, type);
  piece.words = load_global(piece.chunk != nullptr && row >= 0 ? from : elsewhere_of(p, id));
  return piece;
}

// Any row, as whole chunks that begin with the first element of y at a dword, and single elements: one before the chunks at
// most, and at least one in all. A load takes room in the vL1D for each line that it touches. So chunks don't load the element
// beside their words by themselves: in rows of 94 bf16 the loads of a wave then touched 37 lines.
DEVICE row_piece load_any(const embedding_args *p, const block_walk *w, int64_t id, tdm_type type) {
  const int bytes = tdm_bytes(type), length = chunk_length(type);
  const int64_t row = table_row(p, id), whole = (p->blocks.cols - 1) / length;
  const char *from = (const char *)p->table + row * p->ldt * bytes, *elsewhere = elsewhere_of(p, id);
  const bool exists = has_row(w, &p->blocks);
  char *y = (char *)row_at(p->y, p->ldy, w, type);
  const int skew = skew_at(y, true, type);
  const int64_t at = w->item * 16 + skew * bytes;
  row_piece piece = {};
  const bool here = row >= 0;
  if (exists && w->item < whole) piece.chunk = y + at;
  const bool loads = piece.chunk != nullptr && here;
  const bool between = type != TDM_F32 && loads && is_between_dwords(from + at);
  piece.words = load_global(loads ? from + at + (!between ? 0 : skew != 0 ? -2 : 2) : elsewhere);
  // Items from the second one on have the single elements after the chunks, except the last chunk's, which may be an edge.
  const bool last = skew != 0 && w->item + 1 == whole;
  const int64_t tail = w->item - 1 - (skew != 0 && w->item >= whole),
                element = w->item < skew ? 0 : whole * length + skew + tail;
  if (exists && (w->item < skew || (tail >= 0 && !last)) && element < p->blocks.cols) piece.single = y + element * bytes;
  const bool has_single = piece.single != nullptr && here,
             edge = between && (skew != 0 ? lane_index() == WAVE - 1 || last : lane_index() == 0 || w->item == 0),
             two = edge && has_single;
  const char *beside = from + at + (skew != 0 ? 14 : 0);
  piece.one = load_single(has_single ? from + element * bytes : edge ? beside : elsewhere, type);
  if (wave_any(two)) piece.extra = load_single(two ? beside : elsewhere, type);
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
#pragma unroll
  for (int i = 0; i < 4; i++) c.of_4[i] = __builtin_amdgcn_alignbit(of[i + 1], of[i], (piece->flags & BETWEEN) * 16);
  return c;
}

DEVICE void store_piece(const row_piece *piece, bool any, tdm_type type) {
  raw_chunk words = any && type != TDM_F32 ? shifted_words(piece) : piece->words;
  if (piece->chunk != nullptr) *(raw_words *)piece->chunk = words.words;
  if (!any || piece->single == nullptr) return;
  if (type == TDM_F32)
    *(uint32_t *)piece->single = piece->one;
  else
    *(uint16_t *)piece->single = (uint16_t)piece->one;
}

// A piece is loaded while the one before is stored, and its id before that.
DEVICE void embedding_body(const embedding_args *p, bool any, tdm_type type) {
  const hip_blocks *b = &p->blocks;
  const auto id_of = [&](const block_walk *w) { return load_index(p->ids, has_row(w, b) ? row_of(w) : 0, p->index); };
  block_walk w = first_block(b), after = w;
  next_block(&after, b);
  int64_t id = id_of(&after);
  const auto load = [&](int64_t of) { return any ? load_any(p, &w, of, type) : load_whole(p, &w, of, type); };
  row_piece next = load(id_of(&w));
  for (int64_t unit = w.unit; unit < b->units; unit += b->workgroups) {
    const row_piece piece = next;
    w = after;
    next_block(&after, b);
    const int64_t id_after = id_of(&after);
    next = load(id);
    id = id_after;
    store_piece(&piece, any, type);
  }
}

#define EMBEDDING(name, any, type) \
  KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void name(embedding_args p) { embedding_body(&p, any, type); }
EMBEDDING(embedding_f32, false, TDM_F32)
EMBEDDING(embedding_f16, false, TDM_F16)
EMBEDDING(embedding_bf16, false, TDM_BF16)
EMBEDDING(embedding_any_f32, true, TDM_F32)
EMBEDDING(embedding_any_f16, true, TDM_F16)
EMBEDDING(embedding_any_bf16, true, TDM_BF16)
