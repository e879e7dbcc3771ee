/* The waves of a CU's SIMDs, and the clocks at which they can go on. */
#include "model.h"

static u64 later(u64 a, u64 b) { return a > b ? a : b; }

u64 unit_free(time_run *t, const cu_time *cu, wave_time *wt) {
  const site *s = wt->at;
  const simd_time *simd = &cu->simd[wt->simd];
  if (s->port == PORT_NONE) return 0;
  u64 ports = simd->port_free[s->port], units = 0;
  if (s->inst->class == CLASS_MFMA || s->packed_f32) units = simd->matrix_free;
  if (s->port == PORT_LDS) units = queue_room(&cu->lds_queue[wt->simd / 2], (u32)t->p.lds_queue);
  if (s->port == PORT_VMEM) units = queue_room(&cu->vmem_queue, (u32)t->p.vmem_queue);
  wt->hold_cause = ports > units && simd->port_user[s->port] != wt ? GFXSIM_CAUSE_OTHER_WAVE : GFXSIM_CAUSE_PIPE;
  return later(ports, units);
}

void simd_update(time_run *t, cu_time *cu, u32 number, u64 at) {
  simd_time *simd = &cu->simd[number];
  simd->next = NEVER;
  for (u32 n = 0; n < simd->waves; n++) {
    wave_time *wt = simd->wave[n];
    if (wt->ready == NEVER) continue;
    u64 next = later(later(wt->ready, unit_free(t, cu, wt)), at);
    if (next < simd->next) simd->next = next;
  }
  cu->next = NEVER;
  for (u32 n = 0; n < t->chip->simds_per_cu; n++)
    if (cu->simd[n].next < cu->next) cu->next = cu->simd[n].next;
}

static bool goes_before(const wave_time *a, const wave_time *b) {
  return a->priority != b->priority ? a->priority > b->priority : a->age < b->age;
}

void simd_order(cu_time *cu, u32 number) {
  simd_time *simd = &cu->simd[number];
  for (u32 n = 1; n < simd->waves; n++) {
    wave_time *wt = simd->wave[n];
    u32 at = n;
    for (; at > 0 && goes_before(wt, simd->wave[at - 1]); at--) simd->wave[at] = simd->wave[at - 1];
    simd->wave[at] = wt;
  }
}

void simd_add(time_run *t, cu_time *cu, wave_time *wt, u64 at) {
  simd_time *simd = &cu->simd[wt->simd];
  if (simd->waves == 0) simd->occupied_from = simd->issue_end = at;
  simd->wave[simd->waves++] = wt;
  wt->free_at = wt->begin = at;
  score_next(t, wt);
  simd_order(cu, wt->simd);
  t->resident_waves++;
}

void simd_remove(time_run *t, cu_time *cu, wave_time *wt, u64 at) {
  simd_time *simd = &cu->simd[wt->simd];
  u32 n = 0;
  while (simd->wave[n] != wt) n++;
  for (simd->waves--; n < simd->waves; n++) simd->wave[n] = simd->wave[n + 1];
  if (simd->waves == 0) simd->occupied += at - simd->occupied_from;
  if (wt->spins && wt->seen_look == t->looks) t->spinning--;
  t->resident_waves--;
}
