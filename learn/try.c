/* One try: compile, run in a process of its own, tell. */
#include "try.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "host.h"
#include "learn_config.h"
#include "machine.h"
#include "process.h"
#include "receive.h"
#include "seccomp.h"
#include "show.h"

/* Seconds that the user's code may run, for all shapes. The simulator has a budget of its own, in instructions. */
enum { SECONDS = 120 };

/* ---- Runs ---- */

#ifdef LEARN_SIM
typedef struct job {
  const learn_request *request;
  const learn_code *code;
  const learn_machine *machine;
  receiver *receiver;
} job;

static void run_machine(void *argument) {
  const job *j = argument;
  learn_outcome o = {.verdict = LEARN_RIGHT}; /* the child's */
  if (j->code->means.seccomp && j->machine == &learn_simulator && !seccomp_restrict(SECCOMP_NO_PROCESSES)) _exit(1);
  learn_run_hip(j->request, j->code, j->machine, j->receiver->data, &o);
}

static void run(const learn_request *r, const learn_code *code, const learn_machine *machine, learn_outcome *o) {
  double seconds = r->seconds > 0 ? r->seconds : SECONDS;
  process *p = malloc(sizeof *p);
  receiver *results = calloc(1, sizeof *results);
  job j = {r, code, machine, results};
  sandbox box = {.means = &code->means, .seconds = seconds, .device = machine == &learn_gpu};
  process_work w = {.work = run_machine,
                    .argument = &j,
                    .seconds = seconds,
                    .sandbox = &box,
                    .input = -1,
                    .take = receiver_take,
                    .user = results};
  sandbox_read_system(&box);
  if (p == NULL || results == NULL)
    learn_found(o, LEARN_FAILED, "no memory");
  else if (!receiver_make(results, r, 0, o))
    ; /* the outcome says why */
  else if (!process_run(&w, p))
    learn_found(o, LEARN_FAILED, "%s", p->text);
  else
    receiver_end(results, p, seconds);
  if (results != NULL) receiver_free(results);
  free(results);
  free(p);
}

static void simulate(const learn_request *r, learn_outcome *o) {
  learn_code code;
  if (learn_build(r, r->device + 4, &code, o)) run(r, &code, &learn_simulator, o);
  learn_code_free(&code);
}

/* A compiler may replace what nobody has written by any value, and leave the read out: then gfxsim sees nothing. So a wrong
 * result is computed once more by code that is not optimised. */
static void look_for_undefined(const learn_request *r, learn_outcome *o) {
  learn_request plain = *r;
  learn_outcome *second = calloc(1, sizeof *second);
  plain.plain = true;
  if (second != NULL) simulate(&plain, second);
  if (second != NULL && second->verdict == LEARN_UNDEFINED) {
    learn_found(o, LEARN_UNDEFINED, "%s", second->text);
    learn_add(o, "\n  seen in your code as it is without optimisation: a compiler may give such a value any bits");
    o->shape = second->shape;
    o->shapes_done = second->shapes_done;
  }
  free(second);
}

static void try_hip(const learn_request *r, learn_outcome *o) {
  learn_code code;
  if (strncmp(r->device, "sim:", 4) == 0) {
    simulate(r, o);
    if (o->verdict == LEARN_NAN || (o->verdict == LEARN_WRONG && !o->recognised)) look_for_undefined(r, o);
    return;
  }
  char chip[32];
  if (!learn_gpu_chip(r->device, chip, sizeof chip, o)) return;
  if (learn_build(r, chip, &code, o)) run(r, &code, &learn_gpu, o);
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
    [LEARN_SLOW] = {"compiling takes too long",
                    "Look for a loop that is unrolled many times, or for a template or a macro that expands without end."},
    [LEARN_SYMBOL] = {"the kernel is missing", "Name, arguments and extern \"C\" must be those of the signature (show)."},
    [LEARN_LAUNCH] = {"can't be launched", "A workgroup has 1 to 1024 work-items: __launch_bounds__ says how many."},
    [LEARN_ENDLESS] = {"does not end", "Look for a loop whose condition never becomes false, or whose counter never moves."},
    [LEARN_BOUNDS] =
        {"outside of its memory",
         "The last workgroup or tile may be only partly inside: compare every index with its size before the access."},
    [LEARN_MISALIGNED] = {"misaligned address",
                          "Wide accesses need addresses that are multiples of their size: where do rows begin, and which casts "
                          "promise more than that?"},
    [LEARN_RACE] = {"race",
                    "Two waves or threads use the same memory in no order: put a barrier between the write and the use, "
                    "or give them separate memory."},
    [LEARN_WAIT] = {"missing wait",
                    "A load is outstanding until s_waitcnt says that it has arrived: vmcnt counts global memory, "
                    "lgkmcnt LDS."},
    [LEARN_BARRIER] = {"barrier",
                       "Every wave of the workgroup must reach each barrier: none in a branch, none after a return."},
    [LEARN_UNDEFINED] = {"undefined value", "The kernel reads something that nobody has written: LDS, a register or memory."},
    [LEARN_CHANGED] = {"an input was written", "Only the output may be written."},
    [LEARN_UNWRITTEN] = {"not everything was written",
                         "Which work-item or iteration should have written this element, and does it exist?"},
    [LEARN_NAN] = {"NaN", "Look for inf - inf, 0 / 0, or a maximum that was not subtracted before exp."},
    [LEARN_WRONG] = {"wrong", "Follow the first wrong element by hand: which inputs go into it?"},
    [LEARN_CRASH] = {"crashed",
                     "It did not return from the kernel, or left something running: a trap, an exit, a process, an access far "
                     "out of bounds."},
    [LEARN_FORBIDDEN] =
        {"forbidden",
         "A kernel computes its output from its inputs. It has no use for processes, the network, signals or other "
         "files."},
    [LEARN_FAILED] = {"nothing was tried", ""},
};

/* The sizes of the shapes before, multiples of a power of two that this one's is not. */
static void tell_tails(const learn_exercise *e, const learn_outcome *o) {
  const char *name = e->sizes;
  for (int n = 0; n < learn_size_count(e); n++) {
    int64_t step = 0;
    int length = (int)strcspn(name, " ");
    for (int s = 0; s < o->shapes_done; s++) step |= e->shapes[s].size[n];
    step &= -step; /* divides all of them */
    if (step >= 4 && e->shapes[o->shape].size[n] % step != 0)
      printf("  the shapes that came out right have a multiple of %" PRId64 " as %.*s, and this one has not: a tail?\n", step,
             length, name);
    name += length + (name[length] == ' ');
  }
}

static void tell_where(const learn_request *r, const learn_outcome *o) {
  char shape[128];
  const learn_exercise *e = r->exercise;
  if (o->runs_done > 0) printf("  right with one thread\n");
  for (int s = 0; o->runs_done == 0 && s < o->shapes_done && s < learn_shape_count(e); s++) {
    learn_print_shape(e, s, shape, sizeof shape);
    printf("  right: %s\n", shape);
  }
  bool ran = o->verdict != LEARN_COMPILE && o->verdict != LEARN_SLOW && o->verdict != LEARN_SYMBOL && o->verdict != LEARN_RIGHT;
  if (!ran) return; /* o->shape is none that was begun */
  learn_print_shape(e, o->shape, shape, sizeof shape);
  printf("  not right: %s\n", shape);
}

static void tell_hints(const learn_request *r, learn_verdict verdict, int hints) {
  if (learn_show_hints(r->exercise, r->folder, verdict, hints)) printf("more hints: --hints %d\n", hints + 1);
}

int learn_tell(const learn_request *r, const learn_outcome *o, int hints) {
  const char *name = words[o->verdict].name;
  if (o->verdict == LEARN_FAILED) {
    fprintf(stderr, "tandem-learn: %s: %s\n", name, o->text);
    return 77;
  }
  printf("%s: ", r->exercise->name);
  learn_print_line(r->file);
  printf(" on %s, inputs of seed %" PRIu64 "\n", r->device, r->seed);
  if (o->sandbox[0] != '\0') printf("sandbox: %s\n", o->sandbox);
  tell_where(r, o);
  bool right = o->verdict == LEARN_RIGHT, good = right;
  if (o->races[0] != '\0') printf("races: %s\n", o->races);
  if (!right) {
    printf("verdict: %s\n", name);
    learn_print_text(o->text);
    putchar('\n');
    bool values = o->verdict == LEARN_WRONG || o->verdict == LEARN_UNWRITTEN || o->verdict == LEARN_NAN;
    if (values && o->runs_done == 0 && o->shapes_done > 0) tell_tails(r->exercise, o);
    printf("advice: %s\n", words[o->verdict].advice);
  } else if (o->counted) {
    good = learn_show_targets(r->exercise, o);
    printf("verdict: right%s\n", good ? "" : ", but a target is missed");
  } else { /* threads may race and be right by chance */
    printf("verdict: right%s\n", o->races_unseen ? ", but races were not looked for" : "");
  }
  if (!good) tell_hints(r, o->verdict, hints);
  return good ? 0 : 1;
}
