#include "small_state.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static gfxsim_device *device;
static uint32_t unchecked; /* of devices that are opened without options */
static _Thread_local hipError_t last_error;

/* ---- Errors ---- */

hipError_t hip_fail(hipError_t error, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  gfxsim_fail(GFXSIM_INVALID, text);
  return error;
}

hipError_t hip_status(gfxsim_status status) {
  switch (status) {
    case GFXSIM_OK: return hipSuccess;
    case GFXSIM_INVALID: return hipErrorInvalidValue;
    case GFXSIM_NO_MEMORY: return hipErrorOutOfMemory;
    case GFXSIM_UNIMPLEMENTED: return hipErrorNotSupported;
    case GFXSIM_FAULT: return hipErrorLaunchFailure;
  }
  return hipErrorUnknown;
}

hipError_t hipPeekAtLastError(void) { return last_error; }

hipError_t hipGetLastError(void) {
  hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}

/* ---- Device ---- */

static gfxsim_status open_device(const char *chip, const gfxsim_options *options) {
  const gfxsim_options usual = {.unchecked = unchecked};
  if (strncmp(chip, "sim:", 4) == 0) chip += 4;
  return gfxsim_open(chip, options != NULL ? options : &usual, &device);
}

void gfxsim_hip_uncheck(uint32_t checks) {
  pthread_mutex_lock(&lock);
  unchecked = checks;
  pthread_mutex_unlock(&lock);
}

gfxsim_status gfxsim_hip_open(const char *chip, const gfxsim_options *options) {
  if (chip == NULL) return gfxsim_fail(GFXSIM_INVALID, "gfxsim_hip_open: chip = NULL: must be a name such as gfx950");
  pthread_mutex_lock(&lock);
  gfxsim_status status = device == NULL ? open_device(chip, options)
                                        : gfxsim_fail(GFXSIM_INVALID, "gfxsim_hip_open: a device is open: close it first");
  pthread_mutex_unlock(&lock);
  return status;
}

void gfxsim_hip_close(void) {
  pthread_mutex_lock(&lock);
  handle_close_all();
  gfxsim_close(device);
  device = NULL;
  pthread_mutex_unlock(&lock);
}

bool hip_enter(void) {
  pthread_mutex_lock(&lock);
  if (device != NULL) return true;
  const char *chip = getenv("GFXSIM_CHIP");
  if (chip != NULL) return open_device(chip, NULL) == GFXSIM_OK;
  gfxsim_fail(GFXSIM_INVALID, "no device: set GFXSIM_CHIP to a chip such as gfx950, or call gfxsim_hip_open");
  return false;
}

hipError_t hip_leave(hipError_t error) {
  pthread_mutex_unlock(&lock);
  if (error != hipSuccess) last_error = error;
  return error;
}

gfxsim_device *hip_device(void) { return device; }

/* ---- Handles ---- */

/* A handle: the top byte a mark that no pointer of a process has, then the slot's generation, then its number. */
enum { NUMBER_BITS = 24, SLOTS_MOST = 1 << NUMBER_BITS };
#define MARK (UINT64_C(0x5a) << 56)

typedef struct slot {
  handle_kind kind;
  uint32_t generation; /* counts the closings */
  void *object;
} slot;

static slot *slots;
static uint32_t slot_count, slot_capacity;

static void *handle_at(uint32_t number) {
  return (void *)(uintptr_t)(MARK | (uint64_t)slots[number].generation << NUMBER_BITS | number);
}

static bool grow(void) {
  if (slot_count < slot_capacity) return true;
  uint32_t capacity = slot_capacity == 0 ? 64 : 2 * slot_capacity;
  slot *grown = capacity <= SLOTS_MOST ? realloc(slots, capacity * sizeof *grown) : NULL;
  if (grown == NULL) return false;
  memset(grown + slot_capacity, 0, (capacity - slot_capacity) * sizeof *grown);
  slots = grown;
  slot_capacity = capacity;
  return true;
}

void *handle_open(handle_kind kind, void *object) {
  uint32_t number = 0;
  while (number < slot_count && slots[number].kind != HANDLE_FREE) number++;
  if (number == slot_count) {
    if (!grow()) return NULL;
    slot_count++;
  }
  slots[number].kind = kind;
  slots[number].object = object;
  return handle_at(number);
}

static slot *find(const void *handle) {
  uint32_t number = (uintptr_t)handle & (SLOTS_MOST - 1);
  return number < slot_count && slots[number].kind != HANDLE_FREE && handle_at(number) == handle ? &slots[number] : NULL;
}

bool handle_find(handle_kind kind, const void *handle, void **object) {
  slot *s = find(handle);
  if (s == NULL || s->kind != kind) return false;
  if (object != NULL) *object = s->object;
  return true;
}

static void close_slot(slot *s) {
  free(s->object);
  *s = (slot){.generation = s->generation + 1};
}

void handle_close(const void *handle) {
  slot *s = find(handle);
  if (s != NULL) close_slot(s);
}

/* Generations live on, so that handles from before stay invalid. */
void handle_close_all(void) {
  for (uint32_t n = 0; n < slot_count; n++)
    if (slots[n].kind != HANDLE_FREE) close_slot(&slots[n]);
}

void *handle_of(handle_kind kind, const void *object) {
  for (uint32_t n = 0; n < slot_count; n++)
    if (slots[n].kind == kind && slots[n].object == object) return handle_at(n);
  return NULL;
}
