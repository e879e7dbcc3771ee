/* Images, modules of hipModuleLoad, and their functions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_bundle.h"
#include "hip_state.h"

typedef struct module {
  gfxsim_object *object;
  device *device;
  function *functions;
  struct module *next;
} module;
static module *modules;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the modules and their functions */

/* ---- Images ---- */

/* Bytes from the address to the end of the mappings that hold it: an image in memory comes without its length. */
static size_t readable_bytes(const void *at) {
  FILE *file = fopen("/proc/self/maps", "re");
  if (file == NULL) return 0;
  char line[512], rights[8];
  uint64_t address = hip_number(at), end = address, low, high;
  while (fgets(line, sizeof line, file) != NULL) {
    unsigned long long from, to;
    if (sscanf(line, "%llx-%llx %7s", &from, &to, rights) != 3) continue; /* the rest of a long line */
    low = from;
    high = to;
    if (rights[0] == 'r' && low <= end && end < high) end = high;
  }
  fclose(file);
  return end - address;
}

static hipError_t error_of(bundle_status status) {
  switch (status) {
    case BUNDLE_OK: return hipSuccess;
    case BUNDLE_NO_IMAGE: return hipErrorNoBinaryForGpu;
    case BUNDLE_NO_MEMORY: return hipErrorOutOfMemory;
    case BUNDLE_UNSERVED: return hipErrorNotSupported;
    default: return hipErrorInvalidImage;
  }
}

hipError_t hip_load(const char *call, device *d, const void *image, size_t bytes, gfxsim_object **object) {
  gfxsim_device_info info;
  bundle_image found;
  if (bytes == 0) bytes = readable_bytes(image);
  gfxsim_device_describe(d->sim, &info);
  bundle_status status = bundle_find(image, bytes, info.chip, door_xnack(), &found);
  if (status == BUNDLE_NO_IMAGE)
    return hip_fail(hipErrorNoBinaryForGpu, "%s: no code for %s (--offload-arch=%s): it has %s", call, info.chip, info.chip,
                    found.text);
  if (status != BUNDLE_OK) return hip_fail(error_of(status), "%s: %s", call, found.text);
  pthread_mutex_lock(&d->lock);
  gfxsim_status loaded = gfxsim_load(d->sim, found.data, found.bytes, object);
  pthread_mutex_unlock(&d->lock);
  const char *chip = loaded != GFXSIM_OK ? gfxsim_object_chip(found.data, found.bytes) : info.chip;
  hipError_t error = hipSuccess;
  if (loaded != GFXSIM_OK) error = hip_fail(hipErrorInvalidImage, "%s: %s", call, gfxsim_last_error());
  if (chip != NULL && strcmp(chip, info.chip) != 0) error = hipErrorNoBinaryForGpu;
  if (loaded == GFXSIM_NO_MEMORY) error = hipErrorOutOfMemory;
  free(found.owned);
  return error;
}

static hipError_t load_module(const char *call, hipModule_t *to, const void *image, size_t bytes) {
  if (to == NULL || image == NULL)
    return hip_fail(hipErrorInvalidValue, "%s: module = %p, image = %p: must be addresses", call, (void *)to, image);
  module *m = calloc(1, sizeof *m);
  if (m == NULL) return hip_fail(hipErrorOutOfMemory, "%s: no memory", call);
  m->device = hip_device();
  hipError_t error = hip_load(call, m->device, image, bytes, &m->object);
  if (error != hipSuccess) {
    free(m);
    return error;
  }
  pthread_mutex_lock(&lock);
  m->next = modules;
  modules = m;
  pthread_mutex_unlock(&lock);
  *to = (hipModule_t)(void *)m;
  return hipSuccess;
}

HIP_API hipError_t hipModuleLoadData(hipModule_t *to, const void *image) {
  HIP_CALL(load_module("hipModuleLoadData", to, image, 0));
}
HIP_API hipError_t hipModuleLoadFatBinary(hipModule_t *to, const void *image) {
  HIP_CALL(load_module("hipModuleLoadFatBinary", to, image, 0));
}
/* The options are for a compiler, which an image for AMD does not need. */
HIP_API hipError_t hipModuleLoadDataEx(hipModule_t *to, const void *image, unsigned count, void *options, void **values) {
  (void)count, (void)options, (void)values;
  HIP_CALL(load_module("hipModuleLoadDataEx", to, image, 0));
}

enum { FILE_MOST = 1 << 30 };

static hipError_t load_file(hipModule_t *to, const char *name) {
  if (name == NULL) return hip_fail(hipErrorInvalidValue, "hipModuleLoad: file = NULL: must be a name");
  FILE *file = fopen(name, "rbe");
  long size = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  hipError_t error = hipErrorFileNotFound;
  uint8_t *data = NULL;
  if (size <= 0 || size > FILE_MOST || fseek(file, 0, SEEK_SET) != 0)
    hip_fail(error, "hipModuleLoad: file = %s: can't be read", name);
  else if ((data = malloc((size_t)size)) == NULL)
    error = hip_fail(hipErrorOutOfMemory, "hipModuleLoad: no memory");
  else if (fread(data, 1, (size_t)size, file) != (size_t)size)
    hip_fail(error, "hipModuleLoad: file = %s: can't be read", name);
  else
    error = load_module("hipModuleLoad", to, data, (size_t)size);
  free(data);
  if (file != NULL) fclose(file);
  return error;
}

HIP_API hipError_t hipModuleLoad(hipModule_t *to, const char *name) { HIP_CALL(load_file(to, name)); }

/* The caller has `lock`. */
static module *find(const char *call, hipModule_t handle) {
  module *m = modules;
  while (m != NULL && (hipModule_t)(void *)m != handle) m = m->next;
  if (m == NULL) hip_fail(hipErrorInvalidHandle, "%s: module = %p: must be a live module", call, (void *)handle);
  return m;
}

static hipError_t unload(hipModule_t handle) {
  pthread_mutex_lock(&lock);
  module *m = find("hipModuleUnload", handle);
  for (module **at = &modules; m != NULL && *at != NULL; at = &(*at)->next)
    if (*at == m) {
      *at = m->next;
      break;
    }
  pthread_mutex_unlock(&lock);
  if (m == NULL) return hipErrorInvalidHandle;
  hip_wait_device(m->device);
  pthread_mutex_lock(&m->device->lock);
  gfxsim_unload(m->object);
  pthread_mutex_unlock(&m->device->lock);
  while (m->functions != NULL) {
    function *f = m->functions;
    m->functions = f->next;
    free(f);
  }
  free(m);
  return hipSuccess;
}

HIP_API hipError_t hipModuleUnload(hipModule_t handle) { HIP_CALL(unload(handle)); }

/* ---- Functions and variables ---- */

void hip_function_make(function *f, device *d, gfxsim_kernel *kernel) {
  *f = (function){.kernel = kernel, .device = d};
  gfxsim_kernel_describe(kernel, &f->info);
  for (int a = 0; a < f->info.arg_count; a++) {
    const gfxsim_arg *arg = &f->info.args[a];
    if (!arg->hidden && arg->offset + arg->size > f->arg_bytes) f->arg_bytes = arg->offset + arg->size;
  }
}

/* The caller has `lock`. */
static hipError_t get_function(hipFunction_t *to, hipModule_t handle, const char *name) {
  gfxsim_kernel *kernel;
  module *m = find("hipModuleGetFunction", handle);
  if (m == NULL) return hipErrorInvalidHandle;
  for (function *f = m->functions; f != NULL; f = f->next)
    if (strcmp(f->info.name, name) == 0) {
      *to = (hipFunction_t)(void *)f;
      return hipSuccess;
    }
  if (gfxsim_kernel_find(m->object, name, &kernel) != GFXSIM_OK)
    return hip_fail(hipErrorNotFound, "hipModuleGetFunction: %s", gfxsim_last_error());
  function *f = malloc(sizeof *f);
  if (f == NULL) return hip_fail(hipErrorOutOfMemory, "hipModuleGetFunction: no memory");
  hip_function_make(f, m->device, kernel);
  f->next = m->functions;
  m->functions = f;
  *to = (hipFunction_t)(void *)f;
  return hipSuccess;
}

static hipError_t get_function_locked(hipFunction_t *to, hipModule_t handle, const char *name) {
  if (to == NULL || name == NULL || *name == '\0')
    return hip_fail(hipErrorInvalidValue, "hipModuleGetFunction: function and name must not be NULL or empty");
  pthread_mutex_lock(&lock);
  hipError_t error = get_function(to, handle, name);
  pthread_mutex_unlock(&lock);
  return error;
}

HIP_API hipError_t hipModuleGetFunction(hipFunction_t *to, hipModule_t handle, const char *name) {
  HIP_CALL(get_function_locked(to, handle, name));
}

function *hip_module_function(const void *handle) {
  function *found = NULL;
  pthread_mutex_lock(&lock);
  for (const module *m = modules; m != NULL && found == NULL; m = m->next)
    for (function *f = m->functions; f != NULL && found == NULL; f = f->next)
      if (f == handle) found = f;
  pthread_mutex_unlock(&lock);
  return found;
}

static hipError_t get_global(hipDeviceptr_t *pointer, size_t *bytes, hipModule_t handle, const char *name) {
  uint64_t address;
  size_t size;
  if (name == NULL || (pointer == NULL && bytes == NULL))
    return hip_fail(hipErrorInvalidValue, "hipModuleGetGlobal: name and one of pointer, bytes must not be NULL");
  pthread_mutex_lock(&lock);
  const module *m = find("hipModuleGetGlobal", handle);
  bool found = m != NULL && gfxsim_variable_find(m->object, name, &address, &size) == GFXSIM_OK;
  pthread_mutex_unlock(&lock);
  if (m == NULL) return hipErrorInvalidHandle;
  if (!found) return hip_fail(hipErrorNotFound, "hipModuleGetGlobal: %s", gfxsim_last_error());
  if (pointer != NULL) *pointer = (void *)(uintptr_t)address;
  if (bytes != NULL) *bytes = size;
  return hipSuccess;
}

HIP_API hipError_t hipModuleGetGlobal(hipDeviceptr_t *pointer, size_t *bytes, hipModule_t handle, const char *name) {
  HIP_CALL(get_global(pointer, bytes, handle, name));
}

static hipError_t count_functions(unsigned *count, hipModule_t handle) {
  if (count == NULL) return hip_fail(hipErrorInvalidValue, "hipModuleGetFunctionCount: count = NULL: must be an address");
  pthread_mutex_lock(&lock);
  const module *m = find("hipModuleGetFunctionCount", handle);
  if (m != NULL) *count = (unsigned)gfxsim_kernel_count(m->object);
  pthread_mutex_unlock(&lock);
  return m != NULL ? hipSuccess : hipErrorInvalidHandle;
}

HIP_API hipError_t hipModuleGetFunctionCount(unsigned *count, hipModule_t handle) { HIP_CALL(count_functions(count, handle)); }
