/* An estimate of kernels over tiles of an output, from the bounds of a CU's pipes. The heuristic compares rows by it.
 *
 *   static void cost_of(const tdm_plan *plan, tdm_cost *cost) {
 *     static const hip_tile_shape tile = {.m = 128, .n = 128, .waves_m = 2, .waves_n = 2, .resident = 2};
 *     hip_tile_work work = {.m = d->m, .n = d->n, .k = d->k, .batch = d->batch, .type = d->type, .out = d->out};
 *     tdm_hip_tile_cost(plan, &tile, &work, cost);
 *   } */
#ifndef TANDEM_HIP_HOST_COST_H
#define TANDEM_HIP_HOST_COST_H

#include "hip.h"
#include "hip/args/tiles.h"

/* How a workgroup computes its tile. */
typedef struct hip_tile_shape {
  int m, n;             /* of the output */
  int waves_m, waves_n; /* waves that share it; each reads its own lines from LDS */
  int products;         /* matrices that are multiplied by the same lines of the first operand; 0 means 1. swiglu: 2 */
  int resident;         /* workgroups on a CU at a time, as registers and LDS allow; 0 means 1 */
  int split;            /* K splits; 0 means 1. With more than one, f32 sums are written and read again */
  int valu;             /* clocks of a CU's VALUs in a K step, in addition to the matrix unit's */
  /* Some waves use LDS and memory while others multiply, so a step takes as long as the longest pipe. Otherwise a workgroup
   * writes, reads and multiplies one after the other, and only other workgroups fill its gaps. */
  bool overlapped;
  bool waits;       /* each step waits for the next one's loads, which start with the step */
  bool between;     /* reads of LDS and new loads come between products (engine/between.h) */
  int ahead;        /* steps that a load has to arrive; 0, and not waits: loads start early enough */
  int touches;      /* times that a line of 128 bytes goes through the vL1D; 0: as often as it has parts in steps */
  int start;        /* clocks before the first step that other kernels don't need */
  bool sums_in_lds; /* all sums go through LDS before they are stored, whatever follows the product */
  bool any_address; /* loads rows that begin at any element, so gemm packs nothing for it */
  bool dwords;      /* masked loads of 16 bytes need only begin at dwords */
  bool last_adds;   /* the last workgroup of a tile can add its parts (engine/last_part.h) */
  bool turns;       /* tiles that share lines may begin at different K steps (engine/tile.h) */
  bool halves;      /* waves divide the halves of K steps; what K leaves of one is not counted */
  int cache_lines;  /* with this depth rows along k are loaded by cache lines, wherever they begin; 0: never */
} hip_tile_shape;

/* out[batch][m, n] of k */
typedef struct hip_tile_work {
  int64_t m, n, k, batch;
  tdm_type type, out;
  bool across_a, across_b; /* k runs across the rows in which the operand is stored: LDS has to transpose it */
  bool beside_a;           /* its rows begin at cache lines, and tiles of an XCD that need parts of a line take turns */
  /* Lines that a step loads again, for each line of the operand, because its rows don't begin at cache lines. */
  double again_a, again_b;
  bool again_in_room; /* these lines are counted, and only cost room in the vL1D */
  double latency;     /* of loads, as a share of HBM's, where most of them find their lines in the L2; 0: all of it */
  double hits;        /* the share of steps that find their lines in the L2, because tiles of the XCD take turns */
  bool shared;        /* other tiles of the XCD load all of its lines, too, and the L2 keeps them */
  double once;        /* clocks of a workgroup that only some kernels or products need, such as the K tail */
  double chain;       /* of a CU's clocks, for an element of the tile: the chain of an epilogue's steps */
  double store;       /* the same for one of fragments that have rows: swiglu's function, stores one by one */
  /* Workgroups of the CU with the most, where whole tiles of K splits for each XCD are not spread evenly; 0: they are. */
  double of_cu;
  double before_chain; /* clocks of a workgroup before its first element: trips to memory that only an epilogue needs */
} hip_tile_work;

enum { HIP_STEP_BYTES = 128 }; /* along k, of a K step */
/* Is a step of the kernels half of that, and of a line? On gfx942, whose LDS has no room for more. */
static inline bool tdm_hip_half_lines(const tdm_chip *chip) { return HIP_PIPE_ROW(chip->lds_bytes) < HIP_STEP_BYTES; }

void tdm_hip_tile_cost(const tdm_plan *plan, const hip_tile_shape *tile, const hip_tile_work *work, tdm_cost *cost);
/* Workgroups of an XCD that have a CU at the same time. */
double tdm_hip_at_once(const tdm_hip_device *device, const hip_tile_shape *tile);

/* ---- Rates, per clock ---- */

typedef struct hip_rates {
  double mfma;                /* FLOP of a CU */
  double lds_read, lds_write; /* bytes of a CU */
  double l2;                  /* bytes that each CU gets when all CUs read */
  double in_flight;           /* bytes that a CU gets from memory: its vL1D has room for those that are on their way */
  double hbm;                 /* bytes of the device */
} hip_rates;

/* The clocks of bounds that overlap, joined as the root of the degree `degree` of the sum of their powers, and the floor of the
 * longest one: no pipe hides all of another one's work. */
tdm_cost tdm_hip_joined(const tdm_cost *bounds, int count, double degree);

hip_rates tdm_hip_rates(const tdm_hip_device *device, tdm_type type);
/* Bytes of the device's memory that tiles and rows get in a clock: a share of the peak (hip_cost_numbers). */
double tdm_hip_hbm(const tdm_hip_device *device);
/* Of `bytes` that are written, or read again, those for which the L2s have no room. */
double tdm_hip_beyond_l2(const tdm_hip_device *device, double bytes);

/* What no document of a chip gives. `tandem-estimates fit` looks for better numbers (docs/tuning.md); only it changes them. */
typedef struct hip_cost_numbers {
  /* Clocks of a load from memory to registers, when nothing else is outstanding. gfxsim's model of time has the same number
   * (hbm_latency in sim/time/parameters.def), and says what it is fitted to. */
  double latency;
  /* The pipes' clocks are joined as the root of this degree of the sum of their powers: 1 would add them, and a large number
   * takes the longest. Fitted to predicted clocks of 179 products on both chips (docs/tuning.md): 3 chooses well in 171. */
  double overlap;
  double hbm; /* the share of the peak that reads and writes get */
} hip_cost_numbers;
extern hip_cost_numbers tdm_hip_cost_numbers;
/* Clocks of the VALUs in a step of the masked K loop (engine/masked.h): 584 to 600 in gfxsim's counters, from K of 8 steps
 * to K of 24, for each type and layout on both chips. */
enum { HIP_MASKED_VALU = 584 };
/* Its first loads are masked one by one, and its tile is stored by fewer waves: by gfxsim's predictions, K = 512 and 2048. */
enum { HIP_MASKED_START = 3200 };
/* Tiles that take turns load different lines first, and HBM brings all of them at the same time: up to 1100 clocks in 512x512
 * by 16x64, 1024x1024 by 32x128 and 1024x2048 by 64x128, bf16, where K of 512 to 2048 shows what does not depend on K. 500 is
 * as good a choice as 1000 for 179 products. */
enum { HIP_FIRST_TURNS = 500 };

#endif
