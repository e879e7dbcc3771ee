/* Scalar memory. Source: CDNA 4 ISA 8.2.1: address = base + offset + SGPR offset, its two low bits ignored. */
#include "ops.h"
#include "sim/machine/access.h"
#include "sim/machine/atomic.h"
#include "sim/machine/watch.h"

/* s_load D, base, offset: the offset a register or a constant, with a constant beside it in offset: */
static u64 distance(const wave *w, const inst *i) {
  const operand *o = &i->operand[2];
  return (o->kind == OPERAND_CONST ? (u64)(i64)(i32)o->value : s32(w, i, 2)) + (u64)(i64)i->offset;
}

/* Moves the dwords and tells the watchers; false after a fault. */
static bool transfer(wave *w, const inst *i, u64 address, u32 *dwords, u32 bytes, bool write) {
  u8 *memory = global_pointer(w, i, -1, address, bytes, write);
  if (memory == NULL) return false;
  memcpy(write ? (void *)memory : dwords, write ? (void *)dwords : memory, bytes);
  watch_access(w, i,
               &(memory_access){SPACE_GLOBAL, write ? ACCESS_STORE : ACCESS_LOAD, .scalar = true, .bytes = bytes, .mask = 1,
                                .address = &address});
  return true;
}

static bool stores(const inst *i) { return i->op->memory == MEMORY_STORE; }

static void move(wave *w, const inst *i) {
  const operand *d = &i->operand[0];
  u64 address = (s64(w, i, 1) + distance(w, i)) & ~UINT64_C(3);
  transfer(w, i, address, &w->s[d->reg], 4u * d->count, stores(i));
}

/* The buffer's base lies in bits 47:0, the stride in 61:48, num_records, in strides where there is one, in 95:64. As in vector
 * buffers, dwords beyond it read 0 and are not stored. */
static void buffer_move(wave *w, const inst *i) {
  const operand *d = &i->operand[0];
  const u32 *resource = &w->s[i->operand[1].reg];
  u64 base = get_pair(w, i->operand[1].reg) & ((UINT64_C(1) << 48) - 1), start = distance(w, i) & ~UINT64_C(3);
  u64 stride = resource[1] >> 16 & 0x3fff, size = resource[2] * (stride > 0 ? stride : 1);
  u32 inside = 0; /* dwords that lie in the buffer */
  while (inside < d->count && start + 4 * inside + 4 <= size) inside++;
  bool store = stores(i);
  u32 data[16] = {0};
  if (store) memcpy(data, &w->s[d->reg], 4u * d->count);
  if (inside > 0 && !transfer(w, i, (base & ~UINT64_C(3)) + start, data, 4 * inside, store)) return;
  if (!store) memcpy(&w->s[d->reg], data, 4u * d->count);
}

/* As lane 0 of a vector atomic, with data and what it found in SGPRs; of a compare and swap the compared value comes second. */
static void atomic_move(wave *w, const inst *i) {
  atomic a = atomic_of(i);
  u32 *s = &w->s[i->operand[0].reg], dwords = a.bytes / 4, data[2][LANES], second[2][LANES], old[2][LANES];
  u64 address[LANES] = {(s64(w, i, 1) + distance(w, i)) & ~UINT64_C(3)};
  for (u32 n = 0; n < dwords; n++) {
    data[n][0] = s[n];
    if (a.kind == ATOMIC_CMPSWAP) second[n][0] = s[dwords + n];
  }
  atomic_rows rows = {(const u32(*)[LANES])data, a.kind == ATOMIC_CMPSWAP ? (const u32(*)[LANES])second : NULL, old};
  global_atomic(w, i, 1, address, a, &rows);
  for (u32 n = 0; n < dwords && w->state != WAVE_FAULT && (i->cache & CACHE_SC0) != 0; n++) s[n] = old[n][0];
}

/* Time for programs that measure or wait: the blocks that the wave has run. It only grows; it is not a clock. */
static void blocks_run(wave *w, const inst *i) { set64(w, i, 0, w->blocks); }

#define ATOMIC_ROW(name, what, kind) \
  {"s_atomic_" name, atomic_move, "+r@B@s", .flow = FLOW_OWN, .memory = what, .parameter = kind}
#define ATOMIC_ROWS(name, kind) ATOMIC_ROW(name, MEMORY_ATOMIC, kind), ATOMIC_ROW(name "_x2", MEMORY_ATOMIC, (kind) | ATOMIC_X2)

static const op ops[] = {
    {"s_load_dword", move, "=r@B@s", .flow = FLOW_OWN, .memory = MEMORY_LOAD},
    {"s_load_dwordx2", move, "=r@B@s", .flow = FLOW_OWN, .memory = MEMORY_LOAD},
    {"s_load_dwordx4", move, "=r@B@s", .flow = FLOW_OWN, .memory = MEMORY_LOAD},
    {"s_load_dwordx8", move, "=r@B@s", .flow = FLOW_OWN, .memory = MEMORY_LOAD},
    {"s_load_dwordx16", move, "=r@B@s", .flow = FLOW_OWN, .memory = MEMORY_LOAD},
    {"s_buffer_load_dword", buffer_move, "=r@r@s", .flow = FLOW_OWN, .memory = MEMORY_LOAD},
    {"s_buffer_load_dwordx2", buffer_move, "=r@r@s", .flow = FLOW_OWN, .memory = MEMORY_LOAD},
    {"s_buffer_load_dwordx4", buffer_move, "=r@r@s", .flow = FLOW_OWN, .memory = MEMORY_LOAD},
    {"s_buffer_load_dwordx8", buffer_move, "=r@r@s", .flow = FLOW_OWN, .memory = MEMORY_LOAD},
    {"s_buffer_load_dwordx16", buffer_move, "=r@r@s", .flow = FLOW_OWN, .memory = MEMORY_LOAD},
    {"s_store_dword", move, "r@B@s", .flow = FLOW_OWN, .memory = MEMORY_STORE},
    {"s_store_dwordx2", move, "r@B@s", .flow = FLOW_OWN, .memory = MEMORY_STORE},
    {"s_store_dwordx4", move, "r@B@s", .flow = FLOW_OWN, .memory = MEMORY_STORE},
    {"s_buffer_store_dword", buffer_move, "r@r@s", .flow = FLOW_OWN, .memory = MEMORY_STORE},
    {"s_buffer_store_dwordx2", buffer_move, "r@r@s", .flow = FLOW_OWN, .memory = MEMORY_STORE},
    {"s_buffer_store_dwordx4", buffer_move, "r@r@s", .flow = FLOW_OWN, .memory = MEMORY_STORE},
    ATOMIC_ROWS("swap", ATOMIC_SWAP),
    ATOMIC_ROW("cmpswap", MEMORY_COMPARE, ATOMIC_CMPSWAP),
    ATOMIC_ROW("cmpswap_x2", MEMORY_COMPARE, ATOMIC_CMPSWAP | ATOMIC_X2),
    ATOMIC_ROWS("add", ATOMIC_ADD),
    ATOMIC_ROWS("sub", ATOMIC_SUB),
    ATOMIC_ROWS("smin", ATOMIC_SMIN),
    ATOMIC_ROWS("umin", ATOMIC_UMIN),
    ATOMIC_ROWS("smax", ATOMIC_SMAX),
    ATOMIC_ROWS("umax", ATOMIC_UMAX),
    ATOMIC_ROWS("and", ATOMIC_AND),
    ATOMIC_ROWS("or", ATOMIC_OR),
    ATOMIC_ROWS("xor", ATOMIC_XOR),
    ATOMIC_ROWS("inc", ATOMIC_INC),
    ATOMIC_ROWS("dec", ATOMIC_DEC),
    {"s_memtime", blocks_run, "=B", .ends = true, .memory = MEMORY_OTHER},
    {"s_memrealtime", blocks_run, "=B", .ends = true, .memory = MEMORY_OTHER},
};
/* glc says what stays in caches, which are not simulated; atomics return with it. */
FAMILY(family_smem, "smem", CLASS_SMEM, MOD_OFFSET | MOD_CACHE, ops);
