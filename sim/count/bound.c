/* From counts to the clocks that each pipe needs at least. Sources of the rates: src/base/chip.h and rate.c, and
 * [L] ROCm Compute Profiler, "Pipeline descriptions", "Scheduler": each clock the scheduler serves one SIMD in turn, issues at
 * most one instruction of a wave, and at most one of each of five categories: VALU with MFMA, VMEM, SALU with SMEM, LDS,
 * branch. So a SIMD has its turn every 4 clocks. */
#include "count.h"

enum { TURN = 4, CATEGORIES = 5 };
#define NOT_MODELLED (-1.0)

static double larger(double a, double b) { return a > b ? a : b; }

static double rate(double amount, double per_clock) { return per_clock > 0 ? amount / per_clock : NOT_MODELLED; }

static double issue(const gfxsim_counters *c, double simds) {
  const uint64_t *n = c->classes;
  uint64_t category[CATEGORIES] = {n[GFXSIM_CLASS_VALU] + n[GFXSIM_CLASS_MFMA], n[GFXSIM_CLASS_VMEM],
                                   n[GFXSIM_CLASS_SALU] + n[GFXSIM_CLASS_SMEM], n[GFXSIM_CLASS_LDS], n[GFXSIM_CLASS_BRANCH]};
  double most = TURN * (double)c->longest_wave;
  for (int k = 0; k < CATEGORIES; k++) most = larger(most, TURN * (double)category[k] / simds);
  return most;
}

/* Reads and writes have ways of their own ([C]: a channel reads a line, takes half a line written and one fill a clock). The
 * XCD with the most work decides. */
static void l2_bounds(const chip *chip, gfxsim_counters *c) {
  double accesses = 0, bytes = 0;
  for (int x = 0; x < c->xcds; x++) {
    const gfxsim_l2 *l2 = &c->l2[x];
    accesses = larger(accesses, larger((double)l2->reads, (double)l2->write_halves));
    bytes = larger(bytes, larger((double)l2->fabric_read, (double)l2->fabric_write));
  }
  c->bound[GFXSIM_PIPE_L2] = rate(accesses, chip->l2_channels);
  c->bound[GFXSIM_PIPE_FABRIC] = rate(bytes, chip->fabric_clock_bytes);
}

/* Workgroups of the fullest CU over the mean, when XCDs take them round-robin and the CUs of one share evenly. */
static double tail(const chip *chip, u64 workgroups, double cus) {
  u64 of_xcd = (workgroups + chip->xcds - 1) / chip->xcds, of_cu = (of_xcd + chip->cus_per_xcd - 1) / chip->cus_per_xcd;
  return (double)of_cu * cus / (double)workgroups;
}

void bound_all(const chip *chip, gfxsim_counters *c) {
  u64 all_cus = (u64)chip->xcds * chip->cus_per_xcd, used_cus = c->workgroups < all_cus ? c->workgroups : all_cus;
  u64 used_simds = used_cus * chip->simds_per_cu; /* a workgroup's waves share its CU */
  double cus = (double)used_cus, simds = (double)(c->waves < used_simds ? c->waves : used_simds);
  double lines = (double)(c->load.lines128 + c->store.lines128 + c->atomic.lines128) * chip->line_bytes;
  double mall_read = (double)c->mall_lines * chip->line_bytes;
  double hbm_per_clock = chip->hbm_gbs * 1000.0 / chip->clock_mhz;
  double *b = c->bound;
  b[GFXSIM_PIPE_MFMA] = (double)c->mfma_clocks / simds;
  b[GFXSIM_PIPE_VALU] = ((double)c->valu_clocks + TURN * (double)c->classes[GFXSIM_CLASS_MFMA]) / simds;
  b[GFXSIM_PIPE_SALU] = TURN * (double)(c->classes[GFXSIM_CLASS_SALU] + c->classes[GFXSIM_CLASS_SMEM]) / simds;
  b[GFXSIM_PIPE_LDS] = (double)c->lds.clocks / cus;
  b[GFXSIM_PIPE_ISSUE] = issue(c, simds);
  b[GFXSIM_PIPE_L1] = rate(lines, chip->l1_clock_bytes * cus);
  l2_bounds(chip, c);
  b[GFXSIM_PIPE_MALL] = rate(larger(mall_read, (double)c->hbm_written), chip->mall_clock_bytes);
  b[GFXSIM_PIPE_HBM] = rate((double)(c->hbm_read + c->hbm_written), hbm_per_clock);
  if (c->workgroups_run < c->workgroups) /* what the others would have shared is not seen: these may be too high */
    b[GFXSIM_PIPE_L2] = b[GFXSIM_PIPE_FABRIC] = b[GFXSIM_PIPE_MALL] = b[GFXSIM_PIPE_HBM] = NOT_MODELLED;
  for (int p = 0; p < GFXSIM_PIPE_COUNT; p++)
    if (b[p] > b[c->floor]) c->floor = (gfxsim_pipe)p;
  c->tail = tail(chip, c->workgroups, cus);
}
