/* What the files of the planted kernels share. */
#ifndef TANDEM_TEST_PLANTED_KERNELS_H
#define TANDEM_TEST_PLANTED_KERNELS_H

#include "offload/device/target.h"
#include "planted.h"
#include "src/base/elem.h"
#include "src/dispatch/dispatch.h"

tdm_status planted_gemm(const tdm_plan *plan, void *const *buffers, planted_bug bug);
tdm_status planted_softmax(const tdm_plan *plan, void *const *buffers, planted_bug bug);
tdm_status planted_sum(const tdm_plan *plan, void *const *buffers, planted_bug bug);
tdm_status planted_rmsnorm(const tdm_plan *plan, void *const *buffers, planted_bug bug);
tdm_status planted_cross_entropy(const tdm_plan *plan, void *const *buffers, planted_bug bug);
tdm_status planted_attention(const tdm_plan *plan, void *const *buffers, planted_bug bug);

/* f32 to f16, rounded towards 0. */
uint16_t planted_f16_cut_off(float x);

#endif
