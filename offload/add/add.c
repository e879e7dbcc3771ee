/* add: c = a + b. A team takes blocks of a row, its threads take chunks of a block. */
#include "offload/device/device.h"
#include "offload/engine/binary.h"

/* b is f32. */
TDM_INLINE void add_sums_body(const void *a, const void *b, void *c, tdm_binary_t d, int stream, int64_t *claimed,
                              tdm_position self, tdm_type type) {
  tdm_binary_body_of(tdm_add_two, a, b, c, d, stream, claimed, self, type, TDM_F32);
}

static tdm_status prepare(tdm_plan *plan) {
  tdm_add_desc d = plan->desc.add;
  return tdm_binary_prepare(plan, (tdm_binary_t){d.rows, d.cols, d.lda, d.ldb, d.ldc}, d.type);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  (void)stream;
  const void *a = buffers[0], *b = buffers[1];
  void *c = buffers[2];
  const tdm_binary_t *d = plan->table;
  tdm_type type = plan->desc.add.type;
  int past = plan->launch.stream;
  if (plan->desc.add.type_b != type) {
    TDM_TARGET_TEAMS(plan->launch, a, b, c, d, type, past) {
      TDM_CLAIMS;
      TDM_PARALLEL {
        tdm_binary_t own = *d; /* target.h says why */
        TDM_BY_TYPE(type, add_sums_body, a, b, c, own, past, TDM_CLAIMED, tdm_my_position());
      }
    }
    return TDM_OK;
  }
  TDM_TARGET_TEAMS(plan->launch, a, b, c, d, type, past) {
    TDM_CLAIMS;
    TDM_PARALLEL {
      tdm_binary_t own = *d;
      TDM_BY_TYPE(type, tdm_binary_body, tdm_add_two, a, b, c, own, past, TDM_CLAIMED, tdm_my_position());
    }
  }
  return TDM_OK;
}

const tdm_kernel TDM_OF_LEVEL(tdm_add_omp) = {TDM_LEVEL_ROW("omp"), .op = TDM_OP_ADD, .backend = &tdm_backend_omp,
                                              .prepare = prepare, .launch = launch};
