/* Plans, kept by their description. The table has at most MOST plans: the one that was used longest ago goes. A plan that
 * another thread runs stays until that run is done. The GIL guards the table. */
#include <stdlib.h>
#include <string.h>

#include "binding.h"

enum { BUCKETS = 1024, MOST = 512 };

struct cached {
  struct cached *next;          /* in its bucket */
  struct cached *newer, *older; /* by use */
  plan_key key;
  uint64_t hash;
  tdm_plan *plan;
  int runs;     /* that are on their way */
  bool dropped; /* not in the table */
};

static struct cached *buckets[BUCKETS], *newest, *oldest;
static long count, hits, misses;

static uint64_t hash_of(const plan_key *key) {
  const unsigned char *bytes = (const unsigned char *)key;
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i + 8 <= sizeof *key; i += 8) {
    uint64_t part;
    memcpy(&part, bytes + i, 8);
    hash = (hash ^ part) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 29;
  }
  return hash;
}
_Static_assert(sizeof(plan_key) % 8 == 0, "hash_of reads pieces of 8 bytes");

static void unlink_use(struct cached *c) {
  *(c->newer != NULL ? &c->newer->older : &newest) = c->older;
  *(c->older != NULL ? &c->older->newer : &oldest) = c->newer;
}
static void link_newest(struct cached *c) {
  c->newer = NULL;
  c->older = newest;
  *(newest != NULL ? &newest->newer : &oldest) = c;
  newest = c;
}

static struct cached *find(const plan_key *key, uint64_t hash) {
  struct cached *c = buckets[hash % BUCKETS];
  while (c != NULL && (c->hash != hash || memcmp(&c->key, key, sizeof *key) != 0)) c = c->next;
  return c;
}

static void destroy(struct cached *c) {
  (void)tdm_plan_free(c->plan); /* freed even if the device refused something */
  free(c);
}

static void drop(struct cached *c) {
  struct cached **at = &buckets[c->hash % BUCKETS];
  while (*at != c) at = &(*at)->next;
  *at = c->next;
  unlink_use(c);
  count--;
  c->dropped = true;
  if (c->runs == 0) destroy(c);
}

cached *cache_plan(const call *c) {
  uint64_t hash = hash_of(&c->key);
  struct cached *found = find(&c->key, hash);
  if (found != NULL) {
    hits++;
    if (found != newest) {
      unlink_use(found);
      link_newest(found);
    }
    found->runs++;
    return found;
  }
  if (torch_not_capturing(c->op->name, c->first) < 0) return NULL;
  misses++;
  tdm_plan *plan = NULL;
  tdm_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = c->op->plan(c->key.context, &c->key, &plan);
  Py_END_ALLOW_THREADS;
  if (status != TDM_OK) {
    raise_status(c->op, status, tdm_last_error());
    return NULL;
  }
  struct cached *made = calloc(1, sizeof *made);
  if (made == NULL) {
    (void)tdm_plan_free(plan);
    PyErr_NoMemory();
    return NULL;
  }
  made->key = c->key;
  made->hash = hash;
  made->plan = plan;
  made->runs = 1;
  if (find(&c->key, hash) != NULL) { /* another thread was faster: this one serves its call and goes */
    made->dropped = true;
    return made;
  }
  if (count >= MOST) drop(oldest);
  made->next = buckets[hash % BUCKETS];
  buckets[hash % BUCKETS] = made;
  link_newest(made);
  count++;
  return made;
}

const tdm_plan *cache_get(const cached *entry) { return entry->plan; }

void cache_leave(cached *entry) {
  if (--entry->runs == 0 && entry->dropped) destroy(entry);
}

PyObject *cache_info(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  return Py_BuildValue("{s:l,s:l,s:l,s:i}", "hits", hits, "misses", misses, "plans", count, "most", (int)MOST);
}

PyObject *cache_clear(PyObject *module, PyObject *none) {
  (void)module, (void)none;
  while (oldest != NULL) drop(oldest);
  hits = misses = 0;
  Py_RETURN_NONE;
}
