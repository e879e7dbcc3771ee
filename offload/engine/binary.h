/* Elementwise ops of two arrays: c = f(a, b). Memory is the limit: two reads and a write. */
#ifndef TANDEM_OFFLOAD_ENGINE_BINARY_H
#define TANDEM_OFFLOAD_ENGINE_BINARY_H

#include "offload/device/math.h"
#include "row_work.h"

TDM_INLINE float tdm_add_two(float a, float b) { return a + b; }
TDM_INLINE float tdm_silu_mul_two(float gate, float up) { return tdm_silu(gate) * up; }

typedef struct tdm_binary {
  int64_t rows, cols, lda, ldb, ldc;
} tdm_binary_t;

/* b has a type of its own. */
TDM_INLINE void tdm_binary_body_of(float (*f)(float, float), const void *a, const void *b, void *c, tdm_binary_t d, int stream,
                                   int64_t *claimed, tdm_position self, tdm_type type, tdm_type type_b) {
  TDM_FOR_RUNS(blocks, tdm_block_count(d.rows, d.cols), tdm_min(TDM_BLOCK, d.cols), claimed, self)
  for (int64_t index = blocks.first; index < blocks.end; index++) {
    tdm_block_t block = tdm_block(index, d.cols);
    int64_t at_a = block.row * d.lda + block.start, at_b = block.row * d.ldb + block.start;
    int64_t at_c = block.row * d.ldc + block.start;
    TDM_FOR_CHUNKS(i, n, block.length, self) {
      TDM_CHUNK_BUFFER(buffer_a);
      TDM_CHUNK_BUFFER(buffer_b);
      TDM_CHUNK_BUFFER(buffer_c);
      int64_t next = i + (int64_t)self.threads * TDM_CHUNK;
      tdm_chunk_prefetch(a, at_a + next, tdm_min(TDM_CHUNK, block.length - next), type);
      tdm_chunk_prefetch(b, at_b + next, tdm_min(TDM_CHUNK, block.length - next), type_b);
      const float *x = tdm_chunk_read(a, at_a + i, n, type, buffer_a), *y = tdm_chunk_read(b, at_b + i, n, type_b, buffer_b);
      float *z = tdm_chunk_place(c, at_c + i, type, stream, buffer_c);
      TDM_EACH(j, n) z[j] = f(x[j], y[j]);
      tdm_chunk_write(c, at_c + i, n, type, stream, z);
    }
  }
  tdm_stream_fence(stream);
}

TDM_INLINE void tdm_binary_body(float (*f)(float, float), const void *a, const void *b, void *c, tdm_binary_t d, int stream,
                                int64_t *claimed, tdm_position self, tdm_type type) {
  tdm_binary_body_of(f, a, b, c, d, stream, claimed, self, type, type);
}

/* As one long row, if there are no gaps between the rows. */
static inline tdm_binary_t tdm_binary_packed(tdm_binary_t d) {
  if (d.lda != d.cols || d.ldb != d.cols || d.ldc != d.cols) return d;
  int64_t all = d.rows * d.cols;
  return (tdm_binary_t){1, all, all, all, all};
}

static inline tdm_status tdm_binary_prepare(tdm_plan *plan, tdm_binary_t d, tdm_type type) {
  d = tdm_binary_packed(d);
  tdm_rows_launch(plan, tdm_block_count(d.rows, d.cols), d.rows * d.cols * tdm_size(type));
  return tdm_plan_upload(plan, &d, sizeof d);
}

#endif
