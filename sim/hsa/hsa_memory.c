/* Memory of the host's and the devices' pools, and host memory that a program locks for devices. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

/* Host memory that kernels may reach: what a host pool gave, or what was locked. */
typedef struct range {
  void *start;
  size_t bytes;
  bool pool;       /* ours to free */
  int locks;       /* of hsa_amd_memory_lock */
  uint32_t agents; /* a bit for each device that has it mapped */
  struct range *next;
} range;
static range *ranges;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of ranges: mapping waits for launches, `world` must not */

static uint64_t number(const void *address) { return (uint64_t)(uintptr_t)address; }

device *hsa_owner(const void *address) {
  for (int n = 0; n < hsa_device_count(); n++)
    if (gfxsim_owns(hsa_device_at(n)->sim, number(address))) return hsa_device_at(n);
  return NULL;
}

static range **find(const void *start, bool pool) {
  range **at = &ranges;
  while (*at != NULL && ((*at)->start != start || (*at)->pool != pool)) at = &(*at)->next;
  return at;
}

static hsa_status map(range *r, device *d) {
  if ((r->agents >> d->number & 1) != 0) return HSA_SUCCESS;
  pthread_mutex_lock(&d->lock);
  gfxsim_status status = gfxsim_map_host(d->sim, r->start, r->bytes);
  pthread_mutex_unlock(&d->lock);
  if (status != GFXSIM_OK) return HSA_OUT_OF_RESOURCES;
  r->agents |= UINT32_C(1) << d->number;
  return HSA_SUCCESS;
}

static void drop(range *r) {
  for (int n = 0; n < hsa_device_count(); n++) {
    device *d = hsa_device_at(n);
    if ((r->agents >> n & 1) == 0) continue;
    pthread_mutex_lock(&d->lock); /* a launch that reads it ends first */
    gfxsim_unmap_host(d->sim, r->start);
    pthread_mutex_unlock(&d->lock);
  }
  if (r->pool) free(r->start);
  free(r);
}

/* ---- Pools ---- */

enum { PAGE = 4096 };

static hsa_status host_alloc(size_t bytes, void **pointer) {
  range *r = calloc(1, sizeof *r);
  size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
  void *start = pages >= bytes ? aligned_alloc(PAGE, pages) : NULL;
  if (r == NULL || start == NULL) {
    free(r);
    free(start);
    return HSA_OUT_OF_RESOURCES;
  }
  *r = (range){.start = start, .bytes = bytes, .pool = true, .next = ranges};
  pthread_mutex_lock(&lock);
  r->next = ranges;
  ranges = r;
  pthread_mutex_unlock(&lock);
  *pointer = start;
  return HSA_SUCCESS;
}

static hsa_status device_alloc(device *d, size_t bytes, void **pointer) {
  gfxsim_device_info info;
  uint64_t address;
  pthread_mutex_lock(&d->lock);
  gfxsim_device_describe(d->sim, &info);
  bool good = bytes <= info.memory_bytes - info.memory_used && gfxsim_alloc(d->sim, bytes, &address) == GFXSIM_OK;
  pthread_mutex_unlock(&d->lock);
  if (!good) return HSA_OUT_OF_RESOURCES;
  *pointer = (void *)(uintptr_t)address;
  return HSA_SUCCESS;
}

HSA_DOOR hsa_status hsa_amd_memory_pool_allocate(hsa_pool pool, size_t bytes, uint32_t flags, void **pointer) {
  HSA_ENTER();
  (void)flags; /* executable or not: kernels are loaded elsewhere */
  device *d;
  if (!hsa_pool_of(pool, &d) || pointer == NULL) return HSA_INVALID_ARGUMENT;
  if (bytes == 0) return HSA_INVALID_ALLOCATION;
  return d != NULL ? device_alloc(d, bytes, pointer) : host_alloc(bytes, pointer);
}

HSA_DOOR hsa_status hsa_amd_memory_pool_free(void *pointer) {
  HSA_LEAVE();
  if (pointer == NULL) return HSA_SUCCESS;
  device *d = hsa_owner(pointer);
  if (d != NULL) {
    pthread_mutex_lock(&d->lock);
    gfxsim_status status = gfxsim_free(d->sim, number(pointer));
    pthread_mutex_unlock(&d->lock);
    return status == GFXSIM_OK ? HSA_SUCCESS : HSA_INVALID_ALLOCATION;
  }
  pthread_mutex_lock(&lock);
  range **at = find(pointer, true), *r = *at;
  if (r != NULL) *at = r->next;
  pthread_mutex_unlock(&lock);
  if (r == NULL) return HSA_INVALID_ALLOCATION;
  drop(r);
  return HSA_SUCCESS;
}

/* What a device allocated is open only to that device; a host range is opened to the devices named. */
HSA_DOOR hsa_status hsa_amd_agents_allow_access(uint32_t count, const hsa_agent *agents, const uint32_t *flags,
                                                const void *pointer) {
  HSA_ENTER();
  if (count == 0 || agents == NULL || flags != NULL || pointer == NULL) return HSA_INVALID_ARGUMENT;
  const device *owner = hsa_owner(pointer);
  hsa_status status = HSA_SUCCESS;
  pthread_mutex_lock(&lock);
  range *r = *find(pointer, true);
  if (owner == NULL && r == NULL) status = HSA_INVALID_ALLOCATION;
  for (uint32_t n = 0; n < count && status == HSA_SUCCESS; n++) {
    bool known;
    device *d = hsa_agent_device(agents[n], &known);
    if (!known)
      status = HSA_INVALID_AGENT;
    else if (owner != NULL && d != owner)
      status = hsa_unserved(HSA_INVALID_ALLOCATION, "hsa_amd_agents_allow_access: a device's memory for the host or a peer");
    else if (owner == NULL && d != NULL)
      status = map(r, d);
  }
  pthread_mutex_unlock(&lock);
  return status;
}

/* ---- Locked host memory ---- */

static hsa_status lock_range(range *r, const hsa_agent *agents, int count) {
  hsa_status status = HSA_SUCCESS;
  for (int n = 0; n < (count > 0 ? count : hsa_device_count()) && status == HSA_SUCCESS; n++) {
    bool known = true;
    device *d = count > 0 ? hsa_agent_device(agents[n], &known) : hsa_device_at(n);
    if (!known) return HSA_INVALID_AGENT;
    if (d != NULL) status = map(r, d);
  }
  return status;
}

HSA_DOOR hsa_status hsa_amd_memory_lock(void *host, size_t bytes, hsa_agent *agents, int count, void **agent_pointer) {
  HSA_ENTER();
  if (host == NULL || bytes == 0 || agent_pointer == NULL || count < 0 || (count > 0 && agents == NULL))
    return HSA_INVALID_ARGUMENT;
  if (hsa_owner(host) != NULL) return HSA_INVALID_ARGUMENT;
  range *r = calloc(1, sizeof *r);
  if (r == NULL) return HSA_OUT_OF_RESOURCES;
  pthread_mutex_lock(&lock);
  range *old = *find(host, false);
  if (old != NULL && old->bytes >= bytes) { /* locks of one range are counted */
    free(r);
    r = old;
  } else {
    *r = (range){.start = host, .bytes = bytes, .next = ranges};
    ranges = r;
  }
  r->locks++;
  hsa_status status = lock_range(r, agents, count);
  pthread_mutex_unlock(&lock);
  *agent_pointer = host;
  return status;
}

HSA_DOOR hsa_status hsa_amd_memory_unlock(void *host) {
  HSA_LEAVE();
  pthread_mutex_lock(&lock);
  range **at = find(host, false), *r = *at, *gone = NULL;
  if (r != NULL && --r->locks == 0) {
    gone = r;
    *at = r->next;
  }
  pthread_mutex_unlock(&lock);
  if (gone != NULL) drop(gone);
  return r != NULL ? HSA_SUCCESS : HSA_INVALID_ARGUMENT;
}

/* ---- What a pointer is ---- */

static void describe(const void *pointer, hsa_pointer_info *info) {
  for (const range *r = ranges; r != NULL; r = r->next)
    if (number(pointer) >= number(r->start) && number(pointer) - number(r->start) < r->bytes) {
      info->type = r->pool ? HSA_POINTER_HSA : HSA_POINTER_LOCKED;
      info->agent_base = info->host_base = r->start;
      info->bytes = r->bytes;
      info->owner = hsa_agent_of(NULL);
      info->flags = HSA_POOL_FINE;
      return;
    }
  uint64_t base;
  size_t bytes;
  const device *d = hsa_owner(pointer);
  if (d == NULL || !gfxsim_allocation_of(d->sim, number(pointer), &base, &bytes)) return;
  info->type = HSA_POINTER_HSA;
  info->agent_base = (void *)(uintptr_t)base;
  info->host_base = NULL;
  info->bytes = bytes;
  info->owner = hsa_agent_of(d);
  info->flags = HSA_POOL_COARSE;
}

HSA_DOOR hsa_status hsa_amd_pointer_info(const void *pointer, hsa_pointer_info *info, void *(*alloc)(size_t),
                                         uint32_t *accessible, hsa_agent **agents) {
  HSA_ENTER();
  if (pointer == NULL || info == NULL || info->size == 0) return HSA_INVALID_ARGUMENT;
  if (alloc != NULL && agents != NULL) return hsa_unserved(HSA_INVALID_ARGUMENT, "hsa_amd_pointer_info: the list of agents");
  hsa_pointer_info found = {.size = sizeof found, .type = HSA_POINTER_UNKNOWN};
  pthread_mutex_lock(&lock);
  describe(pointer, &found);
  pthread_mutex_unlock(&lock);
  if (found.size > info->size) found.size = info->size; /* a caller of an older interface has fewer fields */
  memcpy(info, &found, found.size);
  if (accessible != NULL) *accessible = found.type != HSA_POINTER_UNKNOWN;
  return HSA_SUCCESS;
}

void hsa_memory_release(void) {
  while (ranges != NULL) {
    range *r = ranges;
    ranges = r->next;
    drop(r);
  }
}
