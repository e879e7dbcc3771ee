#include "sample.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

typedef struct range {
  u64 first, before; /* before: workgroups of the ranges ahead of this one */
} range;

struct sample {
  u64 count;
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

/* `count` workgroups in runs of one per XCD, because workgroups go to XCDs round-robin and neighbours share data; the runs lie
 * evenly over the grid and begin at multiples of the XCDs. */
static sample *spread(u64 count, u64 groups, u32 xcds) {
  u64 runs = (count + xcds - 1) / xcds, rounds = groups / xcds;
  if (rounds < runs) runs = 1; /* nearly all: the first `count` */
  sample *s = sample_alloc(runs);
  if (s == NULL) return NULL;
  s->count = count;
  s->ranges = runs;
  for (u64 r = 0; r < runs; r++) s->range[r] = (range){r * rounds / runs * xcds, r * xcds};
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
  *made = spread(count, groups, xcds);
  return *made != NULL ? GFXSIM_OK : fail(GFXSIM_NO_MEMORY, "run: no memory");
}

void sample_free(sample *s) { free(s); }

u64 sample_count(const sample *s, u64 groups) { return s != NULL ? s->count : groups; }

u64 sample_number(const sample *s, u64 position) {
  if (s == NULL) return position;
  size_t r = s->ranges - 1;
  while (s->range[r].before > position) r--;
  return s->range[r].first + position - s->range[r].before;
}
