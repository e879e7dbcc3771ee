#include "function.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

typedef struct row {
  char *name;
  u64 address, bytes;
} row;

struct functions {
  row *rows;
  size_t count, capacity;
};

static bool grow(functions *list) {
  if (list->count < list->capacity) return true;
  size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
  row *rows = realloc(list->rows, capacity * sizeof *rows);
  if (rows == NULL) return false;
  list->rows = rows;
  list->capacity = capacity;
  return true;
}

gfxsim_status functions_add(functions **list, const char *name, u64 address, u64 bytes) {
  if (*list == NULL) *list = calloc(1, sizeof **list);
  char *copy = strdup(name);
  if (*list == NULL || copy == NULL || !grow(*list)) {
    free(copy);
    return fail(GFXSIM_NO_MEMORY, "load: no memory");
  }
  (*list)->rows[(*list)->count++] = (row){copy, address, bytes};
  return GFXSIM_OK;
}

/* Asked once for each finding: no order is kept. */
const char *functions_find(const functions *list, u64 address) {
  for (size_t n = 0; list != NULL && n < list->count; n++)
    if (address >= list->rows[n].address && address - list->rows[n].address < list->rows[n].bytes) return list->rows[n].name;
  return "";
}

void functions_free(functions *list) {
  if (list == NULL) return;
  for (size_t n = 0; n < list->count; n++) free(list->rows[n].name);
  free(list->rows);
  free(list);
}
