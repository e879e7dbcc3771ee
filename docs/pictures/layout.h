/* What the pictures show, as formulas: test_layout.c has gfxsim execute the kernels' own device code and compares.
 *
 * Matrix instructions over chunks of 8 values (f16, bf16), as hip/device/mfma.h uses them: 16x16x32 and 32x32x16. Source:
 * ROCm's amd_matrix_instruction_calculator; CDNA 4 ISA, 7.1.4. */
#ifndef TANDEM_PICTURES_LAYOUT_H
#define TANDEM_PICTURES_LAYOUT_H

#include <stdint.h>

#include "sim/count/lds_phases.h"

enum { WAVE = 64, CHUNK = 8, CHUNK_BYTES = 16, ROW_BYTES = 128, ROW_CHUNKS = 8, LINE_BYTES = 128 };

typedef struct place {
  int lane, element; /* of its register(s): number of the value */
} place;

/* Where A's row i, column k lies; B's row k, column i lies at the same place. */
static inline place operand_place(int side, int i, int k) { return (place){k / CHUNK * side + i, k % CHUNK}; }

/* Where row i, column j of the result lies. */
static inline place result_place(int side, int i, int j) {
  int groups = WAVE / side;
  return (place){i / 4 % groups * side + j, i / (4 * groups) * 4 + i % 4};
}

/* Byte in LDS of chunk c of row r: rows of 128 bytes, plain or with the swizzle of hip/device/lds.h on gfx950. */
static inline unsigned lds_byte(int r, int c, int swizzled) {
  return (unsigned)(r * ROW_BYTES + (swizzled ? c ^ r / 2 % ROW_CHUNKS : c) * CHUNK_BYTES);
}

/* A fragment of 16 rows: lane 16 g + i reads chunk g of row i. */
static inline unsigned lds_read_byte(int lane, int swizzled) { return lds_byte(lane % 16, lane / 16, swizzled); }

/* The lane that is number n in the order of phases of gfx950's ds_read_b128, 16 lanes a phase. */
enum { PHASE_LANES = 16, PHASES = WAVE / PHASE_LANES, BANKS = 64 };
static inline int phase_lane(int n) { return (n & 32) + lds_phases_16[n & 31]; }

/* Lanes of a phase that want the quad of banks q: as many clocks does it take at least. */
static inline int quad_lanes(int phase, int q, int swizzled) {
  int lanes = 0;
  for (int n = phase * PHASE_LANES; n < (phase + 1) * PHASE_LANES; n++)
    lanes += (int)(lds_read_byte(phase_lane(n), swizzled) / CHUNK_BYTES % (BANKS / 4)) == q;
  return lanes;
}

static inline int phase_clocks(int phase, int swizzled) {
  int most = 0;
  for (int q = 0; q < BANKS / 4; q++) most = quad_lanes(phase, q, swizzled) > most ? quad_lanes(phase, q, swizzled) : most;
  return most;
}

/* How 64 lanes read 4 bytes each of 8 KiB: in a row, 128 bytes apart, at random. */
typedef enum access { ACCESS_COALESCED, ACCESS_STRIDED, ACCESS_RANDOM, ACCESSES } access;
static inline unsigned access_byte(access kind, int lane) {
  if (kind == ACCESS_COALESCED) return 4 * (unsigned)lane;
  if (kind == ACCESS_STRIDED) return LINE_BYTES * (unsigned)lane;
  unsigned mixed = (unsigned)lane * 0x9e3779b1; /* odd factors and shifts: any scattering would do */
  mixed = (mixed ^ mixed >> 15) * 0x85ebca6b;
  return (mixed ^ mixed >> 13) % 2048 * 4;
}

/* Distinct lines of 128 bytes. */
static inline int access_lines(access kind) {
  int lines = 0;
  for (int l = 0; l < WAVE; l++) {
    int before = 0;
    for (int m = 0; m < l; m++) before += access_byte(kind, m) / LINE_BYTES == access_byte(kind, l) / LINE_BYTES;
    lines += before == 0;
  }
  return lines;
}

#endif
