/* Workgroups that fit on a compute unit: registers are allocated to a wave and LDS to a workgroup in granules; the waves of a
 * workgroup are spread over the SIMDs. Source: LLVM (22), AMDGPUBaseInfo and GCNSubtarget: getNumWavesPerEUWithNumVGPRs,
 * getOccupancyWithNumSGPRs, getMaxWorkGroupsPerCU; LDS granules: src/base/chip.h. */
#include "count.h"

static u32 round_up(u32 value, u32 granule) { return (value + granule - 1) / granule * granule; }

/* Lowers *most to what one more resource allows, and names it. */
static void limit(u32 *most, const char **name, u32 allowed, const char *resource) {
  if (allowed >= *most) return;
  *most = allowed;
  *name = resource;
}

void occupancy_of(const chip *chip, u32 vgprs, u32 sgprs, u32 lds_bytes, u32 waves, gfxsim_occupancy *o) {
  *o = (gfxsim_occupancy){.vgprs = round_up(vgprs > 0 ? vgprs : 1, chip->vgpr_granule),
                          .sgprs = round_up(sgprs > 0 ? sgprs : 1, chip->sgpr_granule),
                          .lds_bytes = round_up(lds_bytes, chip->lds_granule),
                          .waves = waves,
                          .waves_per_simd = chip->waves_per_simd,
                          .limit = "waves"};
  limit(&o->waves_per_simd, &o->limit, chip->vgprs / o->vgprs, "VGPRs");
  limit(&o->waves_per_simd, &o->limit, chip->sgpr_file / o->sgprs, "SGPRs");
  u32 slots = o->waves_per_simd * chip->simds_per_cu;
  o->workgroups_per_cu = slots / waves;
  if (waves > 1) limit(&o->workgroups_per_cu, &o->limit, chip->barriers, "barriers");
  if (o->lds_bytes > 0) limit(&o->workgroups_per_cu, &o->limit, chip->lds_bytes / o->lds_bytes, "LDS");
  u32 held = round_up(o->workgroups_per_cu * waves, chip->simds_per_cu) / chip->simds_per_cu;
  if (held < o->waves_per_simd) o->waves_per_simd = held;
}

void occupancy_of_launch(const launch *run, gfxsim_occupancy *o) {
  const gfxsim_kernel *k = run->kernel;
  occupancy_of(&run->device->chip, k->desc.vgprs, k->sgprs, run->lds_bytes, run->waves, o);
  o->scratch_bytes = run->scratch_bytes;
}

uint32_t gfxsim_kernel_occupancy(const gfxsim_kernel *kernel, uint32_t work_items, uint32_t dynamic_lds) {
  const chip *c = &kernel->object->device->chip;
  u64 lds = (u64)kernel->desc.lds_bytes + dynamic_lds;
  gfxsim_occupancy o;
  if (work_items == 0 || work_items > c->max_workgroup || lds > c->lds_bytes) return 0;
  occupancy_of(c, kernel->desc.vgprs, kernel->sgprs, (u32)lds, (work_items + LANES - 1) / LANES, &o);
  return o.workgroups_per_cu;
}
