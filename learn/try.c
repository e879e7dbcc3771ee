/* One try: compile, run in a process of its own, tell. */
#include "try.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "host.h"
#include "learn_config.h"
#include "machine.h"
#include "process.h"
#include "show.h"

/* Seconds that the user's code may run, for all shapes. The simulator has a budget of its own, in instructions. */
enum { SECONDS = 120 };

/* ---- Runs ---- */

typedef struct job {
  const learn_request *request;
  const learn_code *code;
  learn_outcome *outcome;
} job;

#ifdef LEARN_SIM
static void run_sim(void *argument) {
  const job *j = argument;
  learn_run_hip(j->request, j->code, &learn_simulator, j->outcome);
}

static void run_gpu(void *argument) {
  const job *j = argument;
  learn_run_hip(j->request, j->code, &learn_gpu, j->outcome);
}
static void run(const learn_request *r, const learn_code *code, void (*work)(void *), learn_outcome *o) {
  double seconds = r->seconds > 0 ? r->seconds : SECONDS;
  process *p = malloc(sizeof *p);
  job j = {r, code, o};
  if (p == NULL)
    learn_found(o, LEARN_FAILED, "no memory");
  else if (!process_run(work, &j, seconds, p))
    learn_found(o, LEARN_FAILED, "%s", p->text);
  else
    process_verdict(p, seconds, o);
  free(p);
}

static void try_hip(const learn_request *r, learn_outcome *o) {
  learn_code code;
  if (strncmp(r->device, "sim:", 4) == 0) {
    if (learn_build(r, r->device + 4, &code, o)) run(r, &code, run_sim, o);
    learn_code_free(&code);
    return;
  }
  char chip[32];
  if (!learn_gpu_chip(r->device, chip, sizeof chip, o)) return;
  if (learn_build(r, chip, &code, o)) run(r, &code, run_gpu, o);
  learn_code_free(&code);
}
#else
static void try_hip(const learn_request *r, learn_outcome *o) {
  (void)r;
  learn_found(o, LEARN_FAILED,
              "this build has no gfxsim, which runs HIP kernels: install llvm-22-dev, libelf-dev, libdw-dev and libmsgpack-dev "
              "(sh tools/setup.sh --hip), configure with -Dsim=enabled and build again");
}
#endif

void learn_try(const learn_request *r, learn_outcome *o) {
  *o = (learn_outcome){.verdict = LEARN_RIGHT};
  if (r->exercise->c)
    learn_try_host(r, o);
  else
    try_hip(r, o);
}

/* ---- What it means ---- */

static const struct {
  const char *name, *advice;
} words[LEARN_VERDICTS] = {
    [LEARN_RIGHT] = {"right", ""},
    [LEARN_COMPILE] = {"does not compile", "Begin with the first error: the later ones may follow from it."},
    [LEARN_SYMBOL] = {"the kernel is not there", "Name, arguments and extern \"C\" must be those of the signature (show)."},
    [LEARN_LAUNCH] = {"can't be launched", "A workgroup has 1 to 1024 work-items: __launch_bounds__ says how many."},
    [LEARN_ENDLESS] = {"does not end", "Look for a loop whose condition never becomes false, or whose counter never moves."},
    [LEARN_BOUNDS] = {"outside of its memory",
                      "Sizes are no multiples of workgroups or tiles: compare every index with its size before the access."},
    [LEARN_RACE] = {"race",
                    "Two waves or threads use the same place in no order: a barrier between the write and the use, "
                    "or places of their own."},
    [LEARN_WAIT] = {"missing wait",
                    "A load is under way until s_waitcnt says that it arrived: vmcnt counts global memory, "
                    "lgkmcnt LDS."},
    [LEARN_BARRIER] = {"barrier",
                       "Every wave of the workgroup must reach each barrier: none in a branch, none after a return."},
    [LEARN_UNDEFINED] = {"undefined value", "Something is read that nobody wrote: LDS, a register or memory."},
    [LEARN_CHANGED] = {"an input was written", "Only the output may be written."},
    [LEARN_UNWRITTEN] = {"not everything was written",
                         "Which work-item or iteration should have written this element, and does it exist?"},
    [LEARN_NAN] = {"NaN", "Look for inf - inf, 0 / 0, or a maximum that was not taken out before exp."},
    [LEARN_WRONG] = {"wrong", "Follow the first wrong element by hand: which inputs go into it?"},
    [LEARN_CRASH] =
        {"crashed",
         "It did not come back from the kernel, or left something running: a trap, an exit, a process, an access far outside."},
    [LEARN_FAILED] = {"nothing was tried", ""},
};

static void tell_where(const learn_request *r, const learn_outcome *o) {
  char shape[128];
  const learn_exercise *e = r->exercise;
  if (o->runs_done > 0) printf("  right with one thread\n");
  for (int s = 0; o->runs_done == 0 && s < o->shapes_done && s < learn_shape_count(e); s++) {
    learn_print_shape(e, s, shape, sizeof shape);
    printf("  right: %s\n", shape);
  }
  bool ran = o->verdict != LEARN_COMPILE && o->verdict != LEARN_SYMBOL && o->verdict != LEARN_RIGHT;
  if (!ran) return; /* o->shape is none that was begun */
  learn_print_shape(e, o->shape, shape, sizeof shape);
  printf("  not right: %s\n", shape);
}

static void tell_hints(const learn_request *r, int hints) {
  if (learn_show_hints(r->exercise, r->folder, hints)) printf("more hints: --hints %d\n", hints + 1);
}

int learn_tell(const learn_request *r, const learn_outcome *o, int hints) {
  const char *name = words[o->verdict].name;
  if (o->verdict == LEARN_FAILED) {
    fprintf(stderr, "tandem-learn: %s: %s\n", name, o->text);
    return 77;
  }
  printf("%s: %s on %s\n", r->exercise->name, r->file, r->device);
  tell_where(r, o);
  bool right = o->verdict == LEARN_RIGHT, good = right;
  if (!right) {
    printf("verdict: %s\n%s\n", name, o->text);
    printf("advice: %s\n", words[o->verdict].advice);
  } else if (o->counted) {
    good = learn_show_targets(r->exercise, o);
    printf("verdict: right%s\n", good ? "" : ", but a target is missed");
  } else {
    printf("verdict: right\n");
  }
  if (!good) tell_hints(r, hints);
  return good ? 0 : 1;
}
