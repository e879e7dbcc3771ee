/* Contexts and their memory. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "op.h"
#include "src/core/check.h"
#include "src/core/cpu.h"
#include "tuned.h"

static void log_to_stderr(void *user, const char *line) {
  (void)user;
  fprintf(stderr, "%s\n", line);
}

/* The caller's value, or the environment's; NULL if neither is set, or if it is "auto". */
static const char *named(const char *option, const char *variable) {
  const char *value = option != NULL ? option : getenv(variable);
  return value == NULL || value[0] == '\0' || strcmp(value, "auto") == 0 ? NULL : value;
}

/* Reads 0 or 1 from the environment; *flag keeps its value if the variable is not set. */
static tdm_status flag_from(const char *variable, bool *flag) {
  const char *value = getenv(variable);
  if (value == NULL || value[0] == '\0') return TDM_OK;
  if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
    return tdm_fail(TDM_ERROR_ARGUMENT, "%s = '%s': must be 0 or 1", variable, value);
  *flag = value[0] == '1';
  return TDM_OK;
}

/* NULL: this build has no backend of the name. */
static const tdm_backend *find_backend(const char *name) {
  for (int i = 0; tdm_built_in_backends[i] != NULL; i++)
    if (strcmp(tdm_built_in_backends[i]->name, name) == 0) return tdm_built_in_backends[i];
  return NULL;
}

static int omp_devices(void) { return find_backend("omp")->count(); }

/* The omp backend's enter and leave, where there is no context yet: its runtime may be started now. Not where it is lost. */
static tdm_status enter_omp(const char *what, void **before) {
  const tdm_backend *omp = find_backend("omp");
  return omp->enter == NULL || tdm_gpu_lost() ? TDM_OK : omp->enter(NULL, what, before);
}
static tdm_status leave_omp(const char *what, void *before, tdm_status status) {
  const tdm_backend *omp = find_backend("omp");
  return omp->leave == NULL || tdm_gpu_lost() ? status : omp->leave(NULL, what, before, status);
}

const char *tdm_devices(void) {
  static _Thread_local char text[512];
  void *before = NULL;
  size_t used = (size_t)snprintf(text, sizeof text, "host");
  bool entered = enter_omp("devices", &before) == TDM_OK;
  for (int i = 0; !tdm_gpu_lost() && i < omp_devices() && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, " omp:%d", i);
  for (int i = 0; tdm_built_in_backends[i] != NULL; i++)
    if (tdm_built_in_backends[i]->list != NULL) tdm_built_in_backends[i]->list(text, sizeof text);
  if (entered) leave_omp("devices", before, TDM_OK);
  return text;
}

/* ---- Devices by their names ---- */

static const char device_names[] = "must be host, omp:N, hip:N or sim:CHIP";

/* The N of "omp:N"; 0 for "omp" without a number. */
static tdm_status device_number(const char *device, int *number) {
  char *end = NULL;
  long value = device[3] == ':' ? strtol(device + 4, &end, 10) : 0;
  if (device[3] == ':' && (device[4] < '0' || device[4] > '9' || *end != '\0'))
    return tdm_fail(TDM_ERROR_ARGUMENT, "device = '%s': %s", device, device_names);
  *number = value > INT_MAX ? INT_MAX : (int)value; /* no machine has so many; it is refused later by the count */
  return TDM_OK;
}

static bool is_kind(const char *device, const char *kind) {
  return strncmp(device, kind, 3) == 0 && (device[3] == '\0' || device[3] == ':');
}

static tdm_status open_omp_device(tdm_context *context, const char *device) {
  int number = 0;
  TDM_TRY(device_number(device, &number));
  if (tdm_gpu_lost()) return tdm_fail_lost("open", device);
  if (number >= omp_devices())
    return tdm_fail(TDM_ERROR_UNSUPPORTED, "device = '%s': this build and machine offer: %s", device, tdm_devices());
  context->omp_device = number;
  snprintf(context->device, sizeof context->device, "omp:%d", number);
  snprintf(context->chip, sizeof context->chip, "omp");
  char reason[160];
  if (context->backend->open == NULL) return TDM_OK;
  tdm_status status = context->backend->open(context, context->device, number, reason, sizeof reason);
  return status == TDM_OK ? TDM_OK : tdm_fail(status, "device = '%s': %s", device, reason);
}

static tdm_status open_host(tdm_context *context, const char *device) {
  snprintf(context->device, sizeof context->device, "host");
  snprintf(context->chip, sizeof context->chip, "host");
  if (!tdm_host_is_forbidden()) return TDM_OK;
  return tdm_fail(TDM_ERROR_UNSUPPORTED, "device = '%s': OMP_TARGET_OFFLOAD is MANDATORY, which forbids the host", device);
}

/* name: "hip:0", "sim:gfx950". On failure only writes the reason, for the caller to report. */
static tdm_status try_hip_device(tdm_context *context, const char *name, int number, char *reason, size_t size) {
  const tdm_backend *hip = find_backend("hip");
  if (hip == NULL) {
    snprintf(reason, size, "this build has no hip backend (-Dtdm_backend=hip)");
    return TDM_ERROR_UNSUPPORTED;
  }
  if (is_kind(name, "hip") && tdm_gpu_lost()) {
    snprintf(reason, size, "this is the child of a fork, and a GPU that was opened before it is the parent's alone");
    return TDM_ERROR_UNSUPPORTED;
  }
  tdm_status status = hip->open(context, name, number, reason, size);
  if (status != TDM_OK) return status;
  context->backend = hip;
  snprintf(context->device, sizeof context->device, "%s", name);
  return TDM_OK;
}

static tdm_status open_hip_device(tdm_context *context, const char *device) {
  char reason[288], name[48];
  int number = 0;
  if (is_kind(device, "hip")) {
    TDM_TRY(device_number(device, &number));
    snprintf(name, sizeof name, "hip:%d", number);
  } else if (snprintf(name, sizeof name, "%s", device) >= (int)sizeof name || device[3] != ':' || device[4] == '\0') {
    return tdm_fail(TDM_ERROR_ARGUMENT, "device = '%s': must be sim:CHIP, as in sim:gfx950", device);
  }
  if (context->teams > 0 || context->threads > 0)
    return tdm_fail(TDM_ERROR_ARGUMENT, "device = '%s': teams = %d, threads = %d: must be 0, they are for the omp backend",
                    device, context->teams, context->threads);
  tdm_status status = try_hip_device(context, name, number, reason, sizeof reason);
  return status == TDM_OK ? TDM_OK : tdm_fail(status, "device = '%s': %s", device, reason);
}

/* The first that works: a GPU through HIP, a GPU through OpenMP, the host. Teams and threads are settings of OpenMP only. */
static tdm_status open_automatic(tdm_context *context, const char *backend) {
  char *reason = context->passed_over;
  context->automatic = true;
  if (backend != NULL && strcmp(backend, "hip") == 0) return open_hip_device(context, "hip:0");
  if (backend != NULL)
    snprintf(reason, sizeof context->passed_over, "hip:0: the caller named backend %s", backend);
  else if (context->teams > 0 || context->threads > 0)
    snprintf(reason, sizeof context->passed_over, "hip:0: the caller named OpenMP teams or threads");
  else {
    size_t used = (size_t)snprintf(reason, sizeof context->passed_over, "hip:0: ");
    if (try_hip_device(context, "hip:0", 0, reason + used, sizeof context->passed_over - used) == TDM_OK) return TDM_OK;
  }
  if (omp_devices() > 0) return open_omp_device(context, "omp:0");
  if (context->strict)
    return tdm_fail(TDM_ERROR_UNSUPPORTED,
                    "device = auto in strict mode: only the host answers; name device 'host' to use it (not %s)", reason);
  return open_host(context, "auto");
}

static tdm_status open_device(tdm_context *context, const char *backend, const char *device) {
  context->backend = find_backend("omp");
  context->omp_device = -1;
  if (device == NULL) return open_automatic(context, backend);
  bool hip = is_kind(device, "hip") || is_kind(device, "sim"), omp = is_kind(device, "omp") || strcmp(device, "host") == 0;
  if (!hip && !omp) return tdm_fail(TDM_ERROR_ARGUMENT, "device = '%s': %s", device, device_names);
  if (backend != NULL && strcmp(backend, hip ? "hip" : "omp") != 0)
    return tdm_fail(TDM_ERROR_ARGUMENT, "backend = '%s' with device = '%s': must be %s for this device", backend, device,
                    hip ? "hip" : "omp");
  if (hip) return open_hip_device(context, device);
  return is_kind(device, "omp") ? open_omp_device(context, device) : open_host(context, device);
}

/* The caller's table, and after it the chip's own. */
static tdm_status open_tuned(tdm_context *context, const char *file) {
  if (file != NULL && strcmp(file, "none") == 0) return TDM_OK;
  if (file != NULL) TDM_TRY(tdm_tuned_read(file, &context->tuned[0]));
  size_t bytes = 0;
  const char *built_in = context->backend->tuned == NULL ? NULL : context->backend->tuned(context, &bytes);
  return built_in == NULL ? TDM_OK : tdm_tuned_parse("built in", built_in, bytes, &context->tuned[1]);
}

static tdm_status check_xcds(const tdm_context *context) {
  if (context->xcds == 0 || context->hip != NULL) return TDM_OK;
  return tdm_fail(TDM_ERROR_ARGUMENT, "xcds = %d: must be 0 on %s, it is for the hip backend", context->xcds, context->device);
}

/* "auto" accepts a device that can't do it; the plans' explanations say so. The environment's value is only for NVIDIA
 * GPUs: a program that also opens a host must not fail because of it. */
static tdm_status set_wait(tdm_context *context, const char *option) {
  const char *wait = named(option, "TANDEM_WAIT");
  if (wait != NULL && strcmp(wait, "spin") != 0 && strcmp(wait, "block") != 0)
    return tdm_fail(TDM_ERROR_ARGUMENT, "wait = '%s': must be auto, spin or block", wait);
  if (context->omp_device < 0) {
    if (wait == NULL || option == NULL) return TDM_OK;
    return tdm_fail(TDM_ERROR_ARGUMENT, "wait = '%s': must be auto on %s, it is for offload devices", wait, context->device);
  }
  tdm_status status = context->backend->wait(context, wait, context->no_wait, sizeof context->no_wait);
  if (status == TDM_OK || wait == NULL || (status == TDM_ERROR_UNSUPPORTED && option == NULL)) return TDM_OK;
  return tdm_fail(TDM_ERROR_UNSUPPORTED, "wait = '%s': %s %s", wait, context->device, context->no_wait);
}

/* The host's instruction sets, or those up to TANDEM_CPU's. Read for every device: shadow runs are on the host. */
static tdm_status set_cpu(tdm_context *context) {
  const char *name = named(NULL, "TANDEM_CPU");
  char text[96];
  unsigned wanted, here = tdm_cpu_sets(), built = tdm_cpu_built();
  context->cpu = here;
  if (name == NULL) return TDM_OK;
  if (!tdm_cpu_named(name, &wanted))
    return tdm_fail(TDM_ERROR_ARGUMENT, "TANDEM_CPU = '%s': must be auto, " TDM_CPU_NAMES, name);
  /* The set of the name itself is the highest; a processor may lack one below it. */
  unsigned highest = wanted & ~(wanted >> 1);
  if ((highest & ~here) != 0)
    return tdm_fail(TDM_ERROR_UNSUPPORTED, "TANDEM_CPU = '%s': this processor or system lacks it; it has: avx2%s", name,
                    tdm_cpu_text(here, text, sizeof text));
  if ((built & ~wanted) != 0)
    return tdm_fail(TDM_ERROR_UNSUPPORTED,
                    "TANDEM_CPU = '%s': every file of this build uses%s; build with -Dhost_cpu=x86-64-v3", name,
                    tdm_cpu_text(built & ~wanted, text, sizeof text));
  context->cpu = here & wanted;
  return TDM_OK;
}

static tdm_status open_context(tdm_context *context, const tdm_options *options) {
  const char *backend = named(options->backend, "TANDEM_BACKEND");
  if (backend != NULL && strcmp(backend, "omp") != 0 && strcmp(backend, "hip") != 0)
    return tdm_fail(TDM_ERROR_ARGUMENT, "backend = '%s': must be auto, omp or hip", backend);
  if (options->strict != 0 && options->strict != 1)
    return tdm_fail(TDM_ERROR_ARGUMENT, "strict = %d: must be 0 or 1", options->strict);
  TDM_TRY(tdm_check_range("open", "teams", options->teams, 0, 1 << 20));
  TDM_TRY(tdm_check_range("open", "threads", options->threads, 0, 1024));
  TDM_TRY(tdm_check_range("open", "xcds", options->xcds, 0, 1024));
  context->strict = options->strict;
  if (!context->strict) TDM_TRY(flag_from("TANDEM_STRICT", &context->strict));
  TDM_TRY(flag_from("TANDEM_VERBOSE", &context->verbose));
  if (options->verify != 0 && options->verify != 1)
    return tdm_fail(TDM_ERROR_ARGUMENT, "verify = %d: must be 0 or 1", options->verify);
  context->verify = options->verify;
  if (!context->verify) TDM_TRY(flag_from("TANDEM_VERIFY", &context->verify));
  context->teams = options->teams;
  context->xcds = options->xcds;
  context->threads = options->threads;
  context->log = options->log != NULL ? options->log : log_to_stderr;
  context->log_user = options->log_user;
  TDM_TRY(open_device(context, backend, named(options->device, "TANDEM_DEVICE")));
  if (is_kind(context->device, "omp") || is_kind(context->device, "hip")) TDM_TRY(tdm_gpu_opened(context));
  TDM_TRY(check_xcds(context));
  TDM_TRY(set_wait(context, options->wait));
  TDM_TRY(set_cpu(context));
  context->host_threads = tdm_host_threads();
  const char *kernel = named(options->kernel, "TANDEM_KERNEL");
  if (kernel != NULL && (context->kernel = strdup(kernel)) == NULL)
    return tdm_fail(TDM_ERROR_MEMORY, "kernel: no memory for its name of %zu bytes", strlen(kernel));
  TDM_TRY(tdm_check_kernel_names(context->kernel));
  return open_tuned(context, named(options->tuned, "TANDEM_TUNED"));
}

tdm_status tdm_open(const tdm_options *options, tdm_context **context) {
  if (context == NULL) return tdm_fail(TDM_ERROR_ARGUMENT, "open: context = NULL: must point to a tdm_context *");
  tdm_context *made = calloc(1, sizeof *made);
  void *before = NULL;
  if (made == NULL) return tdm_fail(TDM_ERROR_MEMORY, "open: no memory for a context of %zu bytes", sizeof *made);
  tdm_status status = tdm_registry_open(&made->registry);
  if (status != TDM_OK) {
    free(made);
    return status;
  }
  status = enter_omp("open", &before);
  if (status == TDM_OK) status = leave_omp("open", before, open_context(made, options != NULL ? options : &(tdm_options){0}));
  if (status == TDM_OK)
    *context = made;
  else
    TDM_CLEAN_UP(tdm_close(made));
  return status;
}

tdm_status tdm_close(tdm_context *context) {
  tdm_status status = TDM_OK;
  if (context == NULL) return TDM_OK;
  if (context->hip != NULL && !tdm_context_lost(context)) status = context->backend->close(context);
  for (int i = 0; i < 2; i++) tdm_tuned_free(context->tuned[i]);
  tdm_registry_close(&context->registry);
  free(context->kernel);
  free(context);
  return status;
}

const char *tdm_context_device(const tdm_context *context) { return context == NULL ? "no context" : context->device; }

static tdm_status allocate(const tdm_context *context, size_t bytes, void **made) {
  void *before = NULL;
  TDM_TRY(tdm_enter(context, "alloc", &before));
  tdm_status status = context->backend->alloc(context, bytes, made);
  bool allocated = status == TDM_OK;
  status = tdm_leave(context, "alloc", before, status);
  if (status != TDM_OK && allocated) TDM_CLEAN_UP(context->backend->free(context, *made));
  return status;
}

tdm_status tdm_alloc(tdm_context *context, size_t bytes, void **pointer) {
  TDM_TRY(tdm_context_check("alloc", context));
  if (pointer == NULL) return tdm_fail(TDM_ERROR_ARGUMENT, "alloc: pointer = NULL: must point to a void *");
  if (bytes == 0) {
    *pointer = NULL;
    return TDM_OK;
  }
  void *made;
  TDM_TRY(tdm_registry_reserve(&context->registry));
  tdm_status status = allocate(context, bytes, &made);
  tdm_registry_add(&context->registry, status == TDM_OK ? made : NULL);
  if (status == TDM_OK) *pointer = made;
  return status;
}

tdm_status tdm_free(tdm_context *context, void *pointer) {
  void *before = NULL;
  if (context == NULL) return tdm_context_check("free", context);
  if (pointer == NULL) return TDM_OK;
  if (!tdm_registry_take(&context->registry, pointer))
    return tdm_fail(TDM_ERROR_ARGUMENT, "free: pointer = %p: must be NULL, or from tdm_alloc of this context and not yet freed",
                    pointer);
  if (tdm_context_lost(context)) { /* the parent's memory stays */
    tdm_registry_settle(&context->registry, pointer, true);
    return TDM_OK;
  }
  tdm_status status = tdm_enter(context, "free", &before);
  bool entered = status == TDM_OK;
  if (entered) status = context->backend->free(context, pointer);
  tdm_registry_settle(&context->registry, pointer, status == TDM_OK);
  return entered ? tdm_leave(context, "free", before, status) : status;
}

static tdm_status copy(const tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                       const tdm_stream *stream) {
  void *before = NULL;
  TDM_TRY(tdm_stream_waits(context, "copy", stream));
  TDM_TRY(tdm_stream_catch_up(context, "copy", stream));
  TDM_TRY(tdm_enter(context, "copy", &before));
  tdm_status status = context->backend->copy(context, to, from, bytes, direction, tdm_stream_handle(stream));
  return tdm_may_have_written(tdm_leave(context, "copy", before, status));
}

tdm_status tdm_copy(tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                    tdm_stream *stream) {
  TDM_TRY(tdm_context_check("copy", context));
  TDM_TRY(tdm_stream_check("copy", context, stream));
  if (direction != TDM_TO_DEVICE && direction != TDM_TO_HOST && direction != TDM_ON_DEVICE)
    return tdm_fail(TDM_ERROR_ARGUMENT, "copy: direction = %d: must be TDM_TO_DEVICE (0), TDM_TO_HOST (1) or TDM_ON_DEVICE (2)",
                    (int)direction);
  if (bytes == 0) return TDM_OK;
  if (to == NULL || from == NULL)
    return tdm_fail(TDM_ERROR_ARGUMENT, "copy: %s = NULL with bytes = %zu: must point to that much memory",
                    to == NULL ? "to" : "from", bytes);
  uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;
  if ((a <= b ? b - a : a - b) < bytes && (direction == TDM_ON_DEVICE || tdm_context_is_host(context)))
    return tdm_fail(TDM_ERROR_ARGUMENT, "copy: to = %p and from = %p overlap within bytes = %zu: must not", to, from, bytes);
  return copy(context, to, from, bytes, direction, stream);
}
