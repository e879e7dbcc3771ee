/* Fuzz target of the HSA door's packets: each is executed, or refused with a message and the queue's error.
 * Input: records of a byte that says which of the fields below get valid values, and the 64 bytes of a packet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/hsa/hsa_state.h"

hsa_status hsa_init(void);
hsa_status hsa_code_object_deserialize(void *data, size_t bytes, const char *options, hsa_code_object *made);
hsa_status hsa_executable_create(unsigned profile, unsigned state, const char *options, hsa_executable *made);
hsa_status hsa_executable_load_code_object(hsa_executable e, hsa_agent agent, hsa_code_object object, const char *options);
hsa_status hsa_executable_freeze(hsa_executable e, const char *options);
hsa_status hsa_executable_get_symbol_by_name(hsa_executable e, const char *name, const hsa_agent *agent, hsa_symbol *symbol);
hsa_status hsa_executable_symbol_get_info(hsa_symbol symbol, unsigned attribute, void *value);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD = 1 + HSA_PACKET_BYTES, N = 256, SIGNALS = 3, GROUPS_MOST = 64 };
enum { KERNEL = 1, REVERSE = 2, KERNARG = 4, COMPLETION = 8, DEPENDENCIES = 16, SHAPE = 32, SIZES = 64 };

typedef struct arguments {
  uint64_t a, b, c;
  int n;
} arguments;

static device *gpu;
static uint64_t kernels[2], kernarg; /* axpy, reverse */

#define MUST(condition)        \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

/* ---- Once ---- */

/* Findings go into the file that `gfxsim exec` would read, not to stderr. */
static void open_tally(void) {
  char path[] = "/tmp/gfxsim-fuzz-XXXXXX";
  static const uint32_t version = TALLY_VERSION;
  int file = mkstemp(path);
  MUST(file >= 0 && ftruncate(file, sizeof(tally)) == 0 &&
       pwrite(file, &version, sizeof version, 0) == (ssize_t)sizeof version);
  close(file);
  MUST(setenv(TALLY_VARIABLE, path, 1) == 0 && setenv("GFXSIM_THREADS", "1", 1) == 0);
  door_tally();
  unlink(path);
}

static void load_kernels(void) {
  static uint8_t bytes[65536];
  static const char *const names[] = {"axpy.kd", "reverse.kd"};
  FILE *file = fopen(OBJECT, "rb");
  MUST(file != NULL);
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  hsa_agent agent = hsa_agent_of(gpu);
  hsa_code_object object;
  hsa_executable executable;
  MUST(hsa_code_object_deserialize(bytes, size, NULL, &object) == HSA_SUCCESS);
  MUST(hsa_executable_create(1, 0, NULL, &executable) == HSA_SUCCESS);
  MUST(hsa_executable_load_code_object(executable, agent, object, NULL) == HSA_SUCCESS);
  MUST(hsa_executable_freeze(executable, NULL) == HSA_SUCCESS);
  for (int k = 0; k < 2; k++) {
    hsa_symbol symbol;
    MUST(hsa_executable_get_symbol_by_name(executable, names[k], &agent, &symbol) == HSA_SUCCESS);
    MUST(hsa_executable_symbol_get_info(symbol, HSA_SYMBOL_KERNEL_OBJECT, &kernels[k]) == HSA_SUCCESS);
  }
}

static uint64_t allocate(size_t bytes) {
  uint64_t address;
  MUST(gfxsim_alloc(gpu->sim, bytes, &address) == GFXSIM_OK);
  return address;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  static float zeros[N];
  open_tally();
  MUST(hsa_init() == HSA_SUCCESS);
  gpu = hsa_device_at(0);
  load_kernels();
  arguments values = {allocate(sizeof zeros), allocate(sizeof zeros), allocate(sizeof zeros), N};
  MUST(gfxsim_write(gpu->sim, values.a, zeros, sizeof zeros) == GFXSIM_OK);
  MUST(gfxsim_write(gpu->sim, values.b, zeros, sizeof zeros) == GFXSIM_OK);
  kernarg = allocate(sizeof values);
  MUST(gfxsim_write(gpu->sim, kernarg, &values, sizeof values) == GFXSIM_OK);
  return 0;
}

/* ---- One packet ---- */

/* Without them, next to no packet would be a good one. A shape that is not replaced may have 2^96 workgroups: with good
 * arguments it would run for years, as on a GPU. */
static void put_valid(int which, uint8_t bytes[HSA_PACKET_BYTES], const hsa_signal signals[SIGNALS]) {
  hsa_dispatch d;
  hsa_barrier b;
  memcpy(&d, bytes, sizeof d);
  memcpy(&b, bytes, sizeof b);
  if ((d.header & HSA_PACKET_TYPE) != HSA_PACKET_DISPATCH) {
    for (int n = 0; (which & DEPENDENCIES) != 0 && n < HSA_BARRIER_SIGNALS; n++)
      b.dependency[n] = b.dependency[n].handle % 4 == 0 ? (hsa_signal){0} : signals[b.dependency[n].handle % SIGNALS];
    if ((which & COMPLETION) != 0) b.completion = signals[b.completion.handle % SIGNALS];
    memcpy(bytes, &b, sizeof b);
    return;
  }
  if ((which & KERNEL) != 0) d.kernel_object = kernels[(which & REVERSE) != 0];
  if ((which & KERNARG) != 0) d.kernarg = kernarg;
  if ((which & COMPLETION) != 0) d.completion = signals[d.completion.handle % SIGNALS];
  if ((which & SIZES) != 0) d.group_bytes = 256 + d.group_bytes % 70000, d.private_bytes %= 4096;
  uint64_t groups = 1;
  for (int n = 0; n < 3; n++)
    if (d.workgroup[n] > 0 && groups <= GROUPS_MOST) groups *= d.grid[n] / d.workgroup[n] + 1;
  if ((which & SHAPE) != 0 || groups > GROUPS_MOST) {
    d.setup = 1;
    for (int n = 0; n < 3; n++) {
      d.workgroup[n] = n > 0 ? 1 : (uint16_t)(1 + d.workgroup[n] % 64);
      d.grid[n] = n > 0 ? 1 : d.workgroup[n] * (1 + d.grid[n] % 4);
    }
  }
  memcpy(bytes, &d, sizeof d);
}

static int64_t value_of(hsa_signal handle) {
  pthread_mutex_lock(&world);
  int64_t value = hsa_signal_value(handle);
  pthread_mutex_unlock(&world);
  return value;
}

/* False: the packet failed, and its queue would take no more. */
static bool run(const uint8_t bytes[HSA_PACKET_BYTES]) {
  static const bool ends = true; /* a barrier that does not open gives up */
  hsa_dispatch d;
  memcpy(&d, bytes, sizeof d);
  int type = d.header & HSA_PACKET_TYPE;
  uint64_t findings = door_tally()->findings, launches = door_tally()->launches;
  int64_t before = value_of(d.completion);
  packet_end end = hsa_packet_run(gpu, bytes, &ends);
  if (end.status != HSA_SUCCESS) {
    MUST(door_tally()->findings > findings);
    MUST(end.completion.handle == 0 || end.completion.handle == d.completion.handle);
    return false;
  }
  MUST(type == HSA_PACKET_DISPATCH || type == HSA_PACKET_BARRIER_AND || type == HSA_PACKET_BARRIER_OR);
  if (type == HSA_PACKET_DISPATCH) {
    MUST(door_tally()->launches == launches + 1);
    MUST(d.completion.handle == 0 || value_of(d.completion) == before - 1);
  }
  MUST(door_tally()->launches == door_tally()->ended);
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hsa_signal signals[SIGNALS];
  for (int n = 0; n < SIGNALS; n++) MUST(hsa_signal_create(n, 0, NULL, &signals[n]) == HSA_SUCCESS);
  bool good = true;
  for (; good && size >= RECORD; data += RECORD, size -= RECORD) {
    uint8_t bytes[HSA_PACKET_BYTES];
    memcpy(bytes, data + 1, sizeof bytes);
    put_valid(data[0], bytes, signals);
    good = run(bytes);
  }
  for (int n = 0; n < SIGNALS; n++) MUST(hsa_signal_destroy(signals[n]) == HSA_SUCCESS);
  return 0;
}
