// y[t] = table[ids[t]]: a copy of words, 16 bytes at a time if the rows allow it.
#include "args.h"
#include "hip/device/blocks.h"

DEVICE void embedding_body(const embedding_args *p, tdm_type type) {
  bool wide = wide_rows(p->table, p->ldt, type) && wide_rows(p->y, p->ldy, type);
  FOR_BLOCKS(at, &p->blocks, type) {
    int64_t id = load_index(p->ids, at.row, p->index);
    bool known = id >= 0 && id < p->total, mine = known && id >= p->first && id - p->first < p->vocab;
    raw_chunk words = known ? raw_zero() : raw_nan();  // of an id that the table does not have
    if (mine) words = load_raw(p->table, (id - p->first) * p->ldt + at.start, at.count, wide, type);
    store_raw(p->y, at.row * p->ldy + at.start, at.count, wide, words, type);
  }
}

KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void embedding_f32(embedding_args p) { embedding_body(&p, TDM_F32); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void embedding_f16(embedding_args p) { embedding_body(&p, TDM_F16); }
KERNEL WORKGROUP(HIP_BLOCK_THREADS, 8) void embedding_bf16(embedding_args p) { embedding_body(&p, TDM_BF16); }
