/* The HSA door, called directly and not by a runtime: packets, signals, copies, and everything that must be refused.
 * Usage: hsa-door FILE.hsaco OTHER_CHIP.hsaco, of sim/test/program/assembly.s. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hsa/hsa_abi.h"

hsa_status hsa_init(void);
hsa_status hsa_shut_down(void);
hsa_status hsa_system_get_info(unsigned attribute, void *value);
hsa_status hsa_status_string(unsigned status, const char **text);
hsa_status hsa_iterate_agents(hsa_status (*call)(hsa_agent, void *), void *data);
hsa_status hsa_agent_get_info(hsa_agent agent, unsigned attribute, void *value);
hsa_status hsa_amd_agent_iterate_memory_pools(hsa_agent agent, hsa_status (*call)(hsa_pool, void *), void *data);
hsa_status hsa_amd_memory_pool_get_info(hsa_pool pool, unsigned attribute, void *value);
hsa_status hsa_amd_memory_pool_allocate(hsa_pool pool, size_t bytes, uint32_t flags, void **pointer);
hsa_status hsa_amd_memory_pool_free(void *pointer);
hsa_status hsa_amd_agents_allow_access(uint32_t count, const hsa_agent *agents, const uint32_t *flags, const void *pointer);
hsa_status hsa_amd_memory_lock(void *host, size_t bytes, hsa_agent *agents, int count, void **agent_pointer);
hsa_status hsa_amd_memory_unlock(void *host);
hsa_status hsa_amd_memory_fill(void *to, uint32_t value, size_t count);
hsa_status hsa_amd_pointer_info(const void *pointer, hsa_pointer_info *info, void *(*alloc)(size_t), uint32_t *count,
                                hsa_agent **agents);
hsa_status hsa_memory_copy(void *to, const void *from, size_t bytes);
hsa_status hsa_amd_memory_async_copy(void *to, hsa_agent to_agent, const void *from, hsa_agent from_agent, size_t bytes,
                                     uint32_t waits, const hsa_signal *wait, hsa_signal completion);
hsa_status hsa_signal_create(int64_t value, uint32_t consumers, const hsa_agent *agents, hsa_signal *handle);
hsa_status hsa_signal_destroy(hsa_signal handle);
int64_t hsa_signal_wait_scacquire(hsa_signal handle, unsigned condition, int64_t compare, uint64_t timeout, unsigned how);
void hsa_signal_store_relaxed(hsa_signal handle, int64_t value);
hsa_status hsa_amd_signal_async_handler(hsa_signal handle, unsigned condition, int64_t value, hsa_signal_handler *call,
                                        void *argument);
hsa_status hsa_amd_register_system_event_handler(hsa_event_handler *handler, void *data);
hsa_status hsa_queue_create(hsa_agent agent, uint32_t size, uint32_t type, void (*error)(hsa_status, hsa_queue *, void *),
                            void *data, uint32_t private_bytes, uint32_t group_bytes, hsa_queue **queue);
hsa_status hsa_queue_destroy(hsa_queue *queue);
uint64_t hsa_queue_add_write_index_relaxed(const hsa_queue *queue, uint64_t value);
hsa_status hsa_code_object_deserialize(void *data, size_t bytes, const char *options, hsa_code_object *made);
hsa_status hsa_code_object_destroy(hsa_code_object object);
hsa_status hsa_executable_create(unsigned profile, unsigned state, const char *options, hsa_executable *made);
hsa_status hsa_executable_load_code_object(hsa_executable e, hsa_agent agent, hsa_code_object object, const char *options);
hsa_status hsa_executable_freeze(hsa_executable e, const char *options);
hsa_status hsa_executable_get_symbol_by_name(hsa_executable e, const char *name, const hsa_agent *agent, hsa_symbol *symbol);
hsa_status hsa_executable_symbol_get_info(hsa_symbol symbol, unsigned attribute, void *value);
hsa_status hsa_executable_destroy(hsa_executable e);

static int failures;
#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) {                                        \
      printf("door.c:%d: not so: %s\n", __LINE__, #condition); \
      failures++;                                              \
    }                                                          \
  } while (0)

enum { N = 256 };
#define SOON UINT64_C(30000000000) /* ns: what does not happen by then has failed */

static hsa_agent host, gpu;
static hsa_pool device_pool, kernarg_pool;
static hsa_executable loaded;
static uint64_t axpy;
static _Atomic int errors, events;
static _Atomic uint64_t event_address;

static hsa_status take_agent(hsa_agent agent, void *data) {
  (void)data;
  uint32_t kind = 7;
  CHECK(hsa_agent_get_info(agent, HSA_AGENT_DEVICE, &kind) == HSA_SUCCESS);
  *(kind == HSA_DEVICE_GPU ? &gpu : &host) = agent;
  return HSA_SUCCESS;
}

static hsa_status take_pool(hsa_pool pool, void *data) {
  uint32_t flags = 0;
  CHECK(hsa_amd_memory_pool_get_info(pool, HSA_POOL_FLAGS, &flags) == HSA_SUCCESS);
  if (data != NULL || (flags & HSA_POOL_KERNARG) != 0) *(data != NULL ? &device_pool : &kernarg_pool) = pool;
  return HSA_SUCCESS;
}

static void on_error(hsa_status status, hsa_queue *queue, void *data) {
  (void)queue;
  *(_Atomic int *)data = (int)status;
  errors++;
}

static hsa_status on_event(const hsa_event *event, void *data) {
  (void)data;
  event_address = event->address;
  events++;
  return HSA_SUCCESS;
}

/* ---- Packets ---- */

static void push(hsa_queue *queue, const void *packet) {
  uint64_t at = hsa_queue_add_write_index_relaxed(queue, 1);
  uint8_t *slot = (uint8_t *)queue->base_address + at % queue->size * 64;
  uint16_t header;
  memcpy(&header, packet, sizeof header);
  memcpy(slot + 2, (const uint8_t *)packet + 2, 62);
  atomic_store((_Atomic uint16_t *)(void *)slot, header); /* last: the queue may read it from here on */
  hsa_signal_store_relaxed(queue->doorbell_signal, (int64_t)at);
}

static hsa_queue *open_queue(uint32_t size, _Atomic int *status) {
  hsa_queue *queue = NULL;
  *status = 0;
  CHECK(hsa_queue_create(gpu, size, 0, on_error, status, UINT32_MAX, UINT32_MAX, &queue) == HSA_SUCCESS);
  return queue;
}

static hsa_signal signal_of(int64_t value) {
  hsa_signal made = {0};
  CHECK(hsa_signal_create(value, 0, NULL, &made) == HSA_SUCCESS);
  return made;
}

static int64_t wait_zero(hsa_signal handle) { return hsa_signal_wait_scacquire(handle, HSA_LT, 1, SOON, 0); }

typedef struct arguments {
  float *a, *b, *c;
  int n;
} arguments;

static hsa_dispatch dispatch(arguments *kernarg, hsa_signal completion) {
  return (hsa_dispatch){.header = HSA_PACKET_DISPATCH,
                        .setup = 1,
                        .workgroup = {64, 1, 1},
                        .grid = {N, 1, 1},
                        .kernel_object = axpy,
                        .kernarg = (uint64_t)(uintptr_t)kernarg,
                        .completion = completion};
}

/* ---- What must work ---- */

static arguments *make_arguments(void) {
  arguments *kernarg = NULL;
  CHECK(hsa_amd_memory_pool_allocate(kernarg_pool, sizeof *kernarg, 0, (void **)&kernarg) == HSA_SUCCESS);
  CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, kernarg) == HSA_SUCCESS);
  float **const arrays[] = {&kernarg->a, &kernarg->b, &kernarg->c};
  for (int n = 0; n < 3; n++)
    CHECK(hsa_amd_memory_pool_allocate(device_pool, N * sizeof(float), 0, (void **)arrays[n]) == HSA_SUCCESS);
  kernarg->n = N;
  return kernarg;
}

static void free_arguments(arguments *kernarg) {
  CHECK(hsa_amd_memory_pool_free(kernarg->a) == HSA_SUCCESS);
  CHECK(hsa_amd_memory_pool_free(kernarg->b) == HSA_SUCCESS);
  CHECK(hsa_amd_memory_pool_free(kernarg->c) == HSA_SUCCESS);
  CHECK(hsa_amd_memory_pool_free(kernarg) == HSA_SUCCESS);
  CHECK(hsa_amd_memory_pool_free(kernarg) == HSA_INVALID_ALLOCATION);
}

static _Atomic int handled;
static bool on_signal(int64_t value, void *argument) {
  (void)value;
  handled++;
  hsa_signal_store_relaxed(*(hsa_signal *)argument, handled < 2);
  return handled < 2; /* once more */
}

/* A copy, a launch after a barrier that waits for it, and a copy that waits for the launch. */
static void test_chain(void) {
  float a[N], c[N] = {0};
  for (int n = 0; n < N; n++) a[n] = (float)n;
  arguments *kernarg = make_arguments();
  _Atomic int status;
  hsa_queue *queue = open_queue(64, &status);
  hsa_signal start = signal_of(1), copied = signal_of(1), ran = signal_of(1), done = signal_of(1);
  hsa_signal twice = signal_of(1);
  CHECK(hsa_amd_memory_fill(kernarg->b, 0x3f800000, N) == HSA_SUCCESS); /* 1.0 */
  CHECK(hsa_amd_signal_async_handler(done, HSA_EQ, 0, on_signal, &twice) == HSA_SUCCESS);
  CHECK(hsa_amd_memory_async_copy(c, gpu, kernarg->c, gpu, sizeof c, 1, &ran, done) == HSA_SUCCESS);
  hsa_barrier all = {.header = HSA_PACKET_BARRIER_AND, .dependency = {copied}};
  push(queue, &all);
  hsa_dispatch launch = dispatch(kernarg, ran);
  push(queue, &launch);
  CHECK(hsa_amd_memory_async_copy(kernarg->a, gpu, a, host, sizeof a, 1, &start, copied) == HSA_SUCCESS);
  CHECK(hsa_signal_wait_scacquire(done, HSA_EQ, 0, 20000000, 0) == 1); /* nothing starts before `start` */
  hsa_signal_store_relaxed(start, 0);
  CHECK(wait_zero(done) == 0);
  for (int n = 0; n < N; n++) CHECK(c[n] == 3 * a[n] + 1);
  hsa_barrier any = {.header = HSA_PACKET_BARRIER_OR, .dependency = {done, signal_of(1)}, .completion = signal_of(1)};
  push(queue, &any);
  CHECK(wait_zero(any.completion) == 0);
  CHECK(hsa_queue_destroy(queue) == HSA_SUCCESS);
  CHECK(wait_zero(twice) == 0 && status == 0 && handled == 2);
  free_arguments(kernarg);
}

static void test_lock(void) {
  static float x[N];
  void *seen = NULL;
  hsa_pointer_info info = {.size = sizeof info};
  CHECK(hsa_amd_memory_lock(x, sizeof x, &gpu, 1, &seen) == HSA_SUCCESS && seen == x);
  CHECK(hsa_amd_pointer_info(x + 3, &info, NULL, NULL, NULL) == HSA_SUCCESS);
  CHECK(info.type == HSA_POINTER_LOCKED && info.host_base == x && info.bytes == sizeof x);
  arguments *kernarg = make_arguments();
  float *own = kernarg->c;
  kernarg->c = x;
  CHECK(hsa_amd_memory_fill(kernarg->a, 0x40000000, N) == HSA_SUCCESS); /* 2.0 */
  CHECK(hsa_amd_memory_fill(kernarg->b, 0, N) == HSA_SUCCESS);
  _Atomic int status;
  hsa_queue *queue = open_queue(64, &status);
  hsa_dispatch launch = dispatch(kernarg, signal_of(1));
  push(queue, &launch);
  CHECK(wait_zero(launch.completion) == 0 && x[0] == 6 && x[N - 1] == 6);
  CHECK(hsa_amd_memory_unlock(x) == HSA_SUCCESS);
  CHECK(hsa_amd_memory_unlock(x) == HSA_INVALID_ARGUMENT);
  launch.completion = signal_of(1); /* now it is host memory that nobody opened: a memory fault */
  int before = events;
  push(queue, &launch);
  CHECK(wait_zero(launch.completion) < 0);
  /* Workgroups run in any order: which of them is first is open. */
  CHECK(events == before + 1 && event_address - (uint64_t)(uintptr_t)x < sizeof x);
  CHECK(hsa_queue_destroy(queue) == HSA_SUCCESS);
  kernarg->c = own;
  free_arguments(kernarg);
}

/* ---- What must be refused ---- */

static void refuse(const void *packet, hsa_signal completion, hsa_status wanted) {
  _Atomic int status;
  hsa_queue *queue = open_queue(64, &status);
  int before = errors;
  push(queue, packet);
  if (completion.handle != 0) CHECK(wait_zero(completion) < 0);
  for (int n = 0; n < 3000 && errors == before; n++) hsa_signal_wait_scacquire(signal_of(1), HSA_EQ, 0, 10000000, 0);
  CHECK(errors == before + 1 && status == (int)wanted);
  CHECK(hsa_queue_destroy(queue) == HSA_SUCCESS);
}

static void test_packets(void) {
  arguments *kernarg = make_arguments();
  hsa_dispatch good = dispatch(kernarg, signal_of(1)), bad = good;
  bad.grid[0] = 65; /* a part of a workgroup */
  refuse(&bad, bad.completion, HSA_INVALID_PACKET_FORMAT);
  bad = good, bad.grid[1] = 0, bad.completion = signal_of(1);
  refuse(&bad, bad.completion, HSA_INVALID_PACKET_FORMAT);
  bad = good, bad.kernel_object += 8, bad.completion = signal_of(1);
  refuse(&bad, bad.completion, HSA_INVALID_PACKET_FORMAT);
  bad = good, bad.kernarg = 0, bad.completion = signal_of(1);
  refuse(&bad, bad.completion, HSA_INVALID_PACKET_FORMAT);
  bad = good, bad.kernarg += 8, bad.completion = signal_of(1);
  refuse(&bad, bad.completion, HSA_INVALID_PACKET_FORMAT);
  bad = good, bad.setup = 0, bad.completion = signal_of(1);
  refuse(&bad, bad.completion, HSA_INVALID_PACKET_FORMAT);
  bad = good, bad.grid[1] = 2, bad.completion = signal_of(1);
  refuse(&bad, bad.completion, HSA_INVALID_PACKET_FORMAT);
  bad = good, bad.completion.handle = 12345;
  refuse(&bad, (hsa_signal){0}, HSA_INVALID_PACKET_FORMAT);
  bad = good, bad.kernarg = 4096, bad.completion = signal_of(1);
  refuse(&bad, bad.completion, HSA_INVALID_PACKET_FORMAT);
  bad = good, bad.group_bytes = 1 << 20, bad.completion = signal_of(1);
  refuse(&bad, bad.completion, HSA_INVALID_PACKET_FORMAT);
  bad = good, bad.header = 9;
  refuse(&bad, (hsa_signal){0}, HSA_INVALID_PACKET_FORMAT);
  hsa_barrier barrier = {.header = HSA_PACKET_BARRIER_AND, .dependency = {{12345}}};
  refuse(&barrier, (hsa_signal){0}, HSA_INVALID_PACKET_FORMAT);
  free_arguments(kernarg);
}

/* Any 62 bytes after a valid type: the packet is refused or runs, and nothing crashes or waits for ever. */
static void test_random(void) {
  uint32_t state = 1;
  for (int packet = 0; packet < 200; packet++) {
    uint8_t bytes[64];
    for (int b = 0; b < 64; b++) bytes[b] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
    uint16_t header = (uint16_t)(packet % 6 == HSA_PACKET_INVALID ? 255 : packet % 6);
    memcpy(bytes, &header, sizeof header);
    refuse(bytes, (hsa_signal){0}, HSA_INVALID_PACKET_FORMAT);
  }
}

/* More packets than the queue holds, while a barrier keeps it from reading them; then it ends with work in flight. */
static void test_overflow(void) {
  _Atomic int status;
  hsa_queue *queue = open_queue(4, &status);
  hsa_signal never = signal_of(1);
  hsa_barrier barrier = {.header = HSA_PACKET_BARRIER_AND, .dependency = {never}};
  for (int n = 0; n < 12; n++) push(queue, &barrier);
  hsa_signal_store_relaxed(never, 0);
  for (int n = 0; n < 3000 && status == 0; n++) hsa_signal_wait_scacquire(signal_of(1), HSA_EQ, 0, 10000000, 0);
  CHECK(status == HSA_INVALID_PACKET_FORMAT);
  CHECK(hsa_queue_destroy(queue) == HSA_SUCCESS);
  queue = open_queue(64, &status);
  barrier.dependency[0] = signal_of(1);
  push(queue, &barrier);
  push(queue, &barrier);
  CHECK(hsa_queue_destroy(queue) == HSA_SUCCESS);
  CHECK(hsa_queue_destroy(queue) == HSA_INVALID_QUEUE);
}

static void test_calls(void) {
  hsa_queue *queue;
  hsa_signal made;
  char value[64];
  const char *text;
  void *pointer;
  CHECK(hsa_queue_create(gpu, 0, 0, NULL, NULL, 0, 0, &queue) == HSA_INVALID_ARGUMENT);
  CHECK(hsa_queue_create(gpu, 48, 0, NULL, NULL, 0, 0, &queue) == HSA_INVALID_ARGUMENT);
  CHECK(hsa_queue_create(host, 64, 0, NULL, NULL, 0, 0, &queue) == HSA_INVALID_QUEUE_CREATION);
  CHECK(hsa_queue_create((hsa_agent){99}, 64, 0, NULL, NULL, 0, 0, &queue) == HSA_INVALID_AGENT);
  CHECK(hsa_agent_get_info(gpu, 0xbeef, value) == HSA_INVALID_ARGUMENT);
  CHECK(hsa_agent_get_info(gpu, HSA_AGENT_NAME, value) == HSA_SUCCESS && strncmp(value, "gfx9", 4) == 0);
  CHECK(hsa_system_get_info(0xbeef, value) == HSA_INVALID_ARGUMENT);
  CHECK(hsa_status_string(HSA_EXCEPTION, &text) == HSA_SUCCESS && hsa_status_string(77, &text) == HSA_INVALID_ARGUMENT);
  CHECK(hsa_signal_destroy((hsa_signal){1}) == HSA_INVALID_SIGNAL);
  CHECK(hsa_signal_create(1, 1, NULL, &made) == HSA_INVALID_ARGUMENT);
  CHECK(hsa_amd_memory_pool_allocate(device_pool, 0, 0, &pointer) == HSA_INVALID_ALLOCATION);
  CHECK(hsa_amd_memory_pool_allocate(device_pool, (size_t)1 << 44, 0, &pointer) == HSA_OUT_OF_RESOURCES);
  CHECK(hsa_memory_copy(value, NULL, 4) == HSA_INVALID_ARGUMENT);
  CHECK(hsa_amd_memory_async_copy(value, gpu, value, gpu, 4, 0, NULL, (hsa_signal){5}) == HSA_INVALID_SIGNAL);
  CHECK(hsa_amd_memory_lock(NULL, 4, NULL, 0, &pointer) == HSA_INVALID_ARGUMENT);
}

/* ---- Loading ---- */

static uint8_t bytes[1 << 20];

static hsa_status load(const char *path, hsa_executable *made) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  if (file == NULL) return HSA_ERROR;
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  hsa_code_object object;
  CHECK(hsa_code_object_deserialize(bytes, size, NULL, &object) == HSA_SUCCESS);
  CHECK(hsa_executable_create(1, 0, NULL, made) == HSA_SUCCESS);
  hsa_status status = hsa_executable_load_code_object(*made, gpu, object, NULL);
  CHECK(hsa_code_object_destroy(object) == HSA_SUCCESS);
  CHECK(hsa_executable_freeze(*made, NULL) == HSA_SUCCESS);
  return status;
}

static void test_load(const char *own, const char *other) {
  hsa_executable wrong;
  hsa_symbol symbol = {0};
  uint32_t size = 0;
  CHECK(load(other, &wrong) == HSA_INVALID_CODE_OBJECT);
  CHECK(hsa_executable_destroy(wrong) == HSA_SUCCESS && hsa_executable_destroy(wrong) == HSA_INVALID_EXECUTABLE);
  CHECK(load(own, &loaded) == HSA_SUCCESS);
  CHECK(hsa_executable_get_symbol_by_name(loaded, "axpy", &gpu, &symbol) == HSA_INVALID_SYMBOL_NAME);
  CHECK(hsa_executable_get_symbol_by_name(loaded, "axpy.kd", &gpu, &symbol) == HSA_SUCCESS);
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_KERNEL_OBJECT, &axpy) == HSA_SUCCESS);
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_KERNARG_SIZE, &size) == HSA_SUCCESS && size == 28);
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_VARIABLE_SIZE, &size) == HSA_INVALID_ARGUMENT);
  CHECK(hsa_executable_symbol_get_info((hsa_symbol){3}, HSA_SYMBOL_TYPE, &size) == HSA_INVALID_EXECUTABLE_SYMBOL);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: hsa-door FILE.hsaco OTHER_CHIP.hsaco\n"), 2;
  uint16_t version;
  CHECK(hsa_system_get_info(HSA_SYSTEM_VERSION_MAJOR, &version) == HSA_NOT_INITIALIZED);
  CHECK(hsa_init() == HSA_SUCCESS && hsa_init() == HSA_SUCCESS && hsa_shut_down() == HSA_SUCCESS);
  CHECK(hsa_iterate_agents(take_agent, NULL) == HSA_SUCCESS);
  CHECK(hsa_amd_agent_iterate_memory_pools(host, take_pool, NULL) == HSA_SUCCESS);
  CHECK(hsa_amd_agent_iterate_memory_pools(gpu, take_pool, &gpu) == HSA_SUCCESS);
  CHECK(hsa_amd_register_system_event_handler(on_event, NULL) == HSA_SUCCESS);
  test_load(argv[1], argv[2]);
  if (failures == 0) {
    test_chain();
    test_lock();
    test_calls();
    test_packets();
    test_random();
    test_overflow();
  }
  CHECK(hsa_shut_down() == HSA_SUCCESS && hsa_shut_down() == HSA_NOT_INITIALIZED);
  CHECK(hsa_init() == HSA_SUCCESS && hsa_shut_down() == HSA_SUCCESS); /* and once more */
  printf("%d failures\n", failures);
  return failures > 0;
}
