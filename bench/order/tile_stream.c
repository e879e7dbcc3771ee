/* The simulation behind `tandem-bench order`. Time goes in K steps: in each, every resident workgroup reads its tile's slice of
 * A and of B, and after the last one writes its tile of C and gives its place to the next workgroup of its XCD. Caches are
 * gfxsim's, addresses those of three matrices one after the other.
 *
 * Sets don't influence each other, so an eighth of them stands for all: a line is touched only if its set is in the sample. */
#include "tile_stream.h"

#include <stdlib.h>

#include "sim/count/cache.h"

enum { LINE_BYTES = 1 << LINE_SHIFT, SAMPLE = 8, ALIGNMENT = 1 << 14 /* lines: 2 MiB, as hipMalloc aligns what is large */ };

/* A matrix in rows of whole lines. A slice is `per_tile` rows of some columns, a column being a line of every row. */
typedef struct panel {
  uint64_t base, pitch;    /* lines */
  uint64_t rows, per_tile; /* of the matrix, of a tile */
} panel;

/* Where a workgroup runs. */
typedef struct place {
  bool busy;
  tdm_tile tile;
  unsigned step, late; /* K steps that are done, and K steps to wait before the first */
} place;

typedef struct stream {
  const order_problem *problem;
  tdm_order order;
  unsigned xcds;        /* of the chip; the order may be made for another number */
  unsigned cus, places; /* of an XCD */
  uint64_t steps;
  uint64_t l2_sets, sample_mask; /* mask 0: all sets */
  panel a, b, c;
  hierarchy *caches;
  unsigned *next; /* of each XCD: its next workgroup */
  place *place;   /* of all XCDs, place by place */
} stream;

static uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* The number that chooses the set. */
static uint64_t set_number(const stream *s, uint64_t line) { return s->problem->plain ? line : hash_line(line); }

/* Takes the same share of the sets in every aligned group, and of those that rows a power of two apart fall into. */
static bool in_sample(const stream *s, uint64_t number) {
  uint64_t set = number & (s->l2_sets - 1);
  return ((set ^ set >> 3 ^ set >> 6 ^ set >> 9 ^ set >> 12) & s->sample_mask) == 0;
}

static void touch_column(stream *s, unsigned xcd, unsigned cu, const panel *p, uint64_t tile, uint64_t column, touch kind) {
  uint64_t row = tile * p->per_tile, end = row + p->per_tile < p->rows ? row + p->per_tile : p->rows;
  for (; row < end; row++) {
    uint64_t number = set_number(s, p->base + row * p->pitch + column);
    if (in_sample(s, number))
      hierarchy_touch(s->caches, xcd, cu, run_make(number, 1, kind, kind == TOUCH_WRITE ? SECTORS_ALL : 0));
  }
}

/* The slice of step `step` of a row panel: the lines that hold its bytes of each row. */
static void read_slice(stream *s, unsigned xcd, unsigned cu, const panel *p, uint64_t tile, uint64_t step) {
  const order_problem *o = s->problem;
  uint64_t end = (step + 1) * o->tile_k < o->k ? (step + 1) * o->tile_k : o->k;
  uint64_t last = ceil_div(end * o->element_bytes, LINE_BYTES);
  for (uint64_t column = step * o->tile_k * o->element_bytes / LINE_BYTES; column < last; column++)
    touch_column(s, xcd, cu, p, tile, column, TOUCH_READ_L2);
}

static void write_tile(stream *s, unsigned xcd, unsigned cu, tdm_tile tile) {
  const order_problem *o = s->problem;
  uint64_t first = (uint64_t)tile.n * o->tile_n, end = first + o->tile_n < o->n ? first + o->tile_n : o->n;
  uint64_t last = ceil_div(end * o->element_bytes, LINE_BYTES);
  for (uint64_t column = first * o->element_bytes / LINE_BYTES; column < last; column++)
    touch_column(s, xcd, cu, &s->c, tile.m, column, TOUCH_WRITE);
}

/* The next workgroup of the XCD, if there is one: workgroup id runs on XCD id % xcds. */
static void take_next(stream *s, unsigned xcd, place *p) {
  p->busy = s->next[xcd] < s->order.count;
  if (!p->busy) return;
  p->tile = tdm_order_tile(s->order, s->next[xcd]);
  p->step = 0;
  s->next[xcd] += s->xcds;
}

/* One K step of one place; false: it has no work. */
static bool advance(stream *s, unsigned xcd, unsigned number) {
  place *p = &s->place[(size_t)number * s->xcds + xcd];
  unsigned cu = number % s->cus;
  if (!p->busy) return false;
  if (p->late > 0) {
    p->late--;
    return true;
  }
  read_slice(s, xcd, cu, &s->a, p->tile.m, p->step);
  read_slice(s, xcd, cu, &s->b, p->tile.n, p->step);
  if (++p->step == s->steps) {
    write_tile(s, xcd, cu, p->tile);
    take_next(s, xcd, p);
  }
  return true;
}

/* Neighbouring numbers become far apart: multiplied by 2^32 over the golden ratio, of which the upper half. */
static unsigned pseudo_random(unsigned number) { return (number * 0x9e3779b9u) >> 16; }

static void run(stream *s) {
  for (unsigned xcd = 0; xcd < s->xcds; xcd++) s->next[xcd] = xcd;
  for (unsigned number = 0; number < s->places; number++)
    for (unsigned xcd = 0; xcd < s->xcds; xcd++) {
      place *p = &s->place[(size_t)number * s->xcds + xcd];
      take_next(s, xcd, p);
      p->late = pseudo_random(number * s->xcds + xcd) % (s->problem->skew + 1);
    }
  for (bool busy = true; busy;) {
    busy = false;
    for (unsigned number = 0; number < s->places; number++)
      for (unsigned xcd = 0; xcd < s->xcds; xcd++) busy |= advance(s, xcd, number);
  }
}

static panel make_panel(uint64_t base, uint64_t rows, unsigned per_tile, uint64_t length, unsigned element_bytes) {
  return (panel){.base = base, .pitch = ceil_div(length * element_bytes, LINE_BYTES), .rows = rows, .per_tile = per_tile};
}

static uint64_t panel_end(const panel *p) { return ceil_div(p->base + p->rows * p->pitch, ALIGNMENT) * ALIGNMENT; }

/* A sample needs sets of both caches that the same bits choose. */
static void choose_sample(stream *s, const chip *c) {
  s->l2_sets = c->l2_bytes / LINE_BYTES / c->l2_ways;
  uint64_t mall_sets = c->mall_bytes / LINE_BYTES / c->mall_ways;
  bool powers = s->l2_sets >= 64 && (s->l2_sets & (s->l2_sets - 1)) == 0 && mall_sets % s->l2_sets == 0;
  s->sample_mask = powers && !s->problem->exact ? SAMPLE - 1 : 0;
}

static void collect(const stream *s, const gfxsim_counters *c, order_result *result) {
  uint64_t reads = 0, hits = 0, fabric = 0, scale = s->sample_mask + 1;
  for (unsigned xcd = 0; xcd < s->xcds; xcd++) {
    reads += c->l2[xcd].reads;
    hits += c->l2[xcd].read_hits;
    fabric += c->l2[xcd].fabric_read;
  }
  result->l2_hit = reads > 0 ? (double)hits / (double)reads : 0;
  result->mall_hit = c->mall_lines > 0 ? (double)c->mall_hits / (double)c->mall_lines : 0;
  result->fabric_read = (double)(fabric * scale);
  result->hbm_read = (double)(c->hbm_read * scale);
  result->written = (double)(c->hbm_written * scale);
}

bool order_simulate(const order_problem *problem, const chip *chip, tdm_order order, order_result *result) {
  stream s = {.problem = problem, .order = order, .xcds = chip->xcds, .cus = chip->cus_per_xcd};
  s.places = s.cus * problem->resident;
  s.steps = ceil_div(problem->k, problem->tile_k);
  s.a = make_panel(0, problem->m, problem->tile_m, problem->k, problem->element_bytes);
  s.b = make_panel(panel_end(&s.a), problem->n, problem->tile_n, problem->k, problem->element_bytes);
  s.c = make_panel(panel_end(&s.b), problem->m, problem->tile_m, problem->n, problem->element_bytes);
  choose_sample(&s, chip);
  s.caches = hierarchy_make(chip, false) /* its lines are hashed by set_number, or not */;
  s.next = calloc(s.xcds, sizeof *s.next);
  s.place = calloc((size_t)s.places * s.xcds, sizeof *s.place);
  gfxsim_counters count = {.l2 = calloc(s.xcds, sizeof *count.l2)};
  bool good = s.caches != NULL && s.next != NULL && s.place != NULL && count.l2 != NULL;
  if (good) {
    run(&s);
    hierarchy_end(s.caches, &count);
    collect(&s, &count, result);
  }
  hierarchy_free(s.caches);
  free(s.next);
  free(s.place);
  free(count.l2);
  return good;
}
