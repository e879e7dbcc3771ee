/* a row a team: the threads of a team take neighbour elements of one row.
 *
 * what: `teams` over rows, `parallel` over a row, and a reduction of the threads' sums (offload/engine/row_work.h).
 * why: a wave's load is now 32 neighbours: one line. On a host a team is one thread: nothing changes but who takes which
 * row.
 * limit: GPU: from the lines of the L1 to memory.
 * predict: host: time / before = 0.7 to 1.4
 * predict: omp: time / before = 0.08 to 0.4
 */
#include "offload/engine/row_work.h"
#include "omp_steps.h"

TDM_INLINE void norm(rmsnorm_step r, int64_t row, double *slots, tdm_position self) {
  const float *x = r.x + row * r.ldx;
  double squares = 0;
  for (int64_t i = self.thread; i < r.cols; i += self.threads) squares += (double)x[i] * (double)x[i];
  float inverse = inverse_of(r, tdm_team_reduce(squares, TDM_SUM, slots, self));
  for (int64_t i = self.thread; i < r.cols; i += self.threads) r.y[row * r.ldy + i] = x[i] * inverse * r.weight[i];
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  rmsnorm_step r = rmsnorm_step_of(plan, buffers);
  TDM_TARGET_TEAMS(plan->launch, r) {
    TDM_TEAM_SLOTS(slots);
    TDM_PARALLEL {
      tdm_position self = tdm_my_position();
      for (int64_t row = self.team; row < r.rows; row += self.teams) norm(r, row, slots, self);
    }
  }
  return TDM_OK;
}

const tdm_kernel tdm_rmsnorm_omp_step02_row_a_team = RMSNORM_STEP("omp_step02_row_a_team", launch);
