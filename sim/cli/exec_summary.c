#include "exec_summary.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "sim/include/gfxsim_counters.h"

static void print_findings(const tally *t) {
  for (int n = 0; n < TALLY_FINDINGS; n++) {
    const tally_finding *row = &t->finding[n];
    if (atomic_load(&row->state) != TALLY_READY) continue;
    fputs(row->text, stderr);
    if (row->count > 1) fprintf(stderr, "  found in %" PRIu64 " launches\n", (uint64_t)row->count);
  }
  if (t->lost > 0) fprintf(stderr, "gfxsim: %" PRIu64 " more findings are not shown: too many\n", (uint64_t)t->lost);
}

static uint64_t list_total(const tally_list *list) {
  uint64_t total = list->lost;
  for (int n = 0; n < TALLY_NAMES; n++)
    if (atomic_load(&list->row[n].state) == TALLY_READY) total += list->row[n].count;
  return total;
}

static void print_list(const tally_list *list, const char *what) {
  for (int n = 0; n < TALLY_NAMES; n++)
    if (atomic_load(&list->row[n].state) == TALLY_READY)
      fprintf(stderr, "gfxsim: %s %s%s%" PRIu64 " times\n", what, list->row[n].name, ": ", (uint64_t)list->row[n].count);
  if (list->lost > 0) fprintf(stderr, "gfxsim: %s: %" PRIu64 " others\n", what, (uint64_t)list->lost);
}

static void print_notes(const tally_list *list) {
  for (int n = 0; n < TALLY_NAMES; n++)
    if (atomic_load(&list->row[n].state) == TALLY_READY) fprintf(stderr, "gfxsim: %s\n", list->row[n].name);
  if (list->lost > 0) fprintf(stderr, "gfxsim: %" PRIu64 " more notes are not shown: too many\n", (uint64_t)list->lost);
}

static void print_kernels(const tally *t) {
  for (int n = 0; n < TALLY_NAMES; n++) {
    const tally_kernel *k = &t->kernel[n];
    if (atomic_load(&k->state) != TALLY_READY) continue;
    fprintf(stderr,
            "gfxsim: kernel %s\n  launches %" PRIu64 ", workgroups %" PRIu64 ", waves %" PRIu64 "\n  instructions:", k->name,
            (uint64_t)k->launches, (uint64_t)k->workgroups, (uint64_t)k->waves);
    for (int c = 0; c < GFXSIM_CLASS_COUNT; c++)
      fprintf(stderr, "%s %" PRIu64 " %s", c > 0 ? "," : "", (uint64_t)k->classes[c], gfxsim_class_name((gfxsim_class)c));
    fprintf(stderr,
            "\n  bytes asked for: %" PRIu64 " loaded, %" PRIu64 " stored; MFMA FLOPs %" PRIu64 "; LDS conflict clocks %" PRIu64
            "\n",
            (uint64_t)k->loaded, (uint64_t)k->stored, (uint64_t)k->mfma_flops, (uint64_t)k->lds_conflict_clocks);
    if (k->clocks > 0)
      fprintf(stderr, "  predicted clocks: %" PRIu64 ", %.0f a launch; %.1f %% of those of all matrix units are busy\n",
              (uint64_t)k->clocks, (double)k->clocks / (double)k->launches, 100 * (double)k->matrix_clocks / (double)k->clocks);
  }
}

/* A program that ran on the host alone is the usual mistake: no image for the chip, or no device in the region. */
static void explain_no_launch(const tally *t, const char *chip) {
  if (t->launches > 0) return;
  if (t->processes == 0)
    fprintf(stderr,
            "gfxsim: no process opened the HSA or the HIP runtime: PROGRAM has no device code, or none for an AMD GPU\n");
  else
    fprintf(stderr,
            "gfxsim: no kernel was launched: PROGRAM has no image for %s (--offload-arch=%s), or its OpenMP regions ran on the "
            "host; OMP_TARGET_OFFLOAD=MANDATORY makes this an error\n",
            chip, chip);
}

int summary_print(tally *t, const char *chip, bool profile, int status) {
  fflush(stdout);
  print_findings(t);
  if (profile) print_kernels(t);
  print_list(&t->suppressed, "not counted:");
  print_list(&t->unserved, "not served:");
  print_notes(&t->notes);
  explain_no_launch(t, chip);
  if (t->launches > t->ended)
    fprintf(stderr, "gfxsim: %" PRIu64 " launches had not ended when the program did\n", t->launches - t->ended);
  fprintf(stderr,
          "gfxsim: %s: %" PRIu64 " launches, %" PRIu64 " findings, %" PRIu64 " suppressed, %" PRIu64 " calls not served\n",
          chip, (uint64_t)t->launches, (uint64_t)t->findings, list_total(&t->suppressed), list_total(&t->unserved));
  if (status < 0 || WIFSIGNALED(status)) {
    int number = status < 0 ? 0 : WTERMSIG(status);
    fprintf(stderr, "gfxsim: the program was ended by signal %d (%s)\n", number, strsignal(number));
    return t->findings > 0 ? 1 : 128 + number; /* as a shell has it */
  }
  return t->findings > 0 ? 1 : WEXITSTATUS(status);
}
