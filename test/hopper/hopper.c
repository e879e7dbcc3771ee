/* The threads of a cluster, as fibers, and their meetings. */
/* Ubuntu's gcc defines it, and its longjmp ends a program that goes to another stack. */
#undef _FORTIFY_SOURCE
#include "hopper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "hopper_inside.h"

enum { STACK_BYTES = 128 << 10 };

hopper_state hopper;
static jmp_buf scheduler;

void hopper_refuse(const char *format, ...) {
  va_list args;
  if (hopper.refused) return;
  hopper.refused = true;
  va_start(args, format);
  fprintf(stderr, "hopper: block %d, thread %d: ", hopper_block(), hopper_thread());
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
}

void hopper_seed(uint64_t seed) { hopper.seed = seed; }

uint32_t hopper_random(void) {
  hopper.seed = hopper.seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)(hopper.seed >> 33);
}

/* ---- Places ---- */

static hopper_fiber *self(void) { return &hopper.fiber[hopper.running]; }

int hopper_thread(void) { return hopper.running % hopper.threads; }
int hopper_rank(void) { return hopper.running / hopper.threads; }
int hopper_block(void) { return hopper.first_block + hopper_rank(); }
int hopper_blocks(void) { return hopper.blocks; }
int hopper_cluster_size(void) { return hopper.cluster; }

void *hopper_memory_of(int rank, uint32_t address) {
  if (rank >= hopper.cluster || address >= HOPPER_BEGIN + (uint32_t)hopper.shared_bytes) {
    hopper_refuse("address %u of block %d is outside of its %d bytes", address, rank, hopper.shared_bytes);
    return hopper.memory[0];
  }
  if (hopper.alive_in[rank] == 0) hopper_refuse("block %d of the cluster has ended", rank);
  return hopper.memory[rank] + address;
}
void *hopper_memory(uint32_t address) { return hopper_memory_of(hopper_rank(), address); }

/* ---- Turns ---- */

/* Gives the turn away. Between turns with _setjmp and _longjmp: swapcontext asks the kernel for the mask of signals each
 * time, which was half of a launch's time. */
void hopper_yield(void) {
  if (_setjmp(self()->place) == 0) _longjmp(scheduler, 1);
}

/* A turn for the thread that is running now: its first one begins on its own stack. In a function of its own, because variables
 * that change between _setjmp and _longjmp would lose their values. */
static void __attribute__((noinline)) resume(void) {
  if (_setjmp(scheduler) != 0) return;
  if (self()->begun) _longjmp(self()->place, 1);
  self()->begun = true;
  setcontext(&self()->context);
}

static void enter(void) {
  hopper.run(hopper.argument);
  self()->ended = true;
  hopper.alive--;
  hopper.alive_in[hopper_rank()]--;
  hopper.changes++;
  hopper_yield();
}

/* Does it still wait? Asked before a turn is given to it: most turns would be spent on waiting. */
static bool waits(const hopper_fiber *f) {
  if (f->meeting != NULL) return f->meeting->turn == (int)f->before;
  return f->barrier != NULL && f->barrier->parity == f->before;
}

static void wait(const hopper_meeting *meeting, const hopper_barrier *barrier, uint32_t before) {
  hopper_fiber *f = self();
  f->meeting = meeting;
  f->barrier = barrier;
  f->before = before;
  while (waits(f) && !hopper.refused) hopper_yield();
  f->meeting = NULL;
  f->barrier = NULL;
}

void hopper_wait_for(const hopper_barrier *barrier, uint32_t parity) { wait(NULL, barrier, parity); }

/* The turn that the calling thread has arrived for. */
static int arrive(hopper_meeting *m, int expected) {
  int turn = m->turn;
  hopper.changes++;
  if (++m->arrived >= expected) {
    m->arrived = 0;
    m->turn++;
    m->answer = m->any;
    m->any = false;
  }
  return turn;
}
static void meet(hopper_meeting *m, int expected) {
  const int turn = arrive(m, expected);
  wait(m, NULL, (uint32_t)turn);
}

void hopper_sync_wave(void) { meet(&hopper.wave[hopper.running / 32], 32); }
void hopper_sync_threads(int id, int threads) { meet(&hopper.block_meeting[hopper_rank()][id], threads); }
void hopper_arrive_threads(int id, int threads) { arrive(&hopper.block_meeting[hopper_rank()][id], threads); }
/* The answer stays until all threads have arrived again, so none is too late for it. */
bool hopper_any_of_threads(int id, int threads, bool value) {
  hopper_meeting *m = &hopper.block_meeting[hopper_rank()][id];
  m->any |= value;
  meet(m, threads);
  return m->answer;
}

uint32_t hopper_lane(uint32_t x, int lane) {
  hopper.lane[hopper.running][0] = x;
  hopper_sync_wave();
  const uint32_t got = hopper.lane[hopper.running / 32 * 32 + lane][0];
  hopper_sync_wave(); /* all have read */
  return got;
}
bool hopper_any(bool value) {
  bool any = false;
  hopper.lane[hopper.running][0] = value;
  hopper_sync_wave();
  for (int lane = 0; lane < 32; lane++) any |= hopper.lane[hopper.running / 32 * 32 + lane][0] != 0;
  hopper_sync_wave();
  return any;
}
/* Threads that have ended count as arrived; the kernels end after a last meeting. */
void hopper_sync_cluster(void) { meet(&hopper.cluster_meeting, hopper.threads * hopper.cluster); }

/* ---- Launches ---- */

static bool begin_fibers(int count) {
  static char *stacks;
  if (stacks == NULL)
    stacks = mmap(NULL, (size_t)HOPPER_MOST_THREADS * STACK_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) return fprintf(stderr, "hopper: no memory for stacks\n"), false;
  for (int i = 0; i < count; i++) {
    hopper_fiber *f = &hopper.fiber[i];
    f->begun = f->ended = false;
    f->products = f->group = 0;
    f->meeting = NULL;
    f->barrier = NULL;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
    f->context.uc_stack.ss_size = STACK_BYTES;
    f->context.uc_link = NULL;
    makecontext(&f->context, enter, 0);
  }
  return true;
}

/* Every thread in turn, from a drawn one on, until all have ended. When none gets on, a drawn copy happens. */
static void take_turns(int count) {
  while (hopper.alive > 0 && !hopper.refused) {
    uint64_t before = hopper.changes;
    int first = (int)(hopper_random() % (uint32_t)count);
    for (int i = 0; i < count && !hopper.refused; i++) {
      hopper.running = (first + i) % count;
      if (!self()->ended && !waits(self())) resume();
    }
    if (hopper.changes == before && !hopper_copy_one()) hopper_refuse("all threads wait, and nothing is under way");
  }
}

static bool run_cluster(void) {
  const int count = hopper.threads * hopper.cluster;
  if (!begin_fibers(count)) return false;
  for (int i = 0; i < hopper.cluster; i++) memset(hopper.memory[i], 0xff, HOPPER_BEGIN + HOPPER_SHARED); /* NaN */
  memset(hopper.wave, 0, sizeof hopper.wave);
  memset(hopper.block_meeting, 0, sizeof hopper.block_meeting);
  memset(&hopper.cluster_meeting, 0, sizeof hopper.cluster_meeting);
  hopper.alive = count;
  for (int i = 0; i < hopper.cluster; i++) hopper.alive_in[i] = hopper.threads;
  hopper.copies = 0;
  take_turns(count);
  if (!hopper.refused && hopper.copies > 0) hopper_refuse("%d copies are under way at the end", hopper.copies);
  return !hopper.refused;
}

bool hopper_launch(void (*run)(const void *), const void *argument, int blocks, int threads, int shared_bytes, int cluster) {
  hopper.run = run;
  hopper.argument = argument;
  hopper.blocks = blocks;
  hopper.threads = threads;
  hopper.shared_bytes = shared_bytes;
  hopper.cluster = cluster;
  hopper.refused = false;
  for (int i = 0; i < cluster; i++)
    if (hopper.memory[i] == NULL && posix_memalign((void **)&hopper.memory[i], 1024, HOPPER_BEGIN + HOPPER_SHARED) != 0)
      return fprintf(stderr, "hopper: no memory\n"), false;
  bool ok = true;
  for (hopper.first_block = 0; ok && hopper.first_block < blocks; hopper.first_block += cluster) ok = run_cluster();
  return ok;
}

/* ---- Kernels ---- */

enum { MOST_KERNELS = 256 };
static struct {
  int columns;
  const char *name;
  void (*run)(const void *);
} kernels[MOST_KERNELS];
static int kernel_count;

void hopper_register(int columns, const char *name, void (*run)(const void *)) {
  if (kernel_count == MOST_KERNELS) abort();
  kernels[kernel_count].columns = columns;
  kernels[kernel_count].name = name;
  kernels[kernel_count++].run = run;
}

void (*hopper_find(int columns, const char *name))(const void *) {
  for (int i = 0; i < kernel_count; i++)
    if (kernels[i].columns == columns && strcmp(kernels[i].name, name) == 0) return kernels[i].run;
  return NULL;
}
