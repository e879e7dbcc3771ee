/* tandem-learn-run OBJECT: runs a user's function in its own process, which tandem-learn has put into a sandbox and does not
 * trust: child.h. Holds nothing that the user's code could use to forge a result. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"
#include "child.h"
#include "learn.h"
#include "seccomp.h"

/* How much memory the user's code may add, so that a loop that allocates can't take all of the machine's. */
static const rlim_t most_memory = (rlim_t)4 << 30;

static const struct {
  const char *name;
  void (*call)(void (*kernel)(void), void *const *a, const int32_t *size);
} calls[] = {
#define LEARN_CALL(name) {#name, learn_call_##name},
    LEARN_CALLS
#undef LEARN_CALL
};

__attribute__((format(printf, 2, 3), noreturn)) static void stop(learn_verdict verdict, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  child_say(verdict, text);
  _exit(1);
}

/* In builds with sanitizers: the search for leaks at exit() needs ptrace, which the filter refuses. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

/* ---- Signals: only plain stores and a write, since any thread may be anywhere ---- */

static void on_signal(int number, siginfo_t *info, void *context) {
  child_fault f = {.signal = number, .write = -1};
  if (number == SIGSYS)
    f.call = info->si_syscall;
  else
    f.address = (uint64_t)(uintptr_t)info->si_addr;
#if defined(__x86_64__)
  const ucontext_t *c = context;
  f.write = (c->uc_mcontext.gregs[REG_ERR] & 2) != 0; /* of the page fault: a write */
#else
  (void)context;
#endif
  child_send(CHILD_FAULT, 0, &f, sizeof f);
  _exit(1);
}

static void catch_signals(void) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  static char stack[65536]; /* the handler can't use a stack that overflowed */
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaltstack(&other, NULL);
  for (size_t s = 0; s < sizeof signals / sizeof signals[0]; s++) sigaction(signals[s], &action, NULL);
}

/* ---- Limits ---- */

/* They count what the process has already: under a sanitizer that is terabytes, reserved and never touched. */
static bool limit_memory(void) {
  unsigned long long all = 0, data = 0; /* /proc/self/statm's first and sixth number, in pages */
  rlim_t page = (rlim_t)sysconf(_SC_PAGESIZE);
  FILE *f = fopen("/proc/self/statm", "r");
  bool good = f != NULL && fscanf(f, "%llu %*s %*s %*s %*s %llu", &all, &data) == 2;
  if (f != NULL) fclose(f);
  struct rlimit space = {all * page + most_memory, all * page + most_memory};
  struct rlimit written = {data * page + most_memory, data * page + most_memory};
  return good && setrlimit(RLIMIT_AS, &space) == 0 && setrlimit(RLIMIT_DATA, &written) == 0;
}

/* ---- Arrays between guards ---- */

typedef struct guarded {
  unsigned char *map, *begin; /* begin: of the array */
  size_t span;                /* bytes between the guards */
} guarded;

static const unsigned char canary_byte = 0xa5; /* in the rest of the pages that an array does not fill */

static void guard(guarded *g, const unsigned char *from, size_t bytes, bool at_end) {
  g->span = child_span(bytes);
  g->map = mmap(NULL, g->span + 2 * CHILD_GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (g->map == MAP_FAILED || mprotect(g->map + CHILD_GUARD, g->span, PROT_READ | PROT_WRITE) != 0)
    stop(LEARN_CRASH, "not enough memory for the arrays: %s", strerror(errno));
  memset(g->map + CHILD_GUARD, canary_byte, g->span);
  g->begin = g->map + CHILD_GUARD + (at_end ? g->span - bytes : 0);
  memcpy(g->begin, from, bytes);
}

/* ---- The run ---- */

static const unsigned char *run_shape(const child_job *job, int number, const unsigned char *at, void (*kernel)(void)) {
  child_shape shape;
  guarded g[LEARN_ARRAYS];
  void *pointers[LEARN_ARRAYS];
  uint64_t addresses[LEARN_ARRAYS], bytes = 0;
  size_t own = 0;
  memcpy(&shape, at, sizeof shape);
  at += sizeof shape;
  for (uint32_t n = 0; n < job->arrays; n++) {
    guard(&g[n], at, shape.bytes[n], job->at_end != 0);
    pointers[n] = g[n].begin;
    addresses[n] = (uint64_t)(uintptr_t)g[n].begin;
    bytes += g[n].span;
    at += (shape.bytes[n] + 7) / 8 * 8;
  }
  child_send(CHILD_BEGIN, number, addresses, job->arrays * sizeof addresses[0]);
  while (strcmp(calls[own].name, job->exercise) != 0) own++;
  calls[own].call(kernel, pointers, shape.size);
  child_message head = {CHILD_RESULT, (uint32_t)number, bytes};
  bool good = child_write(&head, sizeof head);
  for (uint32_t n = 0; n < job->arrays; n++) {
    good = good && child_write(g[n].map + CHILD_GUARD, g[n].span);
    munmap(g[n].map, g[n].span + 2 * CHILD_GUARD);
  }
  if (!good) _exit(1); /* the pipe is gone: there is nobody to tell */
  return at;
}

static const unsigned char *read_job(child_job *job) {
  struct stat is;
  const unsigned char *all = MAP_FAILED;
  if (fstat(0, &is) == 0 && is.st_size >= (off_t)sizeof *job)
    all = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, 0, 0);
  if (all == MAP_FAILED || fcntl(CHILD_RESULTS, F_GETFD) < 0) {
    fprintf(stderr, "tandem-learn-run: only tandem-learn starts this program\n");
    exit(2);
  }
  memcpy(job, all, sizeof *job);
  size_t own = 0, count = sizeof calls / sizeof calls[0];
  while (own < count && strcmp(calls[own].name, job->exercise) != 0) own++;
  if (own == count || job->arrays > LEARN_ARRAYS) stop(LEARN_FAILED, "tandem-learn-run is from another build");
  return all + sizeof *job;
}

int main(int argc, char **argv) {
  child_job job;
  const unsigned char *at = read_job(&job);
  if (argc != 2) stop(LEARN_FAILED, "tandem-learn-run: no object");
  if (job.device == 0 && !limit_memory()) stop(LEARN_FAILED, "no limit of memory: %s", strerror(errno));
  catch_signals();
  if (job.calls_open == 0 && job.device == 0 && !seccomp_restrict(SECCOMP_NO_PROCESSES | SECCOMP_TRAPS))
    stop(LEARN_FAILED, "no filter of system calls: %s", strerror(errno));
  child_send(CHILD_READY, 0, NULL, 0);
  void *handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) stop(LEARN_SYMBOL, "the code can't be loaded: %s", dlerror());
  void *symbol = dlsym(handle, job.kernel);
  if (symbol == NULL) stop(LEARN_SYMBOL, "the file has no function named %s", job.kernel);
  void (*kernel)(void);
  memcpy(&kernel, &symbol, sizeof kernel); /* POSIX lets dlsym's result be a function */
  for (uint32_t shape = 0; shape < job.shapes; shape++) at = run_shape(&job, (int)shape, at, kernel);
  fflush(stdout);
  _exit(0);
}
