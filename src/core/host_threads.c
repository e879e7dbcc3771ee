/* Threads of parallel regions on the host. If an OpenMP runtime can't start a thread, it ends the process. In the child of
 * a fork, gcc's libgomp waits forever for threads that only the parent has. This file finds out both before a region
 * begins. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plan.h"

/* How many threads the largest region of this thread had. In libgomp each thread that begins regions has its own pool. */
static _Thread_local int started = 1;
/* This thread called fork after it had begun a region, and this is the child: the threads of its pool are gone. */
static _Thread_local bool orphaned;

/* ---- fork ---- */

#if defined(__clang__)
/* LLVM's runtime starts again in the child: __kmp_atfork_child in openmp/runtime/src/z_Linux_util.cpp. */
static bool survives_fork(void) { return true; }
#else
/* gcc's code calls GOMP_parallel. LLVM's libomp has it too, and may replace libgomp; only LLVM's has __kmpc_fork_call. */
static bool survives_fork(void) {
  Dl_info gomp, llvm;
  void *parallel = dlsym(RTLD_DEFAULT, "GOMP_parallel"), *fork_call = dlsym(RTLD_DEFAULT, "__kmpc_fork_call");
  return parallel != NULL && fork_call != NULL && dladdr(parallel, &gomp) != 0 && dladdr(fork_call, &llvm) != 0 &&
         gomp.dli_fbase == llvm.dli_fbase;
}
#endif

/* fork keeps only the calling thread, with its thread-local variables. */
static void in_child(void) {
  if (started > 1) orphaned = true;
  started = 1;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool resets_pools;
static int atfork_error;

static void learn_runtime(void) {
  resets_pools = survives_fork();
  atfork_error = pthread_atfork(NULL, NULL, in_child);
}

/* ---- Starting as many threads as the region will, at the same time ---- */

/* "4M", "512" (KiB), " 2 g ", as OpenMP defines OMP_STACKSIZE; 0: not set, or not understood. */
static size_t stack_size_from(const char *variable) {
  static const char units[] = "bkmg";
  const char *text = getenv(variable);
  char *end;
  if (text == NULL) return 0;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (end == text || errno != 0) return 0;
  end += strspn(end, " \t");
  const char *unit = *end == '\0' ? units + 1 : strchr(units, *end | 0x20);
  unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units);
  return unit == NULL || value > SIZE_MAX >> shift ? 0 : (size_t)value << shift;
}

/* What the runtime gives each thread; 0: the system's default. */
static size_t stack_size(void) {
  size_t (*llvm)(void) = NULL;
  void *symbol = dlsym(RTLD_DEFAULT, "kmp_get_stacksize_s");
  memcpy(&llvm, &symbol, sizeof symbol);
  if (llvm != NULL) return llvm();
  size_t size = stack_size_from("OMP_STACKSIZE");
  return size != 0 ? size : stack_size_from("GOMP_STACKSIZE");
}

/* Threads that start each other, so that all are there at once and no array of them is needed. */
typedef struct probe {
  pthread_attr_t attributes;
  int left;  /* still to be started */
  int error; /* of pthread_create; 0: none */
} probe;

typedef struct probe_thread {
  probe *probe;
  pid_t id;
} probe_thread;

static void start_next(probe *p);

static void *run_thread(void *argument) {
  probe_thread *own = argument;
  own->id = (pid_t)syscall(SYS_gettid);
  start_next(own->probe);
  return NULL;
}

/* After pthread_join the kernel may still count the thread against limits, until its number is gone: at most a second. */
static void wait_for_end(pid_t id) {
  for (int i = 0; i < 10000 && syscall(SYS_tgkill, getpid(), id, 0) == 0; i++)
    nanosleep(&(struct timespec){.tv_nsec = i < 100 ? 1000 : 100000}, NULL);
}

static void start_next(probe *p) {
  pthread_t thread;
  probe_thread next = {p, 0};
  if (p->left == 0) return;
  p->left--; /* the new thread goes on with it, and may be done before pthread_create returns */
  int error = pthread_create(&thread, &p->attributes, run_thread, &next);
  if (error != 0) {
    p->left++;
    p->error = error;
    return;
  }
  pthread_join(thread, NULL);
  wait_for_end(next.id);
}

static tdm_status try_threads(const char *what, int threads, int more) {
  probe p = {.left = more};
  size_t size = stack_size();
  if (pthread_attr_init(&p.attributes) != 0) return tdm_fail(TDM_ERROR_MEMORY, "%s: no memory for a thread's attributes", what);
  if (size != 0)
    (void)pthread_attr_setstacksize(&p.attributes, size); /* a size that it refuses is not used by libgomp either */
  start_next(&p);
  pthread_attr_destroy(&p.attributes);
  if (p.error == 0) return TDM_OK;
  return tdm_fail(
      TDM_ERROR_DEVICE,
      "%s: threads = %d: only %d can be started here: %s; raise the limits of threads and memory (ulimit -u, ulimit -v, "
      "pids.max), or set OMP_NUM_THREADS",
      what, threads, threads - p.left, strerror(p.error));
}

/* ---- Both ---- */

/* How many threads a region gets at most if it asks for this many. */
static int threads_of_region(int64_t asked) {
  if (omp_get_active_level() >= omp_get_max_active_levels()) return 1; /* inside a region of the caller */
  int most = omp_get_max_threads(), limit = omp_get_thread_limit();
#if defined(__clang__)
  if (most < omp_get_num_procs()) most = omp_get_num_procs(); /* for teams, libomp uses more than OMP_NUM_THREADS */
#endif
  if (most > limit) most = limit;
  return asked < most ? (int)asked : most;
}

tdm_status tdm_host_region(const char *what, int64_t asked) {
  int threads = threads_of_region(asked);
  if (threads <= 1) return TDM_OK;
  pthread_once(&once, learn_runtime);
  if (atfork_error != 0)
    return tdm_fail(TDM_ERROR_MEMORY, "%s: no memory to be told of forks: %s", what, strerror(atfork_error));
  if (orphaned && !resets_pools)
    return tdm_fail(
        TDM_ERROR_UNSUPPORTED,
        "%s: this is the child of a fork, where gcc's libgomp can't run on a thread that has run on several threads "
        "before: run in a new thread of the child, or fork before the first run, or call exec",
        what);
  if (threads > started) TDM_TRY(try_threads(what, threads, threads - started));
  if (threads > started) started = threads;
  return TDM_OK;
}

int tdm_host_threads(void) { return omp_get_max_threads(); }

bool tdm_host_is_forbidden(void) {
  const char *policy = getenv("OMP_TARGET_OFFLOAD");
  return policy != NULL && strcasecmp(policy, "mandatory") == 0;
}
