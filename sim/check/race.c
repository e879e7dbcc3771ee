/* The shadow of LDS and of global memory: for every dword its last writer and its last two readers of different waves, each
 * with the bytes that it touched, in one 64-bit number.
 *
 *   63:42 workgroup   41:38 wave   37:21 clock   20 atomic   19:16 bytes   15:0 site
 *
 * Two accesses of a workgroup are ordered when a barrier lies between, that is when the earlier one's clock is below the
 * epoch; LDS accesses that were outstanding at the barrier have been marked again after it. Two of different workgroups are
 * ordered when the later one has acquired what the earlier one released. A host thread marks before it looks, so of two
 * threads that collide at least one sees the other. */
#include <inttypes.h>
#include <stdlib.h>

#include "happens_before.h"
#include "sim/base/error.h"
#include "sim/base/pages.h"
#include "sim/base/sparse.h"

enum { PAGE_BYTES = 16384, PAGE_CELLS = PAGE_BYTES / 4, BYTES_SHIFT = 16, CLOCK_SHIFT = 21, WAVE_SHIFT = 38 };
enum { TAG_SHIFT = 42 };
static const u64 atomic_bit = UINT64_C(1) << 20, bytes_bits = UINT64_C(15) << BYTES_SHIFT;

struct cell {
  _Atomic u64 write, read[2];
};

enum { GROUP_PAGES = 4096 };
struct page_group {
  _Atomic(cell *) page[GROUP_PAGES];
};
static const u64 group_bytes = (u64)GROUP_PAGES * PAGE_BYTES;

static u64 tag_of(u64 mark) { return mark >> TAG_SHIFT; }
static u32 wave_of(u64 mark) { return mark >> WAVE_SHIFT & 15; }
static u32 clock_of(u64 mark) { return (u32)(mark >> CLOCK_SHIFT) & CLOCK_LAST; }
static bool same_wave(u64 a, u64 b) { return (a ^ b) >> WAVE_SHIFT == 0; }
static bool same_time(u64 a, u64 b) { return (a ^ b) >> CLOCK_SHIFT == 0; }

/* ---- Memory ---- */

/* A number for each dword of code of all kernels of the code object. A launch uses few of them. */
static size_t site_bytes(const launch *run) {
  const gfxsim_object *object = run->kernel->object;
  return ((object->text_end - object->text_begin) / 4 + 1) * sizeof(u16);
}

gfxsim_status race_begin(launch *run, hb_launch *o) {
  const memory *m = &run->device->memory;
  o->group_count = (m->next - m->first) / group_bytes + 1;
  o->site_of = (_Atomic u16 *)(void *)pages_make(site_bytes(run), 0);
  o->site = malloc(SITES_MOST * sizeof *o->site); /* the first `sites` are read */
  o->groups = calloc(o->group_count, sizeof *o->groups);
  o->sites = 1;
  bool elsewhere = m->mapped != NULL; /* memory that kernels reach and this device does not own */
  for (int d = 0; d < MEMORY_DEVICES_MOST; d++) elsewhere |= m->peers[d] != NULL;
  if (elsewhere && (o->host = sparse_make(PAGE_CELLS * sizeof(cell))) == NULL)
    return fail(GFXSIM_NO_MEMORY, "run: no memory for the race check");
  if (o->site_of != NULL && o->site != NULL && o->groups != NULL) return GFXSIM_OK;
  return fail(GFXSIM_NO_MEMORY, "run: no memory for the race check");
}

void race_end(const launch *run, hb_launch *o) {
  for (u64 g = 0; g < o->group_count && o->groups != NULL; g++) {
    page_group *group = atomic_load(&o->groups[g]);
    for (int p = 0; p < GROUP_PAGES && group != NULL; p++) free(atomic_load(&group->page[p]));
    free(group);
  }
  free(o->groups);
  sparse_free(o->host);
  pages_free((u8 *)(void *)o->site_of, site_bytes(run));
  free((void *)o->site);
}

cell *race_lds(const launch *run) { return calloc(run->lds_bytes / 4 + 1, sizeof(cell)); }

static page_group *make_group(hb_launch *o, u64 g) {
  page_group *group = calloc(1, sizeof *group), *none = NULL;
  if (group == NULL || atomic_compare_exchange_strong(&o->groups[g], &none, group)) return group;
  free(group); /* another thread was faster */
  return none;
}

static cell *make_page(page_group *group, u64 p) {
  cell *page = calloc(PAGE_CELLS, sizeof *page), *none = NULL;
  if (page == NULL || atomic_compare_exchange_strong(&group->page[p], &none, page)) return page;
  free(page); /* another thread was faster */
  return none;
}

/* The shadow of a page of global memory; NULL: no memory. */
static cell *page_of(const wave *w, u64 number) {
  hb_launch *o = hb_of(w);
  const memory *m = &w->group->launch->device->memory;
  if (!memory_owns(m, number * PAGE_BYTES)) return sparse_page(o->host, number);
  u64 p = number - m->first / PAGE_BYTES, g = p / GROUP_PAGES;
  page_group *group = atomic_load_explicit(&o->groups[g], memory_order_acquire);
  if (group == NULL && (group = make_group(o, g)) == NULL) return NULL;
  cell *page = atomic_load_explicit(&group->page[p % GROUP_PAGES], memory_order_acquire);
  return page != NULL ? page : make_page(group, p % GROUP_PAGES);
}

/* Instructions get numbers as they first touch memory. What comes after the last number keeps the last. */
static u32 site_number(wave *w, const inst *i) {
  hb_launch *o = hb_of(w);
  size_t at = (i->pc - w->group->launch->kernel->object->text_begin) / 4;
  u32 number = atomic_load_explicit(&o->site_of[at], memory_order_relaxed);
  if (number != 0) return number;
  pthread_mutex_lock(&o->lock);
  number = atomic_load(&o->site_of[at]);
  if (number == 0) {
    number = o->sites < SITES_MOST - 1 ? o->sites++ : SITES_MOST - 1;
    o->site[number] = i;
    atomic_store(&o->site_of[at], (u16)number);
  }
  pthread_mutex_unlock(&o->lock);
  return number;
}

/* ---- Collisions ---- */

typedef struct look {
  wave *w;
  const inst *i;
  u32 epoch;
  bool lds, check;
  int lane;
  u64 address, found; /* found: the mark that the access collides with */
  bool found_write;   /* the mark is that of a write */
  cell *page;         /* the shadow of the last page of global memory that was asked for, and that page's number */
  u64 page_number;
} look;

static bool __attribute__((noinline)) collides(const look *k, u64 old, u64 mine) {
  if ((old & mine & bytes_bits) == 0 || (old & mine & atomic_bit) != 0) return false;
  if (tag_of(old) == tag_of(mine)) return clock_of(old) >= k->epoch;
  return !k->lds && !fence_knows(k->w, tag_of(old), wave_of(old), clock_of(old));
}

static inline void compare(look *k, u64 old, bool old_write, u64 mine, int lane, u64 address) {
  if (old == 0 || same_wave(old, mine) || k->found != 0 || !k->check || !collides(k, old, mine)) return;
  k->found = old;
  k->found_write = old_write;
  k->lane = lane;
  k->address = address;
}

static inline void mark_write(look *k, cell *c, u64 mine, bool changed, int lane, u64 address) {
  u64 old = atomic_load_explicit(&c->write, memory_order_relaxed), made = mine;
  if (same_time(old, mine)) { /* a plain store stays one after a wave's own atomics */
    made |= old & bytes_bits;
    if ((old & atomic_bit) == 0) made &= ~atomic_bit;
  }
  if (k->lds)
    atomic_store_explicit(&c->write, made, memory_order_relaxed);
  else
    old = atomic_exchange(&c->write, made);
  if (changed) compare(k, old, true, mine, lane, address); /* the same value over it is silent: compilers replicate stores */
  if ((mine & atomic_bit) != 0) return;                    /* see struct suspect */
  compare(k, atomic_load_explicit(&c->read[0], memory_order_relaxed), false, mine, lane, address);
  compare(k, atomic_load_explicit(&c->read[1], memory_order_relaxed), false, mine, lane, address);
}

static inline void mark_read(cell *c, u64 mine) {
  u64 old = atomic_load_explicit(&c->read[0], memory_order_relaxed);
  if (!same_wave(old, mine)) atomic_store_explicit(&c->read[1], old, memory_order_relaxed);
  if (same_time(old, mine)) {
    if ((old & bytes_bits) == bytes_bits && (old & atomic_bit) == (mine & atomic_bit)) return;
    mine |= old & bytes_bits;
    if ((old & atomic_bit) == 0) mine &= ~atomic_bit;
  }
  atomic_store_explicit(&c->read[0], mine, memory_order_relaxed);
}

/* ---- Accesses ---- */

/* The bytes of [address, address + bytes) in the dword at `at`, in the mark's place. */
static inline u64 bytes_in(u64 at, u64 address, u32 bytes) {
  u64 first = address > at ? address - at : 0, last = address + bytes - at;
  return (15u >> (last < 4 ? 4 - last : 0) & 15u << first & 15) << BYTES_SHIFT;
}

static u64 mark_of(wave *w, const inst *i, const footprint *t) {
  const hb_group *g = w->group->hb;
  return g->tag << TAG_SHIFT | (u64)w->index << WAVE_SHIFT | (u64)g->clock << CLOCK_SHIFT | (t->atomic ? atomic_bit : 0) |
         site_number(w, i);
}

typedef enum pass { PASS_WRITE, PASS_READ, PASS_COMPARE } pass;

/* The cell of a dword; NULL: no memory. */
static inline cell *cell_of(look *k, u64 address) {
  if (k->lds) return &k->w->group->hb->lds[address / 4];
  if (k->page == NULL || k->page_number != address / PAGE_BYTES) {
    k->page_number = address / PAGE_BYTES;
    k->page = page_of(k->w, k->page_number);
  }
  return k->page != NULL ? &k->page[address % PAGE_BYTES / 4] : NULL;
}

static inline bool lanes_pass(look *k, const footprint *t, u64 mark, pass which) {
  u64 before = UINT64_MAX;
  for (u64 left = t->mask; left != 0; left &= left - 1) {
    int l = __builtin_ctzll(left);
    u64 address = t->address[l], end = address + t->bytes;
    if (which != PASS_WRITE && address == before) continue; /* the mark would be the same: often all lanes read one value */
    before = address;
    for (u64 at = address & ~UINT64_C(3); at < end; at += 4) {
      cell *c = cell_of(k, at);
      if (c == NULL) return false;
      u64 mine = mark | bytes_in(at, address, t->bytes);
      if (which == PASS_WRITE) mark_write(k, c, mine, (t->changed >> l & 1) != 0, l, address);
      if (which == PASS_READ) mark_read(c, mine);
      if (which == PASS_COMPARE || (which == PASS_READ && k->lds)) /* LDS belongs to one host thread: one pass is enough */
        compare(k, atomic_load_explicit(&c->write, memory_order_relaxed), true, mine, l, address);
    }
  }
  return true;
}

static const char *verb_of(bool write, u64 mark) {
  if ((mark & atomic_bit) != 0) return write ? "writes atomically" : "reads atomically";
  return write ? "writes" : "reads";
}

/* Whether the other access was still outstanding at the last barrier. */
static bool passed_barrier(const look *k, const inst *other) {
  const hb_group *g = k->w->group->hb;
  for (u32 n = 0; n < g->carried_count; n++)
    if (g->carried[n] == other && clock_of(k->found) == g->epoch) return true;
  return false;
}

static void tell(const look *k, bool writes, u64 mark) {
  const inst *other = hb_of(k->w)->site[k->found & (SITES_MOST - 1)];
  const char *verb = verb_of(writes, mark), *other_verb = verb_of(k->found_write, k->found);
  const char *also = strcmp(verb, other_verb) == 0 ? "also " : "";
  u32 other_wave = wave_of(k->found);
  if (tag_of(k->found) == tag_of(mark)) {
    wave_report(k->w, k->i, other, k->lds ? GFXSIM_RACE_LDS : GFXSIM_RACE_GLOBAL, k->lane, k->address,
                "wave %u %s bytes that wave %u %s%s, and %s", k->w->index, verb, other_wave, also, other_verb,
                passed_barrier(k, other) ? "the barrier between does not order the two: s_waitcnt is missing before it"
                                         : "no barrier separates the two accesses");
    return;
  }
  const u32 *own = k->w->group->id;
  u64 n = tag_of(k->found) - 1, x = k->w->group->launch->grid[0], y = k->w->group->launch->grid[1];
  wave_report(k->w, k->i, other, GFXSIM_RACE_GLOBAL, k->lane, k->address,
              "wave %u of workgroup %u,%u,%u %s bytes that wave %u of workgroup %" PRIu64 ",%" PRIu64 ",%" PRIu64
              " %s%s, and no atomic with its fences orders the two accesses",
              k->w->index, own[0], own[1], own[2], verb, other_wave, n % x, n / x % y, n / x / y, also, other_verb);
}

static void add_suspect(wave *w, const look *k, u64 mark) {
  hb_wave *o = &w->group->hb->wave[w->index];
  if (o->suspects == SUSPECTS) race_report_suspects(w, o);
  o->suspect[o->suspects++] =
      (suspect){.i = k->i, .mark = mark, .found = k->found, .address = k->address, .lane = k->lane, .lds = k->lds};
}

void race_report_suspects(wave *w, hb_wave *o) {
  for (int n = 0; n < o->suspects; n++) {
    const suspect *s = &o->suspect[n];
    look k = {.w = w, .i = s->i, .lds = s->lds, .lane = s->lane, .address = s->address, .found = s->found, .found_write = true};
    tell(&k, false, s->mark);
  }
  o->suspects = 0;
}

void race_swap(hb_wave *o, const footprint *t) {
  int kept = 0;
  for (int n = 0; n < o->suspects; n++) {
    bool swapped = false;
    for (u64 left = t->mask; left != 0 && !swapped; left &= left - 1)
      swapped = t->lds == o->suspect[n].lds && t->address[__builtin_ctzll(left)] == o->suspect[n].address;
    if (!swapped) o->suspect[kept++] = o->suspect[n];
  }
  o->suspects = kept;
}

static void go(wave *w, const inst *i, const footprint *t, bool check) {
  const hb_group *g = w->group->hb;
  if (g->clock == CLOCK_LAST) return;
  look k = {.w = w, .i = i, .epoch = g->epoch, .lds = t->lds, .check = check};
  u64 mark = mark_of(w, i, t);
  bool good = t->write ? lanes_pass(&k, t, mark, PASS_WRITE) : lanes_pass(&k, t, mark, PASS_READ);
  if (good && !t->write && !t->lds && check) {
    atomic_thread_fence(memory_order_seq_cst);
    good = lanes_pass(&k, t, mark, PASS_COMPARE);
  }
  if (!good) hb_no_memory(w, i);
  if (!good || k.found == 0) return;
  if (!t->write && !t->atomic && (k.found & atomic_bit) != 0)
    add_suspect(w, &k, mark);
  else
    tell(&k, t->write, mark);
}

void race_access(wave *w, const inst *i, const footprint *t) { go(w, i, t, true); }
void race_mark(wave *w, const inst *i, const footprint *t) { go(w, i, t, false); }
