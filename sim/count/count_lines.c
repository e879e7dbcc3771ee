#include <stdlib.h>

#include "count.h"

enum { STREAM_FIRST = 1024 };

/* Neighbouring lanes mostly touch the line that was touched last. */
static void add_line(lines *l, u64 line, u32 sectors) {
  u32 n = l->count;
  while (n > 0 && l->line[n - 1] != line) n--;
  if (n == 0) {
    n = ++l->count;
    l->line[n - 1] = line;
    l->sectors[n - 1] = 0;
  }
  l->sectors[n - 1] |= (u8)sectors;
}

static void add_bytes(lines *l, u64 address, u32 bytes) {
  u64 first = address >> SECTOR_SHIFT, last = (address + bytes - 1) >> SECTOR_SHIFT;
  u64 line = first >> 2, end = last >> 2;
  u32 from = (u32)(first & 3), to = (u32)(last & 3);
  for (; line <= end; line++) {
    u32 below = line == end ? (2u << to) - 1 : SECTORS_ALL;
    add_line(l, line, below & ~((1u << from) - 1));
    from = 0;
  }
}

static void stream_add(thread_counts *t, line_run run) {
  line_stream *s = &t->stream;
  if (s->count == s->capacity) {
    size_t capacity = s->capacity > 0 ? 2 * s->capacity : STREAM_FIRST;
    line_run *grown = realloc(s->run, capacity * sizeof *grown);
    if (grown == NULL) {
      t->no_memory = true;
      return;
    }
    s->run = grown;
    s->capacity = capacity;
  }
  s->run[s->count++] = run;
}

touch touch_of(const inst *i, const memory_access *a) {
  if (a->kind == ACCESS_STORE) return TOUCH_WRITE;
  if (a->kind == ACCESS_ATOMIC) return TOUCH_ATOMIC;
  return (i->cache & (CACHE_SC1 | CACHE_NT)) != 0 ? TOUCH_READ_L2 : TOUCH_READ; /* CDNA 4 ISA, table 49: "Miss Evict" */
}

void lines_of(const memory_access *a, lines *l) {
  l->count = 0;
  for (u64 mask = a->mask; mask != 0; mask &= mask - 1) add_bytes(l, a->address[__builtin_ctzll(mask)], a->bytes);
}

void count_lines(thread_counts *t, const inst *i, const memory_access *a, bool stream) {
  lines l;
  lines_of(a, &l);
  gfxsim_traffic *traffic = &t->traffic[a->kind];
  traffic->accesses++;
  traffic->asked += (u64)__builtin_popcountll(a->mask) * a->bytes;
  traffic->lines128 += l.count;
  touch kind = touch_of(i, a);
  for (u32 n = 0; n < l.count;) {
    u32 length = 1, sectors = l.sectors[n];
    while (n + length < l.count && l.line[n + length] == l.line[n] + length && l.sectors[n + length] == sectors) length++;
    traffic->lines64 += length * (((sectors & 3) != 0) + ((sectors & 12) != 0));
    if (stream) stream_add(t, run_make(l.line[n], length, kind, sectors));
    n += length;
  }
}
