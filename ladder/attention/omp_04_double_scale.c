/* double scaling, wrong: the probabilities of a tile are multiplied by tile_scale too.
 *
 * what: one factor too many. exp(score - max) is under the new maximum already; tile_scale brings the old sums there. `diff`
 * of 03 and 04.
 * why: it is how a published kernel of a course has it. The first causal rows are 0; the rows after look like attention:
 * they are averages of V still, with weights that are wrong.
 * limit: none. It is here for the checker.
 * wrong: the first tile's scale, from no maximum, is 0, and so its keys are lost; where a maximum grows later, the keys of
 * that tile count too little.
 * predict: caught
 */
#include "omp_steps.h"

enum { KEYS = 32, PANEL = KEYS * HEAD_DIM };
/* Queries that a thread holds at a time: a GPU's in registers, a host's in the L1. */
enum { SLOTS = TDM_ON_GPU ? 1 : 64 };

/* Adds the keys of a tile that a query sees. */
TDM_INLINE void add_tile(step_query *x, const float *k, const float *v, int64_t seen) {
  float p[KEYS], max = x->max;
  TDM_NO_UNROLL
  for (int j = 0; j < KEYS; j++) {
    p[j] = j < seen ? score_of(x, k + j * HEAD_DIM, true) : LEAST_SCORE;
    max = p[j] > max ? p[j] : max;
  }
  float tile_scale = tdm_exp_nonpositive(x->max - max);
  scale_sums(x, tile_scale);
  x->max = max;
  TDM_NO_UNROLL
  for (int j = 0; j < KEYS; j++)
    if (j < seen) add_value(x, tdm_exp_nonpositive(p[j] - max) * tile_scale, v + j * HEAD_DIM, true);
}

/* The queries of a block from `first` on. */
TDM_INLINE void attend(const attention_step *g, int64_t head_number, int64_t first, float *k, float *v, tdm_position self) {
  step_head head = head_of(g, head_number);
  step_query x[SLOTS];
  int64_t row0 = first + self.thread;
  for (int slot = 0; slot < SLOTS; slot++)
    if (row0 + slot * self.threads < g->sq) begin_query(&x[slot], g, &head, row0 + slot * self.threads);
  for (int64_t j0 = 0; j0 < g->skv; j0 += KEYS) {
    TDM_TEAM_BARRIER(); /* the tiles' last readers are done */
    step_copy(k, KEYS, HEAD_DIM, head.k + j0 * g->of_k.row, g->of_k.row, g->skv - j0, HEAD_DIM, self);
    step_copy(v, KEYS, HEAD_DIM, head.v + j0 * g->of_v.row, g->of_v.row, g->skv - j0, HEAD_DIM, self);
    TDM_TEAM_BARRIER(); /* the tiles are whole */
    for (int slot = 0; slot < SLOTS; slot++) {
      int64_t row = row0 + slot * self.threads;
      if (row < g->sq) add_tile(&x[slot], k, v, keys_seen(g, row) - j0);
    }
  }
  for (int slot = 0; slot < SLOTS; slot++)
    if (row0 + slot * self.threads < g->sq) end_query(&x[slot], g, &head, row0 + slot * self.threads);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  attention_step g = attention_step_of(plan, buffers);
  TDM_TARGET_TEAMS(plan->launch, g) {
    STEP_TEAM_MEMORY(float, tiles, 2 * PANEL);
    TDM_PARALLEL {
      STEP_HOST_MEMORY(float, tiles, 2 * PANEL);
      tdm_position self = tdm_my_position();
      int64_t each = SLOTS * self.threads, blocks = tdm_ceil_div(g.sq, each); /* queries at a time */
      for (int64_t unit = self.team; unit < g.heads * blocks; unit += self.teams)
        attend(&g, unit % g.heads, unit / g.heads * each, tiles, tiles + PANEL, self);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_attention_omp_step04_double_scale = ATTENTION_STEP("omp_step04_double_scale", launch);
