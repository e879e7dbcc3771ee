/* embedding: y[t] = table[ids[t]]. Rows are copied as bytes: teams take blocks of them, and threads take chunks. */
#include "src/base/embedding.h"
#include "offload/device/device.h"
#include "offload/engine/row_work.h"

enum { COPY_BYTES = TDM_ON_GPU ? TDM_STREAM_BYTES : 2048, BLOCK_BYTES = 4 * TDM_BLOCK };

TDM_INLINE void copy_bytes(char *to, const char *from, int64_t n, int stream) {
  if (TDM_STREAMS && stream) {
    tdm_stream_copy(to, from, n);
  } else if (TDM_ON_GPU && n == TDM_STREAM_BYTES && ((uintptr_t)to | (uintptr_t)from) % TDM_STREAM_BYTES == 0) {
    *(tdm_stream_part *)to = *(const tdm_stream_part *)from; /* what a GPU's thread moves at once */
  } else {                                                   /* every element type has at least 2 bytes */
    TDM_SIMD
    for (int64_t j = 0; j < n / 2; j++) ((uint16_t *)to)[j] = ((const uint16_t *)from)[j];
  }
}

TDM_INLINE void fill(char *to, int64_t n, uint16_t word) {
  for (int64_t j = 0; j < n / 2; j++) ((uint16_t *)to)[j] = word;
}

TDM_INLINE void embedding_body(const char *table, const void *ids, char *y, tdm_embedding_desc d, int stream, int64_t *claimed,
                               tdm_position self) {
  int64_t size = tdm_size(d.type), row_bytes = d.d * size;
  int64_t blocks = tdm_ceil_div(row_bytes, BLOCK_BYTES), step = (int64_t)self.threads * COPY_BYTES;
  TDM_FOR_RUNS(units, d.tokens * blocks, tdm_min(d.d, BLOCK_BYTES / size), claimed, self)
  for (int64_t unit = units.first; unit < units.end; unit++) {
    int64_t token = unit / blocks, start = unit % blocks * BLOCK_BYTES, end = tdm_min(start + BLOCK_BYTES, row_bytes);
    int64_t id = tdm_index(ids, token, d.ids), local = tdm_embedding_row(&d, id);
    int64_t next = token + 1 < d.tokens ? tdm_embedding_row(&d, tdm_index(ids, token + 1, d.ids)) : -1; /* it is prefetched */
    char *to = y + token * d.ldy * size;
    for (int64_t i = start + self.thread * (int64_t)COPY_BYTES; i < end; i += step) {
      int64_t n = tdm_min(COPY_BYTES, end - i);
      if (next >= 0) tdm_chunk_prefetch(table, (next * d.ldt * size + i) / size, n / size, d.type);
      if (local >= 0)
        copy_bytes(to + i, table + local * d.ldt * size + i, n, stream);
      else
        fill(to + i, n, tdm_embedding_absent(&d, id));
    }
  }
  tdm_stream_fence(stream);
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_embedding_desc *d = &plan->desc.embedding;
  tdm_rows_launch(plan, tdm_block_count(d->tokens, d->d), d->tokens * d->d * tdm_size(d->type));
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const char *table = buffers[0];
  const void *ids = buffers[1];
  char *y = buffers[2];
  const tdm_embedding_desc *d = plan->table;
  int past = plan->launch.stream;
  TDM_TARGET_TEAMS(plan->launch, table, ids, y, d, past) {
    TDM_CLAIMS;
    TDM_PARALLEL {
      tdm_embedding_desc own = *d; /* target.h says why */
      embedding_body(table, ids, y, own, past, TDM_CLAIMED, tdm_my_position());
    }
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_embedding_omp) = {TDM_LEVEL_ROW("omp"), .op = TDM_OP_EMBEDDING, .backend = &tdm_backend_omp,
                                                    .prepare = prepare, .launch = launch};
