/* What kernels ask of the host while they run, and the hidden arguments by which they find it: calls of the host (printf,
 * assert, memory of device-side malloc), printf's buffer, the heap, the barrier of cooperative launches. Sources: ROCm's device
 * libraries, ockl/src/hostcall_impl.cl, services.cl, dm.cl, cg.cl, whose code kernels hold; the host's side of it in ROCm/clr,
 * rocclr/device/devhostcall.cpp. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hip_printf.h"
#include "hip_state.h"

enum { PACKETS = 1024, LANES = 64, PAGE = 4096, SLAB = 2 << 20, HEAP_BYTES = 128 << 10, PRINTF_BYTES = 4 << 20 };
enum { SERVICE_PRINTF = 2, SERVICE_MEMORY = 3 };

typedef struct packet {
  _Atomic uint64_t next;
  uint64_t active; /* lanes */
  uint32_t service;
  _Atomic uint32_t control; /* bit 0: waits for the host */
} packet;
typedef struct payload {
  uint64_t slot[LANES][8];
} payload;

/* Head of the buffer. Stacks hold numbers of packets with a tag above the mask. */
typedef struct call_buffer {
  packet *packets;
  payload *payloads;
  uint64_t doorbell; /* address of a signal, which waves add to */
  uint64_t free_stack;
  _Atomic uint64_t ready_stack;
  uint64_t mask;
  uint64_t unused[2];
  uint64_t signal[8]; /* kind, value, mailbox: none ... */
} call_buffer;

enum {
  PACKETS_AT = sizeof(call_buffer), /* 128: packets are aligned there */
  PAYLOADS_AT = (PACKETS_AT + PACKETS * sizeof(packet) + PAGE - 1) / PAGE * PAGE,
  CALL_BYTES = PAYLOADS_AT + PACKETS * sizeof(payload),
};

/* The barrier of a grid: a count of workgroups that have arrived, and how many there are. */
typedef struct grid_sync {
  uint64_t several_grids;
  uint32_t grid, grids;
  uint64_t before, all;
  uint32_t arrived, unused;
  uint32_t workgroups, padding;
} grid_sync;

typedef struct message { /* a printf whose parts come in several calls */
  uint64_t *data;
  size_t count, room;
  bool live;
} message;

typedef struct block { /* of a kernel's malloc */
  void *start;
  bool freed; /* given back by the kernel: unmapped when the launch has ended */
  struct block *next;
} block;

typedef struct host_side {
  device *device;
  call_buffer *calls;
  void *heap, *printf;
  grid_sync *sync;
  message *messages;
  size_t message_count;
  block *blocks;
  pthread_t thread;
  atomic_bool ends;
  bool runs;
} host_side;
static host_side sides[DOOR_DEVICES_MOST];

/* Memory of zeros that kernels may use, at the host's address. */
static void *shared(device *d, size_t bytes, size_t alignment) {
  void *at = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (at == NULL) return NULL;
  memset(at, 0, bytes);
  if (gfxsim_map_host(d->sim, at, bytes) == GFXSIM_OK) return at;
  free(at);
  return NULL;
}

/* ---- Services ---- */

/* The first word: bit 0 begins a message, bit 1 ends it, bits 7:5 are the words that follow, the rest is its number + 1. */
static message *message_of(host_side *h, uint64_t *words) {
  uint64_t number = words[0] >> 8;
  if ((words[0] & 1) == 0) return number < h->message_count && h->messages[number].live ? &h->messages[number] : NULL;
  for (number = 0; number < h->message_count && h->messages[number].live;) number++;
  if (number == h->message_count) {
    message *grown = realloc(h->messages, (h->message_count + 1) * sizeof *grown);
    if (grown == NULL) return NULL;
    h->messages = grown;
    h->messages[h->message_count++] = (message){0};
  }
  h->messages[number].live = true;
  h->messages[number].count = 0;
  words[0] = (words[0] & 0xfe) | number << 8;
  return &h->messages[number];
}

static bool append(message *m, const uint64_t *words, size_t count) {
  if (m->count + count > m->room) {
    size_t room = 2 * m->room + 64;
    uint64_t *grown = realloc(m->data, room * sizeof *grown);
    if (grown == NULL) return false;
    m->data = grown;
    m->room = room;
  }
  memcpy(m->data + m->count, words, count * sizeof *words);
  m->count += count;
  return true;
}

static void serve_printf(host_side *h, uint64_t *words) {
  message *m = message_of(h, words);
  bool good = m != NULL && append(m, words + 1, words[0] >> 5 & 7);
  if (good && (words[0] & 2) == 0) return;
  if (!good) door_unserved("printf of a kernel: a broken message, or no memory");
  /* The first word of all says where to: 0 stdout, 1 stderr. */
  words[0] = good && m->count > 0 ? (uint64_t)printf_message((m->data[0] & 1) != 0 ? stderr : stdout, m->data + 1, m->count - 1)
                                  : (uint64_t)-1;
  if (m != NULL) m->live = false;
}

/* words[0]: an address to be freed; 0: words[1] bytes are wanted. */
static void serve_memory(host_side *h, uint64_t *words) {
  if (words[0] != 0) {
    for (block *b = h->blocks; b != NULL; b = b->next)
      if (hip_number(b->start) == words[0]) b->freed = true;
    words[0] = 0;
    return;
  }
  block *b = malloc(sizeof *b);
  void *at = b != NULL && words[1] > 0 ? shared(h->device, words[1], words[1] % SLAB == 0 ? SLAB : PAGE) : NULL;
  if (at == NULL) {
    free(b);
  } else {
    *b = (block){at, false, h->blocks};
    h->blocks = b;
  }
  words[0] = hip_number(at);
}

static void serve_packet(host_side *h, packet *p, payload *data) {
  for (uint64_t left = p->active; left != 0; left &= left - 1) {
    uint64_t *words = data->slot[__builtin_ctzll(left)];
    if (p->service == SERVICE_PRINTF)
      serve_printf(h, words);
    else if (p->service == SERVICE_MEMORY)
      serve_memory(h, words);
    else
      door_unserved("a kernel's call of the host: service %u", p->service);
  }
  atomic_fetch_and(&p->control, ~1u);
}

/* All that wait. A wave waits for its call, so that the order of its calls is kept. */
static void serve_all(host_side *h) {
  call_buffer *c = h->calls;
  for (uint64_t at = atomic_exchange(&c->ready_stack, 0); at != 0;) {
    packet *p = &c->packets[at & c->mask];
    uint64_t next = atomic_load(&p->next);
    serve_packet(h, p, &c->payloads[at & c->mask]);
    at = next;
  }
}

static void *serve(void *argument) {
  host_side *h = argument;
  const struct timespec pause = {0, 20000};
  while (!atomic_load(&h->ends)) {
    serve_all(h);
    nanosleep(&pause, NULL);
  }
  return NULL;
}

/* ---- Hidden arguments ---- */

static bool make_calls(host_side *h) {
  if (h->calls != NULL) return true;
  call_buffer *c = shared(h->device, CALL_BYTES, PAGE);
  if (c == NULL) return false;
  c->packets = (packet *)(void *)((uint8_t *)c + PACKETS_AT);
  c->payloads = (payload *)(void *)((uint8_t *)c + PAYLOADS_AT);
  c->doorbell = hip_number(c->signal);
  c->mask = PACKETS - 1;
  uint64_t next = PACKETS; /* packet 0 with the tag 1: the number 0 is no packet */
  for (uint64_t n = 1; n < PACKETS; n++) {
    c->packets[n].next = next;
    next = n;
  }
  c->free_stack = next;
  h->calls = c;
  return true;
}

static bool make_once(void **at, device *d, size_t bytes) {
  if (*at == NULL) *at = shared(d, bytes, PAGE);
  return *at != NULL;
}

static void start_sync(grid_sync *s, const launch_request *r) {
  *s = (grid_sync){.grids = 1, .workgroups = r->grid.x * r->grid.y * r->grid.z};
}

/* One of the kinds that need memory; *value is 0 for the others. */
static bool make(host_side *h, const char *kind, const launch_request *r, uint64_t *value) {
  bool good = true;
  void *at = NULL;
  if (strcmp(kind, "hidden_hostcall_buffer") == 0) {
    good = make_calls(h);
    at = h->calls;
  } else if (strcmp(kind, "hidden_heap_v1") == 0) {
    good = make_once(&h->heap, h->device, HEAP_BYTES); /* of zeros: a heap without slabs, which asks the host for them */
    at = h->heap;
  } else if (strcmp(kind, "hidden_printf_buffer") == 0) {
    good = make_once(&h->printf, h->device, PRINTF_BYTES);
    if (good) memcpy(h->printf, (uint32_t[]){0, PRINTF_BYTES - 8}, 8);
    at = h->printf;
  } else if (strcmp(kind, "hidden_multigrid_sync_arg") == 0 && r->cooperative) {
    good = make_once((void **)(void *)&h->sync, h->device, sizeof *h->sync);
    if (good) start_sync(h->sync, r);
    at = h->sync;
  }
  *value = hip_number(at);
  return good;
}

hipError_t hip_hidden_make(hidden_list *list, device *d, const function *f, const launch_request *r) {
  host_side *h = &sides[d->number];
  h->device = d;
  for (int a = 0; a < f->info.arg_count; a++) {
    const gfxsim_arg *arg = &f->info.args[a];
    uint64_t value;
    if (!arg->hidden) continue;
    if (!make(h, arg->kind, r, &value)) return hip_fail(hipErrorOutOfMemory, "%s: no memory for %s", r->call, arg->kind);
    if (value == 0 || list->count == HIDDEN_MOST) continue;
    list->row[list->count++] = (gfxsim_hidden){arg->kind, value};
    if (strcmp(arg->kind, "hidden_multigrid_sync_arg") == 0) list->grid_sync = hip_number(&h->sync->arrived);
    list->calls |= strcmp(arg->kind, "hidden_hostcall_buffer") == 0;
    list->prints |= strcmp(arg->kind, "hidden_printf_buffer") == 0;
  }
  return hipSuccess;
}

hipError_t hip_hostcalls_begin(device *d, const hidden_list *list) {
  host_side *h = &sides[d->number];
  if (!list->calls) return hipSuccess;
  atomic_store(&h->ends, false);
  h->runs = pthread_create(&h->thread, NULL, serve, h) == 0;
  return h->runs ? hipSuccess : hip_fail(hipErrorOutOfMemory, "a kernel that calls the host: no thread can be started");
}

static void drop_freed(host_side *h) {
  for (block **at = &h->blocks; *at != NULL;) {
    block *b = *at;
    if (!b->freed) {
      at = &b->next;
      continue;
    }
    *at = b->next;
    pthread_mutex_lock(&h->device->lock);
    gfxsim_unmap_host(h->device->sim, b->start);
    pthread_mutex_unlock(&h->device->lock);
    free(b->start);
    free(b);
  }
}

static const char *format_at(const void *kernel, int index) { return gfxsim_kernel_format(kernel, index); }

void hip_hostcalls_end(device *d, const function *f, const hidden_list *list) {
  host_side *h = &sides[d->number];
  if (list->calls && h->runs) {
    atomic_store(&h->ends, true);
    pthread_join(h->thread, NULL);
    h->runs = false;
    drop_freed(h);
  }
  if (list->prints) printf_buffer(h->printf, PRINTF_BYTES, format_at, f->kernel);
}

static bool within(const void *start, size_t bytes, uint64_t address) {
  return start != NULL && address - hip_number(start) < bytes;
}

/* Known, harmless and not the program's: by the memory, which only that library uses. */
const char *hip_hostcall_memory(const device *d, uint64_t address) {
  const host_side *h = &sides[d->number];
  if (within(h->calls, CALL_BYTES, address))
    return "__ockl_hostcall_internal: global memory race: its stacks are changed by compare and swap, beside plain stores "
           "of links";
  if (within(h->heap, HEAP_BYTES, address))
    return "__ockl_dm_alloc: global memory race: its heap is searched by plain loads beside atomics";
  return NULL;
}
