/* Agents: the host, and one a device. Their ISAs and memory pools. */
#include <stdio.h>
#include <string.h>

#include "hsa_state.h"

/* Handles: agents 1 and 16 + n, ISAs 32 + n, pools 48 to 50 of the host, 64 + n of devices. */
enum { AGENT_HOST = 1, AGENT_GPU = 16, ISA = 32, POOL_FINE = 48, POOL_KERNARG, POOL_COARSE, POOL_GPU = 64 };
enum { TIMESTAMP_HZ = 100000000, QUEUES = 128, QUEUE_LEAST = 64, QUEUE_MOST = 131072, PAGE = 4096 };

hsa_agent hsa_agent_of(const device *d) { return (hsa_agent){d == NULL ? AGENT_HOST : AGENT_GPU + (uint64_t)d->number}; }

device *hsa_agent_device(hsa_agent agent, bool *known) {
  device *d = agent.handle >= AGENT_GPU && agent.handle < ISA ? hsa_device_at((int)(agent.handle - AGENT_GPU)) : NULL;
  *known = d != NULL || agent.handle == AGENT_HOST;
  return d;
}

typedef hsa_status agent_callback(hsa_agent agent, void *data);
HSA_DOOR hsa_status hsa_iterate_agents(agent_callback *callback, void *data) {
  HSA_ENTER();
  if (callback == NULL) return HSA_INVALID_ARGUMENT;
  hsa_status status = callback(hsa_agent_of(NULL), data);
  for (int n = 0; n < hsa_device_count() && status == HSA_SUCCESS; n++) status = callback(hsa_agent_of(hsa_device_at(n)), data);
  return status;
}

/* ---- Attributes ---- */

#define PUT(type, ...)                          \
  do {                                          \
    type put_value[] = {__VA_ARGS__};           \
    memcpy(value, put_value, sizeof put_value); \
  } while (0)

static void put_text(void *value, const char *text, size_t room) {
  char bytes[64] = "";
  snprintf(bytes, sizeof bytes, "%s", text);
  memcpy(value, bytes, room);
}

static hsa_status gpu_info(const device *d, unsigned attribute, void *value) {
  gfxsim_device_info info;
  gfxsim_device_describe(d->sim, &info);
  char uuid[32];
  switch (attribute) {
    case HSA_AGENT_NAME: put_text(value, info.chip, 64); break;
    case HSA_AGENT_VENDOR: put_text(value, "AMD", 64); break;
    case HSA_AGENT_PRODUCT: put_text(value, "gfxsim, a simulated GPU", 64); break;
    case HSA_AGENT_UUID:
      snprintf(uuid, sizeof uuid, "GPU-%016x", (unsigned)d->number);
      put_text(value, uuid, 21);
      break;
    case HSA_AGENT_FEATURE: PUT(uint32_t, 1); break; /* takes kernel dispatches */
    case HSA_AGENT_MACHINE_MODEL: PUT(uint32_t, 1); break;
    case HSA_AGENT_PROFILE: PUT(uint32_t, 0); break;
    case HSA_AGENT_ROUNDING: PUT(uint32_t, 2); break; /* to nearest */
    case HSA_AGENT_FAST_F16: PUT(bool, true); break;
    case HSA_AGENT_WAVEFRONT: PUT(uint32_t, 64); break;
    case HSA_AGENT_WORKGROUP_DIM: PUT(uint16_t, 1024, 1024, 1024); break;
    case HSA_AGENT_WORKGROUP_SIZE: PUT(uint32_t, info.max_workgroup); break;
    case HSA_AGENT_GRID_DIM: PUT(uint32_t, INT32_MAX, UINT16_MAX, UINT16_MAX); break;
    case HSA_AGENT_GRID_SIZE: PUT(uint32_t, UINT32_MAX); break;
    case HSA_AGENT_QUEUES_MAX: PUT(uint32_t, QUEUES); break;
    case HSA_AGENT_QUEUE_MIN: PUT(uint32_t, QUEUE_LEAST); break;
    case HSA_AGENT_QUEUE_MAX: PUT(uint32_t, QUEUE_MOST); break;
    case HSA_AGENT_QUEUE_TYPE: PUT(uint32_t, 0); break;
    case HSA_AGENT_NODE:
    case HSA_AGENT_DRIVER_NODE: PUT(uint32_t, (uint32_t)d->number + 1); break;
    case HSA_AGENT_DEVICE: PUT(uint32_t, HSA_DEVICE_GPU); break;
    case HSA_AGENT_CACHES: PUT(uint32_t, 32768, info.l2_bytes, 0, 0); break;
    case HSA_AGENT_ISA: PUT(uint64_t, ISA + (uint64_t)d->number); break;
    case HSA_AGENT_VERSION_MAJOR:
    case HSA_AGENT_VERSION_MINOR: PUT(uint16_t, 1); break;
    case HSA_AGENT_CHIP_ID: PUT(uint32_t, info.pci_device); break;
    case HSA_AGENT_CACHELINE: PUT(uint32_t, 128); break;
    case HSA_AGENT_COMPUTE_UNITS: PUT(uint32_t, info.compute_units); break;
    case HSA_AGENT_CLOCK: PUT(uint32_t, info.clock_mhz); break;
    case HSA_AGENT_BDFID: PUT(uint32_t, (uint32_t)(d->number + 1) << 8); break;
    case HSA_AGENT_DOMAIN: PUT(uint32_t, 0); break;
    case HSA_AGENT_WAVES_PER_CU: PUT(uint32_t, info.waves_per_cu); break;
    case HSA_AGENT_SIMDS_PER_CU: PUT(uint32_t, 4); break;
    case HSA_AGENT_DIRECT_HOST: PUT(bool, hsa_unified()); break;
    case HSA_AGENT_MEMORY_AVAIL: PUT(uint64_t, info.memory_bytes - info.memory_used); break;
    case HSA_AGENT_TIMESTAMP_FREQUENCY: PUT(uint64_t, TIMESTAMP_HZ); break;
    default: return hsa_unserved(HSA_INVALID_ARGUMENT, "hsa_agent_get_info: attribute 0x%x of a GPU", attribute);
  }
  return HSA_SUCCESS;
}

static hsa_status host_info(unsigned attribute, void *value) {
  switch (attribute) {
    case HSA_AGENT_NAME:
    case HSA_AGENT_PRODUCT: put_text(value, "host", 64); break;
    case HSA_AGENT_VENDOR: put_text(value, "CPU", 64); break;
    case HSA_AGENT_UUID: put_text(value, "CPU-XX", 21); break;
    case HSA_AGENT_FEATURE:
    case HSA_AGENT_PROFILE:
    case HSA_AGENT_WAVEFRONT:
    case HSA_AGENT_QUEUES_MAX:
    case HSA_AGENT_QUEUE_MIN:
    case HSA_AGENT_QUEUE_MAX:
    case HSA_AGENT_NODE:
    case HSA_AGENT_DRIVER_NODE:
    case HSA_AGENT_CHIP_ID:
    case HSA_AGENT_COMPUTE_UNITS: PUT(uint32_t, 0); break;
    case HSA_AGENT_MACHINE_MODEL: PUT(uint32_t, 1); break;
    case HSA_AGENT_DEVICE: PUT(uint32_t, HSA_DEVICE_CPU); break;
    case HSA_AGENT_CACHELINE: PUT(uint32_t, 64); break;
    default: return hsa_unserved(HSA_INVALID_ARGUMENT, "hsa_agent_get_info: attribute 0x%x of the host", attribute);
  }
  return HSA_SUCCESS;
}

HSA_DOOR hsa_status hsa_agent_get_info(hsa_agent agent, unsigned attribute, void *value) {
  HSA_ENTER();
  bool known;
  const device *d = hsa_agent_device(agent, &known);
  if (!known) return HSA_INVALID_AGENT;
  if (value == NULL) return HSA_INVALID_ARGUMENT;
  return d != NULL ? gpu_info(d, attribute, value) : host_info(attribute, value);
}

/* ---- ISAs ---- */

typedef hsa_status isa_callback(hsa_isa isa, void *data);
HSA_DOOR hsa_status hsa_agent_iterate_isas(hsa_agent agent, isa_callback *callback, void *data) {
  HSA_ENTER();
  bool known;
  const device *d = hsa_agent_device(agent, &known);
  if (d == NULL) return HSA_INVALID_AGENT;
  return callback != NULL ? callback((hsa_isa){ISA + (uint64_t)d->number}, data) : HSA_INVALID_ARGUMENT;
}

HSA_DOOR hsa_status hsa_isa_get_info_alt(hsa_isa isa, unsigned attribute, void *value) {
  HSA_ENTER();
  const device *d = isa.handle >= ISA && isa.handle < POOL_FINE ? hsa_device_at((int)(isa.handle - ISA)) : NULL;
  if (d == NULL) return HSA_INVALID_ISA;
  if (value == NULL) return HSA_INVALID_ARGUMENT;
  gfxsim_device_info info;
  gfxsim_device_describe(d->sim, &info);
  char name[64];
  int length = snprintf(name, sizeof name, "amdgcn-amd-amdhsa--%s:sramecc+:xnack%c", info.chip, hsa_unified() ? '+' : '-');
  switch (attribute) {
    case HSA_ISA_NAME_LENGTH: PUT(uint32_t, (uint32_t)length + 1); break;
    case HSA_ISA_NAME: memcpy(value, name, (size_t)length + 1); break;
    default: return hsa_unserved(HSA_INVALID_ARGUMENT, "hsa_isa_get_info_alt: attribute 0x%x", attribute);
  }
  return HSA_SUCCESS;
}

/* ---- Pools ---- */

typedef hsa_status pool_callback(hsa_pool pool, void *data);
HSA_DOOR hsa_status hsa_amd_agent_iterate_memory_pools(hsa_agent agent, pool_callback *callback, void *data) {
  HSA_ENTER();
  bool known;
  const device *d = hsa_agent_device(agent, &known);
  if (!known) return HSA_INVALID_AGENT;
  if (callback == NULL) return HSA_INVALID_ARGUMENT;
  if (d != NULL) return callback((hsa_pool){POOL_GPU + (uint64_t)d->number}, data);
  hsa_status status = HSA_SUCCESS;
  for (uint64_t pool = POOL_FINE; pool <= POOL_COARSE && status == HSA_SUCCESS; pool++)
    status = callback((hsa_pool){pool}, data);
  return status;
}

bool hsa_pool_of(hsa_pool pool, device **d) {
  *d = pool.handle >= POOL_GPU ? hsa_device_at((int)(pool.handle - POOL_GPU)) : NULL;
  return *d != NULL || (pool.handle >= POOL_FINE && pool.handle <= POOL_COARSE);
}

HSA_DOOR hsa_status hsa_amd_memory_pool_get_info(hsa_pool pool, unsigned attribute, void *value) {
  HSA_ENTER();
  device *d;
  if (!hsa_pool_of(pool, &d) || value == NULL) return HSA_INVALID_ARGUMENT;
  uint32_t flags = HSA_POOL_COARSE;
  if (pool.handle == POOL_FINE) flags = HSA_POOL_FINE;
  if (pool.handle == POOL_KERNARG) flags = HSA_POOL_FINE | HSA_POOL_KERNARG;
  gfxsim_device_info info = {.memory_bytes = UINT64_C(1) << 40}; /* of the host: it is asked for when memory is */
  if (d != NULL) gfxsim_device_describe(d->sim, &info);
  switch (attribute) {
    case HSA_POOL_SEGMENT: PUT(uint32_t, HSA_SEGMENT_GLOBAL); break;
    case HSA_POOL_FLAGS: PUT(uint32_t, flags); break;
    case HSA_POOL_SIZE:
    case HSA_POOL_ALLOC_MAX: PUT(size_t, info.memory_bytes); break;
    case HSA_POOL_ALLOC_ALLOWED: PUT(bool, true); break;
    case HSA_POOL_GRANULE:
    case HSA_POOL_ALIGNMENT: PUT(size_t, PAGE); break;
    case HSA_POOL_ACCESSIBLE_BY_ALL: PUT(bool, false); break;
    default: return hsa_unserved(HSA_INVALID_ARGUMENT, "hsa_amd_memory_pool_get_info: attribute 0x%x", attribute);
  }
  return HSA_SUCCESS;
}

HSA_DOOR hsa_status hsa_amd_agent_memory_pool_get_info(hsa_agent agent, hsa_pool pool, unsigned attribute, void *value) {
  HSA_ENTER();
  bool known;
  const device *own = hsa_agent_device(agent, &known);
  device *d;
  if (!known) return HSA_INVALID_AGENT;
  if (!hsa_pool_of(pool, &d) || value == NULL) return HSA_INVALID_ARGUMENT;
  if (attribute != HSA_POOL_OF_AGENT_ACCESS)
    return hsa_unserved(HSA_INVALID_ARGUMENT, "hsa_amd_agent_memory_pool_get_info: attribute 0x%x", attribute);
  uint32_t access = HSA_ACCESS_NEVER; /* a device's memory by the host, or by another device */
  if (own == d) access = HSA_ACCESS_DEFAULT;
  if (own != NULL && d == NULL) access = HSA_ACCESS_ON_REQUEST;
  PUT(uint32_t, access);
  return HSA_SUCCESS;
}
