/* Queues: rings of AQL packets, each processed in order by its own thread. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

enum { SIZE_MOST = 131072 };

typedef void error_callback(hsa_status status, hsa_queue *queue, void *data);
typedef struct ring {
  hsa_queue queue; /* first: the program's view */
  device *device;
  uint8_t *packets;
  _Atomic uint64_t write, read;
  error_callback *error;
  void *error_data;
  pthread_t thread;
  bool ends, failed;
  struct ring *next;
} ring;
static ring *rings; /* under `world` */
static uint64_t next_id;

static _Atomic uint16_t *header_of(const ring *r, uint64_t at) {
  return (_Atomic uint16_t *)(void *)(r->packets + (at & (r->queue.size - 1)) * HSA_PACKET_BYTES);
}

/* The specification: an error sets a completion signal to a negative value, and the queue takes no more packets. */
static void fail_queue(ring *r, hsa_signal completion, hsa_status status) {
  pthread_mutex_lock(&world);
  r->failed = true;
  hsa_signal_set(completion, -1);
  pthread_mutex_unlock(&world);
  if (r->error != NULL) r->error(status, &r->queue, r->error_data); /* LLVM's runtime aborts there */
}

/* ---- The thread ---- */

static void *work(void *argument) {
  ring *r = argument;
  pthread_mutex_lock(&world);
  while (!r->ends) {
    uint64_t at = r->read;
    int type = atomic_load(header_of(r, at)) & HSA_PACKET_TYPE;
    if (r->failed || type == HSA_PACKET_INVALID) {
      pthread_cond_wait(&changed, &world); /* the doorbell is a signal */
      continue;
    }
    pthread_mutex_unlock(&world);
    uint8_t bytes[HSA_PACKET_BYTES];
    memcpy(bytes, (uint8_t *)header_of(r, at), sizeof bytes);
    packet_end end = hsa_packet_run(r->device, bytes, &r->ends);
    if (end.status != HSA_SUCCESS) fail_queue(r, end.completion, end.status);
    atomic_store(header_of(r, at), HSA_PACKET_INVALID);
    pthread_mutex_lock(&world);
    r->read = at + 1;
    bool overflow = !r->failed && r->write > at + 1 + r->queue.size;
    pthread_cond_broadcast(&changed);
    if (!overflow) continue;
    pthread_mutex_unlock(&world);
    door_found_text("queue overflow", "(none)", "more packets were written than the queue holds: some were overwritten");
    fail_queue(r, (hsa_signal){0}, HSA_INVALID_PACKET_FORMAT);
    pthread_mutex_lock(&world);
  }
  if (!r->failed && r->write > r->read)
    door_note("%llu packets were still in a queue when the program ended it: they did not run",
              (unsigned long long)(r->write - r->read));
  pthread_mutex_unlock(&world);
  return NULL;
}

/* ---- Calls ---- */

static void ring_free(ring *r) {
  free(r->packets);
  free(r);
}

static hsa_status start(ring *r) {
  const int64_t none = -1; /* the doorbell says the last packet that was written */
  if (hsa_signal_create(none, 0, NULL, &r->queue.doorbell_signal) != HSA_SUCCESS) return HSA_OUT_OF_RESOURCES;
  pthread_mutex_lock(&world);
  bool good = pthread_create(&r->thread, NULL, work, r) == 0;
  if (good) {
    r->queue.id = next_id++;
    r->next = rings;
    rings = r;
  }
  pthread_mutex_unlock(&world);
  if (!good) hsa_signal_destroy(r->queue.doorbell_signal);
  return good ? HSA_SUCCESS : HSA_OUT_OF_RESOURCES;
}

HSA_DOOR hsa_status hsa_queue_create(hsa_agent agent, uint32_t size, uint32_t type, error_callback *error, void *data,
                                     uint32_t private_bytes, uint32_t group_bytes, hsa_queue **queue) {
  HSA_ENTER();
  (void)private_bytes, (void)group_bytes; /* hints: each dispatch has its own sizes */
  bool known;
  device *d = hsa_agent_device(agent, &known);
  if (!known) return HSA_INVALID_AGENT;
  if (d == NULL) return HSA_INVALID_QUEUE_CREATION;
  if (queue == NULL || size == 0 || (size & (size - 1)) != 0 || size > SIZE_MOST) return HSA_INVALID_ARGUMENT;
  ring *r = calloc(1, sizeof *r);
  if (r != NULL) r->packets = aligned_alloc(HSA_PACKET_BYTES, (size_t)size * HSA_PACKET_BYTES);
  if (r == NULL || r->packets == NULL) {
    free(r);
    return HSA_OUT_OF_RESOURCES;
  }
  r->queue = (hsa_queue){.type = type, .features = 1, .base_address = r->packets, .size = size};
  r->device = d;
  r->error = error;
  r->error_data = data;
  memset(r->packets, 0, (size_t)size * HSA_PACKET_BYTES);
  for (uint32_t n = 0; n < size; n++) atomic_store(header_of(r, n), HSA_PACKET_INVALID);
  hsa_status status = start(r);
  if (status != HSA_SUCCESS) ring_free(r);
  *queue = status == HSA_SUCCESS ? &r->queue : NULL;
  return status;
}

/* The caller has `world`. */
static ring *find(const hsa_queue *queue) {
  ring *r = rings;
  while (r != NULL && &r->queue != queue) r = r->next;
  return r;
}

/* A launch that runs ends first; packets after it do not run. */
static void stop(ring *r) {
  pthread_mutex_lock(&world);
  r->ends = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&world);
  if (pthread_equal(pthread_self(), r->thread)) return; /* the error callback of its own thread ends the program */
  pthread_join(r->thread, NULL);
  hsa_signal_destroy(r->queue.doorbell_signal);
  ring_free(r);
}

HSA_DOOR hsa_status hsa_queue_destroy(hsa_queue *queue) {
  HSA_LEAVE();
  pthread_mutex_lock(&world);
  ring *r = find(queue);
  for (ring **at = &rings; r != NULL && *at != NULL; at = &(*at)->next)
    if (*at == r) {
      *at = r->next;
      break;
    }
  pthread_mutex_unlock(&world);
  if (r == NULL) return HSA_INVALID_QUEUE;
  stop(r);
  return HSA_SUCCESS;
}

void hsa_queues_release(void) {
  while (rings != NULL) {
    ring *r = rings;
    rings = r->next;
    stop(r);
  }
}

/* These have no way to fail: an invalid queue is the program's own memory error. */
HSA_DOOR uint64_t hsa_queue_add_write_index_relaxed(const hsa_queue *queue, uint64_t value) {
  return atomic_fetch_add(&((ring *)queue)->write, value);
}
HSA_DOOR uint64_t hsa_queue_add_write_index_screlease(const hsa_queue *queue, uint64_t value) {
  return atomic_fetch_add(&((ring *)queue)->write, value);
}
HSA_DOOR uint64_t hsa_queue_load_write_index_relaxed(const hsa_queue *queue) { return atomic_load(&((ring *)queue)->write); }
HSA_DOOR uint64_t hsa_queue_load_read_index_scacquire(const hsa_queue *queue) { return atomic_load(&((ring *)queue)->read); }
HSA_DOOR uint64_t hsa_queue_load_read_index_relaxed(const hsa_queue *queue) { return atomic_load(&((ring *)queue)->read); }
