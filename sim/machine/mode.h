/* MODE: rounding and denormals. Vector instructions run as they are in the default mode (round to nearest, denormals kept,
 * IEEE, DX10_CLAMP); in any other mode they take the slower path here. Source: CDNA 4 ISA 3.5, "Mode register". */
#ifndef GFXSIM_MODE_H
#define GFXSIM_MODE_H
#include "wave.h"

enum {
  MODE_FLOAT = 0x3ff,
  MODE_DEFAULT = 0x3f0,
  MODE_DX10_CLAMP = 1 << 8,
  MODE_IEEE = 1 << 9,
  MODE_INDEX = 1 << 27,
  MODE_VSKIP = 1 << 28
};

/* How results of f16 and f64 are rounded: enum rounding of half.h. */
static inline u32 half_rounding(const wave *w) { return w->mode >> 2 & 3; }

static inline bool mode_is_default(const wave *w) { return (w->mode & MODE_FLOAT) == MODE_DEFAULT; }

/* FP_DENORM, of f32 in bits 5:4, of f16 and f64 in 7:6: the lower one keeps denormal sources, the upper one results. */
static inline bool mode_flushes(const wave *w, char type, bool source) {
  int field = type == 'f' || type == 'F' ? 4 : type == 'h' || type == 'p' || type == 'd' ? 6 : -1;
  return field >= 0 && (w->mode >> (field + !source) & 1) == 0;
}
static inline u32 flush_f32(u32 bits) { return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits; }
static inline u32 flush_f16(u32 bits) { return (bits & 0x7c00) == 0 ? bits & 0x8000 : bits; }
/* Denormals of a row (two rows of a 64-bit type) to zeros of their sign. */
void mode_flush(char type, u32 *rows);
/* Omod and flushing of a result, before clamp. */
void mode_result(const wave *w, const inst *i, const operand *o, u32 *rows);
/* Under s_set_gpr_idx_on: a copy of the instruction in `room` whose registers are moved by M0; NULL after a fault. */
const inst *mode_indexed(wave *w, const inst *i, inst *room);
void mode_run(wave *w, const inst *i);

#endif
