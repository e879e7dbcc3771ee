#include "mapped.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/error.h"

typedef struct row {
  allocation *range;
  bool looked_up; /* in /proc/self/maps */
} row;

struct mapped {
  pthread_mutex_t lock; /* of all that follows */
  row *rows;
  size_t count, capacity;
  bool checked, shared;
};

static mapped *make(memory *m) {
  if (m->mapped != NULL) return m->mapped;
  mapped *list = calloc(1, sizeof *list);
  if (list == NULL) return NULL;
  pthread_mutex_init(&list->lock, NULL);
  list->checked = m->checked;
  return m->mapped = list;
}

/* The bytes belong to the host; what tells which of them are undefined is ours: all zeros, and pages that nobody touches cost
 * nothing. */
static void drop(allocation *a) {
  if (a->undefined != NULL) munmap(a->undefined, a->size);
  free(a);
}

/* The caller has the lock. */
static allocation *add(mapped *list, u64 base, u64 bytes, bool writable, bool looked_up) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
    row *rows = realloc(list->rows, capacity * sizeof *rows);
    if (rows == NULL) return NULL;
    list->rows = rows;
    list->capacity = capacity;
  }
  allocation *a = calloc(1, sizeof *a);
  if (a == NULL) return NULL;
  *a = (allocation){.base = base, .size = bytes, .data = (u8 *)(uintptr_t)base, .writable = writable};
  if (list->checked) {
    a->undefined = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (a->undefined == MAP_FAILED) {
      free(a);
      return NULL;
    }
  }
  list->rows[list->count++] = (row){a, looked_up};
  return a;
}

static void remove_row(mapped *list, size_t n) {
  drop(list->rows[n].range);
  list->rows[n] = list->rows[--list->count];
}

gfxsim_status mapped_add(memory *m, void *host, u64 bytes) {
  if (host == NULL || bytes == 0)
    return fail(GFXSIM_INVALID, "map: host = %p, bytes = %" PRIu64 ": must be memory", host, bytes);
  mapped *list = make(m);
  if (list == NULL) return fail(GFXSIM_NO_MEMORY, "map: no memory");
  pthread_mutex_lock(&list->lock);
  bool good = add(list, (u64)(uintptr_t)host, bytes, true, false) != NULL;
  pthread_mutex_unlock(&list->lock);
  return good ? GFXSIM_OK : fail(GFXSIM_NO_MEMORY, "map: no memory");
}

gfxsim_status mapped_remove(memory *m, void *host) {
  mapped *list = m->mapped;
  bool found = false;
  if (list != NULL) pthread_mutex_lock(&list->lock);
  for (size_t n = 0; list != NULL && n < list->count && !found; n++)
    if (!list->rows[n].looked_up && list->rows[n].range->base == (u64)(uintptr_t)host) {
      remove_row(list, n);
      found = true;
    }
  if (list != NULL) pthread_mutex_unlock(&list->lock);
  return found ? GFXSIM_OK : fail(GFXSIM_INVALID, "unmap: host = %p: must be the start of a mapped range", host);
}

gfxsim_status mapped_share(memory *m, bool share) {
  mapped *list = make(m);
  if (list == NULL) return fail(GFXSIM_NO_MEMORY, "share: no memory");
  list->shared = share;
  return GFXSIM_OK;
}

bool mapped_is_shared(const mapped *list) { return list != NULL && list->shared; }

/* The mapping of this process that holds the address, as /proc/self/maps has it, with its neighbours of the same rights: a
 * program's .data and .bss are two mappings, and one variable may lie in both. */
static bool look_up(u64 address, u64 *base, u64 *bytes, bool *writable) {
  FILE *file = fopen("/proc/self/maps", "re");
  if (file == NULL) return false;
  char line[512];
  u64 begin = 0, end = 0;
  bool write = false, beyond = false;
  while (!beyond && fgets(line, sizeof line, file) != NULL) {
    u64 next, next_end;
    char rights[8];
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &next, &next_end, rights) != 3) continue; /* the rest of a long line */
    bool read = rights[0] == 'r', next_write = rights[1] == 'w';
    if (read && next == end && next_write == write) {
      end = next_end;
      continue;
    }
    beyond = address >= begin && address < end;
    if (beyond || !read) continue;
    begin = next;
    end = next_end;
    write = next_write;
  }
  fclose(file);
  *base = begin;
  *bytes = end - begin;
  *writable = write;
  return address >= begin && address < end;
}

bool mapped_is_host(u64 address) {
  u64 base, bytes;
  bool writable;
  return look_up(address, &base, &bytes, &writable);
}

allocation *mapped_find(mapped *list, u64 address) {
  allocation *found = NULL;
  u64 base, bytes;
  bool writable;
  pthread_mutex_lock(&list->lock);
  for (size_t n = 0; n < list->count && found == NULL; n++) {
    allocation *a = list->rows[n].range;
    if (address >= a->base && address - a->base < a->size) found = a;
  }
  /* A device's memory may lie at its own address: it is not the host's. */
  if (found == NULL && list->shared && memory_place_of(address) < 0 && look_up(address, &base, &bytes, &writable))
    found = add(list, base, bytes, writable, true);
  pthread_mutex_unlock(&list->lock);
  return found;
}

void mapped_renew(mapped *list) {
  if (list == NULL) return;
  pthread_mutex_lock(&list->lock);
  for (size_t n = list->count; n-- > 0;)
    if (list->rows[n].looked_up) remove_row(list, n);
  pthread_mutex_unlock(&list->lock);
}

void mapped_free(mapped *list) {
  if (list == NULL) return;
  for (size_t n = 0; n < list->count; n++) drop(list->rows[n].range);
  free(list->rows);
  pthread_mutex_destroy(&list->lock);
  free(list);
}
