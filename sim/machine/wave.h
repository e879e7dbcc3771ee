/* The state of execution: a launch, its workgroups, and their waves. */
#ifndef GFXSIM_WAVE_H
#define GFXSIM_WAVE_H
#include <stdatomic.h>
#include <string.h>

#include "report.h"
#include "sim/isa/inst.h"
#include "sim/load/object.h"

enum { WATCHERS_MOST = 4 };
struct watcher; /* watch.h */

typedef struct launch {
  gfxsim_device *device;
  gfxsim_kernel *kernel;
  u32 grid[3], block[3];
  u32 waves; /* of a workgroup */
  u32 vgprs, lds_bytes, dynamic_lds, scratch_bytes;
  u64 kernarg, packet; /* device addresses; packet: the AQL dispatch packet */
  allocation *kernarg_memory, *packet_memory;
  u64 budget;
  u32 turn; /* instructions that a wave runs before the next wave's turn */
  u64 seed; /* of the order of turns; 0: wave after wave */
  _Atomic u64 next_group;
  atomic_bool stop;                             /* a fault: the other workgroups end at their next block */
  report_list *reports;                         /* what was found so far */
  struct sample *sample;                        /* the workgroups to run; NULL: all (sample.h) */
  u64 groups, groups_run;                       /* of the grid; of those that run */
  bool cooperative;                             /* each workgroup has a host thread */
  u64 grid_sync;                                /* gfxsim_launch.grid_sync */
  gfxsim_counters *counters;                    /* to be filled; NULL: nothing is counted */
  struct hb_launch *hb;                         /* waits, races and barriers (happens_before.h) */
  struct collection *collection;                /* what the counters are made from at the end (count.h) */
  const struct watcher *watcher[WATCHERS_MOST]; /* what watches this launch */
  int watchers;
  struct gfxsim_timing *timing; /* the waves run in the order of the model's time (sim/time); NULL: in turns */
  struct time_run *time;        /* of that model */
  bool skip_matrix;             /* matrix instructions multiply nothing: D = C */
} launch;

typedef enum wave_state { WAVE_RUNNING, WAVE_BARRIER, WAVE_ENDED, WAVE_FAULT } wave_state;

typedef struct group {
  launch *launch;
  u32 id[3];
  u64 number, position; /* x + X * (y + Y * z); among those that run */
  struct hb_group *hb;
  struct thread_counts *counts; /* of the host thread (count.h) */
  u8 *lds;
  wave *waves;
  struct uninit_group *uninit; /* uninitialised.h; NULL where the check is off */
} group;

enum { WAVE_CACHE = 4 };

struct wave {
  u32 s[SGPRS];
  u32 (*v)[LANES];         /* VGPRs, then from accum_offset AGPRs: a row of lanes per register */
  u64 pc;                  /* where the next block starts; a branch writes it */
  const inst *next, *last; /* of the block that the wave is in; next is NULL between blocks */
  u32 scc, mode;
  u8 state, index; /* index: in the workgroup */
  bool watched;    /* the launch has watchers */
  bool shadow;     /* registers and memory are those of uninitialised.h: an instruction runs on undefined bits */
  group *group;
  u8 *scratch;                                 /* dword-interleaved as in hardware: dword d of lane l at (d * 64 + l) * 4 */
  u64 dpp_mask;                                /* lanes that the last DPP source allows to be written */
  u64 blocks;                                  /* run so far */
  u64 started;                                 /* SGPRs that have a value at the start, a bit each */
  struct uninit_wave *uninit;                  /* uninitialised.h; NULL where the check is off */
  allocation *cache[WAVE_CACHE];               /* the allocations that were used last */
  _Alignas(64) u32 source[OPERANDS][2][LANES]; /* where sources are built that are not a plain register row */
};

static inline u64 get_pair(const wave *w, int reg) {
  u64 value;
  memcpy(&value, &w->s[reg], sizeof value);
  return value;
}
static inline void set_pair(wave *w, int reg, u64 value) { memcpy(&w->s[reg], &value, sizeof value); }
static inline u64 get_exec(const wave *w) { return get_pair(w, S_EXEC); }
static inline u64 get_vcc(const wave *w) { return get_pair(w, S_VCC); }

/* Registers and pointers of a wave at the start of a kernel (start.c). */
void wave_start(wave *w, group *g, int index);
/* Runs up to so many instructions; the state says whether the wave can go on. */
void wave_turn(wave *w, u32 instructions);
/* The instruction that the next turn begins with; NULL after a fault. */
const inst *wave_next(wave *w);

/* gfxsim_run without gfxsim_count. */
gfxsim_status launch_run(gfxsim_kernel *kernel, const gfxsim_launch *asked);

/* All waves of one workgroup until they have ended or one faulted. Buffers of g are the caller's. */
void group_run(group *g);
/* The parts of group_run, for who orders the waves by himself: its waves at their first instruction; every wave that has not
 * ended waits at a barrier, and goes on. */
void group_start(group *g);
void group_release(group *g);

/* A register as the disassembler writes it: "v60", "a[0:3]", "s[4:5]", "m0". */
typedef struct register_name {
  char text[16];
} register_name;
register_name operand_name(const wave *w, const operand *o);

/* For reports that are about no address; 0 is one. */
#define NO_ADDRESS UINT64_C(0x8000000000000001)

/* Reports and stops the launch. lane: -1 if the fault belongs to no lane. i: NULL if there is no instruction. */
__attribute__((format(printf, 6, 7))) void wave_fault(wave *w, const inst *i, gfxsim_kind kind, int lane, u64 address,
                                                      const char *format, ...);
/* The same for an access that memory does not allow. The finding's kind follows from the error. */
typedef struct bad_access {
  gfxsim_access_error error;
  gfxsim_space space;
  bool write;
  int lane;
  u64 address;
  u32 bytes;
} bad_access;
__attribute__((format(printf, 4, 5))) void wave_fault_access(wave *w, const inst *i, const bad_access *at, const char *format,
                                                             ...);
/* Reports what execution may go on after; the launch fails at its end. other: the instruction that it collides with, or NULL.
 */
__attribute__((format(printf, 7, 8))) void wave_report(wave *w, const inst *i, const inst *other, gfxsim_kind kind, int lane,
                                                       u64 address, const char *format, ...);

#endif
