#include "memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

enum { GAP = 65536 };
static const u64 first_address = UINT64_C(1) << 40; /* far from 0, and far below the apertures at 2^48 */
static const u64 last_address = UINT64_C(1) << 47;

void memory_init(memory *m) { *m = (memory){.next = first_address}; }

void memory_release(memory *m) {
  for (size_t a = 0; a < m->count; a++) {
    free(m->sorted[a]->data);
    free(m->sorted[a]->undefined);
    free(m->sorted[a]->parts);
    free(m->sorted[a]);
  }
  free(m->sorted);
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

gfxsim_status memory_alloc(memory *m, u64 bytes, bool writable, allocation **made) {
  if (bytes == 0) return fail(GFXSIM_INVALID, "alloc: bytes = 0: must be positive");
  if (bytes > last_address - GAP - m->next)
    return fail(GFXSIM_NO_MEMORY, "alloc: bytes = %" PRIu64 ": no addresses left", bytes);
  u64 pages = (bytes + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE;
  allocation *a = calloc(1, sizeof *a);
  u8 *data = aligned_alloc(MEMORY_PAGE, pages), *undefined = m->checked ? calloc(1, pages) : NULL;
  if (a == NULL || data == NULL || (m->checked && undefined == NULL) || !grow(m)) {
    free(a);
    free(data);
    free(undefined);
    return fail(GFXSIM_NO_MEMORY, "alloc: bytes = %" PRIu64 ": the host has no memory left", bytes);
  }
  memset(data, 0xfb, pages); /* as f32, f16 and bf16 an implausible number: what nobody wrote should look wrong */
  *a = (allocation){.base = m->next, .size = bytes, .data = data, .undefined = undefined, .writable = writable};
  m->next += pages + GAP;
  m->sorted[m->count++] = a;
  *made = a;
  return GFXSIM_OK;
}

void memory_drop(allocation *a) {
  free(a->data);
  free(a->undefined);
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
  if (m->checked) memset(a->undefined + (address - a->base), written ? 0 : 0xff, bytes);
}

void memory_pop(memory *m) {
  allocation *a = m->sorted[--m->count];
  m->next = a->base;
  memory_drop(a);
  free(a);
}

allocation *memory_find(const memory *m, u64 address) {
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

bool memory_owns(const memory *m, u64 address) { return address >= first_address && address < m->next; }

u64 memory_used(const memory *m) {
  u64 used = 0;
  for (size_t a = 0; a < m->count; a++) used += m->sorted[a]->data != NULL ? m->sorted[a]->size : 0;
  return used;
}

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
