#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE */
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mapped.h"
#include "sim/base/error.h"
#include "sim/base/pages.h"

enum { GAP = 65536 };
static const u64 wide_array = UINT64_C(1) << 30, wide_gap = UINT64_C(1) << 34;
static const u64 first_address = UINT64_C(1) << 40; /* far from 0, and far below the apertures at 2^48 */
static const u64 last_address = UINT64_C(1) << 47;

/* The address range of one device. 16 of them end at 2^46: below the addresses of programs, heaps and libraries on Linux. */
enum { PLACE_BITS = 42 };

void memory_init(memory *m) { *m = (memory){.first = first_address, .next = first_address}; }

void memory_place(memory *m, u32 number) { m->first = m->next = first_address + ((u64)number << PLACE_BITS); }

int memory_place_of(u64 address) {
  u64 place = (address - first_address) >> PLACE_BITS;
  return address >= first_address && place < MEMORY_DEVICES_MOST ? (int)place : -1;
}

void memory_release(memory *m) {
  for (size_t a = 0; a < m->count; a++) {
    memory_drop(m, m->sorted[a]);
    free(m->sorted[a]);
  }
  free(m->sorted);
  free(m->reserved);
  mapped_free(m->mapped);
  memory_init(m);
}

static bool grow(memory *m) {
  if (m->count < m->capacity) return true;
  size_t capacity = m->capacity == 0 ? 64 : 2 * m->capacity;
  allocation **sorted = realloc(m->sorted, capacity * sizeof *sorted);
  if (sorted == NULL) return false;
  m->sorted = sorted;
  m->capacity = capacity;
  return true;
}

/* As f32, f16 and bf16 an implausible number: what nobody wrote should look wrong. */
enum { POISON = 0xfb };

/* Bytes of the host's block for an allocation. It begins at the same place within a page as the device's addresses do, so that
 * host bytes are aligned as the device's are. */
static u64 block_of(u64 address, u64 bytes) {
  u64 pages = (bytes + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE;
  return address % MEMORY_PAGE == 0 ? pages : pages + MEMORY_PAGE;
}

static u8 *block_make(u64 bytes, u8 value) {
  if (bytes >= PAGES_LEAST) return pages_make(bytes, value);
  u8 *made = value != 0 ? aligned_alloc(MEMORY_PAGE, bytes) : calloc(1, bytes);
  if (made != NULL && value != 0) memset(made, value, bytes);
  return made;
}

static void block_free(u8 *at, u64 bytes) {
  if (bytes >= PAGES_LEAST)
    pages_free(at, bytes);
  else
    free(at);
}

/* A kernel before Linux 4.17 takes the address for a hint. */
static u8 *block_on_host(u64 address, u64 bytes) {
  void *wanted = (void *)(uintptr_t)address;
  void *at =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == wanted) return at;
  if (at != MAP_FAILED) munmap(at, bytes);
  return NULL;
}

static void data_free(u8 *at, u64 bytes, bool on_host) {
  if (!on_host)
    block_free(at, bytes);
  else if (at != NULL)
    munmap(at, bytes);
}

/* An allocation at an address that nobody has, not in m->sorted yet. */
static gfxsim_status make(memory *m, u64 address, u64 bytes, bool writable, bool on_host, allocation **made) {
  u64 into = address % MEMORY_PAGE, block = block_of(address, bytes);
  allocation *a = calloc(1, sizeof *a);
  u8 *data = on_host ? block_on_host(address, block) : block_make(block, POISON);
  u8 *undefined = m->checked ? block_make(block, 0) : NULL;
  if (a == NULL || data == NULL || (m->checked && undefined == NULL) || !grow(m)) {
    free(a);
    data_free(data, block, on_host);
    block_free(undefined, block);
    return fail(GFXSIM_NO_MEMORY, "alloc: bytes = %" PRIu64 ": the host has no memory left%s", bytes,
                on_host && data == NULL ? " at the device's address" : "");
  }
  *a = (allocation){.base = address, .size = bytes, .data = data + into, .writable = writable, .on_host = on_host};
  if (m->checked) a->undefined = undefined + into;
  m->used += bytes;
  *made = a;
  return GFXSIM_OK;
}

static gfxsim_status alloc(memory *m, u64 bytes, bool writable, bool on_host, allocation **made) {
  if (bytes == 0) return fail(GFXSIM_INVALID, "alloc: bytes = 0: must be positive");
  if (bytes > last_address - GAP - m->next)
    return fail(GFXSIM_NO_MEMORY, "alloc: bytes = %" PRIu64 ": no addresses left", bytes);
  gfxsim_status status = make(m, m->next, bytes, writable, on_host, made);
  if (status != GFXSIM_OK) return status;
  m->next += (bytes + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE + GAP;
  m->sorted[m->count++] = *made;
  return GFXSIM_OK;
}

gfxsim_status memory_alloc(memory *m, u64 bytes, bool writable, allocation **made) {
  return alloc(m, bytes, writable, false, made);
}

gfxsim_status memory_alloc_on_host(memory *m, u64 bytes, allocation **made) { return alloc(m, bytes, true, true, made); }

/* ---- Reservations ---- */

static bool grow_reserved(memory *m) {
  if (m->reserved_count < m->reserved_capacity) return true;
  size_t capacity = m->reserved_capacity == 0 ? 16 : 2 * m->reserved_capacity;
  reservation *reserved = realloc(m->reserved, capacity * sizeof *reserved);
  if (reserved == NULL) return false;
  m->reserved = reserved;
  m->reserved_capacity = capacity;
  return true;
}

gfxsim_status memory_reserve(memory *m, const char *name, u64 offset, u64 bytes, u64 *base) {
  u64 gap = bytes > wide_array ? wide_gap : GAP, left = last_address - m->next;
  if (offset > left || bytes > left - offset || 2 * gap + MEMORY_PAGE > left - offset - bytes)
    return fail(GFXSIM_NO_MEMORY, "reserve: bytes = %" PRIu64 ": no addresses left", bytes);
  if (!grow_reserved(m)) return fail(GFXSIM_NO_MEMORY, "reserve: the host has no memory left");
  reservation r = {.base = m->next + gap + offset, .size = bytes, .low = m->next};
  r.high = (r.base + bytes + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE + gap;
  snprintf(r.name, sizeof r.name, "%s", name);
  m->next = r.high;
  m->reserved[m->reserved_count++] = r;
  *base = r.base;
  return GFXSIM_OK;
}

const reservation *memory_reservation(const memory *m, u64 address) {
  for (size_t r = m->reserved_count; r > 0; r--)
    if (address >= m->reserved[r - 1].low && address < m->reserved[r - 1].high) return &m->reserved[r - 1];
  return NULL;
}

gfxsim_status memory_map(memory *m, u64 address, u64 bytes) {
  const reservation *r = memory_reservation(m, address);
  const allocation *before = memory_find(m, address + bytes - 1);
  if (r == NULL || bytes == 0 || address < r->base || bytes > r->size || address - r->base > r->size - bytes)
    return fail(GFXSIM_INVALID, "map: address = 0x%" PRIx64 ", bytes = %" PRIu64 ": must lie in one reserved array", address,
                bytes);
  if (before != NULL && before->base + before->size > address)
    return fail(GFXSIM_INVALID, "map: address = 0x%" PRIx64 ", bytes = %" PRIu64 ": a part is memory already", address, bytes);
  allocation *a;
  gfxsim_status status = make(m, address, bytes, true, false, &a);
  if (status != GFXSIM_OK) return status;
  size_t at = m->count++;
  for (; at > 0 && m->sorted[at - 1]->base > address; at--) m->sorted[at] = m->sorted[at - 1];
  m->sorted[at] = a;
  memory_written(m, address, bytes, false);
  return GFXSIM_OK;
}

gfxsim_status memory_unreserve(memory *m, u64 base) {
  size_t at = m->reserved_count;
  while (at > 0 && m->reserved[at - 1].base != base) at--;
  if (at == 0) return fail(GFXSIM_INVALID, "unreserve: address = 0x%" PRIx64 ": must be the begin of a reserved array", base);
  reservation r = m->reserved[at - 1];
  size_t a = m->count;
  bool last = m->next == r.high; /* nothing lies above it */
  while (a > 0 && m->sorted[a - 1]->base >= r.low) {
    allocation *own = m->sorted[--a];
    if (own->base >= r.high) continue;
    memory_drop(m, own);
    if (!last) continue;
    free(own);
    m->count--;
  }
  if (last) m->next = r.low;
  memmove(m->reserved + at - 1, m->reserved + at, (m->reserved_count - at) * sizeof r);
  m->reserved_count--;
  return GFXSIM_OK;
}

/* ---- What is there ---- */

void memory_drop(memory *m, allocation *a) {
  u64 into = a->base % MEMORY_PAGE, block = block_of(a->base, a->size);
  if (a->data != NULL) {
    data_free(a->data - into, block, a->on_host);
    m->used -= a->size;
  }
  if (a->undefined != NULL) block_free(a->undefined - into, block);
  free(a->parts);
  a->data = a->undefined = NULL;
  a->parts = NULL;
  a->part_count = 0;
}

bool memory_writable(const allocation *a, u64 offset, u64 bytes) {
  size_t low = 0, high = a->part_count; /* the first part that ends after the offset */
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (a->parts[middle].end <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  bool inside = low < a->part_count && a->parts[low].begin <= offset && bytes <= a->parts[low].end - offset;
  return a->writable || inside;
}

void memory_written(const memory *m, u64 address, u64 bytes, bool written) {
  const allocation *a = memory_find(m, address);
  if (!m->checked) return;
  u64 block = block_of(a->base, a->size);
  if (!written && address == a->base && bytes == a->size && address % MEMORY_PAGE == 0 && block >= PAGES_LEAST)
    pages_set(a->undefined, block, 0xff);
  else
    memset(a->undefined + (address - a->base), written ? 0 : 0xff, bytes);
}

void memory_pop(memory *m) {
  allocation *a = m->sorted[--m->count];
  m->next = a->base;
  memory_drop(m, a);
  free(a);
}

allocation *memory_find(const memory *m, u64 address) {
  if (!memory_owns(m, address)) {
    int place = memory_place_of(address);
    if (place >= 0 && m->peers[place] != NULL && memory_owns(m->peers[place], address)) m = m->peers[place];
  }
  if (m->mapped != NULL && !memory_owns(m, address)) {
    allocation *host = mapped_find(m->mapped, address);
    if (host != NULL) return host;
  }
  size_t low = 0, high = m->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (m->sorted[middle]->base <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? NULL : m->sorted[low - 1];
}

bool memory_owns(const memory *m, u64 address) { return address >= m->first && address < m->next; }

u64 memory_used(const memory *m) { return m->used; }

u8 *memory_range(const memory *m, u64 address, u64 bytes, const char *what) {
  allocation *a = memory_find(m, address);
  if (a != NULL && a->data != NULL && address - a->base <= a->size && bytes <= a->size - (address - a->base))
    return a->data + (address - a->base);
  if (a != NULL && a->data == NULL && address - a->base < a->size)
    fail(GFXSIM_INVALID, "%s: address = 0x%" PRIx64 ": was freed", what, address);
  else
    fail(GFXSIM_INVALID, "%s: address = 0x%" PRIx64 ", bytes = %" PRIu64 ": must lie in one allocation", what, address, bytes);
  return NULL;
}
