#include "host.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "build.h"
#include "data.h"
#include "learn_config.h"
#include "process.h"

/* Seconds that a run of all shapes may take; the guard in front of and behind an array, in bytes. */
enum { SECONDS = 20, GUARD = 1 << 20 };

/* What user's code may add of memory, so that a loop that allocates can't take the machine's: private and writable pages,
 * which are counted when they are asked for. */
static const rlim_t most_memory = (rlim_t)4 << 30;

/* A run: so many threads and teams; arrays end at a guard, or begin at one. */
typedef struct setting {
  int threads, teams;
  bool at_end;
} setting;

static const setting settings[] = {{1, 1, true}, {4, 3, false}, {3, 2, true}};
static const setting on_device = {0, 0, true}; /* the device's own numbers */
enum { SETTINGS = sizeof settings / sizeof settings[0] };

typedef struct job {
  const learn_request *request;
  const learn_code *code;
  learn_outcome *outcome;
  const setting *setting;
} job;

/* ---- Signals: only plain stores, since any thread may be anywhere ---- */

static learn_outcome *signalled;

static void on_signal(int number, siginfo_t *info, void *context) {
  signalled->fault_address = (uint64_t)(uintptr_t)info->si_addr;
  signalled->fault_write = -1;
#if defined(__x86_64__)
  const ucontext_t *c = context;
  signalled->fault_write = (c->uc_mcontext.gregs[REG_ERR] & 2) != 0; /* of the page fault: a write */
#else
  (void)context;
#endif
  signalled->signal = number;
  _exit(1);
}

static void catch_signals(learn_outcome *o) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  static char stack[65536]; /* a stack that overflowed is none for the handler */
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  signalled = o;
  sigaltstack(&other, NULL);
  for (size_t s = 0; s < sizeof signals / sizeof signals[0]; s++) sigaction(signals[s], &action, NULL);
}

/* ---- Arrays between guards ---- */

typedef struct guarded {
  unsigned char *map, *begin; /* begin: of the array */
  size_t span;                /* bytes between the guards */
} guarded;

static const unsigned char canary_byte = 0xa5; /* in the rest of the pages that an array does not fill */

static bool guard(guarded *g, const learn_data *d, int n, bool at_end, learn_outcome *o) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  g->span = (d->bytes[n] + page - 1) / page * page;
  g->map = mmap(NULL, g->span + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (g->map == MAP_FAILED || mprotect(g->map + GUARD, g->span, PROT_READ | PROT_WRITE) != 0) {
    learn_found(o, LEARN_FAILED, "no memory for an array: %s", strerror(errno));
    return false;
  }
  memset(g->map + GUARD, canary_byte, g->span);
  g->begin = g->map + GUARD + (at_end ? g->span - d->bytes[n] : 0);
  memcpy(g->begin, d->before[n], d->bytes[n]);
  o->array[n].address = (uint64_t)(uintptr_t)g->begin;
  o->array[n].bytes = d->bytes[n];
  return true;
}

static bool canaries_alive(const guarded *g, const learn_data *d, int n, learn_outcome *o) {
  char place[256];
  for (unsigned char *at = g->map + GUARD; at < g->map + GUARD + g->span; at++) {
    if (at == g->begin) at += d->bytes[n];
    if (at == g->map + GUARD + g->span || *at == canary_byte) continue;
    learn_place(d->exercise, o, (uint64_t)(uintptr_t)at, place, sizeof place);
    learn_found(o, LEARN_BOUNDS, "write, %s", place);
    return false;
  }
  return true;
}

/* ---- The child ---- */

/* The file needs no name: the shared object lies in memory. */
static void *load(const learn_code *code, const char *kernel, learn_outcome *o) {
  char path[64];
  int file = memfd_create("kernel", MFD_CLOEXEC);
  if (file < 0 || write(file, code->data, code->bytes) != (ssize_t)code->bytes) {
    learn_found(o, LEARN_FAILED, "no memory for the code: %s", strerror(errno));
    return NULL;
  }
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL), *symbol = handle != NULL ? dlsym(handle, kernel) : NULL;
  if (handle == NULL)
    learn_found(o, LEARN_FAILED, "%s", dlerror());
  else if (symbol == NULL)
    learn_found(o, LEARN_SYMBOL, "the file has no function named %s", kernel);
  return symbol;
}

/* Without a GPU, or on the host where the GPU was meant, nothing may come out right. */
static bool device_answers(const job *j) {
  static const char launch[] = "__tgt_target_kernel"; /* LLVM's: what begins a target region */
  int (*count)(void) = NULL, number = atoi(j->request->device + strlen("omp:"));
  void *symbol = dlsym(RTLD_DEFAULT, "omp_get_num_devices");
  if (memmem(j->code->data, j->code->bytes, launch, sizeof launch) == NULL) {
    learn_found(j->outcome, LEARN_SYMBOL, "nothing of it runs on the device: it has no target region");
    return false;
  }
  memcpy(&count, &symbol, sizeof count);
  if (count != NULL && number < count()) return true;
  learn_found(j->outcome, LEARN_FAILED, "--device = '%s': OpenMP finds %d GPUs", j->request->device,
              count != NULL ? count() : 0);
  return false;
}

static void set_number(const char *name, int value) {
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  setenv(name, text, 1);
}

static bool run_shape(const job *j, learn_data *d, void (*kernel)(void)) {
  learn_outcome *o = j->outcome;
  guarded g[LEARN_ARRAYS];
  void *pointers[LEARN_ARRAYS];
  bool good = true;
  for (int n = 0; n < d->count && good; n++) {
    good = guard(&g[n], d, n, j->setting->at_end, o);
    if (good) pointers[n] = g[n].begin;
  }
  if (!good) return false;
  d->exercise->call(kernel, pointers, d->shape->size);
  for (int n = 0; n < d->count && good; n++) {
    memcpy(d->after[n], g[n].begin, d->bytes[n]);
    good = canaries_alive(&g[n], d, n, o);
  }
  for (int n = 0; n < d->count; n++) munmap(g[n].map, g[n].span + 2 * GUARD);
  return good && learn_data_judge(d, o);
}

static void run_shapes(const job *j) {
  learn_outcome *o = j->outcome;
  const learn_exercise *e = j->request->exercise;
  bool device = j->setting == &on_device;
  /* read by the OpenMP runtime when the object brings it in */
  if (device) {
    setenv("OMP_DEFAULT_DEVICE", j->request->device + strlen("omp:"), 1);
    setenv("OMP_TARGET_OFFLOAD", "MANDATORY", 1);
  } else {
    set_number("OMP_NUM_THREADS", j->setting->threads);
    set_number("OMP_NUM_TEAMS", j->setting->teams);
    setenv("OMP_DYNAMIC", "false", 1);
    setenv("OMP_WAIT_POLICY", "passive", 1);
  }
  void *symbol = load(j->code, e->kernel, o);
  if (symbol == NULL || (device && !device_answers(j))) return;
  void (*kernel)(void);
  memcpy(&kernel, &symbol, sizeof kernel); /* POSIX lets dlsym's result be a function */
  catch_signals(o);
  for (o->shape = 0; o->shape < learn_shape_count(e); o->shape++) {
    learn_data d;
    bool good = learn_data_make(&d, e, o->shape, o) && run_shape(j, &d, kernel);
    learn_data_free(&d);
    if (!good) return;
    if (o->shapes_done <= o->shape) o->shapes_done = o->shape + 1;
  }
}

/* The limit counts what the process has already: under a sanitizer that is terabytes, reserved and never touched. */
static bool limit_memory(void) {
  unsigned long long pages = 0; /* /proc/self/statm's sixth number: data and stack */
  FILE *f = fopen("/proc/self/statm", "r");
  bool good = f != NULL && fscanf(f, "%*s %*s %*s %*s %*s %llu", &pages) == 1;
  if (f != NULL) fclose(f);
  if (!good) return false;
  rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + most_memory;
  return setrlimit(RLIMIT_DATA, &(struct rlimit){most, most}) == 0;
}

static void run(void *argument) {
  const job *j = argument;
  j->outcome->finished = false;
  if (!limit_memory())
    learn_found(j->outcome, LEARN_FAILED, "no limit of memory: %s", strerror(errno));
  else
    run_shapes(j);
  j->outcome->finished = true;
}

/* ---- The parent ---- */

static void tell_signal(const learn_exercise *e, learn_outcome *o) {
  char place[256];
  if (LEARN_TRAPS && (o->signal == SIGILL || o->signal == SIGTRAP)) {
    learn_found(o, LEARN_BOUNDS, "an index outside of a local array");
    return;
  }
  if (o->signal != SIGSEGV && o->signal != SIGBUS) {
    learn_found(o, LEARN_CRASH, "%s", strsignal(o->signal));
    return;
  }
  learn_place(e, o, o->fault_address, place, sizeof place);
  learn_found(o, LEARN_BOUNDS, "%s, %s", o->fault_write == 1 ? "write" : o->fault_write == 0 ? "read" : "access", place);
}

static void run_setting(const learn_request *r, const learn_code *code, const setting *with, process *p, learn_outcome *o) {
  double seconds = r->seconds > 0 ? r->seconds : SECONDS;
  job j = {r, code, o, with};
  if (!process_run(run, &j, seconds, p)) {
    learn_found(o, LEARN_FAILED, "%s", p->text);
    return;
  }
  if (o->signal != 0)
    tell_signal(r->exercise, o);
  else
    process_verdict(p, seconds, o);
}

static void tell_setting(const setting *with, learn_outcome *o) {
  if (o->verdict == LEARN_RIGHT || o->verdict == LEARN_SYMBOL || o->verdict == LEARN_FAILED) return;
  learn_add(o, "\n  with OMP_NUM_THREADS=%d OMP_NUM_TEAMS=%d%s", with->threads, with->teams,
            with != settings ? ": the threads meet in what they share, or their number changes the result" : "");
}

/* On the host every setting must come out right. */
static void run_host(const learn_request *r, const learn_code *code, process *p, learn_outcome *o) {
  for (int n = 0; n < SETTINGS && o->verdict == LEARN_RIGHT; n++) {
    o->runs_done = n;
    run_setting(r, code, &settings[n], p, o);
    tell_setting(&settings[n], o);
  }
  if (o->verdict == LEARN_RIGHT) o->runs_done = 0; /* of those that came out wrong */
}

void learn_try_host(const learn_request *r, learn_outcome *o) {
  learn_code code;
  process *p = malloc(sizeof *p);
  if (p == NULL) {
    learn_found(o, LEARN_FAILED, "no memory");
    return;
  }
  bool good = learn_build(r, NULL, &code, o);
  if (good && strcmp(r->device, "host") == 0) run_host(r, &code, p, o);
  if (good && strcmp(r->device, "host") != 0) run_setting(r, &code, &on_device, p, o);
  learn_code_free(&code);
  free(p);
}
