/* Byte-pair encoding. */
#include "bpe.h"

#include <stdlib.h>
#include <string.h>

typedef struct bpe_symbol {
  int32_t id, before, after; /* neighbours, -1: none; id -1: was merged into the one before */
} bpe_symbol;

typedef struct bpe_candidate {
  uint64_t order; /* rank, and after it the place of the left symbol: of equal ranks the first place merges first */
  int32_t made;
} bpe_candidate;

/* ---- Tables ---- */

static size_t twice(size_t count) {
  size_t slots = 16;
  while (slots < 2 * count) slots *= 2;
  return slots;
}

bool bpe_open(bpe *b, int32_t ids, size_t keys, size_t merges, llama_error *error) {
  *b = (bpe){.ids = ids, .slots = twice(keys), .pairs = twice(merges)};
  b->key = calloc((size_t)ids + 1, sizeof *b->key);
  b->slot = malloc(b->slots * sizeof *b->slot);
  b->pair = malloc(b->pairs * sizeof *b->pair);
  if (b->key == NULL || b->slot == NULL || b->pair == NULL) {
    bpe_close(b);
    return llama_fail(error, "no memory for %d tokens and %zu merges", ids, merges);
  }
  memset(b->slot, -1, b->slots * sizeof *b->slot);
  memset(b->pair, -1, b->pairs * sizeof *b->pair);
  return true;
}

void bpe_close(bpe *b) {
  free(b->key);
  free(b->slot);
  free(b->pair);
  *b = (bpe){0};
}

/* Finaliser of MurmurHash3 (Appleby, public domain). */
static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
  return x ^ x >> 33;
}

/* The slot of the key, or the empty one where it would stand. */
static size_t find_slot(const bpe *b, span key) {
  uint64_t hash = key.size;
  for (size_t i = 0; i < key.size; i++) hash = (hash ^ (unsigned char)key.text[i]) * 0x100000001b3u; /* FNV */
  size_t at = (size_t)mix(hash) & (b->slots - 1);
  for (; b->slot[at] >= 0; at = (at + 1) & (b->slots - 1)) {
    const span *other = &b->key[b->slot[at]];
    if (other->size == key.size && memcmp(other->text, key.text, key.size) == 0) break;
  }
  return at;
}

void bpe_add(bpe *b, int32_t id, span key) {
  b->key[id] = key;
  b->slot[find_slot(b, key)] = id;
}

int32_t bpe_find(const bpe *b, span key) { return b->slot[find_slot(b, key)]; }

static bpe_pair *find_pair(const bpe *b, int32_t left, int32_t right) {
  size_t at = (size_t)mix((uint64_t)(uint32_t)left << 32 | (uint32_t)right) & (b->pairs - 1);
  while (b->pair[at].made >= 0 && (b->pair[at].left != left || b->pair[at].right != right)) at = (at + 1) & (b->pairs - 1);
  return &b->pair[at];
}

void bpe_add_merge(bpe *b, bpe_pair merge) { *find_pair(b, merge.left, merge.right) = merge; }

/* ---- Lists ---- */

bool bpe_append(bpe_list *list, int32_t id, llama_error *error) {
  if (list->count == list->room) {
    size_t room = list->room == 0 ? 64 : 2 * list->room;
    int32_t *more = realloc(list->id, room * sizeof *more);
    if (more == NULL) return llama_fail(error, "no memory for %zu token ids", room);
    list->id = more;
    list->room = room;
  }
  list->id[list->count++] = id;
  return true;
}

void bpe_list_end(bpe_list *list) {
  free(list->symbol);
  free(list->heap);
  list->symbol = NULL;
  list->heap = NULL;
  list->work = 0;
}

/* A heap holds one candidate a symbol at first, and each merge takes one and adds two at most: never more than twice the
 * symbols. */
static bool reserve(bpe_list *list, size_t symbols, llama_error *error) {
  if (symbols <= list->work) return true;
  size_t room = 2 * symbols;
  bpe_list_end(list);
  list->symbol = malloc(room * sizeof *list->symbol);
  list->heap = malloc(2 * room * sizeof *list->heap);
  if (list->symbol == NULL || list->heap == NULL) return llama_fail(error, "no memory to merge %zu symbols", symbols);
  list->work = room;
  return true;
}

/* ---- Merging ---- */

static void push(bpe_candidate *heap, size_t *count, bpe_candidate entry) {
  size_t at = (*count)++;
  for (; at > 0 && entry.order < heap[(at - 1) / 2].order; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
  heap[at] = entry;
}

static bpe_candidate pop(bpe_candidate *heap, size_t *count) {
  bpe_candidate least = heap[0], last = heap[--*count];
  size_t at = 0;
  for (size_t child = 1; child < *count; child = 2 * at + 1) {
    if (child + 1 < *count && heap[child + 1].order < heap[child].order) child++;
    if (last.order <= heap[child].order) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = last;
  return least;
}

/* The pair that begins at a symbol, where it merges. */
static void consider(const bpe *b, bpe_list *list, size_t *count, int32_t at) {
  if (at < 0 || list->symbol[at].after < 0) return;
  const bpe_pair *pair = find_pair(b, list->symbol[at].id, list->symbol[list->symbol[at].after].id);
  if (pair->made >= 0) push(list->heap, count, (bpe_candidate){(uint64_t)pair->rank << 32 | (uint32_t)at, pair->made});
}

bool bpe_merge(const bpe *b, bpe_list *list, size_t first, llama_error *error) {
  size_t symbols = list->count - first, count = 0;
  if (symbols < 2) return true;
  if (symbols > INT32_MAX) return llama_fail(error, "a piece of %zu characters: at most %d can be merged", symbols, INT32_MAX);
  if (!reserve(list, symbols, error)) return false;
  bpe_symbol *s = list->symbol;
  for (int32_t i = 0; i < (int32_t)symbols; i++)
    s[i] = (bpe_symbol){list->id[first + (size_t)i], i - 1, i + 1 < (int32_t)symbols ? i + 1 : -1};
  for (int32_t i = 0; i < (int32_t)symbols; i++) consider(b, list, &count, i);
  while (count > 0) {
    bpe_candidate best = pop(list->heap, &count);
    int32_t at = (int32_t)(uint32_t)best.order, right = s[at].after;
    /* Since it was pushed, one of its symbols may have merged. It counts if the pair that stands there now makes the same
     * token: so it is in the library `tokenizers` (Word::merge_all), whatever the rank. */
    if (s[at].id < 0 || right < 0 || find_pair(b, s[at].id, s[right].id)->made != best.made) continue;
    s[at].id = best.made;
    s[at].after = s[right].after;
    if (s[at].after >= 0) s[s[at].after].before = at;
    s[right].id = -1;
    consider(b, list, &count, s[at].before);
    consider(b, list, &count, at);
  }
  list->count = first;
  for (int32_t i = 0; i >= 0; i = s[i].after) list->id[list->count++] = s[i].id;
  return true;
}
