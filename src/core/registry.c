/* The addresses of a context's allocations: a hash table with open addressing and linear probing. */
#include <stdlib.h>

#include "context.h"

/* Allocations begin at multiples of 256 bytes, so the lowest bit of an address is free. */
enum { FIRST_SIZE = 64, BEING_FREED = 1 };

tdm_status tdm_registry_open(tdm_registry *registry) {
  *registry = (tdm_registry){0};
  if (pthread_mutex_init(&registry->lock, NULL) == 0) return TDM_OK;
  return tdm_fail(TDM_ERROR_MEMORY, "open: no memory for a lock");
}

void tdm_registry_close(tdm_registry *registry) {
  pthread_mutex_destroy(&registry->lock);
  free(registry->slots);
}

/* The slot where a search for this address begins. The constant is 2^64 over the golden ratio: it spreads neighbours. */
static size_t home(const tdm_registry *r, uintptr_t address) {
  return (size_t)((address >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (r->size - 1);
}

static void insert(tdm_registry *r, uintptr_t address) {
  size_t i = home(r, address);
  while (r->slots[i] != 0) i = (i + 1) & (r->size - 1);
  r->slots[i] = address;
}

/* The slot with this value, or size. For a moment an address can be there twice: freed, and allocated again by another
 * thread before the first thread has called tdm_registry_settle. */
static size_t search(const tdm_registry *r, uintptr_t address, uintptr_t value) {
  if (r->size == 0) return 0;
  for (size_t i = home(r, address); r->slots[i] != 0; i = (i + 1) & (r->size - 1))
    if (r->slots[i] == value) return i;
  return r->size;
}

/* Empties a slot, and moves those after it that a search would no longer reach. */
static void erase(tdm_registry *r, size_t hole) {
  size_t mask = r->size - 1;
  for (size_t i = (hole + 1) & mask; r->slots[i] != 0; i = (i + 1) & mask) {
    size_t from_home = (i - home(r, r->slots[i] & ~(uintptr_t)BEING_FREED)) & mask;
    if (from_home < ((i - hole) & mask)) continue;
    r->slots[hole] = r->slots[i];
    hole = i;
  }
  r->slots[hole] = 0;
}

static tdm_status grow(tdm_registry *r) {
  size_t size = r->size == 0 ? FIRST_SIZE : 2 * r->size;
  tdm_registry larger = {.slots = calloc(size, sizeof *r->slots), .size = size};
  if (larger.slots == NULL)
    return tdm_fail(TDM_ERROR_MEMORY, "alloc: no memory for a table of allocations of %zu bytes", size * sizeof *r->slots);
  for (size_t i = 0; i < r->size; i++)
    if (r->slots[i] != 0) {
      size_t at = home(&larger, r->slots[i] & ~(uintptr_t)BEING_FREED);
      while (larger.slots[at] != 0) at = (at + 1) & (size - 1);
      larger.slots[at] = r->slots[i];
    }
  free(r->slots);
  r->slots = larger.slots;
  r->size = size;
  return TDM_OK;
}

tdm_status tdm_registry_reserve(tdm_registry *r) {
  pthread_mutex_lock(&r->lock);
  tdm_status status = 2 * (r->count + 1) > r->size ? grow(r) : TDM_OK;
  if (status == TDM_OK) r->count++;
  pthread_mutex_unlock(&r->lock);
  return status;
}

void tdm_registry_add(tdm_registry *r, const void *pointer) {
  pthread_mutex_lock(&r->lock);
  if (pointer != NULL)
    insert(r, (uintptr_t)pointer);
  else
    r->count--;
  pthread_mutex_unlock(&r->lock);
}

bool tdm_registry_take(tdm_registry *r, const void *pointer) {
  uintptr_t address = (uintptr_t)pointer;
  if ((address & BEING_FREED) != 0) return false;
  pthread_mutex_lock(&r->lock);
  size_t i = search(r, address, address);
  bool found = i < r->size;
  if (found) r->slots[i] |= BEING_FREED;
  pthread_mutex_unlock(&r->lock);
  return found;
}

void tdm_registry_settle(tdm_registry *r, const void *pointer, bool freed) {
  uintptr_t address = (uintptr_t)pointer;
  pthread_mutex_lock(&r->lock);
  size_t i = search(r, address, address | BEING_FREED);
  if (freed) {
    erase(r, i);
    r->count--;
  } else {
    r->slots[i] = address;
  }
  pthread_mutex_unlock(&r->lock);
}
