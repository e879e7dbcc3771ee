/* LDS atomics. Source: CDNA 4 ISA, descriptions of DS_*. A compare and swap takes the compared value first; in global
 * memory it is the second. */
#include "vector_memory.h"

static void addresses(wave *w, const inst *i, int n, u32 offset, u32 address[LANES]) {
  const u32 *base = src(w, i, n);
  for (int l = 0; l < LANES; l++) address[l] = base[l] + offset;
}

/* MODE's denormal bits hold for LDS: 5:4 of f32, 7:6 of f64 and of halves. Its f64 sum never flushes (CDNA 4 ISA, table 53). */
static bool keeps_denormals(wave *w, const inst *i) {
  atomic a = atomic_of(i);
  if (a.kind < ATOMIC_FLOATS || (a.kind == ATOMIC_ADD_F && a.bytes == 8)) return true;
  u32 bits = a.kind >= ATOMIC_PK_ADD_F16 || a.bytes == 8 ? 0xc0 : 0x30;
  if ((w->mode & bits) == bits) return true;
  wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, -1, NO_ADDRESS,
             "float atomics are not implemented in a mode that flushes denormals");
  return false;
}

static bool swaps_back(atomic_kind kind) { return kind == ATOMIC_CMPSWAP || kind == ATOMIC_CMPSWAP_F; }

/* Operands: the result where the row returns, the address, the data, and a second one of compare and swap, mskor, wrap. */
static void run(wave *w, const inst *i, bool returns) {
  int at = returns ? 1 : 0;
  atomic a = atomic_of(i);
  u32 address[LANES], old[2][LANES];
  if (!keeps_denormals(w, i)) return;
  addresses(w, i, at, (u32)i->offset, address);
  const u32(*first)[LANES] = (const u32(*)[LANES])operand_rows(w, i, at + 1), (*second)[LANES] = NULL;
  if (i->operands > at + 2) second = (const u32(*)[LANES])operand_rows(w, i, at + 2);
  atomic_rows rows = {first, second, old};
  if (swaps_back(a.kind)) rows = (atomic_rows){second, first, old};
  lds_atomic(w, i, get_exec(w), address, a, &rows);
  if (w->state != WAVE_FAULT && returns) load_return(w, i, 0, get_exec(w), old, a.bytes / 4);
}
static void plain(wave *w, const inst *i) { run(w, i, false); }
static void returning(wave *w, const inst *i) { run(w, i, true); }

/* Two exchanges; parameter: 64 bits, and the offsets' unit of 64 elements. */
enum { FAR = 128 };
static void exchange2(wave *w, const inst *i) {
  atomic a = atomic_of(i);
  a.kind = ATOMIC_SWAP;
  u32 step = a.bytes * (i->op->parameter & FAR ? 64 : 1), address[LANES], old[4][LANES];
  for (int part = 0; part < 2; part++) {
    addresses(w, i, 1, (part == 0 ? i->offset0 : i->offset1) * step, address);
    atomic_rows rows = {(const u32(*)[LANES])operand_rows(w, i, 2 + part), NULL, old + part * (int)(a.bytes / 4)};
    lds_atomic(w, i, get_exec(w), address, a, &rows);
    if (w->state == WAVE_FAULT) return;
  }
  load_return(w, i, 0, get_exec(w), old, a.bytes / 2);
}

/* Its address has 16 bits, of which the lowest 3 are ignored. */
static void exchange_marked(wave *w, const inst *i) {
  u32 address[LANES], old[2][LANES];
  addresses(w, i, 1, (u32)i->offset, address);
  for (int l = 0; l < LANES; l++) address[l] &= 0xfff8;
  atomic_rows rows = {(const u32(*)[LANES])operand_rows(w, i, 2), NULL, old};
  lds_atomic(w, i, get_exec(w), address, atomic_of(i), &rows);
  if (w->state != WAVE_FAULT) load_return(w, i, 0, get_exec(w), old, 2);
}

/* One counter at M0[15:0] + offset (LLVM moves the pointer there) for the whole wave: the number of active lanes is added or
 * subtracted once, and every active lane gets the old value. */
static void count_lanes(wave *w, const inst *i) {
  u64 mask = get_exec(w);
  u32 address[LANES], count[1][LANES], old[2][LANES];
  if (mask == 0) return;
  int first = __builtin_ctzll(mask);
  address[first] = (w->s[S_M0] & 0xffff) + (u32)i->offset;
  count[0][first] = w->shadow ? 0 : (u32)__builtin_popcountll(mask); /* always defined */
  atomic_rows rows = {(const u32(*)[LANES])count, NULL, old};
  lds_atomic(w, i, UINT64_C(1) << first, address, atomic_of(i), &rows);
  if (w->state == WAVE_FAULT) return;
  u32 found = old[0][first];
  for (int l = 0; l < LANES; l++) old[0][l] = found;
  load_return(w, i, 0, mask, old, 1);
}

#define ROW(name, run, shape, what, kind) {"ds_" name, run, shape, .parameter = what, .flow = FLOW_OWN, .memory = kind}
#define RETURNING(name, shape, what) ROW(name, returning, shape, what, MEMORY_ATOMIC)
#define BOTH_OF(name, type, shape, what, kind) \
  ROW(name "_" type, plain, shape, what, kind), ROW(name "_rtn_" type, returning, "=r" shape, what, kind)
#define BOTH(name, type, shape, what) BOTH_OF(name, type, shape, what, MEMORY_ATOMIC)
#define COMPARES(name, type, what) BOTH_OF(name, type, "@brr", what, MEMORY_COMPARE)
#define INTEGERS(name, what) BOTH(name, "u32", "@br", what), BOTH(name, "u64", "@br", what | ATOMIC_X2)
#define SIGNED(name, what) BOTH(name, "i32", "@br", what), BOTH(name, "i64", "@br", what | ATOMIC_X2)
#define FLOATS(name, shape, what) BOTH(name, "f32", shape, what), BOTH(name, "f64", shape, what | ATOMIC_X2)
#define BITS(name, shape, what) BOTH(name, "b32", shape, what), BOTH(name, "b64", shape, what | ATOMIC_X2)

static const op ops[] = {
    INTEGERS("add", ATOMIC_ADD),
    INTEGERS("sub", ATOMIC_SUB),
    INTEGERS("rsub", ATOMIC_RSUB),
    INTEGERS("inc", ATOMIC_INC),
    INTEGERS("dec", ATOMIC_DEC),
    INTEGERS("min", ATOMIC_UMIN),
    INTEGERS("max", ATOMIC_UMAX),
    SIGNED("min", ATOMIC_SMIN),
    SIGNED("max", ATOMIC_SMAX),
    BITS("and", "@br", ATOMIC_AND),
    BITS("or", "@br", ATOMIC_OR),
    BITS("xor", "@br", ATOMIC_XOR),
    BITS("mskor", "@brr", ATOMIC_MSKOR),
    COMPARES("cmpst", "b32", ATOMIC_CMPSWAP),
    COMPARES("cmpst", "b64", ATOMIC_CMPSWAP | ATOMIC_X2),
    COMPARES("cmpst", "f32", ATOMIC_CMPSWAP_F),
    COMPARES("cmpst", "f64", ATOMIC_CMPSWAP_F | ATOMIC_X2),
    FLOATS("add", "@br", ATOMIC_ADD_F),
    FLOATS("min", "@br", ATOMIC_MIN_F),
    FLOATS("max", "@br", ATOMIC_MAX_F),
    BOTH("pk_add", "f16", "@br", ATOMIC_PK_ADD_F16),
    BOTH("pk_add", "bf16", "@br", ATOMIC_PK_ADD_BF16),
    RETURNING("wrxchg_rtn_b32", "=r@br", ATOMIC_SWAP),
    RETURNING("wrxchg_rtn_b64", "=r@br", ATOMIC_SWAP | ATOMIC_X2),
    RETURNING("wrap_rtn_b32", "=r@brr", ATOMIC_WRAP),
    {"ds_wrxchg2_rtn_b32", exchange2, "=r@brr", .parameter = 0, .flow = FLOW_OWN, .memory = MEMORY_ATOMIC},
    {"ds_wrxchg2_rtn_b64", exchange2, "=r@brr", .parameter = ATOMIC_X2, .flow = FLOW_OWN, .memory = MEMORY_ATOMIC},
    {"ds_wrxchg2st64_rtn_b32", exchange2, "=r@brr", .parameter = FAR, .flow = FLOW_OWN, .memory = MEMORY_ATOMIC},
    {"ds_wrxchg2st64_rtn_b64", exchange2, "=r@brr", .parameter = FAR | ATOMIC_X2, .flow = FLOW_OWN, .memory = MEMORY_ATOMIC},
    {"ds_condxchg32_rtn_b64", exchange_marked, "=r@br", .parameter = ATOMIC_MARKED | ATOMIC_X2, .flow = FLOW_OWN,
     .memory = MEMORY_ATOMIC},
    {"ds_append", count_lanes, "=r", .parameter = ATOMIC_ADD, .flow = FLOW_OWN, .implied = IMPLIED_M0, .memory = MEMORY_ATOMIC},
    {"ds_consume", count_lanes, "=r", .parameter = ATOMIC_SUB, .flow = FLOW_OWN, .implied = IMPLIED_M0,
     .memory = MEMORY_ATOMIC},
};
FAMILY(family_lds_atomic, "lds_atomic", CLASS_LDS, MOD_OFFSET | MOD_OFFSET01, ops);
