/* Signals: 64-bit values that calls and packets count down, waits on them, and handlers that run when one has a value. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "hsa_state.h"

/* A handle is TAG with the number of its row, so that any value of a packet can be looked up. */
#define TAG (UINT64_C(0x5167) << 32)
typedef struct signal_row {
  bool live;
  int64_t value;
} signal_row;
static signal_row *rows;
static size_t row_count, row_room, first_free; /* first_free: no row before it is */

typedef struct handler {
  hsa_signal signal;
  int condition;
  int64_t value;
  hsa_signal_handler *call;
  void *argument;
  struct handler *next;
} handler;
static handler *handlers;
static pthread_t handler_thread;
static bool handler_runs, handler_ends;

static signal_row *find(hsa_signal handle) {
  uint64_t row = handle.handle - TAG;
  return handle.handle >= TAG && row < row_count && rows[row].live ? &rows[row] : NULL;
}

bool hsa_signal_known(hsa_signal handle) { return handle.handle == 0 || find(handle) != NULL; }

int64_t hsa_signal_value(hsa_signal handle) {
  const signal_row *s = find(handle);
  return s != NULL ? s->value : 0;
}

void hsa_signal_set(hsa_signal handle, int64_t value) {
  signal_row *s = find(handle);
  if (s != NULL) s->value = value;
  pthread_cond_broadcast(&changed);
}

void hsa_signal_add(hsa_signal handle, int64_t value) { hsa_signal_set(handle, hsa_signal_value(handle) + value); }

static hsa_status make(int64_t value, hsa_signal *handle) {
  while (first_free < row_count && rows[first_free].live) first_free++;
  if (first_free == row_room) {
    size_t room = row_room == 0 ? 256 : 2 * row_room;
    signal_row *grown = realloc(rows, room * sizeof *grown);
    if (grown == NULL) return HSA_OUT_OF_RESOURCES;
    rows = grown;
    row_room = room;
  }
  if (first_free == row_count) row_count++;
  rows[first_free] = (signal_row){true, value};
  handle->handle = TAG + first_free++;
  return HSA_SUCCESS;
}

/* ---- Calls ---- */

HSA_DOOR hsa_status hsa_amd_signal_create(int64_t value, uint32_t consumers, const hsa_agent *agents, uint64_t attributes,
                                          hsa_signal *handle) {
  HSA_ENTER();
  (void)agents; /* who may wait: everybody may */
  if (handle == NULL || (consumers > 0 && agents == NULL)) return HSA_INVALID_ARGUMENT;
  enum { BETWEEN_PROCESSES = 2 };
  if ((attributes & BETWEEN_PROCESSES) != 0)
    return hsa_unserved(HSA_INVALID_ARGUMENT, "hsa_amd_signal_create: a signal between processes");
  pthread_mutex_lock(&world);
  hsa_status status = make(value, handle);
  pthread_mutex_unlock(&world);
  return status;
}

HSA_DOOR hsa_status hsa_signal_create(int64_t value, uint32_t consumers, const hsa_agent *agents, hsa_signal *handle) {
  return hsa_amd_signal_create(value, consumers, agents, 0, handle);
}

HSA_DOOR hsa_status hsa_signal_destroy(hsa_signal handle) {
  HSA_LEAVE();
  pthread_mutex_lock(&world);
  signal_row *s = find(handle);
  if (s != NULL) {
    s->live = false;
    if ((size_t)(s - rows) < first_free) first_free = (size_t)(s - rows);
  }
  pthread_mutex_unlock(&world);
  return s != NULL ? HSA_SUCCESS : HSA_INVALID_SIGNAL;
}

static int64_t load(hsa_signal handle) {
  pthread_mutex_lock(&world);
  int64_t value = hsa_signal_value(handle);
  pthread_mutex_unlock(&world);
  return value;
}
HSA_DOOR int64_t hsa_signal_load_scacquire(hsa_signal handle) { return load(handle); }
HSA_DOOR int64_t hsa_signal_load_relaxed(hsa_signal handle) { return load(handle); }

static void store(hsa_signal handle, int64_t value) {
  pthread_mutex_lock(&world);
  hsa_signal_set(handle, value);
  pthread_mutex_unlock(&world);
}
HSA_DOOR void hsa_signal_store_relaxed(hsa_signal handle, int64_t value) { store(handle, value); }
HSA_DOOR void hsa_signal_store_screlease(hsa_signal handle, int64_t value) { store(handle, value); }

static void add(hsa_signal handle, int64_t value) {
  pthread_mutex_lock(&world);
  hsa_signal_add(handle, value);
  pthread_mutex_unlock(&world);
}
HSA_DOOR void hsa_signal_subtract_screlease(hsa_signal handle, int64_t value) { add(handle, -value); }
HSA_DOOR void hsa_signal_subtract_relaxed(hsa_signal handle, int64_t value) { add(handle, -value); }
HSA_DOOR void hsa_signal_add_relaxed(hsa_signal handle, int64_t value) { add(handle, value); }

/* ---- Waits ---- */

static bool holds(int condition, int64_t value, int64_t compare) {
  switch (condition) {
    case HSA_EQ: return value == compare;
    case HSA_NE: return value != compare;
    case HSA_LT: return value < compare;
    default: return value >= compare;
  }
}

enum { NANOSECONDS = 1000000000 };

HSA_DOOR int64_t hsa_signal_wait_scacquire(hsa_signal handle, unsigned condition, int64_t compare, uint64_t timeout,
                                           unsigned how) {
  (void)how; /* spinning takes the processors that execute the kernel */
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end); /* the clock of pthread_cond_timedwait */
  bool forever = timeout / NANOSECONDS > 1000000;
  if (!forever) {
    end.tv_sec += (time_t)(timeout / NANOSECONDS);
    end.tv_nsec += (long)(timeout % NANOSECONDS);
    end.tv_sec += end.tv_nsec / NANOSECONDS;
    end.tv_nsec %= NANOSECONDS;
  }
  pthread_mutex_lock(&world);
  int got = 0;
  while (!holds((int)condition, hsa_signal_value(handle), compare) && got != ETIMEDOUT)
    got = forever ? pthread_cond_wait(&changed, &world) : pthread_cond_timedwait(&changed, &world, &end);
  int64_t value = hsa_signal_value(handle);
  pthread_mutex_unlock(&world);
  return value;
}
HSA_DOOR int64_t hsa_signal_wait_relaxed(hsa_signal handle, unsigned condition, int64_t compare, uint64_t timeout,
                                         unsigned how) {
  return hsa_signal_wait_scacquire(handle, condition, compare, timeout, how);
}

/* ---- Handlers ---- */

/* Takes the first handler whose condition holds out of the list; NULL where there is none. */
static handler *take_ready(void) {
  for (handler **at = &handlers; *at != NULL; at = &(*at)->next) {
    handler *h = *at;
    if (!holds(h->condition, hsa_signal_value(h->signal), h->value)) continue;
    *at = h->next;
    return h;
  }
  return NULL;
}

static void append(handler *h) {
  handler **at = &handlers;
  while (*at != NULL) at = &(*at)->next;
  h->next = NULL;
  *at = h;
}

static void *run_handlers(void *unused) {
  (void)unused;
  pthread_mutex_lock(&world);
  while (!handler_ends) {
    handler *h = take_ready();
    if (h == NULL) {
      pthread_cond_wait(&changed, &world);
      continue;
    }
    int64_t value = hsa_signal_value(h->signal);
    pthread_mutex_unlock(&world); /* it may call everything here */
    bool again = h->call(value, h->argument);
    pthread_mutex_lock(&world);
    if (again)
      append(h);
    else
      free(h);
  }
  pthread_mutex_unlock(&world);
  return NULL;
}

HSA_DOOR hsa_status hsa_amd_signal_async_handler(hsa_signal handle, unsigned condition, int64_t value, hsa_signal_handler *call,
                                                 void *argument) {
  HSA_ENTER();
  if (call == NULL || condition > HSA_GTE) return HSA_INVALID_ARGUMENT;
  handler *h = malloc(sizeof *h);
  if (h == NULL) return HSA_OUT_OF_RESOURCES;
  *h = (handler){handle, (int)condition, value, call, argument, NULL};
  pthread_mutex_lock(&world);
  bool known = find(handle) != NULL;
  if (known && !handler_runs) handler_runs = pthread_create(&handler_thread, NULL, run_handlers, NULL) == 0;
  bool good = known && handler_runs;
  if (good)
    append(h);
  else
    free(h);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&world);
  return good ? HSA_SUCCESS : known ? HSA_OUT_OF_RESOURCES : HSA_INVALID_SIGNAL;
}

void hsa_signals_release(void) {
  pthread_mutex_lock(&world);
  handler_ends = true;
  pthread_cond_broadcast(&changed);
  bool runs = handler_runs;
  pthread_mutex_unlock(&world);
  if (runs) pthread_join(handler_thread, NULL);
  handler_runs = handler_ends = false;
  while (handlers != NULL) {
    handler *h = handlers;
    handlers = h->next;
    free(h);
  }
  free(rows);
  rows = NULL;
  row_count = row_room = first_free = 0;
}
