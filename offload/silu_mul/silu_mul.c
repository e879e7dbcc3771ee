/* silu_mul: y = silu(gate) * up. A team takes blocks of a row, its threads take chunks of a block. */
#include "offload/device/device.h"
#include "offload/engine/binary.h"

static tdm_status prepare(tdm_plan *plan) {
  tdm_silu_mul_desc d = plan->desc.silu_mul;
  return tdm_binary_prepare(plan, (tdm_binary_t){d.rows, d.cols, d.ldg, d.ldu, d.ldy}, d.type);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *gate = buffers[0], *up = buffers[1];
  void *y = buffers[2];
  const tdm_binary_t *d = plan->table;
  tdm_type type = plan->desc.silu_mul.type;
  int past = plan->launch.stream;
  TDM_TARGET_TEAMS(plan->launch, gate, up, y, d, type, past) {
    TDM_CLAIMS;
    TDM_PARALLEL {
      tdm_binary_t own = *d; /* target.h says why */
      TDM_BY_TYPE(type, tdm_binary_body, tdm_silu_mul_two, gate, up, y, own, past, TDM_CLAIMED, tdm_my_position());
    }
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_silu_mul_omp) = {TDM_LEVEL_ROW("omp"), .op = TDM_OP_SILU_MUL, .backend = &tdm_backend_omp,
                                                   .prepare = prepare, .launch = launch};
