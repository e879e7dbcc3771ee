/* embedding on GPUs: y[t] = table[ids[t]], a team takes a block of a row. */
#include "offload/device/device.h"
#include "offload/engine/gpu_row.h"
#include "src/base/embedding.h"

/* For copies of 65536 rows of 16 KiB on an H200, a team of 128 x 2 pieces for each block is the fastest: 0.525 ms. 1056
 * teams of 256 x 4 that loop over the rows take 0.567 ms. */
enum { THREADS = 128, PIECES = 2 };

/* The number of elements of a team's block. */
TDM_INLINE int64_t block_length(tdm_type type) { return THREADS * PIECES * gpu_piece_elements(type); }

/* absent: the word of a row that the table does not have. */
TDM_INLINE void copy_block(const void *table, int64_t from, void *y, int64_t to, int64_t count, bool known, uint32_t absent,
                           tdm_position self, tdm_type type) {
  gpu_piece row[PIECES];
  gpu_row_fetch(row, table, from, known ? count : 0, PIECES, self, type);
  TDM_GLOBAL gpu_piece *out = gpu_first_piece(y, to, self, type);
  TDM_UNROLL
  for (int j = 0; j < PIECES; j++)
    if (gpu_piece_start(j, self, type) < count)
      out[j * self.threads] = known ? row[j] : (gpu_piece){absent, absent, absent, absent};
}

TDM_INLINE void embedding_body(const void *table, const void *ids, void *y, tdm_embedding_desc d, tdm_position self,
                               tdm_type type) {
  int64_t length = block_length(type);
  /* 32 bits are enough, because `supports` checks it; a GPU needs a hundred instructions for a 64-bit division */
  uint32_t blocks = (uint32_t)tdm_ceil_div(d.d, length), units = (uint32_t)d.tokens * blocks;
  TDM_NO_UNROLL
  for (uint32_t unit = (uint32_t)self.team; unit < units; unit += (uint32_t)self.teams) {
    int64_t token = unit / blocks, start = (unit - token * blocks) * length;
    int64_t id = tdm_index(ids, token, d.ids), local = tdm_embedding_row(&d, id);
    bool known = local >= 0;
    uint32_t absent = tdm_embedding_absent(&d, id) * 0x10001u;
    copy_block(table, (known ? local : 0) * d.ldt + start, y, token * d.ldy + start, d.d - start, known, absent, self, type);
  }
}

extern const tdm_kernel tdm_embedding_omp;

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_embedding_desc *d = &plan->desc.embedding;
  if (!tdm_threads_fit(plan->context, THREADS, reason, size) || !gpu_row_whole(d->d, d->ldt | d->ldy, d->type, reason, size))
    return false;
  if (d->tokens <= INT32_MAX / tdm_max(1, tdm_ceil_div(d->d, block_length(d->type)))) return true;
  snprintf(reason, size, "more than 2^31 - 1 blocks of %" PRId64 " elements", block_length(d->type));
  return false;
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_embedding_desc *d = &plan->desc.embedding;
  tdm_plan_launch(plan, d->tokens * tdm_ceil_div(d->d, block_length(d->type)), THREADS);
  return tdm_plan_upload(plan, d, sizeof *d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  if (tdm_plan_falls_back(plan, buffers)) return plan->kernel->fallback.kernel->launch(plan, buffers, stream);
  const void *table = buffers[0];
  const void *ids = buffers[1];
  void *y = buffers[2];
  const tdm_embedding_desc *d = &plan->desc.embedding;
  int64_t tokens = d->tokens, length = d->d, vocab = d->vocab, ldt = d->ldt, ldy = d->ldy; /* as in rmsnorm/gpu.c */
  int64_t first = d->first, total = d->total;
  tdm_type type = d->type;
  tdm_index_type index = d->ids;
  TDM_TARGET_BARE(plan->launch, THREADS, table, ids, y) {
    tdm_embedding_desc of = {.tokens = tokens, .d = length, .vocab = vocab, .ldt = ldt, .ldy = ldy, .ids = index};
    of.first = first, of.total = total;
    TDM_BY_TYPE(type, embedding_body, table, ids, y, of, gpu_position(THREADS));
  }
  return TDM_OK;
}

const tdm_kernel tdm_embedding_omp_gpu = {.name = "omp_gpu",
                                          .op = TDM_OP_EMBEDDING,
                                          .backend = &tdm_backend_omp,
                                          .runs_on = tdm_gpus_only,
                                          .supports = supports,
                                          .prepare = prepare,
                                          .launch = launch,
                                          .fallback = {16, 0x5, &tdm_embedding_omp}};
