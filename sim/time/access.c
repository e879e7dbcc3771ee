/* What an instruction asks of memory, kept while it runs. */
#include "model.h"

void asked_clear(time_run *t, const wave *w) {
  asked *a = &t->asked;
  t->lds_counted = w->group->counts->lds;
  a->lds = a->lds_store = a->global = a->store = a->atomic = a->past_l1 = a->scalar = a->scratch = false;
  a->lds_clocks = a->lds_bytes = a->bytes = a->lines.count = 0;
}

/* 16 bytes of a lane that do not begin at a multiple of 16 are served lane by lane: 64 clocks
 * (ROCm/gfx950-gluon-tutorials, experiments/lds_throughput_validation, padding 1024:+4). */
static bool is_unaligned(const memory_access *m) {
  if (m->bytes != 16) return false;
  for (u64 mask = m->mask; mask != 0; mask &= mask - 1)
    if (m->offset[__builtin_ctzll(mask)] % 16 != 0) return true;
  return false;
}

/* The counters have seen the access already (sim/built_in.c). */
static void add_lds(time_run *t, asked *a, const wave *w, const memory_access *m) {
  const gfxsim_lds_count *now = &w->group->counts->lds;
  u32 clocks = (u32)(now->clocks - t->lds_counted.clocks), bytes = (u32)(now->bytes - t->lds_counted.bytes);
  t->lds_counted = *now;
  a->lds = true;
  a->lds_store = a->lds_store || m->kind != ACCESS_LOAD;
  a->lds_clocks += !m->to_lds && is_unaligned(m) ? (u32)__builtin_popcountll(m->mask) : clocks;
  a->lds_bytes += bytes;
  if (m->kind != ACCESS_LOAD && m->changed != 0) stuck_progress(t);
}

static void add_global(time_run *t, asked *a, const inst *i, const memory_access *m) {
  touch kind = touch_of(i, m);
  a->global = true;
  a->store = a->store || m->kind == ACCESS_STORE;
  a->atomic = a->atomic || m->kind == ACCESS_ATOMIC;
  a->past_l1 = kind == TOUCH_READ_L2;
  a->bytes += (u32)__builtin_popcountll(m->mask) * m->bytes;
  lines_of(m, &a->lines);
  if (m->kind == ACCESS_ATOMIC || m->changed != 0) stuck_progress(t);
}

void asked_add(time_run *t, wave *w, const inst *i, const memory_access *m) {
  asked *a = &t->asked;
  if (i->class == CLASS_FLAT && m->mask == 0) return; /* it comes here once for each memory */
  if (m->scalar) {
    a->scalar = true;
    a->lines.line[0] = m->address[0] >> 6;
    a->bytes = m->bytes;
  } else if (m->space == SPACE_LDS) {
    add_lds(t, a, w, m);
  } else if (m->space == SPACE_GLOBAL) {
    add_global(t, a, i, m);
  } else {
    a->scratch = true;
    a->store = a->store || m->kind == ACCESS_STORE;
    a->bytes += (u32)__builtin_popcountll(m->mask) * m->bytes;
  }
}
