/* Counters as text. */
#include "profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "sim/count/counters_rows.h"

enum { ROWS_MOST = 24 };

static double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/* The least share of the grid that a sample misses with 5 % at most: (1 - share)^count. */
static void print_sample(const gfxsim_counters *c) {
  printf("sampled: %" PRIu64 " of them ran; every count is theirs times %.6g\n", c->workgroups_run,
         (double)c->workgroups / (double)c->workgroups_run);
  if (c->sample_error[0] < 0) {
    printf("error of the sample: not known: %s\n",
           c->workgroups_run < 2 ? "one workgroup shows no differences" : "the workgroups were named, not drawn");
    return;
  }
  printf("error of the sample (95 %%, estimated from the differences between its workgroups):");
  for (int e = 0; e < GFXSIM_ESTIMATE_COUNT; e++)
    printf("%s %s %.2g %%", e > 0 ? "," : "", gfxsim_estimate_name((gfxsim_estimate)e), 100 * c->sample_error[e]);
  double missed = 100 * (1 - pow(0.05, 1 / (double)c->workgroups_run));
  printf("\n  a kind of workgroup that makes up less than %.2g %% of the grid may be missing in it\n", missed);
}

static void print_head(const gfxsim_kernel_info *kernel, const gfxsim_counters *c) {
  const gfxsim_occupancy *o = &c->occupancy;
  printf("kernel %s on %s: %" PRIu64 " workgroups of %u waves\n", kernel->name, c->chip, c->workgroups, o->waves);
  if (c->workgroups_run < c->workgroups) print_sample(c);
  printf(
      "allocated: %u VGPRs and %u SGPRs a wave, %u B of LDS a workgroup, %u B of scratch a lane\n"
      "occupancy: %u waves a SIMD, %u workgroups a CU, limited by %s\n",
      o->vgprs, o->sgprs, o->lds_bytes, o->scratch_bytes, o->waves_per_simd, o->workgroups_per_cu, o->limit);
}

/* ---- Instructions ---- */

static bool print_rows(const gfxsim_counters *c, count_key by, const char *title) {
  int rows;
  count_row *row = count_rows(c, by, &rows);
  if (row == NULL) return complain("profile: no memory");
  bool known = rows > 1 || (rows == 1 && row[0].length > 0);
  if (by == BY_SOURCE && !known)
    printf("\n%s: not known: the code object has no debug information (-g)\n", title);
  else
    printf("\n%s\n", title);
  for (int n = 0; n < rows && n < ROWS_MOST && known; n++)
    printf("  %14" PRIu64 "  %.*s\n", row[n].count, row[n].length > 0 ? row[n].length : 1,
           row[n].length > 0 ? row[n].key : "?");
  if (known && rows > ROWS_MOST) printf("  and %d more\n", rows - ROWS_MOST);
  free(row);
  return true;
}

static bool print_instructions(const gfxsim_counters *c) {
  printf("\ninstructions of waves, by class\n");
  for (int k = 0; k < GFXSIM_CLASS_COUNT; k++)
    if (c->classes[k] > 0) printf("  %14" PRIu64 "  %s\n", c->classes[k], gfxsim_class_name((gfxsim_class)k));
  if (c->mfma_flops > 0)
    printf("  %14" PRIu64 "  FLOPs of MFMA, in %" PRIu64 " clocks of a SIMD's matrix unit\n", c->mfma_flops, c->mfma_clocks);
  return print_rows(c, BY_MNEMONIC, "by mnemonic") && print_rows(c, BY_SOURCE, "by source line");
}

/* ---- Memory ---- */

static void print_traffic(const char *name, const gfxsim_traffic *t) {
  if (t->accesses == 0) return;
  printf("  %-8s %12" PRIu64 " accesses, %14" PRIu64 " B asked, %14" PRIu64 " B in lines of 64, %14" PRIu64
         " B in lines of 128\n",
         name, t->accesses, t->asked, t->lines64 * 64, t->lines128 * 128);
}

static void print_lds(const gfxsim_lds_count *l) {
  if (l->accesses == 0) return;
  bool least = l->unmodelled > 0;
  printf("\nLDS\n  %" PRIu64 " accesses, %" PRIu64 " B, %s%" PRIu64 " clocks of a CU, of which bank conflicts ", l->accesses,
         l->bytes, least ? "at least " : "", l->clocks);
  if (least && l->conflict_clocks == 0)
    printf("not modelled\n");
  else
    printf("%s%" PRIu64 "\n", least ? "at least " : "", l->conflict_clocks);
  if (least)
    printf("  of %" PRIu64
           " of the accesses there is no source for which lanes the LDS serves together: at least the clocks of the "
           "bank\n  that must serve the most distinct words of the wave, one a clock\n",
           l->unmodelled);
}

static void print_memory(const gfxsim_counters *c) {
  print_lds(&c->lds);
  printf("\nglobal memory, vector accesses\n");
  print_traffic("load", &c->load);
  print_traffic("store", &c->store);
  print_traffic("atomic", &c->atomic);
  if (c->scalar_bytes > 0) printf("  scalar loads: %" PRIu64 " B; their cache: not modelled\n", c->scalar_bytes);
  if (c->scratch_read + c->scratch_written > 0)
    printf("  scratch: %" PRIu64 " B read, %" PRIu64 " B written; in the caches: not modelled\n", c->scratch_read,
           c->scratch_written);
}

static void print_hits(const char *name, uint64_t lines, uint64_t hits, const char *note) {
  printf("  %-16s %12" PRIu64 " lines read, %5.1f %% hits%s\n", name, lines, percent((double)hits, (double)lines), note);
}

static void print_caches(const gfxsim_counters *c) {
  printf("\ncaches, cold at the start, lines of 128 B\n");
  if (c->workgroups_run < c->workgroups)
    printf("  of the sample alone: lines that it would share with workgroups that did not run count as misses\n");
  print_hits("vL1D", c->l1_lines, c->l1_hits, " (an estimate: its ways have no source)");
  for (int x = 0; x < c->xcds; x++) {
    char name[32];
    snprintf(name, sizeof name, "L2 of XCD %d", x);
    char writes[96];
    snprintf(writes, sizeof writes, ", %" PRIu64 " written", c->l2[x].writes);
    if (c->l2[x].reads + c->l2[x].writes > 0) print_hits(name, c->l2[x].reads, c->l2[x].read_hits, writes);
  }
  print_hits("MALL", c->mall_lines, c->mall_hits, "");
  printf("  HBM: %" PRIu64 " B read, %" PRIu64 " B written\n", c->hbm_read, c->hbm_written);
}

/* ---- Bounds ---- */

static void print_bounds(const gfxsim_counters *c) {
  double floor = c->bound[c->floor];
  printf("\nclocks at least, were each pipe alone (bound, from counts: not a time)\n");
  for (int p = 0; p < GFXSIM_PIPE_COUNT; p++) {
    if (c->bound[p] < 0)
      printf("  %-8s not modelled\n", gfxsim_pipe_name((gfxsim_pipe)p));
    else
      printf("  %-8s %14.0f  %5.1f %% of the floor%s\n", gfxsim_pipe_name((gfxsim_pipe)p), c->bound[p],
             percent(c->bound[p], floor), (gfxsim_pipe)p == c->floor ? ", which this is" : "");
  }
  printf("  means over the CUs that have work; the fullest CU has %.3g times the mean\n", c->tail);
}

bool profile_show(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const char *json) {
  if (json != NULL) return profile_write_json(kernel, c, json);
  print_head(kernel, c);
  if (!print_instructions(c)) return false;
  print_memory(c);
  print_caches(c);
  print_bounds(c);
  return true;
}
