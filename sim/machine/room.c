#include "room.h"

#include <stdlib.h>

#include "sample.h"
#include "sim/base/error.h"
#include "watch.h"

gfxsim_status room_make(room *r, launch *run) {
  r->waves = aligned_alloc(64, run->waves * sizeof(wave));
  r->registers = aligned_alloc(64, (size_t)run->waves * run->vgprs * LANES * 4);
  r->lds = aligned_alloc(64, (run->lds_bytes + 64) / 64 * 64);
  r->scratch = aligned_alloc(64, (size_t)run->waves * (run->scratch_bytes + 4) * LANES);
  r->group = (group){.launch = run, .lds = r->lds, .waves = r->waves};
  if (r->waves == NULL || r->registers == NULL || r->lds == NULL || r->scratch == NULL)
    return fail(GFXSIM_NO_MEMORY, "run: no memory for the %u waves of a workgroup", run->waves);
  memset(r->waves, 0, run->waves * sizeof(wave));
  for (u32 n = 0; n < run->waves; n++) {
    r->group.waves[n].v = (u32(*)[LANES])r->registers + (size_t)n * run->vgprs;
    r->group.waves[n].scratch = (u8 *)r->scratch + (size_t)n * (run->scratch_bytes + 4) * LANES;
  }
  return watch_open(&r->group);
}

void room_free(room *r) {
  if (r->group.launch != NULL) WATCH_EACH(r->group.launch, close, &r->group);
  free(r->waves);
  free(r->registers);
  free(r->lds);
  free(r->scratch);
}

void room_take(room *r, u64 position) {
  const launch *run = r->group.launch;
  group *g = &r->group;
  u64 x = run->grid[0], y = run->grid[1], index = sample_number(run->sample, position);
  g->position = position;
  g->number = index;
  g->id[0] = (u32)(index % x);
  g->id[1] = (u32)(index / x % y);
  g->id[2] = (u32)(index / x / y);
  memset(r->lds, 0, run->lds_bytes);
  memset(r->registers, 0, (size_t)run->waves * run->vgprs * LANES * 4);
  memset(r->scratch, 0, (size_t)run->waves * (run->scratch_bytes + 4) * LANES);
}
