#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build.h"
#include "learn_config.h"
#include "receive.h"
#include "show.h"

enum { SECONDS = 20 }; /* that a run of all shapes may take */

/* A run: so many threads and teams; arrays end at a guard, or begin at one. */
typedef struct setting {
  int threads, teams;
  bool at_end;
} setting;

static const setting settings[] = {{1, 1, true}, {4, 3, false}, {3, 2, true}};
static const setting on_device = {0, 0, true}; /* the device's own numbers */
static const setting watched = {4, 3, true};   /* by ThreadSanitizer */
enum { SETTINGS = sizeof settings / sizeof settings[0] };

typedef struct job {
  const learn_request *request;
  const learn_code *code;
  const setting *setting;
} job;

/* ---- Inputs for the child: child.h ---- */

static void put(FILE *f, const void *data, size_t bytes, size_t room) {
  static const unsigned char zero[8];
  fwrite(data, 1, bytes, f);
  fwrite(zero, 1, room - bytes, f);
}

static bool write_job(FILE *f, const job *j, const receiver *r) {
  const learn_exercise *e = j->request->exercise;
  child_job head = {.shapes = (uint32_t)r->shapes,
                    .arrays = (uint32_t)r->data[0].count,
                    .at_end = j->setting->at_end,
                    .device = j->setting == &on_device,
                    .calls_open = !j->code->means.seccomp};
  snprintf(head.exercise, sizeof head.exercise, "%s", e->name);
  for (char *at = head.exercise; *at != '\0'; at++) *at = *at == '-' ? '_' : *at; /* as a C name */
  snprintf(head.kernel, sizeof head.kernel, "%s", e->kernel);
  put(f, &head, sizeof head, sizeof head);
  for (int s = 0; s < r->shapes; s++) {
    child_shape shape = {.size = {0}};
    for (int i = 0; i < LEARN_SIZES; i++) shape.size[i] = (int32_t)e->shapes[s].size[i];
    for (int n = 0; n < r->data[s].count; n++) shape.bytes[n] = r->data[s].bytes[n];
    put(f, &shape, sizeof shape, sizeof shape);
    for (int n = 0; n < r->data[s].count; n++)
      put(f, r->data[s].before[n], r->data[s].bytes[n], (r->data[s].bytes[n] + 7) / 8 * 8);
  }
  return fflush(f) == 0 && !ferror(f);
}

/* A file without a name that nobody can write any more; -1: the outcome says why. */
static int make_job(const job *j, const receiver *r, learn_outcome *o) {
  int file = memfd_create("job", MFD_CLOEXEC | MFD_ALLOW_SEALING), copy = file >= 0 ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;
  FILE *f = copy >= 0 ? fdopen(copy, "w") : NULL;
  bool good = f != NULL && write_job(f, j, r);
  if (f != NULL && fclose(f) != 0) good = false;
  if (f == NULL && copy >= 0) close(copy);
  good = good && fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  if (good) return file;
  learn_found(o, LEARN_FAILED, "no memory for the inputs: %s", strerror(errno));
  if (file >= 0) close(file);
  return -1;
}

/* ---- The child, before it is tandem-learn-run ---- */

static void set_number(const char *name, int value) {
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  setenv(name, text, 1);
}

/* ThreadSanitizer's library goes in front of all others, and Archer tells it what OpenMP's barriers and reductions order.
 * Names of lines are looked up afterwards: here no program may be started. */
static void watch_races(void) {
  setenv("LD_PRELOAD", LEARN_RACE_RUNTIME, 1);
  setenv("OMP_TOOL_LIBRARIES", LEARN_RACE_ARCHER, 1);
  setenv("TSAN_OPTIONS", "ignore_noninstrumented_modules=1 halt_on_error=1 symbolize=0 report_bugs=1", 1);
}

static void become_runner(void *argument) {
  const job *j = argument;
  static const char *const kept[] = {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"};
  enum { KEPT = sizeof kept / sizeof kept[0] };
  char *values[KEPT];
  if (j->setting == &on_device) {
    setenv("OMP_DEFAULT_DEVICE", j->request->device + strlen("omp:"), 1);
    setenv("OMP_TARGET_OFFLOAD", "MANDATORY", 1);
  } else {
    for (int k = 0; k < KEPT; k++) values[k] = getenv(kept[k]) != NULL ? strdup(getenv(kept[k])) : NULL;
    clearenv(); /* the rest of it is not for a user's code */
    for (int k = 0; k < KEPT; k++)
      if (values[k] != NULL) setenv(kept[k], values[k], 1);
    set_number("OMP_NUM_THREADS", j->setting->threads);
    set_number("OMP_NUM_TEAMS", j->setting->teams);
    setenv("OMP_DYNAMIC", "false", 1);
    setenv("OMP_WAIT_POLICY", "passive", 1);
    /* Otherwise libomp divides the processors among the teams. On two processors each team would have one thread. */
    set_number("OMP_TEAMS_THREAD_LIMIT", j->setting->threads);
    set_number("KMP_TEAMS_THREAD_LIMIT", j->setting->threads * j->setting->teams);
    if (j->setting == &watched) watch_races();
  }
  setenv("LC_ALL", "C", 1);
  execl(j->request->runner, "tandem-learn-run", j->code->object, (char *)NULL);
  fprintf(stderr, "%s: %s", j->request->runner, strerror(errno));
  _exit(127);
}

/* ---- The runs ---- */

static const char race_report[] = "WARNING: ThreadSanitizer: data race";

/* The place of an access in the user's code: the first one in a stack of the report, which ends with an empty line. */
static const char *add_access(const learn_code *code, const char *at, const char *words, learn_outcome *o) {
  const char *access = strstr(at, " of size "), *end = access != NULL ? strstr(access, "\n\n") : NULL;
  const char *place = access != NULL ? strstr(access, "(object+0x") : NULL;
  char line[256] = "";
  if (end == NULL || place == NULL || place > end) return NULL;
  learn_find_line(code, strtoull(place + strlen("(object+"), NULL, 16) - 1, line, sizeof line);
  while (access > at && access[-1] != '\n') access--;
  bool writes = strcasestr(access, "write") != NULL && strcasestr(access, "write") < end;
  learn_add(o, "\n  %s %s%s%s", words, writes ? "write" : "read", line[0] != '\0' ? " at " : "", line);
  return end;
}

/* The text may be the user's own: it can end in this verdict, never in another one. */
static void tell_race(const learn_code *code, const char *report, learn_outcome *o) {
  learn_found(o, LEARN_RACE, "two threads use the same memory at the same time, and at least one of them writes");
  const char *next = add_access(code, report, "one is a", o);
  if (next != NULL) add_access(code, next, "the other is a", o);
}

static void run_child(const job *j, receiver *r, int input, learn_outcome *o) {
  double seconds = j->request->seconds > 0 ? j->request->seconds : SECONDS;
  sandbox box = {.means = &j->code->means, .seconds = seconds, .device = j->setting == &on_device};
  process_work w = {.work = become_runner,
                    .argument = (void *)(uintptr_t)j,
                    .seconds = seconds,
                    .sandbox = &box,
                    .input = input,
                    .take = receiver_take,
                    .user = r};
  process *p = malloc(sizeof *p);
  sandbox_read_system(&box);
  learn_read_libraries(j->code, &box);
  sandbox_read(&box, j->request->runner);
  sandbox_read(&box, j->code->object);
  if (j->setting == &watched) sandbox_read(&box, LEARN_RACE_RUNTIME);
  if (j->setting == &watched) sandbox_read(&box, LEARN_RACE_ARCHER);
  if (p == NULL)
    learn_found(o, LEARN_FAILED, "no memory");
  else if (!process_run(&w, p) || (!r->ready && !p->timed_out && o->verdict == LEARN_RIGHT && !process_interrupted()))
    learn_found(o, LEARN_FAILED, "tandem-learn-run could not start: %s", p->text); /* nothing of the user's had run */
  else if (j->setting == &watched && strstr(p->text, race_report) != NULL)
    tell_race(j->code, strstr(p->text, race_report), o);
  else
    receiver_end(r, p, seconds);
  free(p);
}

static void run_setting(const job *j, int run, learn_outcome *o) {
  receiver *r = calloc(1, sizeof *r);
  if (r == NULL) {
    learn_found(o, LEARN_FAILED, "no memory");
    return;
  }
  r->native = r->guarded = true;
  r->at_end = j->setting->at_end;
  if (receiver_make(r, j->request, run, o)) {
    int input = make_job(j, r, o);
    if (input >= 0) {
      run_child(j, r, input, o);
      close(input);
    }
  }
  receiver_free(r);
  free(r);
}

static void tell_setting(const setting *with, learn_outcome *o) {
  if (o->verdict == LEARN_RIGHT || o->verdict == LEARN_SYMBOL || o->verdict == LEARN_FAILED) return;
  learn_add(o, "\n  with OMP_NUM_THREADS=%d OMP_NUM_TEAMS=%d%s", with->threads, with->teams,
            with != settings ? ": the threads race for something that they share, or the result depends on their number" : "");
}

/* On the host every setting must come out right. */
static void run_host(const learn_request *r, const learn_code *code, learn_outcome *o) {
  for (int n = 0; n < SETTINGS && o->verdict == LEARN_RIGHT; n++) {
    job j = {r, code, &settings[n]};
    o->runs_done = n;
    run_setting(&j, n, o);
    tell_setting(&settings[n], o);
  }
  if (o->verdict == LEARN_RIGHT) o->runs_done = 0; /* of those that came out wrong */
}

/* A word in a comment counts, too: then races are not looked for, and the verdict says so. */
static bool mentions(const char *file, const char *word) {
  char *text = learn_read_text(file);
  bool found = text != NULL && strstr(text, word) != NULL;
  free(text);
  return found;
}

static void leave_races(learn_outcome *o, const char *why) {
  o->races_unseen = true;
  snprintf(o->races, sizeof o->races, "not looked for%s", why);
}

/* Two threads that meet at an element seldom give a wrong result: a right one says nothing of races. */
static void look_for_races(const learn_request *r, learn_outcome *o) {
  learn_request with = *r;
  learn_outcome *second = calloc(1, sizeof *second);
  learn_code code = {0};
  with.races = true;
  job j = {&with, &code, &watched};
  if (LEARN_RACE_COMPILER[0] == '\0') {
    leave_races(o, ": this build found no clang 19 with ThreadSanitizer, libomp-19 and Archer");
  } else if (second == NULL) {
    leave_races(o, ": no memory");
  } else if (mentions(r->file, "in_reduction")) {
    leave_races(o, ": LLVM 19's Archer takes in_reduction, which is right, for a race");
  } else if (learn_build(&with, NULL, &code, second)) {
    run_setting(&j, SETTINGS, second);
    if (second->verdict == LEARN_RACE) {
      bool right = o->verdict == LEARN_RIGHT;
      learn_found(o, LEARN_RACE, "%s", second->text);
      if (right) learn_add(o, "\n  the results were right this time");
      o->runs_done = o->shapes_done = 0;
      o->shape = second->shape;
    } else if (second->verdict == LEARN_RIGHT || o->verdict != LEARN_RIGHT) {
      snprintf(o->races, sizeof o->races, "ThreadSanitizer with Archer found none with %d threads", watched.threads);
    } else { /* a result that is wrong only when it is watched is wrong */
      snprintf(o->races, sizeof o->races, "looked for by ThreadSanitizer with Archer");
      o->verdict = second->verdict;
      o->shape = second->shape;
      learn_found(o, second->verdict, "%s", second->text);
    }
  } else {
    leave_races(o, ": " LEARN_RACE_COMPILER " does not compile the file");
  }
  learn_code_free(&code);
  free(second);
}

/* ---- omp:N ---- */

static bool device_answers(const learn_request *r, learn_code *code, learn_outcome *o) {
  static const char launch[] = "__tgt_target_kernel"; /* LLVM's: what begins a target region */
  int count = 0;
  if (!learn_count_devices(r, code, &count, o)) return false;
  if (atoi(r->device + strlen("omp:")) >= count) {
    learn_found(o, LEARN_FAILED, "--device = '%s': OpenMP finds %d GPUs", r->device, count);
    return false;
  }
  if (memmem(code->data, code->bytes, launch, sizeof launch) != NULL) return true;
  learn_found(o, LEARN_SYMBOL, "nothing runs on the device: the file has no target region");
  return false;
}

void learn_try_host(const learn_request *r, learn_outcome *o) {
  learn_code code;
  bool good = learn_build(r, NULL, &code, o);
  if (good && strcmp(r->device, "host") == 0) {
    run_host(r, &code, o);
    bool by_threads =
        o->runs_done > 0 && (o->verdict == LEARN_WRONG || o->verdict == LEARN_NAN || o->verdict == LEARN_UNWRITTEN);
    if (o->verdict == LEARN_RIGHT || by_threads) look_for_races(r, o);
  } else if (good && device_answers(r, &code, o)) {
    leave_races(o, " on a GPU: try host");
    job j = {r, &code, &on_device};
    run_setting(&j, 0, o);
  }
  learn_code_free(&code);
}
