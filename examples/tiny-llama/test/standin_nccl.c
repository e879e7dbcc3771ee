/* A stand-in of NCCL and RCCL, and of the few functions of a device's runtime that go with them, over the host's shared
 * memory. A thread does the exchanges in their order, so calls return at once, as they do on a GPU. TANDEM_STANDIN_SILENT=1:
 * an exchange whose other side has ended does not become an error, but waits for ever, as it can with GPUs. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/elem.h"

enum { MOST = 16, SLOT = 1 << 18, REMOTE_ERROR = 6, SYSTEM_ERROR = 2, NOT_READY = 600, QUEUE = 1024 };
enum { SUM, SUM_PART, JOIN, MARK };

typedef struct id {
  char name[128];
} id;

typedef struct shared {
  atomic_int joined, arrived, round;
  int process[MOST];
  char slot[MOST][SLOT];
} shared;

typedef struct task {
  int kind;
  const char *from;
  char *to;
  size_t count;
  tdm_type type;
  atomic_int *done;
} task;

/* The only communicator of a process. */
static struct {
  shared *all;
  int size, rank;
  atomic_bool aborted;
  atomic_int error;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t more;
  task queue[QUEUE];
  int64_t put, taken;
} c = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *ncclGetErrorString(int code);
EXPORT int ncclGetUniqueId(id *out);
EXPORT int ncclCommInitRank(void **comm, int size, id name, int rank);
EXPORT int ncclCommGetAsyncError(void *comm, int *code);
EXPORT int ncclCommAbort(void *comm);
EXPORT int ncclCommDestroy(void *comm);
EXPORT int ncclAllReduce(const void *, void *, size_t, int, int, void *, void *);
EXPORT int ncclReduceScatter(const void *, void *, size_t, int, int, void *, void *);
EXPORT int ncclAllGather(const void *, void *, size_t, int, void *, void *);
EXPORT int cuStreamCreate(void **stream, unsigned flags);
EXPORT int cuEventCreate(void **event, unsigned flags);
EXPORT int cuEventRecord(void *event, void *stream);
EXPORT int cuEventQuery(void *event);
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);
EXPORT int hipStreamCreateWithFlags(void **stream, unsigned flags);
EXPORT int hipEventCreateWithFlags(void **event, unsigned flags);
EXPORT int hipEventRecord(void *event, void *stream);
EXPORT int hipEventQuery(void *event);
EXPORT int hipStreamWaitEvent(void *stream, void *event, unsigned flags);

const char *ncclGetErrorString(int code) {
  return code == REMOTE_ERROR ? "remote process exited or there was a network error" : "unhandled system error";
}

int ncclGetUniqueId(id *out) {
  snprintf(out->name, sizeof out->name, "/tandem-standin-%d", (int)getpid());
  return 0;
}

/* ---- The exchanges ---- */

static bool someone_ended(void) {
  for (int i = 0; i < c.size; i++)
    if (kill(c.all->process[i], 0) != 0 && errno == ESRCH) return true;
  return false;
}

/* false: given up. */
static bool barrier(void) {
  int round = atomic_load(&c.all->round);
  if (atomic_fetch_add(&c.all->arrived, 1) == c.size - 1) {
    atomic_store(&c.all->arrived, 0);
    atomic_store(&c.all->round, round + 1);
    return true;
  }
  for (int waits = 0; atomic_load(&c.all->round) == round; waits++) {
    if (atomic_load(&c.aborted)) return false;
    if (waits % 1000 == 999 && getenv("TANDEM_STANDIN_SILENT") == NULL && someone_ended())
      return atomic_store(&c.error, REMOTE_ERROR), false;
    if (waits > 100) usleep(50);
  }
  return true;
}

static void add_slots(void *to, size_t count, tdm_type type) {
  for (size_t i = 0; i < count; i++) {
    float sum = 0;
    for (int r = 0; r < c.size; r++) sum += tdm_load(c.all->slot[r], (int64_t)i, type);
    tdm_store(to, (int64_t)i, type, sum);
  }
}

/* `count` elements, which fit a slot; all: those of each rank. */
static bool exchange(const task *t, size_t at, size_t count) {
  size_t size = tdm_type_size(t->type), bytes = count * size;
  int rounds = t->kind == SUM_PART ? c.size : 1;
  for (int r = 0; r < rounds; r++) {
    memcpy(c.all->slot[c.rank], t->from + ((size_t)r * t->count + at) * size, bytes);
    if (!barrier()) return false;
    if (t->kind == SUM || (t->kind == SUM_PART && r == c.rank)) add_slots(t->to + at * size, count, t->type);
    for (int i = 0; t->kind == JOIN && i < c.size; i++)
      memmove(t->to + ((size_t)i * t->count + at) * size, c.all->slot[i], bytes);
    if (!barrier()) return false;
  }
  return true;
}

static bool run(const task *t) {
  size_t most = SLOT / 4;
  if (t->kind == MARK) return atomic_store(t->done, 1), true;
  for (size_t at = 0; at < t->count; at += most)
    if (!exchange(t, at, t->count - at < most ? t->count - at : most)) return false;
  return true;
}

static void *work(void *unused) {
  (void)unused;
  for (;;) {
    pthread_mutex_lock(&c.lock);
    while (c.put == c.taken) pthread_cond_wait(&c.more, &c.lock);
    task t = c.queue[c.taken++ % QUEUE];
    pthread_mutex_unlock(&c.lock);
    if (!run(&t)) return NULL; /* no later mark becomes done */
  }
}

static int put(task t) {
  pthread_mutex_lock(&c.lock);
  bool room = c.put - c.taken < QUEUE;
  if (room) c.queue[c.put++ % QUEUE] = t;
  pthread_cond_signal(&c.more);
  pthread_mutex_unlock(&c.lock);
  return room ? 0 : SYSTEM_ERROR;
}

static tdm_type type_of(int number) { return number == 7 ? TDM_F32 : number == 6 ? TDM_F16 : TDM_BF16; }

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream) {
  (void)op, (void)comm, (void)stream;
  return put((task){.kind = SUM, .from = from, .to = to, .count = count, .type = type_of(type)});
}

int ncclReduceScatter(const void *from, void *to, size_t count, int type, int op, void *comm, void *stream) {
  (void)op, (void)comm, (void)stream;
  return put((task){.kind = SUM_PART, .from = from, .to = to, .count = count, .type = type_of(type)});
}

int ncclAllGather(const void *from, void *to, size_t count, int type, void *comm, void *stream) {
  (void)comm, (void)stream;
  return put((task){.kind = JOIN, .from = from, .to = to, .count = count, .type = type_of(type)});
}

/* ---- The communicator ---- */

int ncclCommInitRank(void **comm, int size, id name, int rank) {
  int file = shm_open(name.name, O_RDWR | O_CREAT, 0600);
  if (file < 0 || size > MOST || ftruncate(file, sizeof(shared)) != 0) return SYSTEM_ERROR;
  c.all = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (c.all == MAP_FAILED) return SYSTEM_ERROR;
  c.size = size, c.rank = rank;
  c.all->process[rank] = (int)getpid();
  atomic_fetch_add(&c.all->joined, 1);
  while (atomic_load(&c.all->joined) < size) usleep(100);
  shm_unlink(name.name);
  *comm = &c;
  return pthread_create(&c.thread, NULL, work, NULL) == 0 ? 0 : SYSTEM_ERROR;
}

int ncclCommGetAsyncError(void *comm, int *code) {
  (void)comm;
  *code = atomic_load(&c.error);
  return 0;
}

int ncclCommAbort(void *comm) {
  (void)comm;
  atomic_store(&c.aborted, true);
  return 0;
}

int ncclCommDestroy(void *comm) {
  (void)comm;
  return 0;
}

/* ---- The runtimes ---- */

int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  *stream = &c;
  return 0;
}

int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  *event = calloc(1, sizeof(atomic_int));
  return *event == NULL;
}

/* On the default stream everything has ended. */
int cuEventRecord(void *event, void *stream) {
  atomic_store((atomic_int *)event, stream == NULL);
  return stream == NULL ? 0 : put((task){.kind = MARK, .done = event});
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  enum { PROCESSORS = 16, OF_A_SMALL_GPU = 4 };
  *value = attribute == PROCESSORS ? OF_A_SMALL_GPU : 0;
  return device < 0;
}

int cuEventQuery(void *event) { return atomic_load((atomic_int *)event) ? 0 : NOT_READY; }

int hipStreamCreateWithFlags(void **stream, unsigned flags) { return cuStreamCreate(stream, flags); }
int hipEventCreateWithFlags(void **event, unsigned flags) { return cuEventCreate(event, flags); }
int hipEventRecord(void *event, void *stream) { return cuEventRecord(event, stream); }
int hipEventQuery(void *event) { return cuEventQuery(event); }
int hipStreamWaitEvent(void *stream, void *event, unsigned flags) {
  (void)stream, (void)flags;
  return cuEventQuery(event);
}
