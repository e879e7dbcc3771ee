// y[t] = table[ids[t]]: a copy of words, 16 bytes at a time if the rows allow it.
#include "args.h"
#include "hip/device/blocks.h"

DEVICE void embedding_body(const embedding_args *p, bool any, tdm_type type) {
  FOR_BLOCKS(w, &p->blocks) {
    char *y = (char *)chunk_at(p->y, p->ldy, &w, type);
    int skew = skew_at(y, any, type);
    chunk_part of = part_of(&w, &p->blocks, skew, type);
    if (of.left <= 0) continue;
    int64_t id = load_index(p->ids, row_of(&w), p->index), at = start_of(&w, type) + w.lane * chunk_length(type) - skew;
    bool known = id >= 0 && id < p->total, mine = known && id >= p->first && id - p->first < p->vocab;
    raw_chunk words = raw_fill(known ? 0 : 0x7fff7fffu);  // an id that the table does not have: a NaN in every type
    if (mine) words = load_part((const char *)p->table + ((id - p->first) * p->ldt + at) * tdm_bytes(type), of, 0, any, type);
    store_part(y - 2 * skew, of, words, any, type);
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
