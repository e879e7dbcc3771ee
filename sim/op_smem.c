/* Scalar memory. Source: MI300 ISA, SMEM: address = base + offset + SGPR offset, its two low bits ignored. */
#include "access.h"
#include "ops.h"
#include "watch.h"

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

/* parameter: whether it stores */
static void move(wave *w, const inst *i) {
  const operand *d = &i->operand[0];
  u64 address = (s64(w, i, 1) + distance(w, i)) & ~UINT64_C(3);
  transfer(w, i, address, &w->s[d->reg], 4u * d->count, i->op->parameter != 0);
}

/* The buffer's base lies in bits 47:0, the stride in 61:48, num_records, in strides where there is one, in 95:64. As in vector
 * buffers, dwords beyond it read 0 and are not stored. parameter: whether it stores */
static void buffer_move(wave *w, const inst *i) {
  const operand *d = &i->operand[0];
  const u32 *resource = &w->s[i->operand[1].reg];
  u64 base = get_pair(w, i->operand[1].reg) & ((UINT64_C(1) << 48) - 1), start = distance(w, i) & ~UINT64_C(3);
  u64 stride = resource[1] >> 16 & 0x3fff, size = resource[2] * (stride > 0 ? stride : 1);
  u32 inside = 0; /* dwords that lie in the buffer */
  while (inside < d->count && start + 4 * inside + 4 <= size) inside++;
  bool store = i->op->parameter != 0;
  u32 data[16] = {0};
  if (store) memcpy(data, &w->s[d->reg], 4u * d->count);
  if (inside > 0 && !transfer(w, i, (base & ~UINT64_C(3)) + start, data, 4 * inside, store)) return;
  if (!store) memcpy(&w->s[d->reg], data, 4u * d->count);
}

/* Time for programs that measure or wait: the blocks that the wave has run. It only grows; it is no clock. */
static void blocks_run(wave *w, const inst *i) { set64(w, i, 0, w->blocks); }

static const op ops[] = {
    {"s_load_dword", move, "=rBs", .flow = FLOW_OWN},
    {"s_load_dwordx2", move, "=rBs", .flow = FLOW_OWN},
    {"s_load_dwordx4", move, "=rBs", .flow = FLOW_OWN},
    {"s_load_dwordx8", move, "=rBs", .flow = FLOW_OWN},
    {"s_load_dwordx16", move, "=rBs", .flow = FLOW_OWN},
    {"s_buffer_load_dword", buffer_move, "=rrs", .flow = FLOW_OWN},
    {"s_buffer_load_dwordx2", buffer_move, "=rrs", .flow = FLOW_OWN},
    {"s_buffer_load_dwordx4", buffer_move, "=rrs", .flow = FLOW_OWN},
    {"s_buffer_load_dwordx8", buffer_move, "=rrs", .flow = FLOW_OWN},
    {"s_buffer_load_dwordx16", buffer_move, "=rrs", .flow = FLOW_OWN},
    {"s_store_dword", move, "rBs", .flow = FLOW_OWN, .parameter = 1},
    {"s_store_dwordx2", move, "rBs", .flow = FLOW_OWN, .parameter = 1},
    {"s_store_dwordx4", move, "rBs", .flow = FLOW_OWN, .parameter = 1},
    {"s_buffer_store_dword", buffer_move, "rrs", .flow = FLOW_OWN, .parameter = 1},
    {"s_buffer_store_dwordx2", buffer_move, "rrs", .flow = FLOW_OWN, .parameter = 1},
    {"s_buffer_store_dwordx4", buffer_move, "rrs", .flow = FLOW_OWN, .parameter = 1},
    {"s_memtime", blocks_run, "=B", .ends = true},
    {"s_memrealtime", blocks_run, "=B", .ends = true},
};
FAMILY(family_smem, "smem", CLASS_SMEM, MOD_OFFSET, ops);
