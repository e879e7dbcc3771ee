#include "hip_properties.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAVE = 64, GRID_X_MOST = INT_MAX, GRID_YZ_MOST = UINT16_MAX };

void hip_properties(const gfxsim_device *device, hipDeviceProp_tR0600 *p) {
  gfxsim_device_info d;
  gfxsim_device_describe(device, &d);
  size_t digits = strlen(d.chip); /* gfx950: major 9, minor 5 */
  *p = (hipDeviceProp_tR0600){.totalGlobalMem = d.memory_bytes,
                              .sharedMemPerBlock = d.lds_bytes,
                              .regsPerBlock = (int)d.vgprs * WAVE,
                              .warpSize = WAVE,
                              .maxThreadsPerBlock = (int)d.max_workgroup,
                              .maxThreadsDim = {(int)d.max_workgroup, (int)d.max_workgroup, (int)d.max_workgroup},
                              .maxGridSize = {GRID_X_MOST, GRID_YZ_MOST, GRID_YZ_MOST},
                              .clockRate = (int)d.clock_mhz * 1000,
                              .major = atoi((char[]){d.chip[digits - 3], '\0'}),
                              .minor = atoi((char[]){d.chip[digits - 2], '\0'}),
                              .multiProcessorCount = (int)d.compute_units,
                              .l2CacheSize = (int)d.l2_bytes,
                              .maxThreadsPerMultiProcessor = (int)d.waves_per_cu * WAVE,
                              .sharedMemPerMultiprocessor = d.lds_bytes,
                              .regsPerMultiprocessor = (int)d.vgprs * WAVE,
                              .sharedMemPerBlockOptin = d.lds_bytes,
                              .maxSharedMemoryPerMultiProcessor = d.lds_bytes};
  snprintf(p->name, sizeof p->name, "gfxsim %s", d.chip);
  snprintf(p->gcnArchName, sizeof p->gcnArchName, "%s:sramecc+:xnack-", d.chip);
}
