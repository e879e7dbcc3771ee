/* Counting while a launch runs: each host thread counts for itself, and hands each workgroup's lines to the collection, which
 * plays them through the caches in an order that does not depend on the threads. */
#ifndef GFXSIM_COUNT_H
#define GFXSIM_COUNT_H
#include "cache.h"
#include "sim/machine/watch.h"

enum { GROUP_WAVES_MOST = 16, ACCESS_KINDS = ACCESS_ATOMIC + 1 }; /* 1024 work items */

/* The runs of lines of one workgroup. */
typedef struct line_stream {
  line_run *run;
  size_t count, capacity;
} line_stream;

/* The counts of one host thread. */
typedef struct thread_counts {
  u64 *blocks;                         /* times that the block at (pc - text_begin) / 4 ran */
  u64 issued[GROUP_WAVES_MOST];        /* of this workgroup's waves */
  u64 flops;                           /* of this workgroup's MFMAs */
  u64 bytes_before, lds_clocks_before; /* when it started */
  u64 longest_wave;
  gfxsim_lds_count lds;
  gfxsim_traffic traffic[ACCESS_KINDS];
  u64 scalar_bytes, scratch_read, scratch_written;
  line_stream stream;
  bool no_memory;
} thread_counts;

typedef struct collection collection;

/* ---- count_lds.c ---- */

void count_lds(const chip *chip, gfxsim_lds_count *count, const inst *i, const memory_access *a);

/* ---- count_lines.c ---- */

/* The distinct lines of an access, in the order in which its lanes touch them first. A lane's 16 bytes may lie in two. */
enum { LINES_MOST = 2 * LANES };
typedef struct lines {
  u64 line[LINES_MOST];
  u8 sectors[LINES_MOST];
  u32 count;
} lines;
void lines_of(const memory_access *a, lines *l);
touch touch_of(const inst *i, const memory_access *a);

/* The lines of a vector access to global memory, added to the thread's traffic and, where one is wanted, to its stream. */
void count_lines(thread_counts *t, const inst *i, const memory_access *a, bool stream);

/* ---- collect.c ---- */

collection *collection_make(const launch *run); /* NULL: no memory */
void collection_free(collection *c);
/* Waits while the workgroup is too far ahead of the slowest one: the streams that are kept are those of two rounds. */
void collection_wait(collection *c, const launch *run, u64 position);
/* Keeps what one workgroup did, by its position. */
void collection_note(collection *c, u64 position, const u64 did[GFXSIM_ESTIMATE_COUNT]);
/* Takes the stream over. */
void collection_add(collection *c, const group *g, line_stream *stream);
/* The caches, for the model of time: it touches them itself while the launch runs, and no stream is kept. */
hierarchy *collection_caches(collection *c);
/* Adds a thread's counts when that thread has ended. */
void collection_merge(collection *c, const launch *run, const thread_counts *t);
/* What has been merged, into the launch's counters, unless the launch was stopped. */
gfxsim_status collection_result(collection *c, const launch *run);

/* ---- estimate.c ---- */

/* How far the sum over all workgroups may lie from the sample's sum times groups / count, as a share of it: half of an interval
 * that holds it in 95 of 100 cases. value[n * step]: of the sample's workgroups, by their numbers. Negative: too few. */
double estimate_error(const u64 *value, size_t step, u64 count, u64 groups);

/* ---- result.c ---- */

/* Fills counters from a sum and the caches, and scales them to the whole grid. False: no memory. */
bool result_fill(gfxsim_counters *counters, const launch *run, const thread_counts *sum, hierarchy *caches);

/* ---- occupancy.c, bound.c ---- */

/* How many waves and workgroups a SIMD and a CU hold. */
void occupancy_of(const chip *chip, u32 vgprs, u32 sgprs, u32 lds_bytes, u32 waves, gfxsim_occupancy *o);
void occupancy_of_launch(const launch *run, gfxsim_occupancy *o);
/* From the counts of c to its bounds, floor and tail. */
void bound_all(const chip *chip, gfxsim_counters *c);

extern const watcher count_watcher;

#endif
