/* What the hardware and its firmware put into registers before the first instruction.
 * Source: LLVM's AMDGPUUsage, "Initial Kernel Execution State" and "Preloaded Kernel Arguments". */
#include "wave.h"

static void put_scalar(wave *w, u32 *at, u32 value) {
  w->started |= UINT64_C(1) << *at;
  w->s[(*at)++] = value;
}

static void put_pair(wave *w, u32 *at, u64 value) {
  put_scalar(w, at, (u32)value);
  put_scalar(w, at, (u32)(value >> 32));
}

static void start_sgprs(wave *w) {
  const launch *run = w->group->launch;
  const descriptor *d = &run->kernel->desc;
  u32 at = 0;
  if (d->private_segment_buffer) at += 4; /* no chip here uses it: scratch has its own instructions */
  if (d->dispatch_ptr) put_pair(w, &at, run->packet);
  if (d->queue_ptr) put_pair(w, &at, 0); /* there is no queue: its use is a fault */
  if (d->kernarg_ptr) put_pair(w, &at, run->kernarg);
  if (d->dispatch_id) put_pair(w, &at, 0);
  if (d->flat_scratch_init) put_pair(w, &at, 0);
  if (d->private_segment_size) put_scalar(w, &at, run->scratch_bytes);
  if (d->preload_dwords > 0 && !run->device->options.no_preload) {
    u8 *args = memory_range(&run->device->memory, run->kernarg + 4 * d->preload_offset, 4 * d->preload_dwords, "preload");
    for (u32 n = 0; n < d->preload_dwords && args != NULL; n++) {
      u32 value;
      memcpy(&value, args + 4 * n, sizeof value);
      put_scalar(w, &at, value);
    }
  }
  at = d->user_sgprs;
  for (int dim = 0; dim < 3; dim++)
    if (d->workgroup_id[dim]) put_scalar(w, &at, w->group->id[dim]);
}

void wave_start(wave *w, group *g, int index) {
  const launch *run = g->launch;
  const descriptor *d = &run->kernel->desc;
  memset(w->s, 0, sizeof w->s);
  w->group = g;
  w->index = (u8)index;
  w->state = WAVE_RUNNING;
  w->watched = run->watchers > 0;
  w->scc = 0;
  w->mode = d->mode;
  w->blocks = 0;
  w->started = 0;
  w->pc = run->kernel->entry;
  w->next = NULL;
  if (d->preload_dwords > 0 && !run->device->options.no_preload) w->pc += 256;
  start_sgprs(w);
  u32 items = run->block[0] * run->block[1] * run->block[2], first = (u32)index * LANES;
  u32 lanes = items - first < LANES ? items - first : LANES;
  set_pair(w, S_EXEC, lanes == LANES ? EXEC_ALL : (UINT64_C(1) << lanes) - 1);
  for (u32 l = 0; l < LANES; l++) { /* x, y, z in 10 bits each */
    u32 item = first + l, x = item % run->block[0], y = item / run->block[0] % run->block[1];
    u32 z = item / run->block[0] / run->block[1];
    w->v[0][l] = (x & 1023) | (d->workitem_dims > 1 ? (y & 1023) << 10 : 0) | (d->workitem_dims > 2 ? (z & 1023) << 20 : 0);
  }
}
