/* Scalar loads. Source: MI300 ISA, SMEM: address = base + offset + SGPR offset, its two low bits ignored. */
#include "access.h"
#include "ops.h"

/* s_load D, base, offset: the offset a register or a constant, with a constant beside it in offset: */
static void load(wave *w, const inst *i) {
  const operand *d = &i->operand[0], *o = &i->operand[2];
  u64 extra = o->kind == OPERAND_CONST ? (u64)(i64)(i32)o->value : s32(w, i, 2);
  u64 address = (s64(w, i, 1) + extra + (u64)(i64)i->offset) & ~UINT64_C(3);
  const u8 *from = global_pointer(w, i, -1, address, 4u * d->count, false);
  if (from != NULL) memcpy(&w->s[d->reg], from, 4u * d->count);
}

static const op ops[] = {
    {"s_load_dword", load, "=rBs", .flow = FLOW_OWN},    {"s_load_dwordx2", load, "=rBs", .flow = FLOW_OWN},
    {"s_load_dwordx4", load, "=rBs", .flow = FLOW_OWN},  {"s_load_dwordx8", load, "=rBs", .flow = FLOW_OWN},
    {"s_load_dwordx16", load, "=rBs", .flow = FLOW_OWN},
};
FAMILY(family_smem, "smem", CLASS_SMEM, MOD_OFFSET, ops);
