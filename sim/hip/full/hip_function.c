/* What programs ask about kernels: attributes and occupancy. */

#include "hip_state.h"

static uint32_t lds_left(const function *f) {
  gfxsim_device_info info;
  gfxsim_device_describe(f->device->sim, &info);
  return info.lds_bytes - f->info.lds_bytes;
}

/* ---- Attributes ---- */

static hipError_t attribute(int *value, hipFunction_attribute which, const void *handle) {
  function *f;
  if (value == NULL) return hip_fail(hipErrorInvalidValue, "hipFuncGetAttribute: value = NULL: must be an address");
  hipError_t error = hip_function_of("hipFuncGetAttribute", handle, hip_device(), &f);
  if (error != hipSuccess) return error;
  switch (which) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)f->info.max_workgroup; break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)f->info.lds_bytes; break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)f->info.scratch_bytes; break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)f->info.vgprs; break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = (int)lds_left(f); break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = 0; break; /* AMD has no such thing */
    default: door_unserved("hipFuncGetAttribute: attribute %d", (int)which); return hipErrorInvalidValue;
  }
  return hipSuccess;
}

HIP_API hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute which, hipFunction_t handle) {
  HIP_CALL(attribute(value, which, handle));
}

static hipError_t attributes(hipFuncAttributes *a, const void *host) {
  function *f;
  if (a == NULL) return hip_fail(hipErrorInvalidValue, "hipFuncGetAttributes: attributes = NULL: must be an address");
  hipError_t error = hip_function_of("hipFuncGetAttributes", host, hip_device(), &f);
  if (error != hipSuccess) return error;
  gfxsim_device_info chip;
  gfxsim_device_describe(f->device->sim, &chip);
  *a = (hipFuncAttributes){.binaryVersion = (int)chip.isa,
                           .localSizeBytes = f->info.scratch_bytes,
                           .maxDynamicSharedSizeBytes = (int)lds_left(f),
                           .maxThreadsPerBlock = (int)f->info.max_workgroup,
                           .numRegs = (int)f->info.vgprs,
                           .ptxVersion = (int)chip.isa,
                           .sharedSizeBytes = f->info.lds_bytes};
  return hipSuccess;
}

HIP_API hipError_t hipFuncGetAttributes(hipFuncAttributes *a, const void *host) { HIP_CALL(attributes(a, host)); }

/* Checked only: every kernel may have all of the LDS that it leaves free. */
static hipError_t set_attribute(const void *host, hipFuncAttribute which, int value) {
  function *f;
  hipError_t error = hip_function_of("hipFuncSetAttribute", host, hip_device(), &f);
  if (error != hipSuccess) return error;
  bool lds = which == hipFuncAttributeMaxDynamicSharedMemorySize;
  if (!lds && which != hipFuncAttributePreferredSharedMemoryCarveout)
    return hip_fail(hipErrorInvalidValue, "hipFuncSetAttribute: attribute = %d: must be 8 or 9", (int)which);
  int least = lds ? 0 : -1, most = lds ? (int)lds_left(f) : 100;
  if (value < least || value > most)
    return hip_fail(hipErrorInvalidValue, "hipFuncSetAttribute: value = %d: must be %d to %d", value, least, most);
  return hipSuccess;
}

HIP_API hipError_t hipFuncSetAttribute(const void *host, hipFuncAttribute which, int value) {
  HIP_CALL(set_attribute(host, which, value));
}

static hipError_t known(const char *call, const void *host) {
  function *f;
  return hip_function_of(call, host, hip_device(), &f);
}

/* AMD has no such choice. */
HIP_API hipError_t hipFuncSetCacheConfig(const void *host, int config) {
  (void)config;
  HIP_CALL(known("hipFuncSetCacheConfig", host));
}
HIP_API hipError_t hipFuncSetSharedMemConfig(const void *host, int config) {
  (void)config;
  HIP_CALL(known("hipFuncSetSharedMemConfig", host));
}

static hipError_t function_of(hipFunction_t *to, const void *host) {
  function *f;
  if (to == NULL) return hip_fail(hipErrorInvalidValue, "hipGetFuncBySymbol: function = NULL: must be an address");
  hipError_t error = hip_function_of("hipGetFuncBySymbol", host, hip_device(), &f);
  if (error == hipSuccess) *to = (hipFunction_t)(uintptr_t)host; /* every call takes the host's address as well */
  return error;
}

HIP_API hipError_t hipGetFuncBySymbol(hipFunction_t *to, const void *host) { HIP_CALL(function_of(to, host)); }

HIP_API const char *hipKernelNameRef(hipFunction_t handle) {
  function *f;
  return hip_begin() && hip_function_of("hipKernelNameRef", handle, hip_device(), &f) == hipSuccess ? f->info.name : NULL;
}
HIP_API const char *hipKernelNameRefByPtr(const void *host, hipStream_t handle) {
  (void)handle;
  return hipKernelNameRef((hipFunction_t)(uintptr_t)host);
}

/* ---- Occupancy ---- */

static hipError_t active_blocks(const char *call, int *blocks, const void *handle, int block_size, size_t dynamic_lds) {
  function *f;
  if (blocks == NULL || block_size <= 0 || dynamic_lds > UINT32_MAX)
    return hip_fail(hipErrorInvalidValue, "%s: block_size = %d: must be positive", call, block_size);
  hipError_t error = hip_function_of(call, handle, hip_device(), &f);
  if (error == hipSuccess) *blocks = (int)gfxsim_kernel_occupancy(f->kernel, (uint32_t)block_size, (uint32_t)dynamic_lds);
  return error;
}

HIP_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t handle, int size, size_t lds) {
  HIP_CALL(active_blocks("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", blocks, handle, size, lds));
}
HIP_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, hipFunction_t handle, int size,
                                                                               size_t lds, unsigned flags) {
  (void)flags;
  HIP_CALL(active_blocks("hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", blocks, handle, size, lds));
}
HIP_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int size, size_t lds) {
  HIP_CALL(active_blocks("hipOccupancyMaxActiveBlocksPerMultiprocessor", blocks, host, size, lds));
}
HIP_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int size, size_t lds,
                                                                         unsigned flags) {
  (void)flags;
  HIP_CALL(active_blocks("hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", blocks, host, size, lds));
}

/* The largest workgroup among those that keep the most work items on a compute unit. */
static hipError_t best_block(const char *call, int *grid, int *block, const void *handle, size_t lds, int limit) {
  function *f;
  if (grid == NULL || block == NULL) return hip_fail(hipErrorInvalidValue, "%s: grid and block must be addresses", call);
  hipError_t error = hip_function_of(call, handle, hip_device(), &f);
  if (error != hipSuccess) return error;
  gfxsim_device_info chip;
  gfxsim_device_describe(f->device->sim, &chip);
  const uint32_t wave = 64;
  uint32_t most = f->info.max_workgroup != 0 ? f->info.max_workgroup : chip.max_workgroup, best = 0;
  if (limit > 0 && (uint32_t)limit < most) most = (uint32_t)limit;
  *grid = *block = 0;
  for (uint32_t size = most < wave ? most : most / wave * wave; size > 0; size = size > wave ? size - wave : 0) {
    uint32_t blocks = gfxsim_kernel_occupancy(f->kernel, size, (uint32_t)lds);
    if (blocks * size <= best) continue;
    best = blocks * size;
    *block = (int)size;
    *grid = (int)(blocks * chip.compute_units);
  }
  return hipSuccess;
}

HIP_API hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *host, size_t lds, int limit) {
  HIP_CALL(best_block("hipOccupancyMaxPotentialBlockSize", grid, block, host, lds, limit));
}
HIP_API hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *grid, int *block, hipFunction_t handle, size_t lds, int limit) {
  HIP_CALL(best_block("hipModuleOccupancyMaxPotentialBlockSize", grid, block, handle, lds, limit));
}
HIP_API hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, hipFunction_t handle, size_t lds,
                                                                    int limit, unsigned flags) {
  (void)flags;
  HIP_CALL(best_block("hipModuleOccupancyMaxPotentialBlockSizeWithFlags", grid, block, handle, lds, limit));
}

static hipError_t lds_available(size_t *bytes, const void *host, int blocks, int block_size) {
  function *f;
  if (bytes == NULL || blocks <= 0 || block_size <= 0)
    return hip_fail(hipErrorInvalidValue, "hipOccupancyAvailableDynamicSMemPerBlock: blocks = %d: must be positive", blocks);
  hipError_t error = hip_function_of("hipOccupancyAvailableDynamicSMemPerBlock", host, hip_device(), &f);
  if (error != hipSuccess) return error;
  gfxsim_device_info chip;
  gfxsim_device_describe(f->device->sim, &chip);
  uint32_t share = chip.lds_bytes / (uint32_t)blocks;
  *bytes = share > f->info.lds_bytes ? share - f->info.lds_bytes : 0;
  return hipSuccess;
}

HIP_API hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int size) {
  HIP_CALL(lds_available(bytes, host, blocks, size));
}
