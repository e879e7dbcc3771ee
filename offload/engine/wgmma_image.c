#include "wgmma_image.h"

#include <pthread.h>
#include <stdio.h>

enum { MOST_DEVICES = 64, MOST_MODULES = 32, FUNCTION_SHARED_BYTES = 8 };

/* An image that a device has loaded. */
typedef struct loaded {
  const void *image;
  void *module; /* CUmodule */
} loaded;

typedef struct known_device {
  bool asked;
  tdm_status status;
  char reason[128]; /* if status is not OK */
  cuda_device device;
  loaded image[MOST_MODULES];
  int images;
} known_device;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known_device known[MOST_DEVICES];

tdm_status wg_device_of(const tdm_context *context, cuda_device *device, char *reason, size_t size) {
  if (context->omp_device < 0 || context->omp_device >= MOST_DEVICES) {
    snprintf(reason, size, "must be one of the first %d offload devices", MOST_DEVICES);
    return TDM_ERROR_UNSUPPORTED;
  }
  known_device *k = &known[context->omp_device];
  pthread_mutex_lock(&lock);
  if (!k->asked || k->status == TDM_ERROR_DEVICE) { /* a failure may pass */
    k->status = cuda_device_of(context, &k->device, k->reason, sizeof k->reason);
    k->asked = true;
  }
  const tdm_status status = k->status;
  if (status == TDM_OK)
    *device = k->device;
  else
    snprintf(reason, size, "%s", k->reason);
  pthread_mutex_unlock(&lock);
  return status;
}

/* The driver's error, or 0. With the lock, in the device's context. */
static int load(const cuda_driver *d, known_device *k, const wg_image *image, void **module) {
  for (int i = 0; i < k->images; i++)
    if (k->image[i].image == image->begin) {
      *module = k->image[i].module;
      return 0;
    }
  const int out_of_memory = 2;
  if (k->images == MOST_MODULES) return out_of_memory;
  int code = d->load(module, image->begin);
  if (code == 0) k->image[k->images++] = (loaded){image->begin, *module};
  return code;
}

tdm_status wg_function(const tdm_plan *plan, const wg_image *image, const char *name, bool large, void **function) {
  const tdm_context *context = plan->context;
  char reason[128], what[sizeof plan->title + 64];
  const cuda_driver *d = cuda_driver_find(reason, sizeof reason);
  if (d == NULL) return tdm_fail(TDM_ERROR_DEVICE, "%s: device %s %s", plan->title, context->device, reason);
  known_device *k = &known[context->omp_device];
  void *module, *popped;
  pthread_mutex_lock(&lock);
  int code = d->push(k->device.context);
  if (code == 0) {
    code = load(d, k, image, &module);
    if (code == 0) code = d->function(function, module, name);
    if (code == 0 && large) code = d->function_set(*function, FUNCTION_SHARED_BYTES, WG_SHARED_BYTES);
    int last = d->pop(&popped);
    if (code == 0) code = last;
  }
  pthread_mutex_unlock(&lock);
  if (code == 0) return TDM_OK;
  snprintf(what, sizeof what, "%s: %s", plan->title, name);
  return cuda_fail(what, code);
}
