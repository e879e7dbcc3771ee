/* Contexts by device, and the streams of other libraries. A context stays open until the process ends: results that were given
 * away may need it, and the runtimes end by themselves. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

static device *devices;
static volatile unsigned forks; /* how often this process is a child */

static void count_fork(void) { forks = forks + 1; }

static bool builds_hip(void) { return strcmp(TANDEM_BACKEND, "hip") == 0; }

/* What this build lacks for a GPU, or NULL. */
static const char *lacks(place place) {
  if (place == PLACE_CUDA && strncmp(TANDEM_OMP_OFFLOAD, "sm_", 3) != 0)
    return "this build has no kernels for NVIDIA's GPUs: install it with -Csetup-args=-Domp_offload=sm_NN";
  if (place == PLACE_ROCM && strncmp(TANDEM_OMP_OFFLOAD, "gfx", 3) != 0 && !builds_hip())
    return "this build has no kernels for AMD's GPUs: install it with -Csetup-args=-Dtdm_backend=hip";
  return NULL;
}

bool device_has_gpus(void) { return lacks(device_gpus()) == NULL; }
place device_gpus(void) { return builds_hip() || strncmp(TANDEM_OMP_OFFLOAD, "gfx", 3) == 0 ? PLACE_ROCM : PLACE_CUDA; }

/* What this build lacks for a device that the caller names, or NULL: then the library opens it, or says why not. */
static const char *lacks_named(const char *name) {
  if (strncmp(name, "omp:", 4) == 0 && strcmp(TANDEM_OMP_OFFLOAD, "none") == 0)
    return "this build has no OpenMP kernels for GPUs: install it with -Csetup-args=-Domp_offload=sm_NN or gfxNNN";
  if (strncmp(name, "hip:", 4) == 0 && !builds_hip())
    return "this build has no HIP kernels: install it with -Csetup-args=-Dtdm_backend=hip";
  if (strncmp(name, "sim:", 4) == 0 && !builds_hip())
    return "this build has no HIP kernels for gfxsim: install it with -Csetup-args=-Dtdm_backend=hip";
  return NULL;
}

static bool same_text(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

static int refuse_fork(const char *op, const char *name) {
  PyErr_Format(error_device, "%s: %s is a GPU that was opened before this process was forked: start the process with spawn", op,
               name);
  return -1;
}

/* A context by its device's name. NULL: an exception. */
static device *open_device(const char *name, place place, int number, const char *kernel) {
  static bool watching;
  if (!watching) watching = pthread_atfork(NULL, NULL, count_fork) == 0;
  device *d = calloc(1, sizeof *d);
  bool kept = d != NULL && (d->name = strdup(name)) != NULL;
  if (kept && kernel != NULL) kept = (d->kernel = strdup(kernel)) != NULL;
  tdm_status status = TDM_OK;
  if (!kept)
    PyErr_NoMemory();
  else if ((status = tdm_open(&(tdm_options){.device = name, .kernel = kernel}, &d->context)) != TDM_OK)
    raise_status(NULL, status, tdm_last_error());
  if (!kept || status != TDM_OK) {
    if (d != NULL) {
      free(d->name);
      free(d->kernel);
    }
    free(d);
    return NULL;
  }
  d->place = place;
  d->number = number;
  d->forks = forks;
  d->simulated = strncmp(name, "sim:", 4) == 0;
  d->next = devices;
  devices = d;
  return d;
}

device *device_of(const char *op, const array *a, const char *kernel) {
  for (device *d = devices; d != NULL; d = d->next)
    if (d->place == a->place && d->number == a->device && !d->simulated && d->of_arrays && same_text(d->kernel, kernel)) {
      if (d->place == PLACE_HOST || d->forks == forks) return d;
      refuse_fork(op, d->name);
      return NULL;
    }
  const char *missing = lacks(a->place);
  if (missing != NULL) {
    PyErr_Format(error_unsupported, "%s: %s is on %s:%d: %s", op, a->name, a->place == PLACE_CUDA ? "cuda" : "rocm", a->device,
                 missing);
    return NULL;
  }
  if (torch_not_capturing(op, a) < 0) return NULL;
  char name[32] = "host";
  if (a->place != PLACE_HOST)
    snprintf(name, sizeof name, "%s:%d", a->place == PLACE_ROCM && builds_hip() ? "hip" : "omp", a->device);
  device *d = open_device(name, a->place, a->device, kernel);
  if (d != NULL) d->of_arrays = true;
  return d;
}

device *device_named(const char *op, const array *a, const char *name, const char *kernel) {
  bool simulated = strncmp(name, "sim:", 4) == 0, gpu = strncmp(name, "omp:", 4) == 0 || strncmp(name, "hip:", 4) == 0;
  if (!simulated && !gpu && strcmp(name, "host") != 0) {
    raise_argument(op, "device = %s: must be host, omp:N, hip:N or sim:CHIP", name);
    return NULL;
  }
  const char *missing = lacks_named(name);
  if (missing != NULL) {
    PyErr_Format(error_unsupported, "%s: device = %s: %s", op, name, missing);
    return NULL;
  }
  for (device *d = devices; d != NULL; d = d->next)
    if (strcmp(d->name, name) == 0 && same_text(d->kernel, kernel)) {
      if (!gpu || d->forks == forks) return d;
      refuse_fork(op, name);
      return NULL;
    }
  if (torch_not_capturing(op, a) < 0) return NULL;
  bool cuda = strncmp(name, "omp:", 4) == 0 && strncmp(TANDEM_OMP_OFFLOAD, "sm_", 3) == 0;
  place place = cuda ? PLACE_CUDA : gpu || simulated ? PLACE_ROCM : PLACE_HOST;
  return open_device(name, place, gpu ? atoi(name + 4) : 0, kernel);
}

int device_reaches(const char *op, const device *d, const array *a) {
  static const char *const places[] = {[PLACE_HOST] = "memory of the host", [PLACE_CUDA] = "cuda", [PLACE_ROCM] = "rocm"};
  if (a->place == PLACE_HOST) {
    /* The library asks CUDA and HIP about each pointer of a run. Through OpenMP on AMD's GPUs there is nobody to ask. */
    if (d->place != PLACE_ROCM || d->simulated || strncmp(d->name, "omp:", 4) != 0) return 0;
    return raise_argument(op, "%s is memory of the host, which %s may not reach: must be memory of the device", a->name,
                          d->name);
  }
  if (d->place == a->place && d->number == a->device && !d->simulated) return 0;
  return raise_argument(op, "%s is on %s:%d, and device = %s: must be the arrays' own", a->name, places[a->place], a->device,
                        d->name);
}

/* ---- Streams ---- */

/* PyTorch's arrays of this GPU, which have a stream that a run may wait for or be queued on. */
static bool on_torch_stream(const device *d, const array *a) {
  return a->kind == KIND_TORCH && a->place != PLACE_HOST && (d->place == PLACE_CUDA || builds_hip());
}

/* A wrapped stream is kept, because the same few come again. */
static int wrap(device *d, void *native, tdm_stream **stream) {
  for (int i = 0; i < d->stream_count; i++)
    if (d->streams[i].native == native) {
      *stream = d->streams[i].stream;
      return 0;
    }
  int last = (int)(sizeof d->streams / sizeof *d->streams) - 1;
  tdm_stream *wrapped;
  tdm_status status = tdm_stream_wrap(d->context, native, &wrapped);
  if (status != TDM_OK) return raise_status(NULL, status, tdm_last_error());
  /* The ninth one and later ones share a place. On HIP a run may still use the stream, so it is not closed: 16 bytes. */
  int at = d->stream_count > last ? last : d->stream_count++;
  d->streams[at].native = native;
  d->streams[at].stream = *stream = wrapped;
  return 0;
}

int device_stream(const char *op, device *d, const array *a, tdm_stream **stream) {
  *stream = NULL;
  if (d->place == PLACE_HOST || d->simulated) return 0;
  if (on_torch_stream(d, a)) {
    void *native;
    if (torch_stream(a, &native) < 0) return raise_from(op, a->name);
    return wrap(d, native, stream);
  }
  return driver_wait(op, d->place, d->number);
}

tdm_status device_after(device *d, const array *a, tdm_stream *stream) {
  if (d->place == PLACE_HOST || on_torch_stream(d, a)) return TDM_OK;
  return tdm_stream_sync(d->context, stream);
}
