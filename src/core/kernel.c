/* What the functions of a kernel's row call. */
#include "kernel.h"

#include <math.h>
#include <stdio.h>

const char *const tdm_layout_names[TDM_TT + 1] = {"nn", "nt", "tn", "tt"};

const char *const tdm_op_names[TDM_OP_COUNT] = {
#define TDM_OP(number, name, ...) #name,
#include "src/ops.def"
};

bool tdm_hosts_only(const tdm_context *context, char *reason, size_t size) {
  if (context->omp_device < 0) return true;
  snprintf(reason, size, "runs only on hosts");
  return false;
}

bool tdm_gpus_only(const tdm_context *context, char *reason, size_t size) {
  if (context->omp_device >= 0) return true;
  snprintf(reason, size, "needs a GPU, but the device is %s", context->device);
  return false;
}

bool tdm_threads_fit(const tdm_context *context, int threads, char *reason, size_t size) {
  if (context->threads == 0 || context->threads == threads) return true;
  snprintf(reason, size, "needs threads = %d, but the caller set %d", threads, context->threads);
  return false;
}

tdm_status tdm_plan_upload(tdm_plan *plan, const void *bytes, size_t size) {
  const tdm_backend *backend = plan->context->backend;
  if (size == 0) return TDM_OK;
  TDM_TRY(backend->alloc(plan->context, size, &plan->table));
  return backend->copy(plan->context, plan->table, bytes, size, TDM_TO_DEVICE, NULL);
}

void tdm_plan_launch(tdm_plan *plan, int64_t teams, int64_t threads) {
  const tdm_context *context = plan->context;
  if (context->teams > 0) teams = context->teams;
  if (context->threads > 0) threads = context->threads;
  if (teams > INT32_MAX) teams = INT32_MAX; /* kernels stride over their work, so fewer teams are right too */
  plan->launch.device = context->omp_device < 0 ? 0 : context->omp_device;
  plan->launch.on_device = context->omp_device >= 0;
  plan->launch.teams = teams < 1 ? 1 : (int)teams;
  plan->launch.threads = threads < 1 ? 1 : (int)threads;
}

/* What does not fit a thread's L2 comes from memory, at about 10 GB/s. */
static double memory_time(const tdm_plan *plan) {
  const double L2 = 1 << 20, BYTE = 0.1;
  double bytes = 0;
  for (int i = 0; i < plan->buffer_count; i++) bytes += (double)plan->buffers[i].bytes;
  return bytes > L2 ? BYTE * bytes : 0;
}

/* A run of W ns on T threads takes about W / T + START + EACH T, on one thread W. Measured on 16 cores: 2 threads take 0.8 us
 * longer than one for a region without work with gcc's libgomp, 16 take 3.8; with LLVM's libomp 1.6 and 3.8. Launches that the
 * caller names are cut for all threads. */
int tdm_plan_workers(const tdm_plan *plan) {
  const double START = 1000, EACH = 200;
  const tdm_context *context = plan->context;
  if (plan->work <= 0 || context->teams > 0 || context->threads > 0) return context->host_threads;
  const double work = plan->work + memory_time(plan), workers = fmin(sqrt(work / EACH), context->host_threads);
  return workers < 2 || work / workers + START + EACH * workers >= work ? 1 : (int)workers;
}

bool tdm_plan_falls_back(const tdm_plan *plan, void *const *buffers) {
  const tdm_fallback *fallback = &plan->fallback;
  uintptr_t at = 0;
  for (int i = 0; i < plan->buffer_count; i++)
    if ((fallback->buffers & ~plan->any_address) >> i & 1) at |= (uintptr_t)buffers[i];
  return fallback->align > 0 && at % (unsigned)fallback->align != 0;
}

unsigned tdm_plan_copies(const tdm_plan *plan, void *const *buffers) {
  if (tdm_plan_falls_back(plan, buffers)) return 0;
  unsigned copies = plan->copied;
  for (int i = 0; i < plan->buffer_count; i++)
    if (plan->any_address >> i & 1 && (uintptr_t)buffers[i] % (unsigned)plan->fallback.align != 0) copies |= 1u << i;
  return copies;
}
