/* The lanes of a team as coroutines of one host thread, for kernels that exchange registers within a wave of 32. They take
 * turns in a fixed order; at each exchange a lane leaves what it gives and goes on when all lanes of its wave have done so.
 * Include it before the kernel's headers. It has NVIDIA's functions of offload/device/mma.h that exchange anything: which
 * lane holds what is written in NVIDIA's PTX ISA. */
#ifndef TANDEM_TEST_PLAN_WAVE_STAND_IN_H
#define TANDEM_TEST_PLAN_WAVE_STAND_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* A lane's stack: kernels that are compiled at -O0 need more than 256 KiB. */
enum { WAVE_LANES = 32, WAVE_MOST_LANES = 128, WAVE_STACK = 1 << 20, WAVE_GIVEN = 64 };

/* What a lane gives at an exchange: a lane may be one exchange ahead of another. */
static struct {
  ucontext_t scheduler, lane[WAVE_MOST_LANES];
  char *stack[WAVE_MOST_LANES];
  bool done[WAVE_MOST_LANES];
  unsigned char given[WAVE_MOST_LANES][2][WAVE_GIVEN];
  int exchanges[WAVE_MOST_LANES];
  int lanes, now, waiting;
  bool released; /* from the barrier of the team: set between two turns, so that a wave stays together */
  void (*body)(void *job, int thread);
  void *job;
} wave_team;

static void wave_yield(void) {
  const int own = wave_team.now;
  swapcontext(&wave_team.lane[own], &wave_team.scheduler);
}

static void wave_sync_block(void) {
  wave_team.waiting++;
  do wave_yield();
  while (!wave_team.released);
  wave_team.waiting--;
}

/* Gives `bytes` and returns when all lanes of the wave have given theirs; wave_given(lane) then is what a lane gave. */
static void wave_exchange(const void *x, size_t bytes) {
  const int own = wave_team.now;
  memcpy(wave_team.given[own][++wave_team.exchanges[own] % 2], x, bytes);
  wave_yield();
}
static const void *wave_given(int lane) {
  const int own = wave_team.now;
  return wave_team.given[own / WAVE_LANES * WAVE_LANES + lane][wave_team.exchanges[own] % 2];
}

static void wave_lane(void) {
  const int own = wave_team.now;
  wave_team.body(wave_team.job, own);
  wave_team.done[own] = true;
  wave_yield();
}

static void wave_run_team(int lanes, void (*body)(void *job, int thread), void *job) {
  wave_team.lanes = lanes, wave_team.waiting = 0, wave_team.body = body, wave_team.job = job;
  for (int i = 0; i < lanes; i++) {
    if (wave_team.stack[i] == NULL) wave_team.stack[i] = malloc(WAVE_STACK);
    if (wave_team.stack[i] == NULL) abort();
    getcontext(&wave_team.lane[i]);
    wave_team.lane[i].uc_stack.ss_sp = wave_team.stack[i];
    wave_team.lane[i].uc_stack.ss_size = WAVE_STACK;
    wave_team.lane[i].uc_link = NULL;
    wave_team.done[i] = false;
    makecontext(&wave_team.lane[i], wave_lane, 0);
  }
  for (int left = lanes; left > 0;) {
    left = 0;
    wave_team.released = wave_team.waiting == lanes;
    for (int i = 0; i < lanes; i++) {
      if (wave_team.done[i]) continue;
      left++;
      wave_team.now = i;
      swapcontext(&wave_team.scheduler, &wave_team.lane[i]);
    }
  }
}

static float wave_lane_read(float x, int lane, int mask) {
  float other;
  wave_exchange(&x, sizeof x);
  memcpy(&other, wave_given(lane < 0 ? (wave_team.now % WAVE_LANES) ^ mask : lane), sizeof other);
  return other;
}

#define TDM_SYNC_BLOCK() wave_sync_block()
#define TDM_LANE_READ(x, lane, mask) wave_lane_read(x, lane, mask)
#define MMA_STAND_IN "test/plan/mma_stand_in.h"

#endif
