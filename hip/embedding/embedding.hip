// y[t] = table[ids[t]]: a copy of words, 16 bytes at a time.
#include "args.h"
#include "hip/device/blocks.h"

// In which row of the table the id is; below 0: it has no row here.
DEVICE int64_t table_row(const embedding_args *p, int64_t id) {
  return id >= p->first && id < p->total && id - p->first < p->vocab ? id - p->first : -1;
}

// An id that another part of the table has gives 0, and one that no part has a NaN in every type.
DEVICE uint32_t not_here(const embedding_args *p, int64_t id) { return id >= 0 && id < p->total ? 0 : 0x7fff7fffu; }

// Rows of whole chunks at dwords.
DEVICE void embedding_whole(const embedding_args *p, tdm_type type) {
  FOR_BLOCKS(w, &p->blocks) {
    chunk_part of = part_of(&w, &p->blocks, 0, type);
    if (of.left <= 0) continue;
    int64_t id = load_index(p->ids, row_of(&w), p->index), row = table_row(p, id);
    int64_t at = row * p->ldt + start_of(&w, type) + w.lane * chunk_length(type);
    raw_chunk words = raw_fill(not_here(p, id));
    if (row >= 0) words = load_part((const char *)p->table + at * tdm_bytes(type), of, 0, false, type);
    store_part((char *)chunk_at(p->y, p->ldy, &w, type), of, words, false, type);
  }
}

// 16 bytes from a place that may be between two dwords, without a branch. Of the elements beside them the row has the one
// before, or else the one after.
DEVICE raw_chunk load_beside(const char *at, bool before, tdm_type type) {
  if (type == TDM_F32) return load_words(at);
  const int between = (int)((uint32_t)(uintptr_t)at & 2);
  const raw_chunk words = load_words(before ? at - between : at + between);
  const uint32_t one = *(const uint16_t *)(before ? at + 14 : at);
  uint32_t of[5];
#pragma unroll
  for (int i = 0; i < 5; i++) {
    const uint32_t low = i < 4 ? words.of_4[i] : one, high = i > 0 ? words.of_4[i - 1] : one << 16;
    of[i] = before || between == 0 ? low : high;
  }
  raw_chunk c;
#pragma unroll
  for (int i = 0; i < 4; i++) c.of_4[i] = __builtin_amdgcn_alignbit(of[i + 1], of[i], 8 * between);
  return c;
}

// Any rows, as whole chunks that begin with the first element of y at a dword, and single elements: one before the chunks at
// most, and at least one in all. With masks for each chunk rows of 63 bf16 took 1.2 times as long, predicted.
DEVICE void embedding_ragged(const embedding_args *p, tdm_type type) {
  const int bytes = tdm_bytes(type), length = chunk_length(type), log2 = (int)p->blocks.lanes_log2;
  const int64_t cols = p->blocks.cols, whole = (cols - 1) / length;
  const auto id_of = [&](const block_walk *w) {
    const int64_t row = row_of(w);
    return load_index(p->ids, row < p->blocks.rows ? row : 0, p->index);
  };
  block_walk w = first_block(&p->blocks);
  int64_t id = id_of(&w);
  while (w.group < p->blocks.groups) {
    const block_walk here = w;
    const int64_t t = row_of(&here), row = table_row(p, id);
    const uint32_t otherwise = not_here(p, id);
    next_block(&w, &p->blocks);
    id = id_of(&w);  // arrives while this row is copied
    if (t >= p->blocks.rows) continue;
    char *y = (char *)p->y + t * p->ldy * bytes;
    const char *from = (const char *)p->table + (row < 0 ? 0 : row) * p->ldt * bytes;
    const int skew = skew_at(y, true, type);
    const int64_t number = (here.block << log2) + here.lane, at = (number * length + skew) * bytes;
    if (number < whole) {
      raw_chunk words = raw_fill(otherwise);
      if (row >= 0) words = load_beside(from + at, skew != 0, type);
      *(raw_words *)(y + at) = words.words;
    }
    if (here.block + 1 < p->blocks.blocks) continue;
    for (int i = here.lane; i < length; i += 1 << log2) {
      const int64_t element = i < skew ? 0 : whole * length + i;
      if (element >= cols) continue;
      if (type == TDM_F32)
        ((uint32_t *)y)[element] = row >= 0 ? ((const uint32_t *)from)[element] : otherwise;
      else
        ((uint16_t *)y)[element] = row >= 0 ? ((const uint16_t *)from)[element] : (uint16_t)otherwise;
    }
  }
}

#define EMBEDDING(name, body, type) \
  KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void name(embedding_args p) { body(&p, type); }
EMBEDDING(embedding_f32, embedding_whole, TDM_F32)
EMBEDDING(embedding_f16, embedding_whole, TDM_F16)
EMBEDDING(embedding_bf16, embedding_whole, TDM_BF16)
EMBEDDING(embedding_any_f32, embedding_ragged, TDM_F32)
EMBEDDING(embedding_any_f16, embedding_ragged, TDM_F16)
EMBEDDING(embedding_any_bf16, embedding_ragged, TDM_BF16)
