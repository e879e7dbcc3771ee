#include "device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mapped.h"
#include "sim/base/error.h"

gfxsim_status gfxsim_open(const char *chip, const gfxsim_options *options, gfxsim_device **device) {
  *device = NULL;
  gfxsim_device *d = calloc(1, sizeof *d);
  if (d == NULL) return fail(GFXSIM_NO_MEMORY, "open: no memory");
  gfxsim_status status = chip_find(chip, &d->chip);
  if (status == GFXSIM_OK && options != NULL && (options->threads < 0 || options->threads > 1024))
    status = fail(GFXSIM_INVALID, "open: threads = %d: must be 0 to 1024", options->threads);
  if (status == GFXSIM_OK && options != NULL && options->stack_bytes > d->chip.scratch_bytes)
    status = fail(GFXSIM_INVALID, "open: stack_bytes = %u: must be %u or less", options->stack_bytes, d->chip.scratch_bytes);
  if (status == GFXSIM_OK && options != NULL && (options->unchecked & ~(u32)GFXSIM_CHECK_ALL) != 0)
    status = fail(GFXSIM_INVALID, "open: unchecked = 0x%x: must be bits of 0x%x", options->unchecked, GFXSIM_CHECK_ALL);
  if (status == GFXSIM_OK && options != NULL && options->number >= MEMORY_DEVICES_MOST)
    status = fail(GFXSIM_INVALID, "open: number = %u: must be 0 to %d", options->number, MEMORY_DEVICES_MOST - 1);
  if (status != GFXSIM_OK) {
    free(d);
    return status;
  }
  if (options != NULL) d->options = *options;
  memory_init(&d->memory);
  memory_place(&d->memory, d->options.number);
  d->memory.checked = (d->options.unchecked & GFXSIM_CHECK_UNINITIALISED) == 0;
  *device = d;
  return GFXSIM_OK;
}

void device_free(gfxsim_device *device) {
  memory_release(&device->memory);
  free(device);
}

void gfxsim_device_describe(const gfxsim_device *device, gfxsim_device_info *info) {
  const chip *c = &device->chip;
  *info = (gfxsim_device_info){.chip = c->name,
                               .xcds = c->xcds,
                               .compute_units = c->xcds * c->cus_per_xcd,
                               .waves_per_cu = c->simds_per_cu * c->waves_per_simd,
                               .lds_bytes = c->lds_bytes,
                               .max_workgroup = c->max_workgroup,
                               .vgprs = c->simds_per_cu * c->vgprs,
                               .l2_bytes = c->l2_bytes,
                               .clock_mhz = c->clock_mhz,
                               .memory_bytes = (uint64_t)c->memory_gib << 30,
                               .memory_used = memory_used(&device->memory),
                               .isa = c->isa,
                               .pci_device = c->pci_device};
}

gfxsim_status gfxsim_peer(gfxsim_device *device, const gfxsim_device *other, bool access) {
  u32 place = other->options.number;
  if (place == device->options.number)
    return fail(GFXSIM_INVALID, "peer: both devices have the number %u: must be different ones", place);
  device->memory.peers[place] = access ? &other->memory : NULL;
  return GFXSIM_OK;
}

bool gfxsim_owns(const gfxsim_device *device, uint64_t address) { return memory_owns(&device->memory, address); }

gfxsim_status gfxsim_alloc(gfxsim_device *device, size_t bytes, uint64_t *address) {
  allocation *made;
  bool shared = mapped_is_shared(device->memory.mapped);
  gfxsim_status status =
      shared ? memory_alloc_on_host(&device->memory, bytes, &made) : memory_alloc(&device->memory, bytes, true, &made);
  if (status != GFXSIM_OK) return status;
  *address = made->base;
  if (!shared) memory_written(&device->memory, made->base, made->size, false);
  return GFXSIM_OK;
}

gfxsim_status gfxsim_free(gfxsim_device *device, uint64_t address) {
  allocation *a = memory_find(&device->memory, address);
  if (a == NULL || a->base != address || a->data == NULL)
    return fail(GFXSIM_INVALID, "free: address = 0x%" PRIx64 ": must be the start of a live allocation", address);
  memory_drop(&device->memory, a);
  return GFXSIM_OK;
}

gfxsim_status gfxsim_reserve(gfxsim_device *device, const char *name, uint64_t offset, uint64_t bytes, uint64_t *address) {
  return memory_reserve(&device->memory, name, offset, bytes, address);
}

gfxsim_status gfxsim_map(gfxsim_device *device, uint64_t address, uint64_t bytes) {
  return memory_map(&device->memory, address, bytes);
}

gfxsim_status gfxsim_protect(gfxsim_device *device, uint64_t address, bool read_only) {
  allocation *a = memory_find(&device->memory, address);
  if (a == NULL || a->base != address || a->data == NULL)
    return fail(GFXSIM_INVALID, "protect: address = 0x%" PRIx64 ": must be the start of a live allocation", address);
  a->writable = !read_only;
  return GFXSIM_OK;
}

gfxsim_status gfxsim_unreserve(gfxsim_device *device, uint64_t address) { return memory_unreserve(&device->memory, address); }

gfxsim_status gfxsim_write(gfxsim_device *device, uint64_t address, const void *host, size_t bytes) {
  if (bytes == 0) return GFXSIM_OK;
  u8 *data = memory_range(&device->memory, address, bytes, "write");
  if (data == NULL) return GFXSIM_INVALID;
  memcpy(data, host, bytes);
  memory_written(&device->memory, address, bytes, true);
  return GFXSIM_OK;
}

gfxsim_status gfxsim_read(gfxsim_device *device, uint64_t address, void *host, size_t bytes) {
  if (bytes == 0) return GFXSIM_OK;
  const u8 *data = memory_range(&device->memory, address, bytes, "read");
  if (data == NULL) return GFXSIM_INVALID;
  memcpy(host, data, bytes);
  return GFXSIM_OK;
}

gfxsim_status gfxsim_fill(gfxsim_device *device, uint64_t address, uint8_t value, size_t bytes) {
  if (bytes == 0) return GFXSIM_OK;
  u8 *data = memory_range(&device->memory, address, bytes, "fill");
  if (data == NULL) return GFXSIM_INVALID;
  memset(data, value, bytes);
  memory_written(&device->memory, address, bytes, true);
  return GFXSIM_OK;
}

gfxsim_status gfxsim_map_host(gfxsim_device *device, void *host, size_t bytes) {
  return mapped_add(&device->memory, host, bytes);
}

gfxsim_status gfxsim_unmap_host(gfxsim_device *device, void *host) { return mapped_remove(&device->memory, host); }

gfxsim_status gfxsim_share_host(gfxsim_device *device, bool share) { return mapped_share(&device->memory, share); }

bool gfxsim_allocation_of(const gfxsim_device *device, uint64_t address, uint64_t *base, size_t *bytes) {
  const allocation *a = memory_find(&device->memory, address);
  if (a == NULL || a->data == NULL || address - a->base >= a->size) return false;
  *base = a->base;
  *bytes = a->size;
  return true;
}
