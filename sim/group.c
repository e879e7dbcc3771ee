#include <sched.h>

#include "watch.h"

/* Blocks that a wave runs before the next one's turn: few enough that waves which wait for each other in LDS get on, enough
 * that a wave's registers stay in the cache. */
enum { SLICE = 16 };

static void release_barrier(group *g, u32 waves) {
  for (u32 n = 0; n < waves; n++)
    if (g->waves[n].state == WAVE_BARRIER) g->waves[n].state = WAVE_RUNNING;
}

void group_run(group *g) {
  launch *run = g->launch;
  u32 waves = run->waves;
  for (u32 n = 0; n < waves; n++) wave_start(&g->waves[n], g, (int)n);
  WATCH_EACH(run, start, g);
  while (!atomic_load_explicit(&run->stop, memory_order_relaxed)) {
    u32 running = 0, waiting = 0;
    for (u32 n = 0; n < waves; n++) {
      wave *w = &g->waves[n];
      for (int turn = 0; turn < SLICE && w->state == WAVE_RUNNING; turn++) wave_block(w);
      running += w->state == WAVE_RUNNING;
      waiting += w->state == WAVE_BARRIER;
    }
    if (running > 0 && run->cooperative) sched_yield(); /* another workgroup may be what these waves wait for */
    if (running > 0) continue;
    if (waiting == 0) break;
    WATCH_EACH(run, barrier, g);
    release_barrier(g, waves); /* waves that have ended count as arrived (CDNA 4 ISA, S_BARRIER) */
  }
  if (!atomic_load_explicit(&run->stop, memory_order_relaxed)) WATCH_EACH(run, finish, g);
}
