/* The model: a CU's SIMDs, their waves, and the units that these share. */
#ifndef GFXSIM_TIME_MODEL_H
#define GFXSIM_TIME_MODEL_H
#include "calendar.h"
#include "memory.h"
#include "parameters.h"
#include "sim/count/count.h"
#include "sim/include/gfxsim_time.h"
#include "sim/machine/room.h"
#include "sim/machine/watch.h"

#define NEVER UINT64_MAX
enum { SIMDS_MOST = 64, SIMD_WAVES_MOST = 64, VM_MOST = 64, LGKM_MOST = 32, EDGES_MOST = 64, QUEUE_MOST = 64 };
enum { IN_FLIGHT_MOST = 512, SCALAR_LINES = 256 };

/* What a scheduler can issue side by side: "VALU with MFMA, VMEM, SALU with SMEM, LDS, branch" (ROCm Compute Profiler,
 * "Pipeline descriptions", "Scheduler"). */
typedef enum port { PORT_VALU, PORT_VMEM, PORT_SALU, PORT_LDS, PORT_BRANCH, PORTS, PORT_NONE = PORTS } port;

/* ---- An instruction of the code ---- */

typedef struct site {
  const inst *inst;
  u8 port;
  bool packed_f32;
  u32 clocks; /* of its SIMD's unit */
  u32 own;    /* before its wave's next instruction */
  int edge;   /* a branch that was taken backwards: its number; -1: not so far */
  u64 target; /* of that branch */
  u64 ran[2]; /* waves that executed it, and, of a branch, times that it went back */
  u64 clocks_by[GFXSIM_CAUSE_COUNT], in_flight;
} site;

/* ---- A wave ---- */

/* Where a wave took a branch backwards. */
typedef struct edge_time {
  u64 first, last, count;
  u64 matrix_first, matrix_last; /* clocks of matrix instructions that the wave had issued by then */
} edge_time;

typedef struct resident resident;

typedef struct wave_time {
  wave *w;
  resident *home;
  u32 simd, priority;
  u64 age;
  site *at;    /* its next instruction; NULL: it has ended */
  u64 free_at; /* where its last instruction's own clocks ended */
  u64 ready;   /* when its next instruction can be issued, if the unit is free; NEVER: it waits at a barrier */
  u8 ready_cause, hold_cause;
  u64 begin;
  u64 latest; /* the last clock of those below */
  u64 vector_ready[512];
  u8 forward[512]; /* an MFMA's result: so much earlier for an MFMA that adds to it */
  u64 scalar_ready[SGPRS], scc_ready, lds_done;
  u64 vm[VM_MOST], lgkm[LGKM_MOST];
  u32 vm_first, vm_count, lgkm_count;
  u64 matrix_clocks;
  u64 clocks_by[GFXSIM_CAUSE_COUNT];
  edge_time edge[EDGES_MOST];
  u64 seen_look, seen_pc, seen_scalars, seen_state; /* stuck.c: of the last backward branch */
  bool spins;
} wave_time;

/* ---- A workgroup on its CU ---- */

struct resident {
  room room;
  u32 running, waiting; /* waves that have not ended, and those of them at a barrier */
  u64 begin;
  wave_time *wave;
  resident *next; /* of those that are free */
  resident *all;  /* of all */
};

/* ---- A CU ---- */

/* Clocks at which the entries of a queue leave it, in the order in which they came. */
typedef struct queue {
  u64 leaves[QUEUE_MOST];
  u64 count;
} queue;

/* The first clock at which there is room for one more. */
static inline u64 queue_room(const queue *q, u32 size) {
  return q->count < size ? 0 : q->leaves[(q->count - size) % QUEUE_MOST];
}
static inline void queue_add(queue *q, u64 leaves) { q->leaves[q->count++ % QUEUE_MOST] = leaves; }

typedef struct simd_time {
  wave_time *wave[SIMD_WAVES_MOST]; /* by priority, then by age */
  u32 waves;
  u64 next; /* when one of them may issue */
  u64 port_free[PORTS], matrix_free;
  const wave_time *port_user[PORTS];
  u64 issue_end, no_wave, occupied_from, occupied; /* clocks */
  u64 matrix_clocks;
  struct {
    u64 end, clocks;                      /* in which a wave was in that loop */
    u64 own_clocks, matrix, turns, waves; /* of all waves that were in it */
  } edge[EDGES_MOST];
} simd_time;

typedef struct in_flight {
  u64 done;
  u32 bytes;
} in_flight;

/* Of the scalar cache. */
typedef struct scalar_line {
  u64 number;  /* and 1; 0: none */
  u64 arrives; /* from memory; loads before that wait for it */
} scalar_line;

typedef struct cu_time {
  u32 xcd, number; /* number: in the XCD */
  u32 place;       /* in the heap */
  bool traced;
  simd_time *simd;
  u64 next; /* the first of its SIMDs' */
  calendar lds;
  queue lds_queue[SIMDS_MOST / 2];
  u64 lds_in[SIMDS_MOST / 2], lds_out[SIMDS_MOST / 2]; /* when the buses of a pair of SIMDs are free */
  queue vmem_queue;
  u64 address_free, enter_last, return_free;
  in_flight flight[IN_FLIGHT_MOST];
  u64 flight_first, flight_count;
  u32 flight_bytes;
  scalar_line scalar[SCALAR_LINES];
  u32 workgroups;
} cu_time;

/* ---- The launch ---- */

/* What the instruction that runs now asked of memory. */
typedef struct asked {
  bool lds, lds_store, global, store, atomic, past_l1, scalar, scratch;
  u32 lds_clocks, lds_bytes, bytes;
  lines lines;
} asked;

typedef struct xcd_queue {
  u64 *position; /* of its workgroups, in order */
  u64 count, next;
  u64 free_at; /* its dispatcher's next workgroup */
  u32 cu;      /* where the last one went */
} xcd_queue;

typedef struct time_run {
  launch *run;
  gfxsim_timing *timing;
  const chip *chip;
  time_parameters p;
  memory_time *memory;
  hierarchy *caches;
  gfxsim_occupancy occupancy;
  cu_time *cu;
  simd_time *simds;
  u32 cus;
  u32 *heap; /* CUs by their next clock */
  u32 held;  /* workgroups that a CU holds */
  xcd_queue *xcd;
  resident *idle, *all;
  site *site; /* by (pc - text_begin) / 4 */
  u64 text_begin, sites;
  int edges;
  site *edge_site[EDGES_MOST];
  asked asked;
  gfxsim_lds_count lds_counted; /* so far, of the workgroup whose instruction runs */
  u64 ages, end, first_begin;
  u64 left;                  /* workgroups that have not ended */
  u64 round, round_end;      /* workgroups of a round; when those before the last round had ended */
  u64 rounds_left;           /* that do not run */
  u64 group_clocks;          /* of all workgroups, from first to last */
  u64 since_progress, looks; /* stuck.c: instructions since something happened that a wave could wait for; how often it did */
  u32 resident_waves, spinning;
  bool failed;
  gfxsim_status status;
  u64 wave_capacity;
  u64 matrices, words, words_set; /* matrix instructions so far; 32-bit words of a sample of their operands, and those not 0 */
} time_run;

/* ---- access.c ---- */

void asked_clear(time_run *t, const wave *w); /* before an instruction of the wave */
void asked_add(time_run *t, wave *w, const inst *i, const memory_access *a);

/* ---- units.c: from what an instruction asked for to when it is done ---- */

u64 lds_time(time_run *t, cu_time *cu, u32 simd, u64 at);
u64 vmem_time(time_run *t, cu_time *cu, u64 at);
u64 scalar_time(time_run *t, cu_time *cu, u64 at);

/* ---- score.c ---- */

site *site_of(time_run *t, const inst *i);
/* When the wave's next instruction can be issued as far as its own registers and counters go. */
void score_next(time_run *t, wave_time *wt);
/* After the issue at `at`: its results, and the wave's next clock. done: of memory. */
void score_issued(time_run *t, wave_time *wt, u64 at, u64 done);

/* ---- heap.c ---- */

/* The CU's next clock has changed. */
void heap_moved(time_run *t, const cu_time *cu);

/* ---- cu.c ---- */

/* When the unit can take the wave's next instruction; why not sooner stands in hold_cause. */
u64 unit_free(time_run *t, const cu_time *cu, wave_time *wt);
/* Sets the SIMD's and the CU's next clock; `at` is now. */
void simd_update(time_run *t, cu_time *cu, u32 simd, u64 at);
/* The wave at its first instruction, from clock `at` on. */
void simd_add(time_run *t, cu_time *cu, wave_time *wt, u64 at);
void simd_remove(time_run *t, cu_time *cu, wave_time *wt, u64 at);
/* Puts the SIMD's waves in order after a priority has changed. */
void simd_order(cu_time *cu, u32 simd);

/* ---- dispatch.c ---- */

/* Puts workgroups of the XCD on its CUs as far as there is room. */
void dispatch(time_run *t, u32 xcd, u64 at);
/* The wave has reached a barrier, or ended. */
void dispatch_waits(time_run *t, wave_time *wt, u64 at);
void dispatch_ended(time_run *t, cu_time *cu, wave_time *wt, u64 at);

/* ---- issue.c ---- */

/* Runs a CU up to and including clock `until`. */
void cu_run(time_run *t, cu_time *cu, u64 until);

/* ---- stuck.c ---- */

/* At a branch that the wave took backwards. */
void stuck_look(time_run *t, wave_time *wt);
/* Something happened that another wave could wait for. */
void stuck_progress(time_run *t);

/* ---- account.c ---- */

void account_edge(time_run *t, wave_time *wt, site *s, u64 at);
void account_wave(time_run *t, cu_time *cu, wave_time *wt, u64 at);
void account_matrix(time_run *t, const wave_time *wt);
gfxsim_status account_result(time_run *t);

#endif
