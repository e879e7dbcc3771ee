/* The simulation behind `tandem-bench order`. Time goes in K steps: in each, every resident workgroup reads its tile's slice of
 * A and of B, and after the last one writes its tile of C and gives its place to the next workgroup of its XCD. The caches are
 * gfxsim's. Their sets are chosen by a hash here: with plain modulo the rows of a slice, a power of two apart, fall into few
 * sets, and what the hardware does is not documented.
 *
 * One line stands for `scale` lines of a slice, in caches of 1/scale the sets: lines of a slice are always touched together,
 * and a hash spreads them evenly, so a part of them meets the same fate as all (bench/test_order.c compares). */
#include "order_sim.h"

#include <stdlib.h>

#include "../sim/cache.h"

enum { LINE_BYTES = 1 << LINE_SHIFT, MOST_SCALE = 8 };

/* The lines of one matrix, tile by tile, in each tile column by column: a column is one line of every row. */
typedef struct panel {
  uint64_t base, columns;  /* of a tile */
  uint64_t rows, per_tile; /* of the matrix, of a tile */
  unsigned scale;
} panel;

/* Where a workgroup runs. */
typedef struct place {
  bool busy;
  tdm_tile tile;
  unsigned step, late; /* K steps done, and to wait before the first */
} place;

typedef struct stream {
  const order_problem *problem;
  tdm_order order;
  unsigned xcds;        /* of the chip; the order may believe in another number */
  unsigned cus, places; /* of an XCD */
  uint64_t steps;
  panel a, b, c;
  hierarchy *caches;
  unsigned *next; /* of each XCD: its next workgroup */
  place *place;   /* of all XCDs, place by place */
} stream;

/* A bijection of 48 bits whose low bits depend on all: multiply, fold, multiply, fold. */
static uint64_t spread(uint64_t line) {
  const uint64_t mask = ((uint64_t)1 << 48) - 1;
  line = line * 0x9e3779b97f4b & mask;
  line ^= line >> 24;
  line = line * 0xd6e8feb86659 & mask;
  return line ^ line >> 24;
}

static uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

static void touch_column(stream *s, unsigned xcd, unsigned cu, const panel *p, uint64_t tile, uint64_t column, touch kind) {
  uint64_t rows = p->rows - tile * p->per_tile;
  if (rows > p->per_tile) rows = p->per_tile;
  uint64_t slots = ceil_div(p->per_tile, p->scale), first = p->base + (tile * p->columns + column) * slots;
  for (uint64_t row = 0; row < ceil_div(rows, p->scale); row++)
    hierarchy_touch(s->caches, xcd, cu, run_make(spread(first + row), 1, kind, kind == TOUCH_WRITE ? SECTORS_ALL : 0));
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

/* The next workgroup of the XCD, if there is one: ids go to the XCDs in turn. */
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

static void run(stream *s) {
  for (unsigned xcd = 0; xcd < s->xcds; xcd++) s->next[xcd] = xcd;
  for (unsigned number = 0; number < s->places; number++)
    for (unsigned xcd = 0; xcd < s->xcds; xcd++) {
      place *p = &s->place[(size_t)number * s->xcds + xcd];
      take_next(s, xcd, p);
      p->late = (unsigned)(spread((uint64_t)number * s->xcds + xcd + 1) % (s->problem->skew + 1));
    }
  for (bool busy = true; busy;) {
    busy = false;
    for (unsigned number = 0; number < s->places; number++)
      for (unsigned xcd = 0; xcd < s->xcds; xcd++) busy |= advance(s, xcd, number);
  }
}

/* The largest power of two that divides the rows of both tiles. */
static unsigned choose_scale(const order_problem *o) {
  unsigned scale = 1;
  while (!o->exact && scale < MOST_SCALE && o->tile_m % (2 * scale) == 0 && o->tile_n % (2 * scale) == 0) scale *= 2;
  return scale;
}

static panel make_panel(uint64_t base, uint64_t rows, unsigned per_tile, uint64_t columns, unsigned scale) {
  return (panel){.base = base, .columns = columns, .rows = rows, .per_tile = per_tile, .scale = scale};
}

static uint64_t panel_end(const panel *p) {
  return p->base + ceil_div(p->rows, p->per_tile) * p->columns * ceil_div(p->per_tile, p->scale);
}

static void collect(const stream *s, const gfxsim_counters *c, unsigned scale, order_result *result) {
  uint64_t reads = 0, hits = 0, fabric = 0;
  for (unsigned xcd = 0; xcd < s->xcds; xcd++) {
    reads += c->l2[xcd].reads;
    hits += c->l2[xcd].read_hits;
    fabric += c->l2[xcd].fabric_read;
  }
  result->l2_hit = reads > 0 ? (double)hits / (double)reads : 0;
  result->mall_hit = c->mall_lines > 0 ? (double)c->mall_hits / (double)c->mall_lines : 0;
  result->fabric_read = (double)fabric * scale;
  result->hbm_read = (double)c->hbm_read * scale;
  result->written = (double)c->hbm_written * scale;
}

bool order_simulate(const order_problem *problem, const chip *real, tdm_order order, order_result *result) {
  unsigned scale = choose_scale(problem);
  chip scaled = *real;
  scaled.l2_bytes /= scale;
  scaled.mall_bytes /= scale;
  uint64_t k_lines = ceil_div(problem->k * problem->element_bytes, LINE_BYTES);
  uint64_t c_lines = ceil_div(problem->n * problem->element_bytes, LINE_BYTES);
  stream s = {.problem = problem,
              .order = order,
              .xcds = real->xcds,
              .cus = real->cus_per_xcd,
              .places = real->cus_per_xcd * problem->resident};
  s.steps = ceil_div(problem->k, problem->tile_k);
  s.a = make_panel(0, problem->m, problem->tile_m, k_lines, scale);
  s.b = make_panel(panel_end(&s.a), problem->n, problem->tile_n, k_lines, scale);
  s.c = make_panel(panel_end(&s.b), problem->m, problem->tile_m, c_lines, scale);
  s.caches = hierarchy_make(&scaled);
  s.next = calloc(real->xcds, sizeof *s.next);
  s.place = calloc((size_t)s.places * real->xcds, sizeof *s.place);
  gfxsim_counters count = {.l2 = calloc(real->xcds, sizeof *count.l2)};
  bool good = s.caches != NULL && s.next != NULL && s.place != NULL && count.l2 != NULL;
  if (good) {
    run(&s);
    hierarchy_end(s.caches, &count);
    collect(&s, &count, scale, result);
  }
  hierarchy_free(s.caches);
  free(s.next);
  free(s.place);
  free(count.l2);
  return good;
}
