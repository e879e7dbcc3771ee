/* What global, flat and scratch instructions share: the size and sign of an element, in the rows' parameter. */
#ifndef GFXSIM_VECTOR_MEMORY_H
#define GFXSIM_VECTOR_MEMORY_H
#include "access.h"
#include "ops.h"

enum { ELEMENT_SIGNED = 256, ELEMENT_HIGH = 512, ELEMENT_LOW = 1024 }; /* _d16_hi, _d16: only one half is written */

#define LOAD_ROWS(prefix, run, shape)                                                             \
  {prefix "_load_ubyte", run, shape, .parameter = 1, .flow = FLOW_OWN},                           \
      {prefix "_load_sbyte", run, shape, .parameter = 1 | ELEMENT_SIGNED, .flow = FLOW_OWN},      \
      {prefix "_load_ushort", run, shape, .parameter = 2, .flow = FLOW_OWN},                      \
      {prefix "_load_sshort", run, shape, .parameter = 2 | ELEMENT_SIGNED, .flow = FLOW_OWN},     \
      {prefix "_load_short_d16", run, shape, .parameter = 2 | ELEMENT_LOW, .flow = FLOW_OWN},     \
      {prefix "_load_short_d16_hi", run, shape, .parameter = 2 | ELEMENT_HIGH, .flow = FLOW_OWN}, \
      {prefix "_load_dword", run, shape, .parameter = 4, .flow = FLOW_OWN},                       \
      {prefix "_load_dwordx2", run, shape, .parameter = 8, .flow = FLOW_OWN},                     \
      {prefix "_load_dwordx3", run, shape, .parameter = 12, .flow = FLOW_OWN}, {                  \
    prefix "_load_dwordx4", run, shape, .parameter = 16, .flow = FLOW_OWN                         \
  }
#define STORE_ROWS(prefix, run, shape)                                                             \
  {prefix "_store_byte", run, shape, .parameter = 1, .flow = FLOW_OWN},                            \
      {prefix "_store_short", run, shape, .parameter = 2, .flow = FLOW_OWN},                       \
      {prefix "_store_byte_d16_hi", run, shape, .parameter = 1 | ELEMENT_HIGH, .flow = FLOW_OWN},  \
      {prefix "_store_short_d16_hi", run, shape, .parameter = 2 | ELEMENT_HIGH, .flow = FLOW_OWN}, \
      {prefix "_store_dword", run, shape, .parameter = 4, .flow = FLOW_OWN},                       \
      {prefix "_store_dwordx2", run, shape, .parameter = 8, .flow = FLOW_OWN},                     \
      {prefix "_store_dwordx3", run, shape, .parameter = 12, .flow = FLOW_OWN}, {                  \
    prefix "_store_dwordx4", run, shape, .parameter = 16, .flow = FLOW_OWN                         \
  }

static inline u32 element_bytes(const inst *i) { return (u32)i->op->parameter & 255; }

/* Loaded rows into the registers of operand 0. */
static inline void element_return(wave *w, const inst *i, u64 mask, u32 (*rows)[LANES]) {
  u32 bytes = element_bytes(i);
  const u32 *old = w->v[i->operand[0].reg];
  for (int l = 0; l < LANES && bytes < 4; l++) {
    u32 value = rows[0][l];
    if (i->op->parameter & ELEMENT_SIGNED) value = bytes == 1 ? (u32)(i8)value : (u32)(i16)value;
    if (i->op->parameter & ELEMENT_LOW) value = (old[l] & 0xffff0000) | (value & 0xffff);
    if (i->op->parameter & ELEMENT_HIGH) value = (old[l] & 0xffff) | value << 16;
    rows[0][l] = value;
  }
  load_return(w, i, 0, mask, rows, (bytes + 3) / 4);
}

/* The rows that operand n stores; `half` is room for the upper halves. */
static inline const u32 (*element_rows(wave *w, const inst *i, int n, u32 half[1][LANES]))[LANES] {
  const u32(*rows)[LANES] = (const u32(*)[LANES])operand_rows(w, i, n);
  if ((i->op->parameter & ELEMENT_HIGH) == 0) return rows;
  for (int l = 0; l < LANES; l++) half[0][l] = rows[0][l] >> 16;
  return (const u32(*)[LANES])half;
}

#endif
