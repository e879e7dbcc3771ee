/* The runtime's life: devices are opened by the first hsa_init and closed by the last hsa_shut_down. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hsa_requires.h"
#include "hsa_state.h"

pthread_mutex_t world = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER; /* of references and devices */
static _Atomic int references;
static device devices[DEVICES_MOST];
static int device_count;
static bool unified;
static unsigned long profile;

static hsa_event_handler *event_handler;
static void *event_data;

static bool forked;

bool hsa_forked(void) { return forked; }

bool hsa_ready(void) {
  if (forked) door_note("a forked child can not use the devices that its parent opened (nor can it with ROCm): its calls fail");
  return references > 0 && !forked;
}

/* Another thread may have held the mutex when the process forked. */
static void enter_child(void) {
  forked = true;
  pthread_mutex_init(&world, NULL);
}
int hsa_device_count(void) { return device_count; }
device *hsa_device_at(int number) { return number >= 0 && number < device_count ? &devices[number] : NULL; }
unsigned long hsa_profile(void) { return profile; }
bool hsa_unified(void) { return unified; }

hsa_status hsa_unserved(hsa_status status, const char *format, ...) {
  char text[TALLY_NAME];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  door_unserved("%s", text);
  return status;
}

/* ---- Findings ---- */

static void found(const gfxsim_report *report, void *user) {
  device *d = user;
  door_found(report, device_count > 1 ? d->number : -1);
  d->run.other = true;
  if (report->fatal) d->run = (fatal_report){true, true, report->kind, report->address};
}

static bool suppressed(const gfxsim_report *report, void *user) {
  device *d = user;
  if (!door_suppressed(report)) return false;
  d->run.other = true;
  return true;
}

void hsa_run_begin(device *d) { d->run = (fatal_report){0}; }
fatal_report hsa_run_end(const device *d) { return d->run; }

/* ---- Devices ---- */

static hsa_status open_devices(void) {
  door_options asked;
  if (!door_options_read(&asked)) return HSA_INVALID_ARGUMENT;
  profile = asked.profile;
  unified = door_xnack() || requires_unified_memory();
  for (unsigned long n = 0; n < asked.devices; n++) {
    device *d = &devices[device_count];
    gfxsim_options options = {.threads = (int)asked.threads,
                              .unchecked = (uint32_t)asked.unchecked,
                              .report = found,
                              .suppress = suppressed,
                              .user = d,
                              .number = (uint32_t)n,
                              .turn = (uint32_t)asked.turn,
                              .seed = asked.seed};
    if (gfxsim_open(asked.chip, &options, &d->sim) != GFXSIM_OK || gfxsim_share_host(d->sim, unified) != GFXSIM_OK) {
      door_note("%s", gfxsim_last_error());
      gfxsim_close(d->sim);
      return HSA_OUT_OF_RESOURCES;
    }
    d->number = (int)n;
    pthread_mutex_init(&d->lock, NULL);
    device_count++;
  }
  return HSA_SUCCESS;
}

static void close_devices(void) {
  for (int n = 0; n < device_count; n++) {
    gfxsim_close(devices[n].sim);
    pthread_mutex_destroy(&devices[n].lock);
    devices[n] = (device){0};
  }
  device_count = 0;
}

HSA_DOOR hsa_status hsa_init(void) {
  hsa_status status = HSA_SUCCESS;
  pthread_mutex_lock(&life);
  if (references == 0) {
    static bool told;
    if (!told) told = pthread_atfork(NULL, NULL, enter_child) == 0;
    atomic_fetch_add(&door_tally()->processes, 1);
    status = open_devices();
    if (status != HSA_SUCCESS) close_devices();
  }
  if (status == HSA_SUCCESS) references++;
  pthread_mutex_unlock(&life);
  return status;
}

HSA_DOOR hsa_status hsa_shut_down(void) {
  HSA_LEAVE();
  pthread_mutex_lock(&life);
  if (references == 1) {
    hsa_queues_release(); /* ends their threads: what waits in them no longer runs, and says so */
    hsa_copies_release();
    hsa_signals_release();
    hsa_executables_release();
    hsa_memory_release();
    close_devices();
  }
  references--;
  pthread_mutex_unlock(&life);
  return HSA_SUCCESS;
}

/* ---- Events ---- */

HSA_DOOR hsa_status hsa_amd_register_system_event_handler(hsa_event_handler *handler, void *data) {
  HSA_ENTER();
  if (handler == NULL) return HSA_INVALID_ARGUMENT;
  event_handler = handler;
  event_data = data;
  return HSA_SUCCESS;
}

bool hsa_memory_fault(const device *d, uint64_t address) {
  if (event_handler == NULL) return false;
  hsa_event event = {HSA_EVENT_MEMORY_FAULT, hsa_agent_of(d), address, HSA_FAULT_PAGE_NOT_PRESENT};
  event_handler(&event, event_data);
  return true;
}

/* ---- The system ---- */

enum { NANOSECONDS = 1000000000 };

HSA_DOOR hsa_status hsa_system_get_info(unsigned attribute, void *value) {
  HSA_ENTER();
  if (value == NULL) return HSA_INVALID_ARGUMENT;
  struct timespec now;
  switch (attribute) {
    case HSA_SYSTEM_VERSION_MAJOR: *(uint16_t *)value = 1; break;
    case HSA_SYSTEM_VERSION_MINOR: *(uint16_t *)value = 1; break;
    case HSA_SYSTEM_TIMESTAMP:
      clock_gettime(CLOCK_MONOTONIC, &now);
      *(uint64_t *)value = (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
      break;
    case HSA_SYSTEM_TIMESTAMP_FREQUENCY: *(uint64_t *)value = NANOSECONDS; break;
    case HSA_SYSTEM_SIGNAL_MAX_WAIT: *(uint64_t *)value = UINT64_MAX; break;
    case HSA_SYSTEM_ENDIANNESS: *(uint32_t *)value = 0; break;    /* little */
    case HSA_SYSTEM_MACHINE_MODEL: *(uint32_t *)value = 1; break; /* large: addresses of 64 bits */
    case HSA_SYSTEM_SVM_SUPPORTED:
    case HSA_SYSTEM_SVM_BY_DEFAULT:
    case HSA_SYSTEM_XNACK: *(bool *)value = unified; break;
    default: return hsa_unserved(HSA_INVALID_ARGUMENT, "hsa_system_get_info: attribute 0x%x", attribute);
  }
  return HSA_SUCCESS;
}

HSA_DOOR hsa_status hsa_status_string(unsigned status, const char **text) {
  static const struct {
    hsa_status status;
    const char *text;
  } rows[] = {
      {HSA_SUCCESS, "success"},
      {HSA_INFO_BREAK, "a callback ended the iteration"},
      {HSA_ERROR, "an error of no other kind"},
      {HSA_INVALID_ARGUMENT, "an argument is invalid"},
      {HSA_INVALID_QUEUE_CREATION, "a queue of this kind can not be created"},
      {HSA_INVALID_ALLOCATION, "the allocation is invalid"},
      {HSA_INVALID_AGENT, "the agent is invalid"},
      {HSA_INVALID_SIGNAL, "the signal is invalid"},
      {HSA_INVALID_QUEUE, "the queue is invalid"},
      {HSA_OUT_OF_RESOURCES, "out of resources"},
      {HSA_INVALID_PACKET_FORMAT, "an AQL packet is malformed, or asks for what the agent does not have"},
      {HSA_NOT_INITIALIZED, "hsa_init was not called"},
      {HSA_INVALID_ISA, "the ISA is invalid"},
      {HSA_INVALID_CODE_OBJECT, "the code object is invalid, or for another chip"},
      {HSA_INVALID_EXECUTABLE, "the executable is invalid"},
      {HSA_FROZEN_EXECUTABLE, "the executable is frozen"},
      {HSA_INVALID_SYMBOL_NAME, "no symbol has this name"},
      {HSA_EXCEPTION, "a kernel raised a hardware exception"},
      {HSA_INVALID_EXECUTABLE_SYMBOL, "the symbol is invalid"},
      {HSA_INVALID_RUNTIME_STATE, "the runtime is in no state for this"},
  };
  if (text == NULL) return HSA_INVALID_ARGUMENT;
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
    if (rows[r].status == (hsa_status)status) {
      *text = rows[r].text;
      return HSA_SUCCESS;
    }
  return HSA_INVALID_ARGUMENT;
}
