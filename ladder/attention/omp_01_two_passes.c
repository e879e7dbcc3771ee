/* two passes: a thread takes a query, and goes over its keys twice.
 *
 * what: the largest score first, then the sums of exp(score - max), alone and times V. All arithmetic is in vectors.
 * why: the largest score must be known before the first exponential, or that overflows.
 * limit: none yet. Each score is computed twice: three products of a row where two are needed.
 * predict: host: time = 0.01 to 1
 * predict: omp: time = 0.005 to 0.1
 */
#include "omp_steps.h"

TDM_INLINE void attend(const attention_step *g, int64_t head_number, int64_t row) {
  step_head head = head_of(g, head_number);
  int64_t seen = keys_seen(g, row);
  step_query x;
  begin_query(&x, g, &head, row);
  for (int64_t j = 0; j < seen; j++) {
    float score = score_of(&x, head.k + j * g->of_k.row, false);
    x.max = score > x.max ? score : x.max;
  }
  for (int64_t j = 0; j < seen; j++) {
    float score = score_of(&x, head.k + j * g->of_k.row, false);
    add_value(&x, tdm_exp_nonpositive(score - x.max), head.v + j * g->of_v.row, false);
  }
  end_query(&x, g, &head, row);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  attention_step g = attention_step_of(plan, buffers);
  STEP_TARGET_LOOPS(plan->launch, 2, g)
  for (int64_t head = 0; head < g.heads; head++)
    for (int64_t row = 0; row < g.sq; row++) attend(&g, head, row);
  return TDM_OK;
}

const tdm_kernel tdm_attention_omp_step01_two_passes = ATTENTION_STEP("omp_step01_two_passes", launch);
