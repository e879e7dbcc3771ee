/* The search for a row by its name. */
#include <pthread.h>
#include <string.h>

#include "inst.h"

/* Rows by the hash of their name. The links are the families' own, one for each row, so that there is no table to outgrow. */
enum { BUCKETS = 1024 };
static op_link *buckets[BUCKETS];

static op_link **bucket_of(const char *name) {
  u32 hash = 2166136261u; /* FNV-1a */
  for (; *name != '\0'; name++) hash = (hash ^ (u8)*name) * 16777619u;
  return &buckets[hash % BUCKETS];
}

static void link_all(void) {
  for (int f = 0; built_in_families[f] != NULL; f++)
    for (size_t o = 0; o < built_in_families[f]->count; o++) {
      op_link **bucket = bucket_of(built_in_families[f]->ops[o].name);
      built_in_families[f]->links[o] = (op_link){&built_in_families[f]->ops[o], built_in_families[f], *bucket};
      *bucket = &built_in_families[f]->links[o];
    }
}

const op *op_find(const char *name, const family **of) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, link_all);
  for (const op_link *at = *bucket_of(name); at != NULL; at = at->next) {
    if (strcmp(at->op->name, name) != 0) continue;
    *of = at->family;
    return at->op;
  }
  return NULL;
}
