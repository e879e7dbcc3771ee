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

/* Where chunk c of row r is stored: at place c; at c ^ r, c ^ r/2, c ^ r/4 (mod 8) of its row; or at c of rows that are one
 * chunk longer. hip/device/lds.h has c ^ r/2 on gfx950, and c ^ r on gfx942. */
typedef enum lds_rule { LDS_PLAIN, LDS_XOR_1, LDS_XOR_2, LDS_XOR_4, LDS_PADDED, LDS_RULES } lds_rule;

static inline unsigned lds_byte(int r, int c, lds_rule rule) {
  static const int rows[] = {[LDS_XOR_1] = 1, [LDS_XOR_2] = 2, [LDS_XOR_4] = 4};
  if (rule == LDS_PADDED) return (unsigned)(r * (ROW_BYTES + CHUNK_BYTES) + c * CHUNK_BYTES);
  return (unsigned)(r * ROW_BYTES + (rule == LDS_PLAIN ? c : c ^ r / rows[rule] % ROW_CHUNKS) * CHUNK_BYTES);
}

/* A fragment of 16 rows: lane 16 g + i reads chunk g of row i. */
static inline unsigned lds_read_byte(int lane, lds_rule rule) { return lds_byte(lane % 16, lane / 16, rule); }

/* How a chip serves ds_read_b128: its banks, the lanes of a phase, and lanes 0-31 in the order of phases. */
typedef struct lds_reads {
  const char *chip;
  int banks, lanes;
  const uint8_t *order;
} lds_reads;
enum { LDS_GFX942, LDS_GFX950, LDS_CHIPS };
static const lds_reads lds_chips[LDS_CHIPS] = {{"gfx942", 32, 8, lds_phases_8}, {"gfx950", 64, 16, lds_phases_16}};

static inline int lds_phases(const lds_reads *c) { return WAVE / c->lanes; }
/* The lane that is number n in the order of phases. */
static inline int phase_lane(const lds_reads *c, int n) { return (n & 32) + c->order[n & 31]; }
/* Four neighbouring banks serve a chunk: the number of those that a lane wants. */
static inline int lane_quad(const lds_reads *c, int lane, lds_rule rule) {
  return (int)(lds_read_byte(lane, rule) / CHUNK_BYTES) % (c->banks / 4);
}

/* How many lanes of the phase before number n want the same banks: so long does this one wait. */
static inline int lane_level(const lds_reads *c, int n, lds_rule rule) {
  int before = 0;
  for (int m = n / c->lanes * c->lanes; m < n; m++)
    before += lane_quad(c, phase_lane(c, m), rule) == lane_quad(c, phase_lane(c, n), rule);
  return before;
}

static inline int phase_clocks(const lds_reads *c, int phase, lds_rule rule) {
  int most = 0;
  for (int n = phase * c->lanes; n < (phase + 1) * c->lanes; n++)
    most = lane_level(c, n, rule) + 1 > most ? lane_level(c, n, rule) + 1 : most;
  return most;
}

static inline int read_clocks(const lds_reads *c, lds_rule rule) {
  int sum = 0;
  for (int p = 0; p < lds_phases(c); p++) sum += phase_clocks(c, p, rule);
  return sum;
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
