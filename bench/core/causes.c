/* What a prediction is compared with, and what its clocks went to. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "predict.h"
#include "src/base/chip.h"

double bench_ideal_clocks(const tdm_case *c, const char *name, const char **floor) {
  const tdm_chip *chip = tdm_chip_find(name, strlen(name));
  *floor = "";
  if (chip == NULL) return -1;
  double cus = (double)chip->xcds * chip->cus_per_xcd;
  double flops = c->op->flops(c) / (cus * tdm_chip_mfma_flops(chip, c->type == TDM_F32 ? 4 : 2));
  double bytes = c->op->bytes(c) / ((double)chip->hbm_gbs * 1e3 / chip->clock_mhz);
  *floor = flops > bytes ? "mfma" : "hbm";
  return fmax(flops, bytes);
}

enum { LISTED = 3 };                 /* causes that are printed */
static const double LEAST = 0.05;    /* of the waves' clocks: smaller causes are not printed */
static const double LAUNCHES = 0.05; /* of the launch: the same */

/* Appends to a text that may be full. */
__attribute__((format(printf, 3, 4))) static void put(char *text, size_t size, const char *format, ...) {
  size_t used = strlen(text);
  va_list args;
  va_start(args, format);
  vsnprintf(text + used, size - used, format, args);
  va_end(args);
}

static void put_waves(char *text, size_t size, const double clocks[GFXSIM_CAUSE_COUNT], double all) {
  bool listed[GFXSIM_CAUSE_COUNT] = {false};
  const char *between = text[0] != '\0' ? ", waves: " : "waves: ";
  for (int n = 0; n < LISTED; n++) {
    int most = -1;
    for (int k = 0; k < GFXSIM_CAUSE_COUNT; k++)
      if (!listed[k] && (most < 0 || clocks[k] > clocks[most])) most = k;
    if (!(clocks[most] > LEAST * all)) break;
    listed[most] = true;
    put(text, size, "%s%s %.0f %%", between, gfxsim_cause_name((gfxsim_cause)most), 100 * clocks[most] / all);
    between = " ";
  }
}

void bench_put_causes(char *text, size_t size, const bench_counts *counts) {
  double waves[GFXSIM_CAUSE_COUNT] = {0}, all = 0, launches = 0, clocks = bench_predicted_clocks(counts);
  const bench_launch *longest = NULL;
  text[0] = '\0';
  if (clocks <= 0) return;
  for (int i = 0; i < counts->launches; i++) {
    const bench_launch *l = &counts->launch[i];
    if (longest == NULL || l->timing.clocks > longest->timing.clocks) longest = l;
    launches += (double)l->timing.launch_clocks;
    for (int k = 0; k < GFXSIM_CAUSE_COUNT; k++)
      waves[k] += (double)l->timing.wave_clocks[k], all += (double)l->timing.wave_clocks[k];
  }
  const tdm_chip *chip = tdm_chip_find(longest->c.chip, strlen(longest->c.chip));
  double share = launches / clocks, cus = chip != NULL ? (double)chip->xcds * chip->cus_per_xcd : 0;
  if (share > LAUNCHES)
    put(text, size, "%d launch%s %.0f %%", counts->launches, counts->launches == 1 ? "" : "es", 100 * share);
  put_waves(text, size, waves, all);
  if ((double)longest->c.workgroups < cus)
    put(text, size, ", %llu workgroup%s on %.0f CUs", (unsigned long long)longest->c.workgroups,
        longest->c.workgroups == 1 ? "" : "s", cus);
  else if (longest->timing.mfma_share > 0.005)
    put(text, size, ", matrix units %.0f %%", 100 * longest->timing.mfma_share);
}
