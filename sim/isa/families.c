/* The list of families and the search by name. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sim/isa/op/ops.h"

const family *const families[] = {
#define FAMILY_NAME(name) &family_##name,
#include "families.def"
#undef FAMILY_NAME
    NULL};

typedef struct entry {
  const op *op;
  const family *family;
} entry;

enum { ENTRIES_MOST = 4096 };
static entry sorted[ENTRIES_MOST];
static size_t count;

static int by_name(const void *a, const void *b) { return strcmp(((const entry *)a)->op->name, ((const entry *)b)->op->name); }

static void sort_all(void) {
  for (int f = 0; families[f] != NULL; f++)
    for (size_t o = 0; o < families[f]->count && count < ENTRIES_MOST; o++)
      sorted[count++] = (entry){&families[f]->ops[o], families[f]};
  qsort(sorted, count, sizeof *sorted, by_name);
}

const op *op_find(const char *name, const family **of) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, sort_all);
  entry *found = bsearch(&(entry){&(op){.name = name}, NULL}, sorted, count, sizeof *sorted, by_name);
  if (found == NULL) return NULL;
  *of = found->family;
  return found->op;
}
