/* The CUs by their next clock. */
#include "model.h"

static bool before(const time_run *t, u32 a, u32 b) {
  return t->cu[a].next != t->cu[b].next ? t->cu[a].next < t->cu[b].next : a < b;
}

static void put(time_run *t, u32 place, u32 cu) {
  t->heap[place] = cu;
  t->cu[cu].place = place;
}

void heap_moved(time_run *t, const cu_time *moved) {
  u32 cu = (u32)(moved - t->cu), place = moved->place;
  for (; place > 0 && before(t, cu, t->heap[(place - 1) / 2]); place = (place - 1) / 2) put(t, place, t->heap[(place - 1) / 2]);
  for (;;) {
    u32 child = 2 * place + 1;
    if (child + 1 < t->cus && before(t, t->heap[child + 1], t->heap[child])) child++;
    if (child >= t->cus || !before(t, t->heap[child], cu)) break;
    put(t, place, t->heap[child]);
    place = child;
  }
  put(t, place, cu);
}
