/* The waves of a workgroup take turns. */
#include <sched.h>

#include "watch.h"

enum { WAVES_MOST = 16, TURN_ALONE = 1 << 20 };

/* The order of turns of one workgroup: wave after wave, or by pseudo-random numbers from the launch's seed. */
typedef struct turns {
  u64 random; /* 0: none */
  u8 wave[WAVES_MOST];
} turns;

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static u64 random_next(u64 *state) {
  u64 n = *state += UINT64_C(0x9e3779b97f4a7c15);
  n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
  return n ^ n >> 31;
}

static void turns_start(turns *t, const group *g) {
  u64 state = g->launch->seed ^ (g->number + 1) * UINT64_C(0xd1342543de82ef95);
  t->random = g->launch->seed != 0 ? random_next(&state) | 1 : 0;
  for (u8 n = 0; n < WAVES_MOST; n++) t->wave[n] = n;
}

/* A new order for the next round. */
static void turns_shuffle(turns *t, u32 waves) {
  for (u32 n = waves - 1; t->random != 0 && n > 0; n--) {
    u32 other = (u32)(random_next(&t->random) % (n + 1));
    u8 kept = t->wave[n];
    t->wave[n] = t->wave[other];
    t->wave[other] = kept;
  }
}

/* With a seed 1 to 2 * turn - 1 instructions, so that the mean stays. */
static u32 turns_length(turns *t, const launch *run, u32 running) {
  if (running == 1 && !run->cooperative) return TURN_ALONE; /* it can overtake nobody */
  return t->random == 0 ? run->turn : 1 + (u32)(random_next(&t->random) % (2 * (u64)run->turn - 1));
}

void group_start(group *g) {
  for (u32 n = 0; n < g->launch->waves; n++) wave_start(&g->waves[n], g, (int)n);
  WATCH_EACH(g->launch, start, g);
}

/* Those that have ended are not waited for (CDNA 4 ISA, S_BARRIER). */
void group_release(group *g) {
  WATCH_EACH(g->launch, barrier, g);
  for (u32 n = 0; n < g->launch->waves; n++)
    if (g->waves[n].state == WAVE_BARRIER) g->waves[n].state = WAVE_RUNNING;
}

static u32 count_state(const group *g, u32 waves, wave_state state) {
  u32 count = 0;
  for (u32 n = 0; n < waves; n++) count += g->waves[n].state == state;
  return count;
}

void group_run(group *g) {
  launch *run = g->launch;
  u32 waves = run->waves;
  turns order;
  turns_start(&order, g);
  group_start(g);
  while (!atomic_load_explicit(&run->stop, memory_order_relaxed)) {
    u32 running = count_state(g, waves, WAVE_RUNNING);
    if (running > 0) {
      turns_shuffle(&order, waves);
      for (u32 n = 0; n < waves; n++) wave_turn(&g->waves[order.wave[n]], turns_length(&order, run, running));
      if (run->cooperative) sched_yield(); /* another workgroup may be what these waves wait for */
      continue;
    }
    if (count_state(g, waves, WAVE_BARRIER) == 0) break;
    group_release(g);
  }
  if (!atomic_load_explicit(&run->stop, memory_order_relaxed)) WATCH_EACH(run, finish, g);
}
