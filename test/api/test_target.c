/* Every call of OpenMP's device functions fails in turn, on the second of two devices of a stand-in: each fault must come back
 * as a status whose message names the function, nothing may be left on the device, and a failing run says that outputs may be
 * partly written exactly where its kernel has run. The device is memory of the host, and offload/device/device.c is compiled
 * for it; kernels are those of the host, which for ops over rows are right for any launch. */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tandem/add.h"
#include "tandem/attention.h"
#include "tandem/gemm.h"
#include "tandem/rmsnorm.h"
#include "tandem/rope.h"
#include "tandem/softmax.h"

enum { DEVICES = 2, DEVICE = 1, BYTES = 1 << 16, OUT = 1 << 15 };

/* ---- The stand-in ---- */

static int calls, fail_at, living, strays;
static const char *failed; /* the function that failed, NULL: none */

static bool fails(const char *function) {
  if (calls++ != fail_at) return false;
  failed = function;
  return true;
}

int omp_get_num_devices(void) { return DEVICES; }
int omp_get_initial_device(void) { return DEVICES; }

void *omp_target_alloc(size_t bytes, int device) {
  strays += device != DEVICE;
  if (fails("omp_target_alloc")) return NULL;
  living++;
  return aligned_alloc(256, (bytes + 255) / 256 * 256);
}

void omp_target_free(void *pointer, int device) {
  strays += device != DEVICE;
  living--;
  free(pointer);
}

int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset, size_t from_offset, int to_device,
                      int from_device) {
  strays += (to_device != DEVICE && from_device != DEVICE) || to_offset != 0 || from_offset != 0;
  if (fails("omp_target_memcpy")) return 1;
  memcpy(to, from, bytes);
  return 0;
}

/* ---- What is tried ---- */

typedef struct session {
  tdm_context *context;
  tdm_plan *plan;
  char *memory;
  tdm_status status; /* the first that is not OK */
  bool run, written; /* it came from a run; from one whose kernel has run, or from a copy that was begun */
  char message[512];
} session;

static char zeros[BYTES];

static void note(session *s, tdm_status status, bool run, bool written) {
  if (status == TDM_OK || s->status != TDM_OK) return;
  s->status = status;
  s->run = run;
  s->written = written;
  snprintf(s->message, sizeof s->message, "%s", tdm_last_error());
}

#define CALL(s, call, run, written) \
  if ((s)->status == TDM_OK) note(s, call, run, written)

static tdm_status plan_add(session *s) {
  tdm_add_desc d = tdm_add_default(5, 33, TDM_F32);
  return tdm_add_plan(s->context, &d, &s->plan);
}
static tdm_status run_add(session *s) { return tdm_add_run(s->plan, s->memory, s->memory, s->memory + OUT, NULL); }

static tdm_status plan_rmsnorm(session *s) {
  tdm_rmsnorm_desc d = tdm_rmsnorm_default(5, 33, TDM_F32);
  return tdm_rmsnorm_plan(s->context, &d, &s->plan);
}
static tdm_status run_rmsnorm(session *s) {
  return tdm_rmsnorm_run(s->plan, s->memory, s->memory, NULL, NULL, s->memory + OUT, NULL);
}

static tdm_status plan_rope(session *s) {
  tdm_rope_desc d = tdm_rope_default(2, 5, 3, 8, TDM_F32);
  return tdm_rope_plan(s->context, &d, &s->plan);
}
static tdm_status run_rope(session *s) { return tdm_rope_run(s->plan, s->memory, s->memory + OUT, NULL); }

static tdm_status plan_softmax(session *s) {
  tdm_softmax_desc d = tdm_softmax_default(5, 33, TDM_F32);
  return tdm_softmax_plan(s->context, &d, &s->plan);
}
static tdm_status run_softmax(session *s) { return tdm_softmax_run(s->plan, s->memory, s->memory + OUT, NULL); }

static tdm_status plan_gemm(session *s) {
  tdm_gemm_desc d = tdm_gemm_default(9, 8, 7, TDM_F32);
  return tdm_gemm_plan(s->context, &d, &s->plan);
}
static tdm_status plan_attention(session *s) {
  tdm_attention_desc d = tdm_attention_default(1, 2, 1, 5, 7, 16, TDM_F32);
  return tdm_attention_plan(s->context, &d, &s->plan);
}

typedef struct scenario {
  const char *name;
  tdm_status (*plan)(session *s);
  tdm_status (*run)(session *s); /* NULL: it needs a GPU's tiles */
  int verify;
} scenario;

static const scenario scenarios[] = {
    {"add", plan_add, run_add, 0},
    {"add, verified", plan_add, run_add, 1},
    {"rmsnorm", plan_rmsnorm, run_rmsnorm, 0},
    {"rmsnorm, verified", plan_rmsnorm, run_rmsnorm, 1},
    {"rope", plan_rope, run_rope, 0},
    {"rope, verified", plan_rope, run_rope, 1},
    {"softmax", plan_softmax, run_softmax, 0},
    {"softmax, verified", plan_softmax, run_softmax, 1},
    {"plan of gemm", plan_gemm, NULL, 0},
    {"plan of attention", plan_attention, NULL, 0},
};
enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

static void go_through(session *s, const scenario *c) {
  static char back[OUT];
  void *memory = NULL;
  *s = (session){0};
  CALL(s, tdm_open(&(tdm_options){.device = "omp:1", .kernel = "omp", .verify = c->verify}, &s->context), false, false);
  CALL(s, tdm_alloc(s->context, BYTES, &memory), false, false);
  s->memory = memory;
  CALL(s, tdm_copy(s->context, memory, zeros, BYTES, TDM_TO_DEVICE, NULL), false, true);
  CALL(s, c->plan(s), false, false);
  if (c->run != NULL && s->status == TDM_OK) {
    memset(s->memory + OUT, 0x55, OUT); /* the stand-in's memory can be read here */
    tdm_status status = c->run(s);
    note(s, status, true, s->memory[OUT] != 0x55 || s->memory[OUT + 1] != 0x55);
  }
  CALL(s, tdm_copy(s->context, back, s->memory + OUT, OUT, TDM_TO_HOST, NULL), false, true);
  CALL(s, tdm_copy(s->context, s->memory + OUT, s->memory, 64, TDM_ON_DEVICE, NULL), false, true);
  tdm_plan_free(s->plan);
  if (s->memory != NULL) note(s, tdm_free(s->context, s->memory), false, false);
  tdm_close(s->context);
}

/* ---- One fault ---- */

static int failures, faults[2], device_statuses, memory_statuses, notes;

static void complain(const scenario *c, const session *s, const char *what) {
  failures++;
  printf("FAILED: %s, call %d, %s: %s: status %s: %s\n", c->name, fail_at, failed != NULL ? failed : "no fault", what,
         tdm_status_name(s->status), s->message);
}

static void check(const scenario *c, const session *s) {
  bool alloc = strcmp(failed, "omp_target_alloc") == 0, says = strstr(s->message, "; outputs may be partly written") != NULL;
  faults[alloc]++;
  device_statuses += s->status == TDM_ERROR_DEVICE;
  memory_statuses += s->status == TDM_ERROR_MEMORY;
  notes += says;
  if (s->status != (alloc ? TDM_ERROR_MEMORY : TDM_ERROR_DEVICE)) complain(c, s, "the wrong status");
  if (strstr(s->message, failed) == NULL || strstr(s->message, "omp:1") == NULL) complain(c, s, "names no function or device");
  if (says != s->written) complain(c, s, "the wrong claim about what was written");
}

int main(void) {
  session s;
  unsetenv("TANDEM_VERIFY");
  for (int i = 0; i < SCENARIOS; i++) {
    int positions = 0;
    for (fail_at = 0;; fail_at++, positions++) {
      calls = 0;
      failed = NULL;
      go_through(&s, &scenarios[i]);
      if (living != 0) complain(&scenarios[i], &s, "memory is left on the device");
      if (strays != 0) complain(&scenarios[i], &s, "a call for another device");
      living = strays = 0;
      if (failed == NULL) break;
      check(&scenarios[i], &s);
    }
    if (s.status != TDM_OK) complain(&scenarios[i], &s, "must succeed");
    printf("%-20s %2d calls fail in turn\n", scenarios[i].name, positions);
  }
  printf("omp_target_alloc %d faults: %d memory; omp_target_memcpy %d faults: %d device; %d may be written; %d failures\n",
         faults[1], memory_statuses, faults[0], device_statuses, notes, failures);
  return failures != 0;
}
