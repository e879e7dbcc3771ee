/* A unit that serves requests which are known before they arrive: a calendar of its clocks. A request takes the first free
 * clocks from its arrival on, so that one that comes later in the calls, but arrives earlier, still finds the clocks before. */
#ifndef GFXSIM_TIME_CALENDAR_H
#define GFXSIM_TIME_CALENDAR_H
#include "sim/base/types.h"

/* Days of 32 clocks; work in 64ths of a clock, as a line of HBM takes a part of one. 2^11 days are 65536 clocks: work that far
 * ahead does not occur, because queues in front of every unit are short. */
enum { DAY_SHIFT = 5, DAYS = 1 << 11, WORK_SHIFT = 6, DAY_WORK = 1 << (DAY_SHIFT + WORK_SHIFT) };

typedef struct calendar_day {
  u64 number;
  u32 used;
} calendar_day;

typedef struct calendar {
  calendar_day day[DAYS];
} calendar;

/* When `work`, which arrives at clock `at`, is done. */
static inline u64 calendar_take(calendar *c, u64 at, u32 work) {
  u64 number = at >> DAY_SHIFT, earliest = at + ((work + (1 << WORK_SHIFT) - 1) >> WORK_SHIFT);
  for (;; number++) {
    calendar_day *day = &c->day[number % DAYS];
    if (day->number != number) *day = (calendar_day){.number = number};
    u32 left = DAY_WORK - day->used, taken = left < work ? left : work;
    day->used += taken;
    work -= taken;
    if (work > 0) continue;
    u64 done = (number << DAY_SHIFT) + ((day->used + (1 << WORK_SHIFT) - 1) >> WORK_SHIFT);
    return done > earliest ? done : earliest;
  }
}

#endif
