/* Waves that wait for each other for ever. A wave that takes a branch backwards with the same registers as the last time, while
 * nothing has changed in memory, does the same again. When all waves do, or stand at a barrier, nothing will change. */
#include <inttypes.h>

#include "model.h"
#include "sim/base/error.h"

/* Instructions of the launch without a change in memory before anybody looks: a look at all registers costs about 10 us. */
enum { PATIENCE = 1 << 20 };

void stuck_progress(time_run *t) {
  t->since_progress = 0;
  t->spinning = 0;
  t->looks++;
}

static u64 mix(u64 hash, const void *data, size_t bytes) {
  const u8 *at = data;
  for (size_t n = 0; n + 8 <= bytes; n += 8) {
    u64 word;
    memcpy(&word, at + n, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash;
}

static u64 state_of(const time_run *t, const wave *w) {
  u64 hash = mix(w->scc + 1, w->s, sizeof w->s);
  return mix(hash, w->v, (size_t)t->run->vgprs * sizeof w->v[0]);
}

/* Waves that wait at a barrier for one that spins count with it. */
static u32 at_barriers(const time_run *t) {
  u32 count = 0;
  for (const resident *r = t->all; r != NULL; r = r->all) count += r->running > 0 ? r->waiting : 0;
  return count;
}

static u64 resident_groups(const time_run *t) {
  u64 count = 0;
  for (const resident *r = t->all; r != NULL; r = r->all) count += r->running > 0;
  return count;
}

void stuck_look(time_run *t, wave_time *wt) {
  if (t->since_progress < PATIENCE || t->failed) return;
  u64 scalars = mix(wt->w->scc + 1, wt->w->s, sizeof wt->w->s);
  bool same = wt->seen_look == t->looks && wt->seen_pc == wt->w->pc && wt->seen_scalars == scalars;
  u64 state = same ? state_of(t, wt->w) : 0;
  bool spins = same && wt->seen_state == state && state != 0;
  bool counted = wt->spins && wt->seen_look == t->looks;
  wt->seen_look = t->looks;
  wt->seen_pc = wt->w->pc;
  wt->seen_scalars = scalars;
  wt->seen_state = state;
  if (spins && !counted) t->spinning++;
  if (!spins && counted) t->spinning--;
  wt->spins = spins;
  if (!spins || t->spinning + at_barriers(t) < t->resident_waves) return;
  t->failed = true;
  t->status =
      fail(GFXSIM_FAULT,
           "time: the waves wait for each other for ever: %u run in loops that change nothing, such as wave %u of "
           "workgroup %" PRIu64 " at pc 0x%" PRIx64 ", %u wait at barriers, and %" PRIu64
           " workgroups can't begin while a CU holds only %u",
           t->spinning, wt->w->index, wt->home->room.group.number, wt->at->inst->pc - t->run->kernel->object->image->base,
           at_barriers(t), t->left - resident_groups(t), t->held);
}
