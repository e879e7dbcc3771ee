/* online: one pass; where a score is larger than all before, the sums are scaled.
 *
 * what: a maximum so far, and a factor exp(old - new) for the sums where it grows.
 * why: sums under one maximum are those under another, times a factor (Milakov and Gimelshein, arXiv 1805.02867). It grows
 * often among the first keys, and seldom later.
 * limit: a third of the products and of the reads is gone.
 * predict: host: time / before = 0.45 to 0.95
 * predict: omp: time / before = 0.55 to 1
 */
#include "omp_steps.h"

TDM_INLINE void attend(const attention_step *g, int64_t head_number, int64_t row) {
  step_head head = head_of(g, head_number);
  int64_t seen = keys_seen(g, row);
  step_query x;
  begin_query(&x, g, &head, row);
  for (int64_t j = 0; j < seen; j++) {
    float score = score_of(&x, head.k + j * g->of_k.row, false);
    if (score > x.max) {
      scale_sums(&x, tdm_exp_nonpositive(x.max - score));
      x.max = score;
    }
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

const tdm_kernel tdm_attention_omp_step02_online = ATTENTION_STEP("omp_step02_online", launch);
