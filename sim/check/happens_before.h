/* What happens before what: which results a wave has waited for, who accessed which bytes when, and which of two accesses comes
 * first for certain. Names begin with hb_, "happens before".
 *
 * happens_before.c  the watcher: puts instructions into queues, and hands accesses and barriers to the checks
 * wait.c            registers and LDS bytes whose contents have not arrived yet
 * race.c            the shadow memory: the last writer and the last readers of every dword
 * fence.c           releases and acquires through atomics, between workgroups */
#ifndef GFXSIM_HAPPENS_BEFORE_H
#define GFXSIM_HAPPENS_BEFORE_H
#include "sim/machine/watch.h"

enum { HB_WAVES = 16, HB_ROWS = 4, VM_MOST = 64, LGKM_MOST = 16, SITES_MOST = 1 << 16, CLOCK_LAST = (1 << 17) - 1 };
enum { TAGS = 1 << 22 }; /* of workgroups, in the shadow */

/* ---- Outstanding instructions ---- */

/* An access. Those of LDS are kept until they are waited for: barriers carry them on to their other side. */
typedef struct footprint {
  bool lds, write, atomic;
  u32 bytes;
  u64 mask, changed; /* changed: lanes that wrote other bytes than were there */
  u64 address[LANES];
  u64 low, high; /* of LDS: all lanes' bytes are in [low, high) */
} footprint;

typedef struct outstanding {
  const inst *i;
  bool scalar, held; /* its destinations are SGPRs; `data` has what arrives at the wait */
  u16 reg, count;    /* destination registers; count 0: none */
  u32 bits;          /* of each register that it writes: loads to one half leave the other */
  u64 mask;
  bool to_lds; /* touch[touches - 1] is what it writes */
  int touches;
  footprint touch[2];
  u32 data[HB_ROWS][LANES];
} outstanding;

typedef struct queue {
  outstanding *entry; /* a ring of `most` */
  u32 first, count, most;
  u64 issued;
} queue;

static inline outstanding *queue_at(const queue *q, u32 n) { return &q->entry[(q->first + n) % q->most]; }

/* ---- Fences between workgroups ---- */

typedef struct release {
  u64 group;
  u32 visible[HB_WAVES]; /* of each wave of the group: accesses up to this clock can be seen by all workgroups */
} release;

typedef struct location { /* an address that atomics release through */
  struct location *next;
  u64 address;
  release *releases;
  u32 count, capacity;
} location;

/* Releases that a workgroup's wave has read: the first `seen` ones; `ready` after buffer_inv. */
typedef struct acquired {
  location *at;
  u32 seen, ready, group_seen, group_ready; /* group: what the other waves know since a barrier */
  u64 ticket;                               /* of the atomic, in the queue of vmcnt */
  u8 wave;
} acquired;

/* ---- State of a wave, a host thread's workgroup, a launch ---- */

typedef struct hb_wave hb_wave;
/* A plain load of bytes that another wave's atomic wrote. A loop around a compare-and-swap starts with such a load, so it is
 * reported only if no compare-and-swap follows. */
typedef struct suspect {
  const inst *i;
  u64 mark, found, address;
  int lane;
  bool lds;
} suspect;

enum { SUSPECTS = 8, CARRIED_MOST = 16 };

typedef struct hb_group hb_group;
typedef struct hb_launch hb_launch;

struct hb_wave {
  queue vm, lgkm;
  u64 pending_v[8], pending_s[2]; /* a bit per register that an outstanding instruction writes */
  outstanding *fresh;             /* issued by the last instruction: its result is taken away before the next one */
  const inst *last;
  suspect suspect[SUSPECTS];
  int suspects;
  bool scoped;             /* its instruction is an atomic, or a load or store of a scope: hb_launch.holder */
  bool fenced, fence_open; /* it has something visible; buffer_wbl2 was not waited for */
  u32 visible[HB_WAVES];   /* what an atomic of this wave releases */
  u32 fence[HB_WAVES];     /* becomes visible once buffer_wbl2 is waited for */
};

typedef struct cell cell;
typedef struct page_group page_group;

struct hb_group {
  hb_wave wave[HB_WAVES];
  outstanding *entries;
  cell *lds; /* the shadow */
  u64 tag;   /* of the workgroup, in cells */
  u32 clock; /* ticks at each barrier and fence */
  u32 epoch; /* the clock at the last barrier */
  /* Accesses that were outstanding at the last barrier. They only change the words of a report: of more than CARRIED_MOST the
   * others are reported as if there were no barrier. */
  const inst *carried[CARRIED_MOST];
  u32 carried_count;
  acquired *acquired;
  u32 acquired_count, acquired_capacity;
};

enum { LOCATIONS = 1024 };

struct hb_launch {
  pthread_mutex_t lock; /* of sites, pages and locations */
  _Atomic u16 *site_of; /* by (pc - text_begin) / 4: an index of site; 0: none yet */
  const inst **site;
  u32 sites;
  _Atomic(page_group *) *groups; /* of pages of global memory's shadow: addresses are sparse */
  u64 group_count;
  struct sparse *host; /* the shadow of mapped host memory; NULL where there is none */
  location *locations[LOCATIONS];
  atomic_uint location_count;
  _Atomic(group *) holder; /* whose atomic is executed and written down now (fence.c); NULL: nobody's */
};

extern const watcher hb_watcher;

static inline hb_launch *hb_of(const wave *w) { return w->group->launch->hb; }
static inline bool hb_checks(const wave *w, gfxsim_check check) {
  return (w->group->launch->device->options.unchecked & (u32)check) == 0;
}
/* The host has no memory left: ends the launch. */
void hb_no_memory(wave *w, const inst *i);

/* ---- wait.c ---- */

/* Checks the operands against what is outstanding. */
void wait_operands(wave *w, hb_wave *o, const inst *i);
/* A load to LDS right after its m0 was written. */
void wait_m0(wave *w, const hb_wave *o, const inst *i);
/* A new entry with the instruction's destination, at the queue's end. */
outstanding *wait_issue(wave *w, hb_wave *o, queue *q, const inst *i);
/* A flat load that reaches LDS is not in order after loads that come from memory. */
void wait_flat_lds(wave *w, hb_wave *o, const inst *i);
/* Takes away what the last instruction has loaded, into registers or LDS. */
void wait_settle(wave *w, hb_wave *o);
/* Completes entries until s_waitcnt is satisfied. */
void wait_counts(wave *w, hb_wave *o, u32 vm, u32 lgkm);
/* Checks an LDS access against the bytes that the wave's own outstanding loads to LDS will write. */
void wait_lds(wave *w, hb_wave *o, const inst *i, const footprint *t);

/* ---- race.c ---- */

gfxsim_status race_begin(launch *run, hb_launch *o);
void race_end(const launch *run, hb_launch *o);
/* The shadow of the workgroup's LDS; NULL: no memory. */
cell *race_lds(const launch *run);
/* Looks for what collides with the access, and leaves its mark. */
void race_access(wave *w, const inst *i, const footprint *t);
/* Only leaves the mark, with the group's clock of now. */
void race_mark(wave *w, const inst *i, const footprint *t);

/* A compare-and-swap clears suspects. The others are reported at the next barrier, or when the wave ends. */
void race_swap(hb_wave *o, const footprint *t);
void race_report_suspects(wave *w, hb_wave *o);

/* ---- fence.c ---- */

void fence_start(hb_group *g);
void fence_write_back(wave *w, hb_wave *o); /* buffer_wbl2 */
void fence_waited(hb_wave *o);              /* vmcnt is 0 */
void fence_invalidate(wave *w);             /* buffer_inv */
void fence_barrier(const launch *run, hb_group *g);
/* An atomic is about to be executed, and has been: what it releases is known before another one can acquire it. */
void fence_before(wave *w, hb_wave *o, const inst *i);
void fence_after(wave *w, hb_wave *o);
void fence_atomic(wave *w, hb_wave *o, const inst *i, const footprint *t, bool reads);
/* Whether the wave has acquired what the group's wave released at or after the clock. */
bool fence_knows(wave *w, u64 tag, u32 wave_of, u32 clock);
void fence_end(hb_launch *o);

#endif
