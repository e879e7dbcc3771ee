/* How checks and counters watch the execution: a list of watchers for each launch, and the places that call them.
 *
 * When nothing watches, an instruction and an access each cost one test of `wave.watched`. Whoever writes a function that
 * touches memory without those of access.c (atomics, load-to-LDS, buffers) calls watch_access itself, once per instruction and
 * space, after the bounds are checked. */
#ifndef GFXSIM_WATCH_H
#define GFXSIM_WATCH_H
#include "sim/isa/decode.h"
#include "wave.h"

typedef enum access_space { SPACE_GLOBAL, SPACE_LDS, SPACE_SCRATCH } access_space;
typedef enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC } access_kind;

/* One instruction's access to one space. A load-to-LDS is two: a load from global memory, and a store to LDS. */
typedef struct memory_access {
  access_space space;
  access_kind kind;
  bool scalar;        /* SMEM: address[0] alone */
  bool to_lds;        /* both halves of a load-to-LDS */
  u32 bytes;          /* of a lane */
  u64 mask;           /* lanes that access; 1 of a scalar one */
  u64 changed;        /* stores to global memory and LDS: lanes whose bytes were others before */
  const u64 *address; /* SPACE_GLOBAL: of each lane */
  const u32 *offset;  /* SPACE_LDS, SPACE_SCRATCH: of each lane */
  /* Loads: the rows that were filled; stores: those that were written, registers or a copy of them. NULL of atomics. */
  const u32 (*rows)[LANES];
} memory_access;

/* Any function may be NULL. */
typedef struct watcher {
  bool (*wanted)(const launch *run);      /* by the device's options, or by what the launch asks for */
  gfxsim_status (*begin)(launch *run);    /* before the first workgroup */
  gfxsim_status (*result)(launch *run);   /* after the last workgroup, where nothing failed: fills what the launch asked for */
  void (*end)(launch *run);               /* also where begin failed */
  gfxsim_status (*open)(group *g);        /* once per host thread, whose workgroups share g one after the other: takes memory */
  void (*close)(group *g);                /* the reverse, also where open failed or was not reached */
  void (*start)(group *g);                /* a workgroup: its waves are ready */
  void (*finish)(group *g);               /* it has ended without a fault */
  void (*barrier)(group *g);              /* all waves that have not ended have reached a barrier; they still wait */
  void (*block)(wave *w, const block *b); /* before the block, which runs whole unless it faults */
  void (*inst)(wave *w, const inst *i);   /* before the instruction */
  void (*turn)(wave *w);                  /* the wave's turn ends inside of a block: other waves run before it goes on */
  void (*access)(wave *w, const inst *i, const memory_access *a);
  /* In place of every access while the instruction runs on shadow bits (wave.shadow). */
  void (*shadow_access)(wave *w, const inst *i, const memory_access *a);
} watcher;

/* All watchers in the order in which they are called, ending with NULL (sim/built_in.c). */
extern const watcher *const built_in_watchers[];

/* Runs all workgroups in the order of the model's time, and fills launch.timing (sim/time, by sim/built_in.c). */
extern gfxsim_status (*const built_in_time_run)(launch *run);

/* Chooses the launch's watchers. */
void watch_choose(launch *run);

void watch_all_block(wave *w, const block *b);
void watch_all_inst(wave *w, const inst *i);
void watch_all_access(wave *w, const inst *i, const memory_access *a);

static inline void watch_access(wave *w, const inst *i, const memory_access *a) {
  if (w->watched) watch_all_access(w, i, a);
}

/* Calls one of the group's or the launch's functions of every watcher. */
#define WATCH_EACH(launch_of, function, argument)                   \
  for (int watch_n = 0; watch_n < (launch_of)->watchers; watch_n++) \
    if ((launch_of)->watcher[watch_n]->function != NULL) (launch_of)->watcher[watch_n]->function(argument)

/* The same for functions that can fail: stops at the first that does. */
gfxsim_status watch_begin(launch *run);
gfxsim_status watch_open(group *g);
gfxsim_status watch_result(launch *run);

#endif
