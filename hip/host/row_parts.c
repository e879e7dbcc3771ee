/* Parts of rows, the launches over them, and what they cost. */
#include "row_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cost.h"

enum { LEAST = 2 }; /* chunks of a work-item in a part: they are loaded at once */

static hip_rows rows_of(const tdm_plan *plan) {
  const hip_row_variant *variant = plan->kernel->variant;
  return variant->rows(plan);
}

static hip_row_cost cost_of(const tdm_plan *plan) {
  const hip_row_variant *variant = plan->kernel->variant;
  return variant->cost(plan);
}

static int64_t least_part(tdm_type type) { return LEAST * HIP_PARTS_WORKGROUP * tdm_hip_chunk(type); }

/* Workgroups of four waves that the device holds, one on each SIMD of a compute unit. */
static int64_t most_workgroups(const tdm_plan *plan) { return (int64_t)plan->context->hip->compute_units * HIP_PARTS_WAVES; }

/* As many parts as the device holds at a time. */
static hip_row_parts parts_of(const tdm_plan *plan, const hip_rows *r) {
  const int64_t step = HIP_PARTS_WORKGROUP * tdm_hip_chunk(r->type), least = least_part(r->type),
                most = most_workgroups(plan) / r->rows;
  if (most < 2) return (hip_row_parts){.parts = 1};
  int64_t part = hip_ceil_div(hip_ceil_div(r->cols, most), step) * step;
  if (part < least) part = least;
  return (hip_row_parts){
      .cols = r->cols, .part = part, .rows = (int32_t)r->rows, .parts = (int32_t)hip_ceil_div(r->cols, part)};
}

bool tdm_hip_loop_fits(const tdm_plan *plan, char *reason, size_t size) {
  const hip_rows r = rows_of(plan);
  if (r.cols <= INT32_MAX) return true;
  snprintf(reason, size, "cols = %" PRId64 ": must be at most %d", r.cols, INT32_MAX);
  return false;
}

bool tdm_hip_parts_fit(const tdm_plan *plan, char *reason, size_t size) {
  const hip_rows r = rows_of(plan);
  if (plan->empty) return true;
  if (r.cols <= least_part(r.type)) {
    snprintf(reason, size, "splits rows over workgroups: rows must have more than %" PRId64 " elements", least_part(r.type));
    return false;
  }
  if (most_workgroups(plan) / r.rows < 2) {
    snprintf(reason, size, "splits rows over workgroups: rows = %" PRId64 ": must be at most %" PRId64 " on this device",
             r.rows, most_workgroups(plan) / 2);
    return false;
  }
  return true;
}

tdm_status tdm_hip_parts_prepare(tdm_plan *plan, hip_row_parts *parts, tdm_hip_kernel *second, size_t each) {
  const hip_rows r = rows_of(plan);
  *parts = parts_of(plan, &r);
  const unsigned workgroups = (unsigned)(parts->rows * parts->parts);
  plan->hip = *second = (tdm_hip_kernel){.grid = {workgroups, 1, 1}, .block = HIP_PARTS_WORKGROUP};
  plan->workspace_bytes = workgroups * each;
  TDM_TRY(tdm_hip_row_function(plan, HIP_PARTS_FIRST, r.type, &plan->hip.function));
  return tdm_hip_row_function(plan, HIP_PARTS_SECOND, r.type, &second->function);
}

tdm_status tdm_hip_parts_launch(const tdm_plan *plan, const tdm_hip_kernel *second, const void *args, size_t bytes,
                                tdm_stream *stream) {
  TDM_TRY(tdm_hip_launch(plan, &plan->hip, args, bytes, stream));
  return tdm_may_have_written(tdm_hip_launch(plan, second, args, bytes, stream));
}

/* ---- Estimates ---- */

static double traffic(const tdm_plan *plan, const hip_rows *r, int accesses) {
  return (double)r->rows * (double)r->cols * (double)tdm_type_size(r->type) * accesses / tdm_hip_hbm(plan->context->hip);
}

static void set_cost(double computed, double memory, double more, tdm_cost *cost) {
  *cost = computed > memory ? (tdm_cost){computed + more, "valu"} : (tdm_cost){memory + more, "hbm"};
}

/* Clocks of the model of time: of a launch, and until a wave has its arguments and the first elements. RAGGED: how much longer
 * rows take that are not whole chunks, from cross_entropy of 50257 and of 131072 elements. F32: how much longer an element of
 * f32 takes, because rows in a loop mostly wait for memory: softmax of 64 rows of 32768, 128256 and 151936 takes 0.295 clocks
 * of a compute unit for an element, 16 bits 0.21. */
static const double LAUNCH = 4000, LATENCY = 4000, RAGGED = 1.9, F32 = 1.4;

/* Rows take turns: a compute unit computes the row groups that it holds at a time, of 1024 work-items together, at the rate of
 * one such group. */
void tdm_hip_loop_cost(const tdm_plan *plan, tdm_cost *cost) {
  const hip_rows r = rows_of(plan);
  const hip_row_cost c = cost_of(plan);
  const int64_t size = tdm_hip_loop_group(plan->context->hip, &r), together = HIP_ROW_GROUP_MOST / size,
                turns = hip_ceil_div(hip_ceil_div(r.rows, together), plan->context->hip->compute_units),
                at_once = r.rows < together ? r.rows : together;
  const bool ragged = r.any || r.cols % tdm_hip_chunk(r.type) != 0;
  const double each = c.each * (ragged ? RAGGED : tdm_type_size(r.type) == sizeof(float) ? F32 : 1);
  set_cost((double)turns * (double)at_once * (double)r.cols * each, traffic(plan, &r, c.accesses), LATENCY, cost);
}

/* All compute units share the elements. */
void tdm_hip_parts_cost(const tdm_plan *plan, tdm_cost *cost) {
  const hip_rows r = rows_of(plan);
  const hip_row_cost c = cost_of(plan);
  const double elements = (double)r.rows * (double)r.cols;
  set_cost(elements * (c.in_parts > 0 ? c.in_parts : c.each) / plan->context->hip->compute_units,
           traffic(plan, &r, c.accesses + c.again), LAUNCH + 2 * LATENCY, cost);
}
