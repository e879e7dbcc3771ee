/* Contexts by device, and the streams of other libraries. A context stays open until the process ends: results that were given
 * away may need it, and the runtimes end by themselves. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding.h"

static device *devices;
static volatile unsigned forks; /* how often this process is a child */

static void count_fork(void) { forks = forks + 1; }

/* What this build lacks for arrays of a GPU, or NULL. */
static const char *lacks(place place) {
  if (place == PLACE_CUDA && strncmp(TANDEM_OMP_OFFLOAD, "sm_", 3) != 0)
    return "this build has no kernels for NVIDIA's GPUs: install it with -Csetup-args=-Domp_offload=sm_NN";
  if (place == PLACE_ROCM && strncmp(TANDEM_OMP_OFFLOAD, "gfx", 3) != 0 && strcmp(TANDEM_BACKEND, "hip") != 0)
    return "this build has no kernels for AMD's GPUs: install it with -Csetup-args=-Dtdm_backend=hip";
  return NULL;
}

device *device_of(const char *op, const array *a, const char *kernel) {
  for (device *d = devices; d != NULL; d = d->next)
    if (d->place == a->place && d->number == a->device &&
        (d->kernel == kernel || (d->kernel != NULL && kernel != NULL && strcmp(d->kernel, kernel) == 0))) {
      if (d->place == PLACE_HOST || d->forks == forks) return d;
      PyErr_Format(error_device,
                   "%s: %s is on a GPU that was opened before this process was forked: start the process with spawn", op,
                   a->name);
      return NULL;
    }
  const char *missing = lacks(a->place);
  if (missing != NULL) {
    PyErr_Format(error_unsupported, "%s: %s is on %s:%d: %s", op, a->name, a->place == PLACE_CUDA ? "cuda" : "rocm", a->device,
                 missing);
    return NULL;
  }
  if (torch_not_capturing(op, a) < 0) return NULL;
  static bool watching;
  if (!watching) watching = pthread_atfork(NULL, NULL, count_fork) == 0;
  device *d = calloc(1, sizeof *d);
  char name[32] = "host";
  if (a->place != PLACE_HOST)
    snprintf(name, sizeof name, "%s:%d", a->place == PLACE_ROCM && strcmp(TANDEM_BACKEND, "hip") == 0 ? "hip" : "omp",
             a->device);
  if (d != NULL && kernel != NULL && (d->kernel = strdup(kernel)) == NULL) {
    free(d);
    d = NULL;
  }
  if (d == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  d->place = a->place;
  d->number = a->device;
  d->forks = forks;
  tdm_status status = tdm_open(&(tdm_options){.device = name, .kernel = kernel}, &d->context);
  if (status != TDM_OK) {
    free(d->kernel);
    free(d);
    raise_status(NULL, status, tdm_last_error());
    return NULL;
  }
  d->next = devices;
  devices = d;
  return d;
}

/* ---- Streams ---- */

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

/* Waits for all work on a GPU. Which stream an unknown producer uses is not known: CuPy's are blocking, JAX's are not. */
static int wait_for_cuda(const char *op, int number) {
  static int (*get)(int *, int), (*retain)(void **, int), (*push)(void *), (*pop)(void **), (*synchronize)(void),
      (*release)(int);
  if (release == NULL) {
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver != NULL) {
      *(void **)&get = dlsym(driver, "cuDeviceGet");
      *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
      *(void **)&push = dlsym(driver, "cuCtxPushCurrent_v2");
      *(void **)&pop = dlsym(driver, "cuCtxPopCurrent_v2");
      *(void **)&synchronize = dlsym(driver, "cuCtxSynchronize");
      *(void **)&release = dlsym(driver, "cuDevicePrimaryCtxRelease_v2");
    }
  }
  int gpu = 0, result = -1;
  void *context = NULL;
  if (get != NULL && retain != NULL && push != NULL && pop != NULL && synchronize != NULL && release != NULL &&
      (result = get(&gpu, number)) == 0 && (result = retain(&context, gpu)) == 0) {
    if ((result = push(context)) == 0) {
      Py_BEGIN_ALLOW_THREADS;
      result = synchronize();
      Py_END_ALLOW_THREADS;
      pop(&context);
    }
    release(gpu);
  }
  if (result == 0) return 0;
  PyErr_Format(error_device, "%s: waiting for cuda:%d failed: %s%d", op, number,
               result < 0 ? "no libcuda.so.1 with the functions of CUDA 12; " : "CUDA's error ", result);
  return -1;
}

static int wait_for_rocm(const char *op, int number) {
  static int (*set)(int), (*get)(int *), (*synchronize)(void);
  if (synchronize == NULL) {
    void *runtime = dlopen("libamdhip64.so", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    for (int i = 5; runtime == NULL && i < 10; i++) {
      char name[32];
      snprintf(name, sizeof name, "libamdhip64.so.%d", i);
      runtime = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    }
    if (runtime != NULL) {
      *(void **)&set = dlsym(runtime, "hipSetDevice");
      *(void **)&get = dlsym(runtime, "hipGetDevice");
      *(void **)&synchronize = dlsym(runtime, "hipDeviceSynchronize");
    }
  }
  int before = 0, result = -1;
  if (set != NULL && get != NULL && synchronize != NULL && (result = get(&before)) == 0 && (result = set(number)) == 0) {
    Py_BEGIN_ALLOW_THREADS;
    result = synchronize();
    Py_END_ALLOW_THREADS;
    set(before);
  }
  if (result == 0) return 0;
  PyErr_Format(error_device, "%s: waiting for rocm:%d failed: HIP's error %d", op, number, result);
  return -1;
}

int device_stream(const char *op, device *d, const array *a, tdm_stream **stream) {
  *stream = NULL;
  if (d->place == PLACE_HOST) return 0;
  if (a->kind == KIND_TORCH && (d->place == PLACE_CUDA || strcmp(TANDEM_BACKEND, "hip") == 0)) {
    void *native;
    if (torch_stream(a, &native) < 0) return raise_from(op, a->name);
    return wrap(d, native, stream);
  }
  return d->place == PLACE_CUDA ? wait_for_cuda(op, d->number) : wait_for_rocm(op, d->number);
}

tdm_status device_after(device *d, const array *a, tdm_stream *stream) {
  if (d->place == PLACE_HOST || a->kind == KIND_TORCH) return TDM_OK;
  return tdm_stream_sync(d->context, stream);
}
