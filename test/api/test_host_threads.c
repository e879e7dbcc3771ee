/* Host threads that can't be had: in the child of a fork, and where limits let none be started. The OpenMP runtime
 * would wait for ever, or end the process; a run must return a status. And processes that end with plans, or beside runs. Each
 * case runs in its own process. */
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tandem/gemm.h"

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif

enum { THREADS = 4, N = 96, SKIP = 77, HANGS_AFTER = 60 };

static float a[N * N], c[N * N];
static tdm_context *context;
static tdm_plan *plan;

/* A plan whose region has `threads` threads. */
static tdm_status open_plan(int threads) {
  tdm_gemm_desc d = tdm_gemm_default(N, N, N, TDM_F32);
  omp_set_num_threads(threads);
  for (int i = 0; i < N * N; i++) a[i] = 1;
  tdm_status status = tdm_open(&(tdm_options){.device = "host", .kernel = "gemm=omp", .threads = threads}, &context);
  return status == TDM_OK ? tdm_gemm_plan(context, &d, &plan) : status;
}

static tdm_status run_plan(void) {
  memset(c, 0, sizeof c);
  tdm_status status = tdm_gemm_run(plan, a, a, c, NULL, NULL, NULL);
  if (status == TDM_OK && c[0] != N) fprintf(stderr, "host-threads: c[0] = %g: must be %d\n", (double)c[0], N);
  return status;
}

static bool untouched(void) {
  for (int i = 0; i < N * N; i++)
    if (c[i] != 0) return false;
  return true;
}

/* The exit status of a child that returns from `function`, 128 where a signal ended it. */
static int in_child(int (*function)(void)) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    alarm(HANGS_AFTER);
    _exit(function());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int complain(const char *what) {
  fprintf(stderr, "host-threads: %s: %s\n", what, tdm_last_error());
  return 1;
}

/* ---- fork ---- */

static int child_runs(void) { return run_plan() == TDM_OK && c[0] == N ? 0 : complain("the child can't run"); }

static void *run_in_thread(void *result) {
  *(tdm_status *)result = run_plan();
  return NULL;
}

static tdm_status run_by_another_thread(void) {
  tdm_status status = TDM_ERROR_DEVICE;
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_in_thread, &status) == 0) pthread_join(thread, NULL);
  return status;
}

/* The pool of this thread stayed in the parent. LLVM's runtime makes a new one. */
static int child_of_a_run(void) {
  tdm_status status = run_plan();
#if defined(__clang__)
  if (status != TDM_OK) return complain("libomp survives a fork");
#else
  if (status != TDM_ERROR_UNSUPPORTED || !untouched() || strstr(tdm_last_error(), "child of a fork") == NULL)
    return complain("the child must be refused");
#endif
  return run_by_another_thread() == TDM_OK ? 0 : complain("a new thread of the child has a pool of its own");
}

/* A region of one thread needs no pool. */
static int child_with_one_thread(void) {
  omp_set_num_threads(1);
  return run_plan() == TDM_OK && c[0] == N ? 0 : complain("one thread needs no other");
}

static int fork_before_a_run(void) { return open_plan(THREADS) == TDM_OK ? in_child(child_runs) : complain("open"); }

static int fork_after_a_run(void) {
  if (open_plan(THREADS) != TDM_OK || run_plan() != TDM_OK) return complain("the parent can't run");
  int code = in_child(child_of_a_run);
  if (code == 0) code = in_child(child_with_one_thread);
  return code != 0 ? code : child_runs(); /* the parent goes on */
}

static int fork_after_a_run_with_one_thread(void) {
  if (open_plan(1) != TDM_OK || run_plan() != TDM_OK) return complain("the parent can't run");
  omp_set_num_threads(THREADS);
  return in_child(child_runs);
}

/* Only the thread that forks goes on in the child, and it has no pool yet. */
static int fork_beside_a_run(void) {
  if (open_plan(THREADS) != TDM_OK || run_by_another_thread() != TDM_OK) return complain("the parent can't run");
  return in_child(child_runs);
}

/* ---- Limits ---- */

/* Threads are counted for each user, and not at all for root: as a user that runs nothing else, if that is allowed. */
static bool limit_threads(rlim_t most) {
  enum { USER = 61234 };
  if (geteuid() != 0 || setgid(USER) != 0 || setuid(USER) != 0) return false;
  return setrlimit(RLIMIT_NPROC, &(struct rlimit){most, most}) == 0;
}

static int too_few_threads(void) {
  if (open_plan(THREADS) != TDM_OK) return complain("open");
  if (!limit_threads(THREADS - 1)) return SKIP;
  memset(c, 0, sizeof c);
  for (int i = 0; i < 2; i++) { /* a refusal is not remembered: the next run asks again */
    tdm_status status = tdm_gemm_run(plan, a, a, c, NULL, NULL, NULL);
    if (status != TDM_ERROR_DEVICE || !untouched() || strstr(tdm_last_error(), "threads = 4: only 3 can be started") == NULL)
      return complain("must be refused");
  }
  return 0;
}

/* As many as the region needs, and none more: those that asked must be gone when the runtime starts its own. */
static int just_enough_threads(void) {
  if (open_plan(THREADS) != TDM_OK) return complain("open");
  if (!limit_threads(THREADS)) return SKIP;
  return child_runs();
}

/* Any user can have the limit of its own processes lowered to fewer than there are. */
static int no_thread_at_all(void) {
  if (open_plan(THREADS) != TDM_OK) return complain("open");
  if (geteuid() == 0 && !limit_threads(1)) return SKIP;
  if (geteuid() != 0 && setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1}) != 0) return SKIP;
  memset(c, 0, sizeof c);
  tdm_status status = run_plan();
  if (status != TDM_ERROR_DEVICE || !untouched() || strstr(tdm_last_error(), "threads = 4: only 1 can be started") == NULL)
    return complain("must be refused");
  return open_plan(1) == TDM_OK ? child_runs() : complain("one thread needs no other");
}

#ifndef ADDRESS_SANITIZER
static long pages_of_process(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%ld", &pages) != 1) pages = 0;
  fclose(file);
  return pages;
}
#endif

/* Room for no stack. A sanitizer's process has terabytes of addresses already. */
static int no_memory_for_stacks(void) {
#ifdef ADDRESS_SANITIZER
  return SKIP;
#else
  if (open_plan(THREADS) != TDM_OK) return complain("open");
  rlim_t most = (rlim_t)pages_of_process() * (rlim_t)sysconf(_SC_PAGESIZE) + 65536;
  if (setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) != 0) return SKIP;
  memset(c, 0, sizeof c);
  tdm_status status = run_plan();
  if (status != TDM_ERROR_DEVICE || !untouched() || strstr(tdm_last_error(), "can be started here") == NULL)
    return complain("must be refused");
  return 0;
#endif
}

/* ---- A region of the caller ---- */

static int inside_of_a_region(void) {
  int failed = 0;
  if (open_plan(THREADS) != TDM_OK) return complain("open");
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    failed = run_plan() != TDM_OK;
  }
  return failed;
}

/* ---- The end of the process ---- */

/* Everything is left as it is: a context, a plan, and the runtime's threads. */
static int exit_with_a_plan(void) {
  if (open_plan(THREADS) != TDM_OK || child_runs() != 0) return complain("the process can't run");
  exit(0);
}

static void *run_for_ever(void *begun) {
  for (;;) {
    if (run_plan() != TDM_OK) _exit(complain("a run beside the end"));
    *(volatile int *)begun = 1;
  }
  return NULL;
}

static int exit_beside_runs(void) {
  static volatile int begun;
  pthread_t thread;
  if (open_plan(THREADS) != TDM_OK) return complain("open");
  if (pthread_create(&thread, NULL, run_for_ever, (void *)(uintptr_t)&begun) != 0) return SKIP;
  while (begun == 0) usleep(100);
  exit(0);
}

int main(void) {
  static const struct {
    const char *name;
    int (*run)(void);
    int times;
  } cases[] = {
      {"fork before a run", fork_before_a_run, 1},
      {"fork after a run", fork_after_a_run, 1},
      {"fork after a run with one thread", fork_after_a_run_with_one_thread, 1},
      {"fork beside a run", fork_beside_a_run, 1},
      {"too few threads", too_few_threads, 1},
      {"just enough threads", just_enough_threads, 20},
      {"no thread at all", no_thread_at_all, 1},
      {"no memory for stacks", no_memory_for_stacks, 1},
      {"inside of a region", inside_of_a_region, 1},
      {"exit with a plan", exit_with_a_plan, 1},
      {"exit beside runs", exit_beside_runs, 10},
  };
  int failed = 0, skipped = 0, count = sizeof cases / sizeof cases[0];
  for (int i = 0; i < count; i++) {
    int code = 0;
    for (int j = 0; j < cases[i].times && code == 0; j++) code = in_child(cases[i].run);
    printf("%-34s %s\n", cases[i].name, code == 0 ? "passed" : code == SKIP ? "skipped: not possible here" : "FAILED");
    failed += code != 0 && code != SKIP;
    skipped += code == SKIP;
  }
  printf("%d passed, %d failed, %d skipped\n", count - failed - skipped, failed, skipped);
  return failed != 0;
}
