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
  if (parts_of(plan, &r).part > INT32_MAX) {
    snprintf(reason, size, "splits rows over workgroups: cols = %" PRId64 ": parts must have at most %d elements", r.cols,
             INT32_MAX);
    return false;
  }
  return true;
}

tdm_status tdm_hip_parts_prepare(tdm_plan *plan, hip_row_parts *parts, tdm_hip_kernel *second, size_t each) {
  const hip_rows r = rows_of(plan);
  *parts = parts_of(plan, &r);
  const unsigned workgroups = (unsigned)(parts->rows * parts->parts);
  plan->hip = (tdm_hip_kernel){.grid = {workgroups, 1, 1}, .block = HIP_PARTS_WORKGROUP};
  plan->workspace_bytes = workgroups * each;
  if (second != NULL) {
    *second = plan->hip;
    TDM_TRY(tdm_hip_row_function(plan, HIP_PARTS_SECOND, r.type, &second->function));
  }
  return tdm_hip_row_function(plan, HIP_PARTS_FIRST, r.type, &plan->hip.function);
}

tdm_status tdm_hip_parts_launch(const tdm_plan *plan, const tdm_hip_kernel *second, const void *args, size_t bytes,
                                tdm_stream *stream) {
  TDM_TRY(tdm_hip_launch(plan, &plan->hip, args, bytes, stream));
  return tdm_may_have_written(tdm_hip_launch(plan, second, args, bytes, stream));
}

/* ---- Estimates ----
 *
 * Fitted to predictions of 1, 64, 160 and 300 rows of 32000, 50257, 65536 and 128256 elements, bf16 and f32, on both chips.
 * In 92 of these 98 cases the faster kernel of the two is chosen, or one within 3.6 % of it; the other choices take up to 8 %
 * more. */

static double bytes_of(const hip_rows *r, int accesses) {
  return (double)r->rows * (double)r->cols * (double)tdm_type_size(r->type) * accesses;
}

/* Clocks until a row has its first elements, and after its last ones. RAGGED: how much longer rows take that are not whole
 * chunks. */
static const double ROW = 4300, RAGGED = 1.4;

/* Rows take turns: a compute unit computes the row groups that it holds at a time, of 1024 work-items together, at the rate of
 * one such group. */
void tdm_hip_loop_cost(const tdm_plan *plan, tdm_cost *cost) {
  const hip_rows r = rows_of(plan);
  const hip_row_cost c = cost_of(plan);
  const tdm_hip_device *device = plan->context->hip;
  const int64_t together = HIP_ROW_GROUP_MOST / tdm_hip_loop_group(device, &r),
                turns = hip_ceil_div(hip_ceil_div(r.rows, together), device->compute_units),
                of_unit = hip_ceil_div(r.rows, device->compute_units), at_once = of_unit < together ? of_unit : together;
  const bool ragged = r.any || r.cols % tdm_hip_chunk(r.type) != 0;
  const double *each = c.each[tdm_hip_half_lines(device->chip)], of_element = each[r.type == TDM_F32] * (ragged ? RAGGED : 1);
  const tdm_cost bounds[] = {{bytes_of(&r, c.accesses) / tdm_hip_hbm(device), "hbm"},
                             {(double)(turns * at_once) * (double)r.cols * of_element, "valu"}};
  *cost = tdm_hip_joined(bounds, 2, tdm_hip_cost_numbers.overlap);
  cost->clocks += (double)turns * ROW;
}

/* All compute units share the elements. FIRST: the clocks of one launch besides its bytes, SECOND: of another one, with its
 * 4000 clocks on the host's side. READS: more than the bytes take in a long launch, for there are few waves. */
static const double FIRST = 5900, SECOND = 6500, READS = 1.14;

void tdm_hip_parts_cost(const tdm_plan *plan, tdm_cost *cost) {
  const hip_rows r = rows_of(plan);
  const hip_row_cost c = cost_of(plan);
  const tdm_hip_device *device = plan->context->hip;
  const double bytes = bytes_of(&r, c.accesses) + tdm_hip_beyond_l2(device, bytes_of(&r, c.again));
  *cost = (tdm_cost){FIRST + (c.launches - 1) * SECOND + READS * bytes / tdm_hip_hbm(device), "hbm"};
}
