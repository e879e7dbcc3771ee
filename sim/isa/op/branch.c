/* Branches, waits, barriers and the end: SOPP, and the jumps of SOP1 and SOPK. Source: CDNA 4 ISA 12.5 (SOPP), 4.2. */
#include "ops.h"

static void jump(wave *w, const inst *i) { w->pc = i->pc + 4 + (u64)(i64)i->simm16 * 4; }
static void branch(wave *w, const inst *i) { jump(w, i); }

#define BRANCH_IF(symbol, condition)           \
  static void symbol(wave *w, const inst *i) { \
    if (condition) jump(w, i);                 \
  }
BRANCH_IF(scc0, w->scc == 0)
BRANCH_IF(scc1, w->scc != 0)
BRANCH_IF(vccz, get_vcc(w) == 0)
BRANCH_IF(vccnz, get_vcc(w) != 0)
BRANCH_IF(execz, get_exec(w) == 0)
BRANCH_IF(execnz, get_exec(w) != 0)

static void getpc(wave *w, const inst *i) { set64(w, i, 0, i->pc + 4); }
static void setpc(wave *w, const inst *i) { w->pc = s64(w, i, 0); }
static void swappc(wave *w, const inst *i) {
  w->pc = s64(w, i, 1);
  set64(w, i, 0, i->pc + 4);
}
static void call(wave *w, const inst *i) {
  set64(w, i, 0, i->pc + 4);
  jump(w, i);
}

static void endpgm(wave *w, const inst *i) {
  (void)i;
  w->state = WAVE_ENDED;
}
static void barrier(wave *w, const inst *i) {
  (void)i;
  w->state = WAVE_BARRIER;
}
/* Accesses take effect when they are executed, so a wait has nothing to do here; the check of waits sees it first, and gives
 * what loads have brought to their registers then (wait.c). The others tell hardware about time, priority or caches. */
static void nothing(wave *w, const inst *i) { (void)w, (void)i; }

/* llvm.trap, an assertion: the trap handler of the HSA runtime aborts the queue. */
static void trap(wave *w, const inst *i) {
  wave_fault(w, i, GFXSIM_TRAP, -1, NO_ADDRESS, "the kernel executed s_trap %d, as a failed assertion does", i->simm16 & 255);
}

static const op ops[] = {
    {"s_branch", branch, "*", .ends = true},
    {"s_cbranch_scc0", scc0, "*", .ends = true, .implied = IMPLIED_SCC},
    {"s_cbranch_scc1", scc1, "*", .ends = true, .implied = IMPLIED_SCC},
    {"s_cbranch_vccz", vccz, "*", .ends = true, .implied = IMPLIED_VCC},
    {"s_cbranch_vccnz", vccnz, "*", .ends = true, .implied = IMPLIED_VCC},
    {"s_cbranch_execz", execz, "*", .ends = true},
    {"s_cbranch_execnz", execnz, "*", .ends = true},
    {"s_getpc_b64", getpc, "=B"},
    {"s_setpc_b64", setpc, "B", .ends = true},
    {"s_swappc_b64", swappc, "=BB", .ends = true},
    {"s_call_b64", call, "=Bi", .ends = true},
    {"s_endpgm", endpgm, "*", .ends = true, .sync = SYNC_END},
    {"s_barrier", barrier, "*", .ends = true, .sync = SYNC_BARRIER, .internal = true},
    {"s_waitcnt", nothing, "*", .sync = SYNC_WAIT, .internal = true},
    {"s_nop", nothing, "*", .internal = true, .pause = PAUSE_NOP},
    {"s_sleep", nothing, "*", .ends = true, .internal = true, .pause = PAUSE_SLEEP},
    {"s_setprio", nothing, "*", .internal = true, .pause = PAUSE_PRIORITY},
    {"s_icache_inv", nothing, "*"},
    {"s_dcache_inv", nothing, "*"},
    {"s_dcache_wb", nothing, "*"},
    {"s_dcache_inv_vol", nothing, "*"},
    {"s_dcache_wb_vol", nothing, "*"},
    {"s_wakeup", nothing, "*"},
    {"s_ttracedata", nothing, "*"},
    {"s_incperflevel", nothing, "*"},
    {"s_decperflevel", nothing, "*"},
    {"s_cbranch_cdbgsys", nothing, "*"}, /* taken under a debugger only */
    {"s_cbranch_cdbguser", nothing, "*"},
    {"s_cbranch_cdbgsys_or_user", nothing, "*"},
    {"s_cbranch_cdbgsys_and_user", nothing, "*"},
    {"s_trap", trap, "*", .ends = true},
    {"buffer_wbl2", nothing, "*", .sync = SYNC_WRITE_BACK},
    {"buffer_inv", nothing, "*", .sync = SYNC_INVALIDATE},
};
FAMILY(family_branch, "branch", CLASS_BRANCH, 0, ops);
