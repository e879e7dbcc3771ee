#include "sample.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"

typedef struct range {
  u64 first, before; /* before: workgroups of the ranges ahead of this one */
} range;

struct sample {
  u64 count;
  u64 groups; /* of the grid, of a sample that is spread over it; 0: the ranges */
  u32 xcds;
  size_t ranges;
  range range[];
};

static gfxsim_status refuse(const char *text, u64 groups) {
  return fail(GFXSIM_INVALID,
              "run: workgroups = '%s': must be a number from 1 to %" PRIu64
              ", or rising ranges as in 0-7,100-107 of the numbers below it",
              text, groups);
}

static sample *sample_alloc(size_t ranges) { return calloc(1, sizeof(sample) + ranges * sizeof(range)); }

/* ---- Spread over the grid ----
 * The grid is cut into cells of equal length, and each gives one workgroup, at a pseudo-random place of the cell: all
 * workgroups are equally likely, also where work rises along the grid or repeats from row to row. Workgroups go to XCDs
 * round-robin: where the count is a multiple of the XCDs, cell p gives one of XCD p modulo the XCDs, so that each of them has
 * its share. */

static u64 scrambled(u64 n) { /* the finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014) */
  n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
  n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
  return n ^ n >> 31;
}

/* The place of cell `number` when `cells` of them share `length` places. Neighbours that may meet are `apart` cells apart: the
 * less room there is, the nearer to the middle of its cell a place must be. */
static u64 draw(u64 number, u64 cells, u64 length, u64 apart) {
  double cell = (double)length / (double)cells, room = (double)apart - 1 / cell;
  double random = (double)(scrambled(number) >> 11) * 0x1p-53 - 0.5, jitter = room > 1 ? 1 : room > 0 ? room : 0;
  u64 place = (u64)(((double)number + 0.5 + random * jitter) * cell);
  return place < length ? place : length - 1;
}

static u64 spread_number(const sample *s, u64 position) {
  u64 xcd = position % s->xcds, of_xcd = (s->groups - xcd + s->xcds - 1) / s->xcds;
  if (s->count % s->xcds != 0) return draw(position, s->count, s->groups, 1);
  return draw(position, s->count, of_xcd, s->xcds) * s->xcds + xcd;
}

static sample *spread(u64 count, u64 groups, u32 xcds) {
  sample *s = sample_alloc(0);
  if (s != NULL) *s = (sample){.count = count, .groups = groups, .xcds = xcds};
  return s;
}

static bool parse_number(const char **text, u64 *value) {
  char *end;
  if (**text < '0' || **text > '9') return false;
  *value = strtoull(*text, &end, 10);
  *text = end;
  return true;
}

static gfxsim_status parse_ranges(const char *text, u64 groups, sample **made) {
  size_t ranges = 1;
  for (const char *c = text; *c != '\0'; c++) ranges += *c == ',';
  sample *s = sample_alloc(ranges);
  if (s == NULL) return fail(GFXSIM_NO_MEMORY, "run: no memory");
  const char *at = text;
  u64 next = 0;
  for (; s->ranges < ranges; s->ranges++, at++) {
    u64 first, last;
    bool good = parse_number(&at, &first);
    last = first;
    if (good && *at == '-') {
      at++;
      good = parse_number(&at, &last);
    }
    if (!good || first < next || last < first || last >= groups || *at != (s->ranges + 1 < ranges ? ',' : '\0')) {
      sample_free(s);
      return refuse(text, groups);
    }
    s->range[s->ranges] = (range){first, s->count};
    s->count += last - first + 1;
    next = last + 1;
  }
  *made = s;
  return GFXSIM_OK;
}

gfxsim_status sample_make(const char *text, u64 groups, u32 xcds, sample **made) {
  *made = NULL;
  if (text == NULL) return GFXSIM_OK;
  if (strpbrk(text, "-,") != NULL) return parse_ranges(text, groups, made);
  const char *at = text;
  u64 count;
  if (!parse_number(&at, &count) || *at != '\0' || count == 0 || count > groups) return refuse(text, groups);
  if (count == groups) return GFXSIM_OK;
  if (count > UINT32_MAX) return fail(GFXSIM_INVALID, "run: workgroups = %s: must be below 2^32 or all", text);
  *made = spread(count, groups, xcds);
  return *made != NULL ? GFXSIM_OK : fail(GFXSIM_NO_MEMORY, "run: no memory");
}

/* The golden ratio's multiples modulo 1 are spread evenly over the grid. Each has its mirror image beside it: where work rises
 * along the grid, or in each of the parts that it repeats, as in a causal attention, the two do twice the average. */
sample *sample_runs(u64 runs, u64 length, u64 groups) {
  const double golden = 0.61803398874989485;
  u64 cells = length > 0 ? groups / length : 0;
  sample *s = cells >= runs ? sample_alloc(runs) : NULL;
  if (s == NULL) return NULL;
  for (; s->ranges < runs; s->ranges++) {
    double place = ((double)(s->ranges / 2) + 0.5) * golden;
    u64 cell = (u64)((place - (double)(u64)place) * (double)cells);
    if (s->ranges % 2 == 1) cell = cells - 1 - cell;
    size_t at = s->ranges;
    for (; at > 0 && s->range[at - 1].first > cell; at--) s->range[at] = s->range[at - 1];
    s->range[at].first = cell;
  }
  u64 next = 0; /* one cell for each: the next one where two met, but those after it need room */
  for (size_t n = 0; n < runs; n++) {
    u64 cell = s->range[n].first > next ? s->range[n].first : next, last = cells - (runs - n);
    next = (cell < last ? cell : last) + 1;
    s->range[n] = (range){(next - 1) * length, n * length};
  }
  s->count = runs * length;
  return s;
}

void sample_free(sample *s) { free(s); }

u64 sample_count(const sample *s, u64 groups) { return s != NULL ? s->count : groups; }

u64 sample_number(const sample *s, u64 position) {
  if (s == NULL) return position;
  if (s->groups != 0) return spread_number(s, position);
  size_t low = 0, high = s->ranges; /* the last range that begins at or before the position */
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (s->range[middle].before <= position)
      low = middle;
    else
      high = middle;
  }
  return s->range[low].first + position - s->range[low].before;
}

bool sample_is_spread(const sample *s) { return s != NULL && s->groups != 0; }
