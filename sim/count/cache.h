/* Set-associative caches with least-recently-used replacement, and the hierarchy of caches between the CUs and memory. */
#ifndef GFXSIM_CACHE_H
#define GFXSIM_CACHE_H
#include "sim/base/chip.h"
#include "sim/base/types.h"
#include "sim/include/gfxsim_counters.h"

enum { LINE_SHIFT = 7, SECTOR_SHIFT = 5, SECTORS_ALL = 15 }; /* lines of 128 bytes in four sectors of 32 */

/* ---- The lines that a workgroup touched, in program order ---- */

typedef enum touch { TOUCH_READ, TOUCH_READ_L2, TOUCH_WRITE, TOUCH_ATOMIC } touch; /* READ_L2: past the vL1D */

/* A run of up to 128 neighbouring lines, touched alike. */
typedef u64 line_run;
enum { RUN_MOST = 128 };
static inline line_run run_make(u64 line, u32 count, touch kind, u32 sectors) {
  return line << 13 | (u64)(count - 1) << 6 | (u64)kind << 4 | sectors;
}
static inline u64 run_line(line_run r) { return r >> 13; }
static inline u32 run_count(line_run r) { return (u32)(r >> 6 & 127) + 1; }
static inline touch run_kind(line_run r) { return (touch)(r >> 4 & 3); }
static inline u32 run_sectors(line_run r) { return (u32)(r & 15); }

/* ---- The hierarchy ---- */

/* A number that chooses the set, one for each line. "Mapping of incoming requests to a specific L2 channel is determined by a
 * hashing mechanism that attempts to evenly distribute requests" (ROCm Compute Profiler, "L2 cache (TCC)"); which one is not
 * documented. This one brings the bits above an L2's 2048 sets into its index, so that rows a power of two apart fall into
 * different sets. */
static inline u64 hash_line(u64 line) { return line ^ line >> 11; }

typedef struct hierarchy hierarchy;

/* folded: higher address bits take part in choosing the set, as hash_line has them. NULL: no memory. */
hierarchy *hierarchy_make(const chip *chip, bool folded);
void hierarchy_free(hierarchy *h);
/* The memory-side cache holds what the launch touches first, as far as this share of it has room: an earlier launch has brought
 * it there. */
void hierarchy_warm(hierarchy *h, double share);

/* Where a line was found. */
typedef enum cache_level { LEVEL_L1, LEVEL_L2, LEVEL_MALL, LEVEL_HBM } cache_level;
/* One line is read, past the vL1D or through it; written in these sectors, or changed by an atomic. cu: of the XCD. */
cache_level hierarchy_read(hierarchy *h, u32 xcd, u32 cu, u64 line, bool past_l1);
cache_level hierarchy_write(hierarchy *h, u32 xcd, u64 line, u32 sectors, bool atomic);
/* Bytes that the L2s have written back so far. */
u64 hierarchy_written(const hierarchy *h);
/* Bytes in the L2s that are still to be written back. */
u64 hierarchy_dirty(const hierarchy *h);
/* A run of lines. */
void hierarchy_touch(hierarchy *h, u32 xcd, u32 cu, line_run run);
/* Writes what is dirty back, and adds the counts to c, whose l2 has room for every XCD. */
void hierarchy_end(hierarchy *h, gfxsim_counters *c);

#endif
