/* Atomics of global memory and LDS: the new value, and the way to memory. */
#ifndef GFXSIM_ATOMIC_H
#define GFXSIM_ATOMIC_H
#include "wave.h"

typedef enum atomic_kind {
  ATOMIC_SWAP,
  ATOMIC_CMPSWAP,
  ATOMIC_ADD,
  ATOMIC_SUB,
  ATOMIC_RSUB,
  ATOMIC_SMIN,
  ATOMIC_UMIN,
  ATOMIC_SMAX,
  ATOMIC_UMAX,
  ATOMIC_AND,
  ATOMIC_OR,
  ATOMIC_XOR,
  ATOMIC_INC,
  ATOMIC_DEC,
  ATOMIC_MSKOR,
  ATOMIC_WRAP,
  ATOMIC_MARKED, /* each half of 8 bytes whose highest bit is set in the data gets the other 31 */
  ATOMIC_FLOATS, /* from here on */
  ATOMIC_ADD_F = ATOMIC_FLOATS,
  ATOMIC_MIN_F,
  ATOMIC_MAX_F,
  ATOMIC_CMPSWAP_F,
  ATOMIC_PK_ADD_F16,
  ATOMIC_PK_ADD_BF16,
  ATOMIC_UNDEFINED, /* of undefined bits (uninitialised.h): in place of every other one but the swap */
} atomic_kind;

typedef struct atomic {
  atomic_kind kind;
  u32 bytes; /* 4 or 8 */
} atomic;

/* The parameter of a row, and back. */
enum { ATOMIC_X2 = 64 };
static inline atomic atomic_of(const inst *i) {
  return (atomic){(atomic_kind)(i->op->parameter & (ATOMIC_X2 - 1)), i->op->parameter & ATOMIC_X2 ? 8 : 4};
}

/* Values of 4 bytes come zero-extended; what lies above the result is to be dropped. `second`: the compared value of a compare
 * and swap, the ored value of mskor, the added one of wrap. */
u64 atomic_result(atomic a, u64 old, u64 data, u64 second);

/* Rows of 64 lanes, one per dword. `old` gets what the lanes found. */
typedef struct atomic_rows {
  const u32 (*data)[LANES], (*second)[LANES]; /* second: NULL where the kind has none */
  u32 (*old)[LANES];
} atomic_rows;

/* Lanes of `mask`, one after the other. After a fault the wave's state is WAVE_FAULT. */
void global_atomic(wave *w, const inst *i, u64 mask, const u64 address[LANES], atomic a, const atomic_rows *rows);
void lds_atomic(wave *w, const inst *i, u64 mask, const u32 address[LANES], atomic a, const atomic_rows *rows);

#endif
