/* Workgroups that fit on a compute unit. Registers are allocated to a wave and LDS to a workgroup in granules; the waves of a
 * workgroup are spread over the SIMDs. Source: MI300 ISA, "Wavefront state", and the chip's table. */
#include "object.h"

static u32 round_up(u32 value, u32 granule) { return (value + granule - 1) / granule * granule; }
static u32 least(u32 a, u32 b) { return a < b ? a : b; }

uint32_t gfxsim_kernel_occupancy(const gfxsim_kernel *kernel, uint32_t work_items, uint32_t dynamic_lds) {
  const chip *c = &kernel->object->device->chip;
  u64 lds = (u64)kernel->desc.lds_bytes + dynamic_lds;
  if (work_items == 0 || work_items > c->max_workgroup || lds > c->lds_bytes) return 0;
  u32 waves = (work_items + LANES - 1) / LANES;
  u32 vgprs = round_up(kernel->desc.vgprs, c->vgpr_granule);
  u32 waves_per_simd = least(c->waves_per_simd, c->vgprs / vgprs);
  u32 groups = waves_per_simd * c->simds_per_cu / waves;
  return lds == 0 ? groups : least(groups, c->lds_bytes / round_up((u32)lds, c->lds_granule));
}
