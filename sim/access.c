#include "access.h"

#include <inttypes.h>

#include "ops.h"
#include "watch.h"

/* ---- Global ---- */

static u64 reach(const wave *w, const allocation *a) {
  if (!w->group->launch->device->options.loose_bounds) return a->size;
  return (a->size + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE;
}

static bool holds(const wave *w, const allocation *a, u64 address, u32 bytes, bool write) {
  u64 size = reach(w, a);
  return a->data != NULL && (a->writable || !write) && address - a->base < size && bytes <= size - (address - a->base);
}

static allocation *cached(wave *w, u64 address, u32 bytes, bool write) {
  for (int c = 0; c < WAVE_CACHE; c++) {
    allocation *a = w->cache[c];
    if (a != NULL && holds(w, a, address, bytes, write)) return a;
  }
  allocation *a = memory_find(&w->group->launch->device->memory, address);
  if (a == NULL || !holds(w, a, address, bytes, write)) return NULL;
  memmove(w->cache + 1, w->cache, (WAVE_CACHE - 1) * sizeof *w->cache);
  return w->cache[0] = a;
}

static void global_fault(wave *w, const inst *i, int lane, u64 address, u32 bytes, bool write) {
  const char *verb = write ? "write" : "read";
  const allocation *a = memory_find(&w->group->launch->device->memory, address);
  if (a == NULL)
    wave_fault(w, i, GFXSIM_OUT_OF_BOUNDS, lane, address, "%s of %u bytes: no allocation is near", verb, bytes);
  else if (address - a->base < a->size && a->data == NULL)
    wave_fault(w, i, GFXSIM_AFTER_FREE, lane, address, "%s of %u bytes: %" PRIu64 " bytes into a freed allocation of %" PRIu64,
               verb, bytes, address - a->base, a->size);
  else if (address - a->base < a->size && !a->writable && write)
    wave_fault(w, i, GFXSIM_OUT_OF_BOUNDS, lane, address, "write of %u bytes into code or kernel arguments", bytes);
  else
    wave_fault(w, i, GFXSIM_OUT_OF_BOUNDS, lane, address,
               "%s of %u bytes: starts %" PRIu64 " bytes into an allocation of %" PRIu64, verb, bytes, address - a->base,
               a->size);
}

u8 *global_pointer(wave *w, const inst *i, int lane, u64 address, u32 bytes, bool write) {
  u32 align = bytes >= 4 ? 4 : bytes;
  if (address % align != 0 && (w->group->launch->device->options.unchecked & GFXSIM_CHECK_ALIGN) == 0) {
    wave_fault(w, i, GFXSIM_MISALIGNED, lane, address, "access of %u bytes: must be aligned to %u", bytes, align);
    return NULL;
  }
  const allocation *a = cached(w, address, bytes, write);
  if (a != NULL) return a->data + (address - a->base);
  global_fault(w, i, lane, address, bytes, write);
  return NULL;
}

void global_load(wave *w, const inst *i, u64 mask, const u64 address[LANES], u32 bytes, u32 (*rows)[LANES]) {
  for (u64 left = mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    const u8 *from = global_pointer(w, i, l, address[l], bytes, false);
    if (from == NULL) return;
    u32 data[4] = {0};
    memcpy(data, from, bytes);
    for (u32 r = 0; r < (bytes + 3) / 4; r++) rows[r][l] = data[r];
  }
  watch_access(w, i,
               &(memory_access){SPACE_GLOBAL, ACCESS_LOAD, .to_lds = loads_to_lds(i), .bytes = bytes, .mask = mask,
                                .address = address, .rows = (const u32(*)[LANES])rows});
}

void global_store(wave *w, const inst *i, u64 mask, const u64 address[LANES], u32 bytes, const u32 (*rows)[LANES]) {
  for (u64 left = mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    u8 *to = global_pointer(w, i, l, address[l], bytes, true);
    if (to == NULL) return;
    u32 data[4] = {0};
    for (u32 r = 0; r < (bytes + 3) / 4; r++) data[r] = rows[r][l];
    memcpy(to, data, bytes);
  }
  watch_access(w, i,
               &(memory_access){SPACE_GLOBAL, ACCESS_STORE, .bytes = bytes, .mask = mask, .address = address, .rows = rows});
}

/* ---- LDS ---- */

u8 *lds_pointer(wave *w, const inst *i, int lane, u32 address, u32 bytes, bool write) {
  u32 size = w->group->launch->lds_bytes;
  if (address <= size && bytes <= size - address) return w->group->lds + address;
  wave_fault(w, i, GFXSIM_OUT_OF_BOUNDS, lane, address, "LDS %s of %u bytes: the workgroup has %u", write ? "write" : "read",
             bytes, size);
  return NULL;
}

void lds_load(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, u32 (*rows)[LANES]) {
  for (u64 left = mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    const u8 *from = lds_pointer(w, i, l, address[l], bytes, false);
    if (from == NULL) return;
    u32 data[4] = {0};
    memcpy(data, from, bytes);
    for (u32 r = 0; r < (bytes + 3) / 4; r++) rows[r][l] = data[r];
  }
  watch_access(w, i,
               &(memory_access){SPACE_LDS, ACCESS_LOAD, .bytes = bytes, .mask = mask, .offset = address,
                                .rows = (const u32(*)[LANES])rows});
}

void lds_store(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, const u32 (*rows)[LANES]) {
  for (u64 left = mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    u8 *to = lds_pointer(w, i, l, address[l], bytes, true);
    if (to == NULL) return;
    u32 data[4] = {0};
    for (u32 r = 0; r < (bytes + 3) / 4; r++) data[r] = rows[r][l];
    memcpy(to, data, bytes);
  }
  watch_access(w, i,
               &(memory_access){SPACE_LDS, ACCESS_STORE, .to_lds = loads_to_lds(i), .bytes = bytes, .mask = mask,
                                .offset = address, .rows = rows});
}

/* ---- Scratch ---- */

static bool scratch_holds(wave *w, const inst *i, int lane, u32 address, u32 bytes, bool write) {
  u32 size = w->group->launch->scratch_bytes;
  if (address <= size && bytes <= size - address) return true;
  wave_fault(w, i, GFXSIM_OUT_OF_BOUNDS, lane, address, "scratch %s of %u bytes: a lane has %u", write ? "write" : "read",
             bytes, size);
  return false;
}

static u8 *scratch_byte(wave *w, int lane, u32 address) {
  return w->scratch + ((size_t)(address >> 2) * LANES + (size_t)lane) * 4 + (address & 3);
}

void scratch_load(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, u32 (*rows)[LANES]) {
  for (u64 left = mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    if (!scratch_holds(w, i, l, address[l], bytes, false)) return;
    u8 data[16] = {0};
    for (u32 b = 0; b < bytes; b++) data[b] = *scratch_byte(w, l, address[l] + b);
    for (u32 r = 0; r < (bytes + 3) / 4; r++) memcpy(&rows[r][l], data + 4 * r, 4);
  }
  watch_access(w, i,
               &(memory_access){SPACE_SCRATCH, ACCESS_LOAD, .bytes = bytes, .mask = mask, .offset = address,
                                .rows = (const u32(*)[LANES])rows});
}

void scratch_store(wave *w, const inst *i, u64 mask, const u32 address[LANES], u32 bytes, const u32 (*rows)[LANES]) {
  for (u64 left = mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    if (!scratch_holds(w, i, l, address[l], bytes, true)) return;
    u8 data[16];
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
