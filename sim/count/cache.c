/* Sources: AMD CDNA 3 white paper, "AMD CDNA 3 architecture memory": L2 of an XCD: 4 MB, 16 ways, lines of 128 bytes, writeback
 * and write-allocate; AMD Infinity Cache: 256 MB, 16 ways, memory-side, "cannot hold dirty data evicted from a lower level
 * cache": so its writes go on to HBM. CDNA 4 ISA, table 49: loads with sc1 or nt miss the vL1D and leave nothing there; 9.2:
 * atomics are done in the L2.
 * No source: the vL1D's ways (taken as fully associative: hits are an estimate), the hash that chooses sets
 * (hash_line), replacement (least recently used), and whether a partial write fetches its line (it does not here). */
#include "cache.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/pages.h"

typedef u64 entry; /* (line + 1) << 4 | dirty sectors; 0: empty */

typedef struct cache {
  u32 sets, ways;
  entry *entry; /* each set from the most to the least recently used */
} cache;

struct hierarchy {
  bool folded;
  u64 warm; /* lines that the memory-side cache still has from before the launch */
  u32 xcds, cus;
  cache *l1, *l2, mall;
  entry *room; /* all entries: 18 MB for a whole chip, of which a small launch touches little */
  u64 room_bytes;
  u64 l1_lines, l1_hits, mall_lines, mall_hits, hbm_read, hbm_written;
  gfxsim_l2 *count;
};

/* Its form; returns how many entries it has. */
static u64 cache_shape(cache *c, u64 bytes, u32 ways) {
  u64 lines = bytes >> LINE_SHIFT;
  if (ways == 0 || ways > lines) ways = (u32)(lines > 0 ? lines : 1);
  c->ways = ways;
  c->sets = (u32)(lines / ways > 0 ? lines / ways : 1);
  return (u64)c->sets * c->ways;
}

/* Takes its entries from the room; returns what is left of it. */
static entry *cache_place(cache *c, entry *room) {
  c->entry = room;
  return room + (u64)c->sets * c->ways;
}

/* Finds the line or brings it in, and marks sectors dirty; *evicted is what had to leave for it. The search looks at every way
 * without a branch, which compilers turn into vector instructions: the 256 of a vL1D take few of them. */
static bool cache_touch(cache *c, u64 line, u32 dirty, entry *evicted) {
  entry *set = c->entry + (size_t)(line % c->sets) * c->ways, tag = line + 1, found = tag << 4;
  u64 at = c->ways - 1;
  for (u64 way = 0; way < c->ways; way++) at = set[way] >> 4 == tag ? way : at;
  bool hit = set[at] >> 4 == tag;
  if (hit)
    found = set[at];
  else
    *evicted = set[at];
  memmove(set + 1, set, at * sizeof *set);
  set[0] = found | dirty;
  return hit;
}

hierarchy *hierarchy_make(const chip *chip, bool folded) {
  hierarchy *h = calloc(1, sizeof *h);
  if (h == NULL) return NULL;
  h->folded = folded;
  h->xcds = chip->xcds;
  h->cus = chip->cus_per_xcd;
  h->l1 = calloc((size_t)h->xcds * h->cus, sizeof *h->l1);
  h->l2 = calloc(h->xcds, sizeof *h->l2);
  h->count = calloc(h->xcds, sizeof *h->count);
  if (h->l1 == NULL || h->l2 == NULL || h->count == NULL) {
    hierarchy_free(h);
    return NULL;
  }
  u64 entries = cache_shape(&h->mall, chip->mall_bytes, chip->mall_ways);
  for (u32 n = 0; n < h->xcds * h->cus; n++) entries += cache_shape(&h->l1[n], chip->l1_bytes, 0);
  for (u32 n = 0; n < h->xcds; n++) entries += cache_shape(&h->l2[n], chip->l2_bytes, chip->l2_ways);
  h->room_bytes = entries * sizeof(entry);
  h->room = (entry *)(void *)pages_make(h->room_bytes, 0);
  if (h->room == NULL) {
    hierarchy_free(h);
    return NULL;
  }
  entry *left = cache_place(&h->mall, h->room);
  for (u32 n = 0; n < h->xcds * h->cus; n++) left = cache_place(&h->l1[n], left);
  for (u32 n = 0; n < h->xcds; n++) left = cache_place(&h->l2[n], left);
  return h;
}

void hierarchy_free(hierarchy *h) {
  if (h == NULL) return;
  pages_free((u8 *)h->room, h->room_bytes);
  free(h->l1);
  free(h->l2);
  free(h->count);
  free(h);
}

/* ---- Between L2 and HBM ---- */

void hierarchy_warm(hierarchy *h, double share) { h->warm = (u64)(share * h->mall.sets * h->mall.ways); }

static cache_level fill(hierarchy *h, u32 xcd, u64 line) {
  entry dropped;
  h->count[xcd].fabric_read += 1 << LINE_SHIFT;
  h->mall_lines++;
  bool hit = cache_touch(&h->mall, line, 0, &dropped);
  if (!hit && h->warm > 0) {
    h->warm--;
    hit = true;
  }
  if (hit)
    h->mall_hits++;
  else
    h->hbm_read += 1 << LINE_SHIFT;
  return hit ? LEVEL_MALL : LEVEL_HBM;
}

static void write_back(hierarchy *h, u32 xcd, entry e) {
  entry dropped;
  u32 sectors = (u32)(e & SECTORS_ALL), bytes = (u32)__builtin_popcount(sectors) << SECTOR_SHIFT;
  if (sectors == 0) return;
  h->count[xcd].fabric_write += bytes;
  cache_touch(&h->mall, (e >> 4) - 1, 0, &dropped);
  h->hbm_written += bytes;
}

/* ---- One line ---- */

static cache_level l2_read(hierarchy *h, u32 xcd, u64 line) {
  entry evicted = 0;
  h->count[xcd].reads++;
  if (cache_touch(&h->l2[xcd], line, 0, &evicted)) {
    h->count[xcd].read_hits++;
    return LEVEL_L2;
  }
  write_back(h, xcd, evicted);
  return fill(h, xcd, line);
}

static cache_level l2_write(hierarchy *h, u32 xcd, u64 line, u32 sectors, bool needs_old) {
  entry evicted = 0;
  h->count[xcd].writes++;
  h->count[xcd].write_halves += ((sectors & 3) != 0) + ((sectors & 12) != 0);
  if (cache_touch(&h->l2[xcd], line, sectors, &evicted)) {
    h->count[xcd].write_hits++;
    return LEVEL_L2;
  }
  write_back(h, xcd, evicted);
  return needs_old ? fill(h, xcd, line) : LEVEL_L2;
}

static cache_level read_line(hierarchy *h, u32 xcd, cache *l1, u64 line) {
  entry dropped;
  h->l1_lines++;
  if (!cache_touch(l1, line, 0, &dropped)) return l2_read(h, xcd, line);
  h->l1_hits++;
  return LEVEL_L1;
}

cache_level hierarchy_read(hierarchy *h, u32 xcd, u32 cu, u64 line, bool past_l1) {
  if (h->folded) line = hash_line(line);
  return past_l1 ? l2_read(h, xcd, line) : read_line(h, xcd, &h->l1[xcd * h->cus + cu], line);
}

cache_level hierarchy_write(hierarchy *h, u32 xcd, u64 line, u32 sectors, bool atomic) {
  return l2_write(h, xcd, h->folded ? hash_line(line) : line, sectors, atomic);
}

u64 hierarchy_written(const hierarchy *h) { return h->hbm_written; }

u64 hierarchy_dirty(const hierarchy *h) {
  u64 sectors = 0;
  for (u32 xcd = 0; xcd < h->xcds; xcd++)
    for (size_t e = 0; e < (size_t)h->l2[xcd].sets * h->l2[xcd].ways; e++)
      sectors += (u64)__builtin_popcountll(h->l2[xcd].entry[e] & SECTORS_ALL);
  return sectors << SECTOR_SHIFT;
}

void hierarchy_touch(hierarchy *h, u32 xcd, u32 cu, line_run run) {
  u64 first = run_line(run), end = first + run_count(run);
  for (u64 line = first; line < end; line++) switch (run_kind(run)) {
      case TOUCH_READ: hierarchy_read(h, xcd, cu, line, false); break;
      case TOUCH_READ_L2: hierarchy_read(h, xcd, cu, line, true); break;
      case TOUCH_WRITE: hierarchy_write(h, xcd, line, run_sectors(run), false); break;
      case TOUCH_ATOMIC: hierarchy_write(h, xcd, line, run_sectors(run), true); break;
    }
}

void hierarchy_end(hierarchy *h, gfxsim_counters *c) {
  for (u32 xcd = 0; xcd < h->xcds; xcd++) {
    cache *l2 = &h->l2[xcd];
    for (size_t e = 0; e < (size_t)l2->sets * l2->ways; e++) write_back(h, xcd, l2->entry[e]);
    c->l2[xcd] = h->count[xcd];
  }
  c->l1_lines = h->l1_lines;
  c->l1_hits = h->l1_hits;
  c->mall_lines = h->mall_lines;
  c->mall_hits = h->mall_hits;
  c->hbm_read = h->hbm_read;
  c->hbm_written = h->hbm_written;
}
