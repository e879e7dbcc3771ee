/* A GPU as the machine, through HIP's runtime as the library loads it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "library.h"
#include "machine.h"
#include "process.h"

enum { CHIP_SECONDS = 60, CANARY = 256 };

static const hip_library *hip;
static hipFunction_t function;

static bool failed(const char *call, hipError_t error, learn_outcome *o) {
  learn_found(o, LEARN_FAILED, "hip%s: %s: %s", call, hip->GetErrorName(error), hip->GetErrorString(error));
  return false;
}

/* ---- The device ---- */

static bool open_device(const char *device, char *chip, size_t size, learn_outcome *o) {
  char reason[256];
  hipDeviceProp_tR0600 properties;
  int number = atoi(device + strlen("hip:"));
  if (tdm_hip_library(device, &hip, reason, sizeof reason) != TDM_OK) {
    learn_found(o, LEARN_FAILED, "--device = '%s': %s", device, reason);
    return false;
  }
  hipError_t error = hip->SetDevice(number);
  if (error != hipSuccess) return failed("SetDevice", error, o);
  error = hip->GetDevicePropertiesR0600(&properties, number);
  if (error != hipSuccess) return failed("GetDeviceProperties", error, o);
  snprintf(chip, size, "%.*s", (int)strcspn(properties.gcnArchName, ":"), properties.gcnArchName);
  return true;
}

typedef struct question {
  const char *device;
  char answer[LEARN_TEXT]; /* "+" and the chip, or "-" and why there is none */
  size_t used;
} question;

static void ask(void *argument) {
  const question *q = argument;
  learn_outcome o = {.verdict = LEARN_RIGHT};
  char chip[32] = "", text[LEARN_TEXT];
  bool good = open_device(q->device, chip, sizeof chip, &o);
  int length = snprintf(text, sizeof text, "%c%.4000s", good ? '+' : '-', good ? chip : o.text);
  child_write(text, (size_t)length);
}

static bool take_answer(void *user, const unsigned char *bytes, size_t count) {
  question *q = user;
  size_t room = sizeof q->answer - 1 - q->used, keep = count < room ? count : room;
  memcpy(q->answer + q->used, bytes, keep);
  q->used += keep;
  return true;
}

/* In a process of its own: the runtime starts threads, which would not be in the processes that are made later. */
bool learn_gpu_chip(const char *device, char *chip, size_t size, learn_outcome *o) {
  question q = {.device = device};
  process_work w = {.work = ask, .argument = &q, .seconds = CHIP_SECONDS, .input = -1, .take = take_answer, .user = &q};
  process *p = malloc(sizeof *p);
  bool good = p != NULL && process_run(&w, p) && !p->timed_out && p->status == 0 && q.used > 0;
  if (!good)
    learn_found(o, LEARN_FAILED, "--device = '%s': the device could not be asked%s%s", device, p != NULL ? ": " : "",
                p != NULL ? p->text : "");
  else if (q.answer[0] == '+')
    snprintf(chip, size, "%.31s", q.answer + 1);
  else
    learn_found(o, LEARN_FAILED, "%s", q.answer + 1);
  free(p);
  return o->verdict == LEARN_RIGHT;
}

static bool open_gpu(const learn_request *r, const learn_code *code, learn_launch *launch, learn_outcome *o) {
  char chip[32];
  hipModule_t module;
  if (!open_device(r->device, chip, sizeof chip, o) || !learn_inspect(r->exercise, chip, code, launch, o)) return false;
  hipError_t error = hip->ModuleLoadData(&module, code->data);
  if (error != hipSuccess) return failed("ModuleLoadData", error, o);
  error = hip->ModuleGetFunction(&function, module, r->exercise->kernel);
  return error == hipSuccess || failed("ModuleGetFunction", error, o);
}

/* ---- Memory and launches: the process ends soon, and its memory with it ---- */

static bool alloc(size_t bytes, uint64_t *address, learn_outcome *o) {
  void *pointer = NULL;
  hipError_t error = hip->Malloc(&pointer, bytes);
  *address = (uint64_t)(uintptr_t)pointer;
  return error == hipSuccess || failed("Malloc", error, o);
}

static bool release(uint64_t address, learn_outcome *o) {
  hipError_t error = hip->Free((void *)(uintptr_t)address);
  return error == hipSuccess || failed("Free", error, o);
}

static bool copy(void *to, const void *from, size_t bytes, hipMemcpyKind kind, learn_outcome *o) {
  hipError_t error = hip->MemcpyAsync(to, from, bytes, kind, NULL);
  if (error == hipSuccess) error = hip->StreamSynchronize(NULL);
  return error == hipSuccess || failed("MemcpyAsync", error, o);
}

static bool write_memory(uint64_t address, const void *host, size_t bytes, learn_outcome *o) {
  return copy((void *)(uintptr_t)address, host, bytes, hipMemcpyHostToDevice, o);
}

static bool read_memory(uint64_t address, void *host, size_t bytes, learn_outcome *o) {
  return copy(host, (const void *)(uintptr_t)address, bytes, hipMemcpyDeviceToHost, o);
}

static bool launch_kernel(const learn_exercise *e, const uint32_t grid[3], uint32_t block, const void *args, size_t bytes,
                          learn_outcome *o) {
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  hipError_t error = hip->ModuleLaunchKernel(function, grid[0], grid[1], grid[2], block, 1, 1, 0, NULL, NULL, extra);
  if (error == hipSuccess) error = hip->StreamSynchronize(NULL);
  if (error == hipSuccess) return true;
  learn_found(o, LEARN_CRASH, "%s: the GPU reports %s: %s; try sim:gfx950 for details", e->kernel, hip->GetErrorName(error),
              hip->GetErrorString(error));
  return false;
}

const learn_machine learn_gpu = {CANARY, open_gpu, alloc, release, write_memory, read_memory, launch_kernel};
