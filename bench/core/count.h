/* Counting in place of timing: one run of a plan on a simulated device, with gfxsim's counters and pipe bounds of each kernel
 * that it launches. docs/gfxsim-profile.md says what the numbers mean; none of them is a time. sim:gfx950 is a simulator in
 * this process; omp:N and hip:N are simulated where `gfxsim exec` runs this program, which then has the checks and the chip.
 *
 *   bench_simulator_load(false)                          once, before the context of a sim: device is opened
 *   tdm_open(... "sim:gfx950" ...), plan, pointers as for any run
 *   bench_count_run(context, c, plan, pointers, &sample, &counts, reason, sizeof reason)
 *   bench_counts_clocks(&counts)                         the least clocks that the run takes, to rank plans of one case
 *   bench_counts_free(&counts) */
#ifndef TANDEM_BENCH_CORE_COUNT_H
#define TANDEM_BENCH_CORE_COUNT_H

#include <jansson.h>

#include "case/case.h"
#include "sim/include/gfxsim_counters.h"
#include "sim/include/gfxsim_time.h"

enum { BENCH_MAX_LAUNCHES = 16 };

/* The instructions of the main loop: those that ran as often as most of the MFMA did (without MFMA: most of all). */
typedef struct bench_loop {
  uint64_t rounds;                      /* times that a wave went through it, on average */
  int instructions[GFXSIM_CLASS_COUNT]; /* of one round */
  char valu[256];                       /* mnemonics of its VALU instructions: "v_exp_f32 8, v_add_u32 2" */
} bench_loop;

/* One kernel that the run launched. */
typedef struct bench_launch {
  char kernel[96];
  gfxsim_counters c; /* its arrays are NULL */
  gfxsim_l2 l2;      /* the sum of all XCDs */
  bench_loop loop;
  double exp_share;     /* of the VALU's clocks: those of v_exp */
  double barriers;      /* that waves went through */
  bool atomics;         /* some wave changed global memory by an atomic: a workgroup may add what others have left there */
  gfxsim_timing timing; /* predicted (predict.h); its arrays are NULL. clocks is 0 where none was asked for */
  json_t *json;         /* all counters but the single instructions */
} bench_launch;

typedef struct bench_counts {
  int launches;
  bench_launch launch[BENCH_MAX_LAUNCHES];
} bench_counts;

/* Which workgroups of each launch run. Fewer than all: counts are scaled, and what is beyond the vL1D is not modelled. If none
 * of them touches memory, because it has no tile, twice as many run. */
typedef struct bench_sample {
  uint64_t workgroups; /* this many, or all if there are fewer; 0: use the share */
  double share;        /* of all; 1 and more: all */
} bench_sample;

bool bench_in_process(const char *device); /* sim:gfx950 */
/* Is the device simulated, in this process or (omp:N and hip:N) by `gfxsim exec`? For the latter a context must have been
 * opened. */
bool bench_is_simulated(const char *device);

/* Loads gfxsim's library. Devices that are opened after this call run without its checks, unless checks is true. false: the
 * reason. */
bool bench_simulator_load(bool checks, char *reason, size_t size);

/* Looks up a function of a loaded library. false if the library does not have it; *function is then NULL. */
bool bench_find_symbol(void *library, const char *name, void *function);

/* Looks up a function of the simulator behind a device. */
bool bench_find_in_simulator(const char *device, const char *name, void *function);

/* The share of a case's workgroups that gfxsim executes in about 20 s on two cores. */
bench_sample bench_sample_of(const tdm_case *c);

/* false: the simulator behind the device is of another version, and its launches can't be counted. */
bool bench_can_count(const char *device, char *reason, size_t size);

/* Runs the plan once and counts. counts are zero or freed. false: the reason. */
bool bench_count_run(tdm_context *context, const tdm_case *c, const tdm_plan *plan, void *const pointers[CASE_MAX_ARRAYS],
                     const bench_sample *sample, bench_counts *counts, char *reason, size_t size);
void bench_counts_free(bench_counts *counts);

bool bench_counts_sampled(const bench_counts *counts); /* did any launch run in part? */
/* Can a workgroup's results depend on what another one has stored? By launches after each other, or by atomics. */
bool bench_counts_in_parts(const bench_counts *counts);
/* The least clocks of the run: the sum of its launches' floors, each multiplied by its tail (some CUs have more work than
 * others). */
double bench_counts_clocks(const bench_counts *counts);
/* Bytes from and to HBM; negative: not modelled. */
double bench_counts_hbm(const bench_counts *counts);

/* "MFMA 131072": the pipe that needs the most clocks, and these clocks; for several launches, in their order. */
void bench_put_floor(char *text, size_t size, const bench_counts *counts);

#endif
