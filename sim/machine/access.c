/* Bounds, alignment and permission of every access, to global memory, LDS and scratch, and the accesses themselves. */
#include "access.h"

#include <inttypes.h>

#include "gather.h"
#include "operand.h"
#include "sim/device/mapped.h"
#include "sim/load/object.h"
#include "watch.h"

/* ---- Global ---- */

static u64 reach(const wave *w, const allocation *a) {
  if (!w->group->launch->device->options.loose_bounds) return a->size;
  return (a->size + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE;
}

static bool holds(const wave *w, const allocation *a, u64 address, u64 bytes, bool write) {
  u64 size = reach(w, a);
  return a->data != NULL && address - a->base < size && bytes <= size - (address - a->base) &&
         (!write || a->writable || memory_writable(a, address - a->base, bytes));
}

static allocation *cached(wave *w, u64 address, u64 bytes, bool write) {
  for (int c = 0; c < WAVE_CACHE; c++) {
    allocation *a = w->cache[c];
    if (a != NULL && holds(w, a, address, bytes, write)) return a;
  }
  allocation *a = memory_find(&w->group->launch->device->memory, address);
  if (a == NULL || !holds(w, a, address, bytes, write)) return NULL;
  memmove(w->cache + 1, w->cache, (WAVE_CACHE - 1) * sizeof *w->cache);
  return w->cache[0] = a;
}

static u8 *host_bytes(const wave *w, const allocation *a) { return w->shadow ? a->undefined : a->data; }

/* What an allocation holds that no kernel may write, at this address. */
static const char *read_only_part(const wave *w, const allocation *a, u64 address) {
  const gfxsim_object *o = w->group->launch->device->objects;
  while (o != NULL && o->image != a) o = o->next;
  const launch *run = w->group->launch;
  if (o == NULL) return a == run->kernarg_memory || a == run->packet_memory ? "kernel arguments" : "an allocation";
  return address >= o->text_begin && address < o->text_end ? "code" : "constants of the code object";
}

/* An access outside of the memory of a reserved array, or across its end. */
static void array_fault(wave *w, const inst *i, bad_access *at, const reservation *r) {
  const char *verb = at->write ? "writes" : "reads";
  u64 address = at->address;
  at->error = GFXSIM_ACCESS_BEYOND;
  if (address < r->base) {
    wave_fault_access(w, i, at, "%s %u bytes that start %" PRIu64 " bytes before array %s", verb, at->bytes, r->base - address,
                      r->name);
  } else if (address - r->base >= r->size) {
    wave_fault_access(w, i, at, "%s %u bytes that start %" PRIu64 " bytes after the end of array %s of %" PRIu64 " bytes", verb,
                      at->bytes, address - r->base - r->size, r->name, r->size);
  } else if (r->base + r->size - address < at->bytes) {
    wave_fault_access(w, i, at, "%s %u bytes that start %" PRIu64 " bytes before the end of array %s of %" PRIu64 " bytes",
                      verb, at->bytes, r->base + r->size - address, r->name, r->size);
  } else {
    at->error = GFXSIM_ACCESS_GAP;
    wave_fault_access(w, i, at, "%s %u bytes that start %" PRIu64 " bytes into array %s, in a gap between its rows", verb,
                      at->bytes, address - r->base, r->name);
  }
}

/* In the memory of another device that is not a peer. */
static bool is_elsewhere(const wave *w, u64 address) {
  const gfxsim_device *device = w->group->launch->device;
  int place = memory_place_of(address);
  return place >= 0 && place != (int)device->options.number && device->memory.peers[place] == NULL;
}

/* Host memory that a kernel could reach only if it were mapped. What the host has at a device's addresses, as AddressSanitizer
 * has its shadow there, is none of it (mapped_find). */
static bool is_unmapped_host(const memory *m, const allocation *a, u64 address) {
  return m->mapped != NULL && memory_place_of(address) < 0 && !memory_owns(m, address) &&
         (a == NULL || a->data != (u8 *)(uintptr_t)a->base) && mapped_is_host(address);
}

static void global_fault(wave *w, const inst *i, int lane, u64 address, u32 bytes, bool write) {
  const char *verb = write ? "writes" : "reads";
  bad_access at = {GFXSIM_ACCESS_NOWHERE, GFXSIM_SPACE_GLOBAL, write, lane, address, bytes};
  const memory *m = &w->group->launch->device->memory;
  const allocation *a = memory_find(m, address);
  const reservation *r = memory_reservation(m, address);
  u64 offset = a != NULL ? address - a->base : 0;
  bool inside = a != NULL && a->data != NULL && offset < a->size && bytes <= a->size - offset;
  if (r != NULL && inside && write) {
    at.error = GFXSIM_ACCESS_READ_ONLY;
    wave_fault_access(w, i, &at, "writes %u bytes that start %" PRIu64 " bytes into array %s, which kernels may only read",
                      bytes, address - r->base, r->name);
  } else if (r != NULL) {
    array_fault(w, i, &at, r);
  } else if (is_unmapped_host(m, a, address)) {
    wave_fault_access(w, i, &at,
                      "%s %u bytes of host memory that was not mapped for this device, and the program did not ask for unified "
                      "shared memory",
                      verb, bytes);
  } else if (is_elsewhere(w, address)) {
    at.error = GFXSIM_ACCESS_NO_PEER;
    wave_fault_access(w, i, &at, "%s %u bytes of device %d's memory, to which this device has no access", verb, bytes,
                      memory_place_of(address));
  } else if (a == NULL) {
    wave_fault_access(w, i, &at, "%s %u bytes at an address that is in no allocation", verb, bytes);
  } else if (offset < a->size && a->data == NULL) {
    at.error = GFXSIM_ACCESS_FREED;
    wave_fault_access(w, i, &at, "%s %u bytes that start %" PRIu64 " bytes into a freed allocation of %" PRIu64 " bytes", verb,
                      bytes, offset, a->size);
  } else if (inside && write) {
    at.error = GFXSIM_ACCESS_READ_ONLY;
    wave_fault_access(w, i, &at, "writes %u bytes of %s, which kernels may only read", bytes, read_only_part(w, a, address));
  } else {
    at.error = GFXSIM_ACCESS_BEYOND;
    wave_fault_access(w, i, &at, "%s %u bytes that start %" PRIu64 " bytes into an allocation of %" PRIu64 " bytes", verb,
                      bytes, offset, a->size);
  }
}

/* Dwords suffice in unaligned access mode, which ROCm sets. */
static u32 alignment(u32 bytes) { return bytes >= 4 ? 4 : bytes; }

static bool aligned(wave *w, const inst *i, const bad_access *at) {
  if (at->address % alignment(at->bytes) == 0) return true;
  if ((w->group->launch->device->options.unchecked & GFXSIM_CHECK_ALIGN) != 0) return true;
  wave_fault_access(w, i, at, "accesses %u bytes at an address that is not a multiple of %u", at->bytes, alignment(at->bytes));
  return false;
}

u8 *global_pointer(wave *w, const inst *i, int lane, u64 address, u32 bytes, bool write) {
  if (!aligned(w, i, &(bad_access){GFXSIM_ACCESS_MISALIGNED, GFXSIM_SPACE_GLOBAL, write, lane, address, bytes})) return NULL;
  const allocation *a = cached(w, address, bytes, write);
  if (a != NULL) return host_bytes(w, a) + (address - a->base);
  global_fault(w, i, lane, address, bytes, write);
  return NULL;
}

/* Where the lanes of `mask` access, when one allocation holds it all: then one check of bounds is enough. */
static bool lanes_together(wave *w, u64 mask, const u64 address[LANES], u32 bytes, bool write, u8 *at[LANES]) {
  u64 first = address[__builtin_ctzll(mask)], bits = 0;
  i64 distance[LANES], low = 0, high = 0;
  for (int l = 0; l < LANES; l++) {
    distance[l] = (mask >> l & 1) != 0 ? (i64)(address[l] - first) : 0;
    bits |= (u64)distance[l];
    low = distance[l] < low ? distance[l] : low;
    high = distance[l] > high ? distance[l] : high;
  }
  if ((bits | first) % alignment(bytes) != 0 || low < INT32_MIN || high > INT32_MAX) return false;
  const allocation *a = cached(w, first + (u64)low, (u64)(high - low) + bytes, write);
  if (a == NULL) return false;
  u8 *start = host_bytes(w, a) + (first - a->base);
  for (int l = 0; l < LANES; l++) at[l] = start + distance[l];
  return true;
}

bool global_lanes(wave *w, const inst *i, u64 mask, const u64 address[LANES], u32 bytes, bool write, u8 *at[LANES]) {
  if (mask == 0 || lanes_together(w, mask, address, bytes, write, at)) return true;
  for (; mask != 0; mask &= mask - 1) {
    int l = __builtin_ctzll(mask);
    at[l] = global_pointer(w, i, l, address[l], bytes, write);
    if (at[l] == NULL) return false;
  }
  return true;
}

void global_load(wave *w, const inst *i, u64 mask, const u64 address[LANES], u32 bytes, u32 (*rows)[LANES]) {
  u8 *at[LANES];
  if (!global_lanes(w, i, mask, address, bytes, false, at)) return;
  lanes_gather(at, mask, bytes, rows);
  watch_access(w, i,
               &(memory_access){SPACE_GLOBAL, ACCESS_LOAD, .to_lds = loads_to_lds(i), .bytes = bytes, .mask = mask,
                                .address = address, .rows = (const u32(*)[LANES])rows});
}

/* The lanes that will write other bytes than are there. */
static u64 lanes_changed(u8 *const at[LANES], u64 mask, u32 bytes, const u32 (*rows)[LANES]) {
  u64 changed = 0;
  for (u64 left = mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    bool other = bytes < 4 && memcmp(at[l], &rows[0][l], bytes) != 0;
    for (u32 r = 0; r < bytes / 4; r++) other |= memcmp(at[l] + 4 * r, &rows[r][l], 4) != 0;
    changed |= (u64)other << l;
  }
  return changed;
}

void global_store(wave *w, const inst *i, u64 mask, const u64 address[LANES], u32 bytes, const u32 (*rows)[LANES]) {
  u8 *at[LANES];
  if (!global_lanes(w, i, mask, address, bytes, true, at)) return;
  u64 changed = w->watched ? lanes_changed(at, mask, bytes, rows) : 0;
  lanes_scatter(at, mask, bytes, rows);
  watch_access(w, i,
               &(memory_access){SPACE_GLOBAL, ACCESS_STORE, .bytes = bytes, .mask = mask, .changed = changed,
                                .address = address, .rows = rows});
}

/* ---- LDS ---- */

static u8 *lds_pointer(wave *w, const inst *i, int lane, u32 address, u32 bytes, bool write) {
  u32 size = w->group->launch->lds_bytes;
  if (!aligned(w, i, &(bad_access){GFXSIM_ACCESS_MISALIGNED, GFXSIM_SPACE_LDS, write, lane, address, bytes})) return NULL;
  if (address <= size && bytes <= size - address) return w->group->lds + address;
  wave_fault_access(w, i, &(bad_access){GFXSIM_ACCESS_BEYOND, GFXSIM_SPACE_LDS, write, lane, address, bytes},
                    "%s %u bytes of LDS at offset %u; the workgroup has %u bytes", write ? "writes" : "reads", bytes, address,
                    size);
  return NULL;
}

bool lds_lanes(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, bool write, u8 *at[LANES]) {
  u32 size = w->group->launch->lds_bytes, high = 0, bits = 0;
  for (int l = 0; l < LANES; l++) {
    u32 own = (mask >> l & 1) != 0 ? address[l] : 0;
    high = own > high ? own : high;
    bits |= own;
    at[l] = w->group->lds + own;
  }
  if (high <= size && bytes <= size - high && bits % alignment(bytes) == 0) return true;
  for (; mask != 0; mask &= mask - 1) {
    int l = __builtin_ctzll(mask);
    if (lds_pointer(w, i, l, address[l], bytes, write) == NULL) return false;
  }
  return true;
}

void lds_load(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, u32 (*rows)[LANES]) {
  u8 *at[LANES];
  if (!lds_lanes(w, i, mask, address, bytes, false, at)) return;
  lanes_gather(at, mask, bytes, rows);
  watch_access(w, i,
               &(memory_access){SPACE_LDS, ACCESS_LOAD, .bytes = bytes, .mask = mask, .offset = address,
                                .rows = (const u32(*)[LANES])rows});
}

void lds_store(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, const u32 (*rows)[LANES]) {
  u8 *at[LANES];
  if (!lds_lanes(w, i, mask, address, bytes, true, at)) return;
  u64 changed = w->watched ? lanes_changed(at, mask, bytes, rows) : 0;
  lanes_scatter(at, mask, bytes, rows);
  watch_access(w, i,
               &(memory_access){SPACE_LDS, ACCESS_STORE, .to_lds = loads_to_lds(i), .bytes = bytes, .mask = mask,
                                .changed = changed, .offset = address, .rows = rows});
}

/* ---- Scratch ---- */

static bool scratch_holds(wave *w, const inst *i, int lane, u32 address, u32 bytes, bool write) {
  u32 size = w->group->launch->scratch_bytes;
  if (address <= size && bytes <= size - address) return true;
  wave_fault_access(w, i, &(bad_access){GFXSIM_ACCESS_BEYOND, GFXSIM_SPACE_SCRATCH, write, lane, address, bytes},
                    "%s %u bytes of scratch at offset %u; a lane has %u bytes", write ? "writes" : "reads", bytes, address,
                    size);
  return false;
}

static u8 *scratch_byte(wave *w, int lane, u32 address) {
  return w->scratch + ((size_t)(address >> 2) * LANES + (size_t)lane) * 4 + (address & 3);
}

/* The usual access: every lane the same dwords, each of which is a row of 64 lanes. NULL where it is another one. */
static u32 (*scratch_rows(wave *w, u64 mask, const u32 address[LANES], u32 bytes))[LANES] {
  if (mask == 0) return NULL;
  u32 first = address[__builtin_ctzll(mask)], size = w->group->launch->scratch_bytes, difference = 0;
  for (int l = 0; l < LANES; l++) difference |= (mask >> l & 1) != 0 ? address[l] ^ first : 0;
  if (difference != 0 || (first | bytes) % 4 != 0 || first > size || bytes > size - first) return NULL;
  return (u32(*)[LANES])(void *)w->scratch + first / 4;
}

void scratch_load(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, u32 (*rows)[LANES]) {
  const u32(*together)[LANES] = (const u32(*)[LANES])scratch_rows(w, mask, address, bytes);
  for (u32 r = 0; r < bytes / 4 && together != NULL; r++) write_row(rows[r], together[r], mask);
  for (u64 left = together == NULL ? mask : 0; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    if (!scratch_holds(w, i, l, address[l], bytes, false)) return;
    u8 data[16] = {0};
    for (u32 b = 0; b < bytes; b++) data[b] = *scratch_byte(w, l, address[l] + b);
    for (u32 r = 0; r < (bytes + 3) / 4; r++) memcpy(&rows[r][l], data + 4 * r, 4);
  }
  watch_access(w, i,
               &(memory_access){SPACE_SCRATCH, ACCESS_LOAD, .to_lds = loads_to_lds(i), .bytes = bytes, .mask = mask,
                                .offset = address, .rows = (const u32(*)[LANES])rows});
}

void scratch_store(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, const u32 (*rows)[LANES]) {
  u32(*together)[LANES] = scratch_rows(w, mask, address, bytes);
  for (u32 r = 0; r < bytes / 4 && together != NULL; r++) write_row(together[r], rows[r], mask);
  for (u64 left = together == NULL ? mask : 0; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    if (!scratch_holds(w, i, l, address[l], bytes, true)) return;
    u8 data[16] = {0}; /* gcc 14 does not see that the first loop fills what the second one reads */
    for (u32 r = 0; r < (bytes + 3) / 4; r++) memcpy(data + 4 * r, &rows[r][l], 4);
    for (u32 b = 0; b < bytes; b++) *scratch_byte(w, l, address[l] + b) = data[b];
  }
  watch_access(w, i,
               &(memory_access){SPACE_SCRATCH, ACCESS_STORE, .bytes = bytes, .mask = mask, .offset = address, .rows = rows});
}

void load_return(wave *w, const inst *i, int n, u64 mask, u32 (*rows)[LANES], u32 count) {
  u32(*to)[LANES] = operand_rows(w, i, n);
  for (u32 r = 0; r < count; r++) write_row(to[r], rows[r], mask);
}
