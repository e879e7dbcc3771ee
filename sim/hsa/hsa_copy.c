/* Copies and fills: at once, or by a thread that acts as the copy engines and waits for signals. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

static uint64_t number(const void *address) { return (uint64_t)(uintptr_t)address; }

static hsa_status lock_result(device *d, gfxsim_status status) {
  pthread_mutex_unlock(&d->lock);
  return status == GFXSIM_OK ? HSA_SUCCESS : HSA_INVALID_ARGUMENT;
}

static hsa_status read_device(device *d, void *to, uint64_t from, size_t bytes) {
  pthread_mutex_lock(&d->lock);
  return lock_result(d, gfxsim_read(d->sim, from, to, bytes));
}

static hsa_status write_device(device *d, uint64_t to, const void *from, size_t bytes) {
  pthread_mutex_lock(&d->lock);
  return lock_result(d, gfxsim_write(d->sim, to, from, bytes));
}

static hsa_status between_devices(device *to_device, uint64_t to, device *from_device, uint64_t from, size_t bytes) {
  void *between = malloc(bytes);
  if (between == NULL) return HSA_OUT_OF_RESOURCES;
  hsa_status status = read_device(from_device, between, from, bytes);
  if (status == HSA_SUCCESS) status = write_device(to_device, to, between, bytes);
  free(between);
  return status;
}

/* The addresses say the direction: LLVM's runtime names the GPU's agent on both sides. */
hsa_status hsa_copy_now(void *to, const void *from, size_t bytes) {
  if (bytes == 0) return HSA_SUCCESS;
  if (to == NULL || from == NULL) return HSA_INVALID_ARGUMENT;
  device *to_device = hsa_owner(to), *from_device = hsa_owner(from);
  if (to_device != NULL && from_device != NULL) return between_devices(to_device, number(to), from_device, number(from), bytes);
  if (to_device != NULL) return write_device(to_device, number(to), from, bytes);
  if (from_device != NULL) return read_device(from_device, to, number(from), bytes);
  memmove(to, from, bytes);
  return HSA_SUCCESS;
}

HSA_DOOR hsa_status hsa_memory_copy(void *to, const void *from, size_t bytes) {
  HSA_ENTER();
  return hsa_copy_now(to, from, bytes);
}

/* count words of 32 bits. */
HSA_DOOR hsa_status hsa_amd_memory_fill(void *to, uint32_t value, size_t count) {
  HSA_ENTER();
  if (to == NULL || number(to) % 4 != 0) return HSA_INVALID_ARGUMENT;
  if (count == 0) return HSA_SUCCESS;
  if (count > SIZE_MAX / sizeof value) return HSA_INVALID_ARGUMENT;
  device *d = hsa_owner(to);
  uint32_t *words = d != NULL ? malloc(count * sizeof *words) : to;
  if (words == NULL) return HSA_OUT_OF_RESOURCES;
  for (size_t n = 0; n < count; n++) words[n] = value;
  if (d == NULL) return HSA_SUCCESS;
  hsa_status status = write_device(d, number(to), words, count * sizeof *words);
  free(words);
  return status;
}

/* ---- Asynchronous ---- */

/* Copies up to this many bytes that wait for no signal finish before the call returns. LLVM 19 needs that: it copies a region's
 * firstprivate arrays from a stack frame that no longer exists when an earlier copy delays them (PrivateArgumentManager). */
enum { AT_ONCE = 1 << 16 };

typedef struct job {
  void *to;
  const void *from;
  size_t bytes;
  uint32_t waits;
  hsa_signal *wait, completion;
  struct job *next;
} job;
static job *jobs; /* in the order of the calls; under `world` */
static pthread_t thread;
static bool runs, ends;

static void job_free(job *j) {
  free(j->wait);
  free(j);
}

static bool is_ready(const job *j) {
  for (uint32_t n = 0; n < j->waits; n++)
    if (hsa_signal_value(j->wait[n]) != 0) return false;
  return true;
}

static job *take_ready(void) {
  for (job **at = &jobs; *at != NULL; at = &(*at)->next) {
    job *j = *at;
    if (!is_ready(j)) continue;
    *at = j->next;
    return j;
  }
  return NULL;
}

/* Called with `world` locked; unlocks it during the copy. */
static void run_job(job *j) {
  pthread_mutex_unlock(&world);
  hsa_status status = hsa_copy_now(j->to, j->from, j->bytes);
  if (status != HSA_SUCCESS) door_found_text("bad copy", "(none)", gfxsim_last_error());
  pthread_mutex_lock(&world);
  if (status == HSA_SUCCESS)
    hsa_signal_add(j->completion, -1);
  else
    hsa_signal_set(j->completion, -1); /* as the specification reports errors of asynchronous copies */
  job_free(j);
}

static void *run_jobs(void *unused) {
  (void)unused;
  pthread_mutex_lock(&world);
  for (;;) {
    job *j = take_ready();
    if (j == NULL && ends) break;
    if (j == NULL) {
      pthread_cond_wait(&changed, &world);
      continue;
    }
    run_job(j);
  }
  pthread_mutex_unlock(&world);
  return NULL;
}

static bool append(job *made) {
  if (!runs) runs = pthread_create(&thread, NULL, run_jobs, NULL) == 0;
  if (!runs) return false;
  job **at = &jobs;
  while (*at != NULL) at = &(*at)->next;
  *at = made;
  pthread_cond_broadcast(&changed);
  return true;
}

/* A running kernel holds its device's lock. The caller of an asynchronous copy must not wait for that kernel. */
static bool is_idle(const void *address) {
  device *d = hsa_owner(address);
  if (d == NULL) return true;
  if (pthread_mutex_trylock(&d->lock) != 0) return false;
  pthread_mutex_unlock(&d->lock);
  return true;
}

HSA_DOOR hsa_status hsa_amd_memory_async_copy(void *to, hsa_agent to_agent, const void *from, hsa_agent from_agent,
                                              size_t bytes, uint32_t waits, const hsa_signal *wait, hsa_signal completion) {
  HSA_ENTER();
  bool known[2];
  hsa_agent_device(to_agent, &known[0]);
  hsa_agent_device(from_agent, &known[1]);
  if (!known[0] || !known[1]) return HSA_INVALID_AGENT;
  if (to == NULL || from == NULL || (waits > 0) != (wait != NULL)) return HSA_INVALID_ARGUMENT;
  job *j = calloc(1, sizeof *j);
  hsa_signal *copy = calloc(waits + 1, sizeof *copy);
  if (j == NULL || copy == NULL) {
    free(j);
    free(copy);
    return HSA_OUT_OF_RESOURCES;
  }
  if (waits > 0) memcpy(copy, wait, waits * sizeof *copy);
  *j = (job){.to = to, .from = from, .bytes = bytes, .waits = waits, .wait = copy, .completion = completion};
  bool soon = bytes <= AT_ONCE && is_idle(to) && is_idle(from);
  pthread_mutex_lock(&world);
  bool good = completion.handle != 0 && hsa_signal_known(completion);
  for (uint32_t n = 0; n < waits; n++) good = good && hsa_signal_known(copy[n]);
  hsa_status status = good ? HSA_SUCCESS : HSA_INVALID_SIGNAL;
  if (good && soon && is_ready(j))
    run_job(j);
  else if (good && !append(j))
    status = HSA_OUT_OF_RESOURCES;
  pthread_mutex_unlock(&world);
  if (status != HSA_SUCCESS) job_free(j);
  return status;
}

void hsa_copies_release(void) {
  pthread_mutex_lock(&world);
  ends = true;
  pthread_cond_broadcast(&changed);
  bool joins = runs;
  pthread_mutex_unlock(&world);
  if (joins) pthread_join(thread, NULL);
  runs = ends = false;
  if (jobs != NULL) door_note("copies were still waiting for a signal when the program shut the runtime down: not done");
  while (jobs != NULL) {
    job *j = jobs;
    jobs = j->next;
    job_free(j);
  }
}
