/* Each op for tests of the HIP path on the stand-in: a plan, and a run on inputs at x and an output at y. */
#ifndef TANDEM_TEST_OPS_H
#define TANDEM_TEST_OPS_H

#include "tandem/add.h"
#include "tandem/attention.h"
#include "tandem/cross_entropy.h"
#include "tandem/embedding.h"
#include "tandem/gemm.h"
#include "tandem/rmsnorm.h"
#include "tandem/rope.h"
#include "tandem/silu_mul.h"
#include "tandem/softmax.h"
#include "tandem/swiglu.h"

typedef struct hip_ops {
  tdm_context *context;
  tdm_stream *stream;
  tdm_plan *plan;
} hip_ops;

static inline tdm_status plan_gemm(hip_ops *s) {
  tdm_epilogue_step step = {TDM_SCALE, 2};
  tdm_gemm_desc d = tdm_gemm_default(16, 16, 256, TDM_F32);
  d.epilogue = &step;
  d.epilogue_steps = 1;
  return tdm_gemm_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_gemm(hip_ops *s, char *x, char *y) {
  return tdm_gemm_run(s->plan, x, x, y, NULL, NULL, s->stream);
}
/* Whose operands are copied if they do not begin at a dword. */
static inline tdm_status plan_gemm_16_bit(hip_ops *s) {
  tdm_gemm_desc d = tdm_gemm_default(128, 128, 512, TDM_BF16);
  return tdm_gemm_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_gemm_moved(hip_ops *s, char *x, char *y) {
  return tdm_gemm_run(s->plan, x + 2, x, y, NULL, NULL, s->stream);
}

static inline tdm_status plan_swiglu(hip_ops *s) {
  tdm_swiglu_desc d = tdm_swiglu_default(13, 17, 19, TDM_BF16);
  return tdm_swiglu_plan(s->context, &d, &s->plan);
}
/* Long enough to be split. */
static inline tdm_status plan_few_rows_swiglu(hip_ops *s) {
  tdm_swiglu_desc d = tdm_swiglu_default(16, 256, 256, TDM_BF16);
  d.layout = TDM_NT;
  return tdm_swiglu_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_swiglu(hip_ops *s, char *x, char *y) { return tdm_swiglu_run(s->plan, x, x, x, y, s->stream); }

static inline tdm_status plan_rmsnorm(hip_ops *s) {
  tdm_rmsnorm_desc d = tdm_rmsnorm_default(5, 33, TDM_F16);
  return tdm_rmsnorm_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_rmsnorm(hip_ops *s, char *x, char *y) {
  return tdm_rmsnorm_run(s->plan, x, x, NULL, NULL, y, s->stream);
}

static inline tdm_status plan_attention(hip_ops *s) {
  tdm_attention_desc d = tdm_attention_default(1, 1, 1, 1, 2048, 16, TDM_F32);
  return tdm_attention_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_attention(hip_ops *s, char *x, char *y) {
  return tdm_attention_run(s->plan, x, x, x, y, NULL, s->stream);
}

static inline tdm_status plan_rope(hip_ops *s) {
  tdm_rope_desc d = tdm_rope_default(2, 5, 3, 8, TDM_F32);
  return tdm_rope_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_rope(hip_ops *s, char *x, char *y) { return tdm_rope_run(s->plan, x, y, s->stream); }

static inline tdm_status plan_softmax(hip_ops *s) {
  tdm_softmax_desc d = tdm_softmax_default(5, 33, TDM_F32);
  return tdm_softmax_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_softmax(hip_ops *s, char *x, char *y) { return tdm_softmax_run(s->plan, x, y, s->stream); }

static inline tdm_status plan_embedding(hip_ops *s) {
  tdm_embedding_desc d = tdm_embedding_default(5, 10, 33, TDM_F32);
  return tdm_embedding_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_embedding(hip_ops *s, char *x, char *y) {
  return tdm_embedding_run(s->plan, x, (const int32_t *)(const void *)x, y, s->stream);
}

static inline tdm_status plan_silu_mul(hip_ops *s) {
  tdm_silu_mul_desc d = tdm_silu_mul_default(5, 33, TDM_F32);
  return tdm_silu_mul_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_silu_mul(hip_ops *s, char *x, char *y) { return tdm_silu_mul_run(s->plan, x, x, y, s->stream); }

static inline tdm_status plan_add(hip_ops *s) {
  tdm_add_desc d = tdm_add_default(5, 33, TDM_F32);
  return tdm_add_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_add(hip_ops *s, char *x, char *y) { return tdm_add_run(s->plan, x, x, y, s->stream); }

static inline tdm_status plan_cross_entropy(hip_ops *s) {
  tdm_cross_entropy_desc d = tdm_cross_entropy_default(5, 33, TDM_F32);
  return tdm_cross_entropy_plan(s->context, &d, &s->plan);
}
static inline tdm_status run_cross_entropy(hip_ops *s, char *x, char *y) {
  return tdm_cross_entropy_run(s->plan, x, (const int32_t *)(const void *)x, (float *)(void *)y, s->stream);
}

#endif
