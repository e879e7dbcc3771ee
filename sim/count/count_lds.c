/* The clocks that an access takes in the LDS.
 *
 * A wave's access runs in phases of a few lanes. In a phase each bank serves one address a clock: lanes that ask for the same
 * dword share it, other dwords of the bank wait for the next clock. Sources:
 * [I] HipKittens, analysis/paper_experiments/phases: lanes that conflict and the number of banks, measured on gfx950;
 * [J] ROCm documentation, Composable Kernel, "Understanding AMD GPU LDS and bank conflicts": ds_write_b128 and ds_read_b128;
 * [K] AMD APP OpenCL optimization guide, "Local memory (LDS) optimization": half waves, lanes 0-31 and 32-63; ROCm Compute
 *     Profiler, "Pipeline descriptions", LDS: 32 banks of 4 bytes. */
#include "count.h"
#include "lds_phases.h"

enum { BANKS_MOST = 64, PHASE_LEAST = 128 /* bytes that a phase of a whole wave moves, in all rules but one */ };

typedef struct phase_rule {
  u8 machine; /* TDM_MACHINE_... */
  u8 bytes;   /* of a lane */
  bool store;
  u8 lanes, banks; /* of a phase; of the LDS as this instruction sees it */
  const u8 *order; /* lanes 0-31 in the order of phases; 32-63 follow alike. NULL: as they are numbered */
} phase_rule;

static const phase_rule rules[] = {
    {TDM_MACHINE_GFX942, 4, false, 32, 32, NULL},           /* [K] */
    {TDM_MACHINE_GFX942, 4, true, 32, 32, NULL},            /* [K] */
    {TDM_MACHINE_GFX942, 16, false, 8, 32, lds_phases_8},   /* [J] */
    {TDM_MACHINE_GFX942, 16, true, 8, 32, NULL},            /* [J] */
    {TDM_MACHINE_GFX950, 8, false, 32, 64, NULL},           /* [I] ds_read_b64 */
    {TDM_MACHINE_GFX950, 12, false, 8, 32, lds_phases_8},   /* [I] ds_read_b96 */
    {TDM_MACHINE_GFX950, 16, false, 16, 64, lds_phases_16}, /* [I] ds_read_b128 */
    {TDM_MACHINE_GFX950, 8, true, 16, 32, NULL},            /* [I] ds_write_b64 */
    {TDM_MACHINE_GFX950, 16, true, 8, 32, NULL},            /* [J] */
};

/* Nobody measured the transposing reads. */
static const phase_rule *rule_of(const chip *chip, const op *op, u32 bytes, bool store) {
  if (op->transposes) return NULL;
  u32 width = bytes < 4 ? 4 : bytes; /* bytes and halves move as their dword */
  for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++)
    if (rules[r].bytes == width && rules[r].store == store && rules[r].machine == chip->machine) return &rules[r];
  return NULL;
}

/* Clocks of the phase whose lanes begin at `first` of the order: the most distinct dwords in one bank. */
static u32 phase_clocks(const phase_rule *rule, const memory_access *a, u32 first) {
  u32 dword[BANKS_MOST][LANES], used[BANKS_MOST] = {0}, most = 0, dwords = (a->bytes + 3) / 4;
  for (u32 n = first; n < first + rule->lanes; n++) {
    u32 lane = rule->order != NULL ? (n & 32) + rule->order[n & 31] : n;
    if ((a->mask >> lane & 1) == 0) continue;
    for (u32 d = 0; d < dwords; d++) {
      u32 at = a->offset[lane] / 4 + d, bank = at % rule->banks, known = 0;
      while (known < used[bank] && dword[bank][known] != at) known++;
      if (known == used[bank]) dword[bank][used[bank]++] = at;
      if (used[bank] > most) most = used[bank];
    }
  }
  return most;
}

/* Which lanes share a phase is not known. But each bank serves one dword a clock, and lanes that ask for the same dword share
 * it at
 * best: so the most distinct dwords that the wave wants of one bank are clocks that it needs in any case. The assumption: 32
 * banks on gfx942 [K], 64 on gfx950 [I]. */
static u32 least_clocks(const chip *chip, const memory_access *a) {
  phase_rule wave = {.lanes = LANES, .banks = chip->machine == TDM_MACHINE_GFX942 ? 32 : 64};
  return phase_clocks(&wave, a, 0);
}

void count_lds(const chip *chip, gfxsim_lds_count *count, const inst *i, const memory_access *a) {
  u32 bytes = (u32)__builtin_popcountll(a->mask) * a->bytes;
  if (bytes == 0 && i->class == CLASS_FLAT) return; /* its lanes are elsewhere */
  count->accesses++;
  count->bytes += bytes;
  /* What a load brings from memory lies lane by lane: no bank is asked twice. */
  const phase_rule *rule = a->to_lds ? NULL : rule_of(chip, i->op, a->bytes, a->kind != ACCESS_LOAD);
  if (rule == NULL) {
    u32 per_clock = a->kind == ACCESS_LOAD ? chip->lds_read_clock_bytes : chip->lds_write_clock_bytes;
    u32 moved = (bytes + per_clock - 1) / per_clock, least = a->to_lds || i->op->transposes ? 0 : least_clocks(chip, a);
    u32 phases = (bytes + PHASE_LEAST - 1) / PHASE_LEAST; /* at most: more of these clocks would be no conflicts */
    count->clocks += least > moved ? least : moved;
    count->conflict_clocks += least > phases ? least - phases : 0;
    count->unmodelled += !a->to_lds;
    return;
  }
  for (u32 first = 0; first < LANES; first += rule->lanes) {
    u32 clocks = phase_clocks(rule, a, first);
    count->clocks += clocks;
    count->conflict_clocks += clocks > 0 ? clocks - 1 : 0;
  }
}
