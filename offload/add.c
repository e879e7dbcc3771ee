/* add: c = a + b. A team takes blocks of a row, its threads take chunks of a block. Memory is the limit: two reads, a write. */
#include "../src/internal.h"
#include "elem.h"
#include "target.h"

enum { BLOCK = 16384, CHUNK = TDM_ON_GPU ? 4 : 64 }; /* elements */

TDM_INLINE void add_body(const void *a, const void *b, void *c, tdm_add_desc d, tdm_here_t here, tdm_type type) {
  int64_t blocks = tdm_ceil_div(d.cols, BLOCK);
  for (int64_t unit = here.team; unit < d.rows * blocks; unit += here.teams) {
    int64_t row = unit / blocks, start = unit % blocks * BLOCK, length = tdm_min(BLOCK, d.cols - start);
    int64_t at_a = row * d.lda + start, at_b = row * d.ldb + start, at_c = row * d.ldc + start;
    for (int64_t i = here.thread * CHUNK; i < length; i += here.threads * CHUNK) {
      int64_t end = tdm_min(i + CHUNK, length);
      for (int64_t j = i; j < end; j++) tdm_store(c, at_c + j, type, tdm_load(a, at_a + j, type) + tdm_load(b, at_b + j, type));
    }
  }
}

static tdm_status prepare(tdm_plan *plan) {
  tdm_add_desc d = plan->desc.add;
  if (d.lda == d.cols && d.ldb == d.cols && d.ldc == d.cols) { /* one long row */
    d.cols *= d.rows;
    d.rows = 1;
    d.lda = d.ldb = d.ldc = d.cols;
  }
  int64_t units = d.rows * tdm_ceil_div(d.cols, BLOCK);
  if (plan->context->omp_device >= 0)
    tdm_plan_launch(plan, units, 256);
  else
    tdm_plan_launch(plan, tdm_min(units, plan->context->host_threads), 1);
  return tdm_plan_upload(plan, &d, sizeof d);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *a = buffers[0], *b = buffers[1];
  void *c = buffers[2];
  const tdm_add_desc *d = plan->table;
  tdm_type type = plan->desc.add.type;
  TDM_TARGET_TEAMS(plan->launch, a, b, c, d, type)
  TDM_PARALLEL { TDM_BY_TYPE(type, add_body, a, b, c, *d, tdm_here()) }
  return TDM_OK;
}

const tdm_kernel tdm_add_omp = {"omp", TDM_OP_ADD, &tdm_backend_omp, NULL, prepare, launch};
