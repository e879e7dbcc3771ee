/* What the parts of the HSA door share. One mutex, `world`, guards all that they keep, and one condition variable is signalled
 * at every change. That is fast enough: a program has a few dozen calls in flight, and a launch takes milliseconds. */
#ifndef GFXSIM_HSA_STATE_H
#define GFXSIM_HSA_STATE_H
#include <pthread.h>
#include <stdatomic.h>

#include "hsa_abi.h"
#include "sim/door/tell.h"
#include "sim/include/gfxsim.h"

enum { DEVICES_MOST = DOOR_DEVICES_MOST };

/* How a launch ended: whether a finding ended it, and whether there was any finding. */
typedef struct fatal_report {
  bool found, other;
  gfxsim_kind kind;
  uint64_t address;
} fatal_report;

typedef struct device {
  gfxsim_device *sim;
  fatal_report run;     /* of the launch that runs */
  pthread_mutex_t lock; /* libgfxsim takes one thread at a time: copies and launches of a device are serialized */
  int number;
} device;

extern pthread_mutex_t world;
extern pthread_cond_t changed;

/* ---- hsa_init.c ---- */

bool hsa_ready(void);  /* between hsa_init and hsa_shut_down, and not in a forked child */
bool hsa_forked(void); /* a child of the process that opened the devices: it has none of the threads that serve them */
int hsa_device_count(void);
device *hsa_device_at(int number);
unsigned long hsa_profile(void);
bool hsa_unified(void); /* the program asked for unified shared memory, or HSA_XNACK=1 is set */
/* Counts what the door does not have and returns the status. */
__attribute__((format(printf, 2, 3))) hsa_status hsa_unserved(hsa_status status, const char *format, ...);
/* A memory fault of a kernel: true when the program has a handler, which was called. */
bool hsa_memory_fault(const device *d, uint64_t address);
#define HSA_ENTER()                               \
  do {                                            \
    if (!hsa_ready()) return HSA_NOT_INITIALIZED; \
  } while (0)

/* For calls that give something back: at the end of a forked child there is nothing to do. */
#define HSA_LEAVE()                       \
  do {                                    \
    if (hsa_forked()) return HSA_SUCCESS; \
    HSA_ENTER();                          \
  } while (0)

/* What gfxsim reports of the launch between these two. */
void hsa_run_begin(device *d);
fatal_report hsa_run_end(const device *d);

/* ---- hsa_agent.c ---- */

hsa_agent hsa_agent_of(const device *d); /* NULL: the host */
/* The GPU of a handle; NULL for the host and for a handle that is not an agent; `known` tells these apart. */
device *hsa_agent_device(hsa_agent agent, bool *known);

bool hsa_pool_of(hsa_pool pool, device **d); /* d: NULL for one of the host */

/* ---- hsa_memory.c ---- */

device *hsa_owner(const void *address); /* NULL: host memory */
hsa_status hsa_copy_now(void *to, const void *from, size_t bytes);
void hsa_memory_release(void);

/* ---- hsa_signal.c ---- */

/* The caller has `world`. The handle 0 means no signal: its value is 0, and changes of it are none. */
bool hsa_signal_known(hsa_signal handle); /* a live one, or 0 */
int64_t hsa_signal_value(hsa_signal handle);
void hsa_signal_add(hsa_signal handle, int64_t value);
void hsa_signal_set(hsa_signal handle, int64_t value);
void hsa_signals_release(void);
hsa_status hsa_signal_create(int64_t value, uint32_t consumers, const hsa_agent *agents, hsa_signal *handle);
hsa_status hsa_signal_destroy(hsa_signal handle);

/* ---- hsa_packet.c ---- */

enum { HSA_PACKET_BYTES = 64, HSA_PACKET_TYPE = 0xff /* the header's bits with the type */ };

/* How a packet ended. With an error the queue fails: it sets the completion signal, and takes no more packets. */
typedef struct packet_end {
  hsa_status status;
  hsa_signal completion;
} packet_end;
/* The caller does not have `world`. A barrier waits until its signals let it go, or until `ends`, which `world` guards. */
packet_end hsa_packet_run(device *d, const uint8_t bytes[HSA_PACKET_BYTES], const bool *ends);

/* ---- hsa_copy.c, hsa_queue.c, hsa_executable.c ---- */

void hsa_copies_release(void);
void hsa_queues_release(void);
gfxsim_kernel *hsa_kernel(uint64_t object, device **on); /* NULL where it is not a kernel */
void hsa_executables_release(void);

#endif
