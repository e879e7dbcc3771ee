/* What memory instructions share: the size and sign of an element, in the rows' parameter, and their usual rows. */
#ifndef GFXSIM_VECTOR_MEMORY_H
#define GFXSIM_VECTOR_MEMORY_H
#include "ops.h"
#include "sim/machine/access.h"
#include "sim/machine/atomic.h"

enum { ELEMENT_SIGNED = 256 };

/* Of the _d16 forms, `which` is the half of the register that is loaded or stored: HALF_LOW or HALF_HIGH. */
#define LOAD_ROW(name, run, shape, what) {name, run, shape, .parameter = what, .flow = FLOW_OWN, .memory = MEMORY_LOAD}
#define LOAD_HALF_ROW(name, run, shape, what, which) \
  {name, run, shape, .parameter = what, .flow = FLOW_OWN, .memory = MEMORY_LOAD, .half = which}
#define STORE_ROW(name, run, shape, what) {name, run, shape, .parameter = what, .flow = FLOW_OWN, .memory = MEMORY_STORE}
#define STORE_HALF_ROW(name, run, shape, what, which) \
  {name, run, shape, .parameter = what, .flow = FLOW_OWN, .memory = MEMORY_STORE, .half = which}
#define ATOMIC_ROW(name, run, shape, what) {name, run, shape, .parameter = what, .flow = FLOW_OWN, .memory = MEMORY_ATOMIC}
#define COMPARE_ROW(name, run, shape, what) {name, run, shape, .parameter = what, .flow = FLOW_OWN, .memory = MEMORY_COMPARE}

/* `data` is "" or a `!`, of the register that is loaded; `rest` are the operands after it. */
#define LOAD_ROWS(prefix, run, data, rest)                                                                         \
  LOAD_ROW(prefix "_load_ubyte", run, data "=r" rest, 1),                                                          \
      LOAD_ROW(prefix "_load_sbyte", run, data "=r" rest, 1 | ELEMENT_SIGNED),                                     \
      LOAD_ROW(prefix "_load_ushort", run, data "=r" rest, 2),                                                     \
      LOAD_ROW(prefix "_load_sshort", run, data "=r" rest, 2 | ELEMENT_SIGNED),                                    \
      LOAD_HALF_ROW(prefix "_load_ubyte_d16", run, "+r" rest, 1, HALF_LOW),                                        \
      LOAD_HALF_ROW(prefix "_load_ubyte_d16_hi", run, "+r" rest, 1, HALF_HIGH),                                    \
      LOAD_HALF_ROW(prefix "_load_sbyte_d16", run, "+r" rest, 1 | ELEMENT_SIGNED, HALF_LOW),                       \
      LOAD_HALF_ROW(prefix "_load_sbyte_d16_hi", run, "+r" rest, 1 | ELEMENT_SIGNED, HALF_HIGH),                   \
      LOAD_HALF_ROW(prefix "_load_short_d16", run, "+r" rest, 2, HALF_LOW),                                        \
      LOAD_HALF_ROW(prefix "_load_short_d16_hi", run, "+r" rest, 2, HALF_HIGH),                                    \
      LOAD_ROW(prefix "_load_dword", run, data "=r" rest, 4), LOAD_ROW(prefix "_load_dwordx2", run, "=r" rest, 8), \
      LOAD_ROW(prefix "_load_dwordx3", run, data "=r" rest, 12), LOAD_ROW(prefix "_load_dwordx4", run, data "=r" rest, 16)
#define STORE_ROWS(prefix, run, shape)                                                                                         \
  STORE_ROW(prefix "_store_byte", run, shape, 1), STORE_ROW(prefix "_store_short", run, shape, 2),                             \
      STORE_HALF_ROW(prefix "_store_byte_d16_hi", run, shape, 1, HALF_HIGH),                                                   \
      STORE_HALF_ROW(prefix "_store_short_d16_hi", run, shape, 2, HALF_HIGH), STORE_ROW(prefix "_store_dword", run, shape, 4), \
      STORE_ROW(prefix "_store_dwordx2", run, shape, 8), STORE_ROW(prefix "_store_dwordx3", run, shape, 12),                   \
      STORE_ROW(prefix "_store_dwordx4", run, shape, 16)

/* Into LDS. */
#define LDS_ROW(name, run, what) \
  {name, run, "@r@r", .parameter = what, .flow = FLOW_OWN, .implied = IMPLIED_M0, .to_lds = true, .memory = MEMORY_LOAD}
#define LDS_ROWS(prefix, run)                                                                                  \
  LDS_ROW(prefix "_load_lds_ubyte", run, 1), LDS_ROW(prefix "_load_lds_sbyte", run, 1 | ELEMENT_SIGNED),       \
      LDS_ROW(prefix "_load_lds_ushort", run, 2), LDS_ROW(prefix "_load_lds_sshort", run, 2 | ELEMENT_SIGNED), \
      LDS_ROW(prefix "_load_lds_dword", run, 4)

#define ATOMIC_PAIR(name, run, shape, what) \
  ATOMIC_ROW(name, run, shape, what), ATOMIC_ROW(name "_x2", run, shape, what | ATOMIC_X2)
#define ATOMIC_ROWS(prefix, run, shape)                                                                                       \
  ATOMIC_PAIR(prefix "_atomic_swap", run, shape, ATOMIC_SWAP),                                                                \
      COMPARE_ROW(prefix "_atomic_cmpswap", run, shape, ATOMIC_CMPSWAP),                                                      \
      COMPARE_ROW(prefix "_atomic_cmpswap_x2", run, shape, ATOMIC_CMPSWAP | ATOMIC_X2),                                       \
      ATOMIC_PAIR(prefix "_atomic_add", run, shape, ATOMIC_ADD), ATOMIC_PAIR(prefix "_atomic_sub", run, shape, ATOMIC_SUB),   \
      ATOMIC_PAIR(prefix "_atomic_smin", run, shape, ATOMIC_SMIN),                                                            \
      ATOMIC_PAIR(prefix "_atomic_umin", run, shape, ATOMIC_UMIN),                                                            \
      ATOMIC_PAIR(prefix "_atomic_smax", run, shape, ATOMIC_SMAX),                                                            \
      ATOMIC_PAIR(prefix "_atomic_umax", run, shape, ATOMIC_UMAX), ATOMIC_PAIR(prefix "_atomic_and", run, shape, ATOMIC_AND), \
      ATOMIC_PAIR(prefix "_atomic_or", run, shape, ATOMIC_OR), ATOMIC_PAIR(prefix "_atomic_xor", run, shape, ATOMIC_XOR),     \
      ATOMIC_PAIR(prefix "_atomic_inc", run, shape, ATOMIC_INC), ATOMIC_PAIR(prefix "_atomic_dec", run, shape, ATOMIC_DEC),   \
      ATOMIC_ROW(prefix "_atomic_add_f32", run, shape, ATOMIC_ADD_F),                                                         \
      ATOMIC_ROW(prefix "_atomic_add_f64", run, shape, ATOMIC_ADD_F | ATOMIC_X2),                                             \
      ATOMIC_ROW(prefix "_atomic_min_f64", run, shape, ATOMIC_MIN_F | ATOMIC_X2),                                             \
      ATOMIC_ROW(prefix "_atomic_max_f64", run, shape, ATOMIC_MAX_F | ATOMIC_X2),                                             \
      ATOMIC_ROW(prefix "_atomic_pk_add_f16", run, shape, ATOMIC_PK_ADD_F16),                                                 \
      ATOMIC_ROW(prefix "_atomic_pk_add_bf16", run, shape, ATOMIC_PK_ADD_BF16)

static inline u32 element_bytes(const inst *i) { return (u32)i->op->parameter & 255; }

/* Extends what was loaded by its sign. */
static inline void element_extend(const inst *i, u32 row[LANES]) {
  if ((i->op->parameter & ELEMENT_SIGNED) == 0) return;
  for (int l = 0; l < LANES; l++) row[l] = element_bytes(i) == 1 ? (u32)(i8)row[l] : (u32)(i16)row[l];
}

/* Loaded rows into the registers of operand 0. */
static inline void element_return(wave *w, const inst *i, u64 mask, u32 (*rows)[LANES]) {
  const u32 *old = w->v[i->operand[0].reg];
  element_extend(i, rows[0]);
  for (int l = 0; l < LANES && i->op->half == HALF_LOW; l++) rows[0][l] = (old[l] & 0xffff0000) | (rows[0][l] & 0xffff);
  for (int l = 0; l < LANES && i->op->half == HALF_HIGH; l++) rows[0][l] = (old[l] & 0xffff) | rows[0][l] << 16;
  load_return(w, i, 0, mask, rows, (element_bytes(i) + 3) / 4);
}

/* The rows that operand n stores; `half` is room for the upper halves. */
static inline const u32 (*element_rows(wave *w, const inst *i, int n, u32 half[1][LANES]))[LANES] {
  const u32(*rows)[LANES] = (const u32(*)[LANES])operand_rows(w, i, n);
  if (i->op->half != HALF_HIGH) return rows;
  for (int l = 0; l < LANES; l++) half[0][l] = rows[0][l] >> 16;
  return (const u32(*)[LANES])half;
}

/* Loaded rows into LDS. Lane l's element starts at M0[17:2] * 4 + offset + l * 4, or l * 16 for 12 and 16 bytes; shorter ones
 * are extended to dwords. Source: CDNA 4 ISA 10.3, "Instructions which return data to LDS", and 9.1.9. */
static inline void element_to_lds(wave *w, const inst *i, u64 mask, u32 (*rows)[LANES]) {
  u32 bytes = element_bytes(i) < 4 ? 4 : element_bytes(i), step = bytes == 4 ? 4 : 16, offset[LANES];
  for (u32 l = 0; l < LANES; l++) offset[l] = (w->s[S_M0] & 0x3fffc) + (u32)i->offset + l * step;
  element_extend(i, rows[0]);
  lds_store(w, i, mask, offset, bytes, (const u32(*)[LANES])rows);
}

/* Operand n as the data of a global atomic, whose compare and swap has the compared value after the new one. */
static inline atomic_rows atomic_operand(wave *w, const inst *i, int n, u32 (*old)[LANES]) {
  const u32(*data)[LANES] = (const u32(*)[LANES])operand_rows(w, i, n);
  atomic a = atomic_of(i);
  return (atomic_rows){data, a.kind == ATOMIC_CMPSWAP ? data + a.bytes / 4 : NULL, old};
}

#endif
