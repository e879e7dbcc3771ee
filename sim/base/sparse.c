#include "sparse.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "pages.h"

enum { SPARSE_PAGES = 1 << 15 };

typedef struct slot {
  _Atomic u64 key; /* the number + 1; 0: free */
  _Atomic(void *) page;
} slot;

struct sparse {
  size_t page_bytes;
  _Atomic u32 used; /* slots that have a key: which[0] to which[used - 1] are their numbers */
  u16 which[SPARSE_PAGES];
  slot slots[SPARSE_PAGES];
};

sparse *sparse_make(size_t page_bytes) {
  sparse *s = (sparse *)(void *)pages_make(sizeof *s, 0); /* only pages that are touched cost anything */
  if (s != NULL) s->page_bytes = page_bytes;
  return s;
}

static void *page_of(const sparse *s, slot *at) {
  void *page = atomic_load_explicit(&at->page, memory_order_acquire), *none = NULL;
  if (page != NULL) return page;
  page = calloc(1, s->page_bytes);
  if (page == NULL || atomic_compare_exchange_strong(&at->page, &none, page)) return page;
  free(page); /* another thread was faster */
  return none;
}

void *sparse_page(sparse *s, u64 number) {
  u64 start = number * UINT64_C(0x9e3779b97f4a7c15) >> 32; /* Fibonacci hashing: neighbours are spread */
  for (u32 n = 0; n < SPARSE_PAGES; n++) {
    slot *at = &s->slots[(start + n) % SPARSE_PAGES];
    u64 key = atomic_load_explicit(&at->key, memory_order_relaxed);
    if (key == 0 && atomic_compare_exchange_strong(&at->key, &key, number + 1)) {
      key = number + 1;
      s->which[atomic_fetch_add(&s->used, 1)] = (u16)(at - s->slots);
    }
    if (key == number + 1) return page_of(s, at);
  }
  return NULL;
}

void sparse_free(sparse *s) {
  if (s == NULL) return;
  for (u32 n = 0; n < s->used; n++) free(atomic_load(&s->slots[s->which[n]].page)); /* most launches use a few of them */
  pages_free((u8 *)s, sizeof *s);
}
