/* Finds the CUDA driver (cuda.h). tandem-bench links this file, too. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"

/* Kept when all of it was found; what is not there may be loaded later. The plugin keeps the library loaded. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cuda_driver driver;
static bool found;

static bool find(void *library, const char *name, void *to, char *reason, size_t size) {
  void *symbol = dlsym(library, name);
  memcpy(to, &symbol, sizeof symbol);
  if (symbol == NULL) snprintf(reason, size, "the driver has no %s: CUDA 12.1 and later have it", name);
  return symbol != NULL;
}

static bool find_all(void *library, cuda_driver *d, char *reason, size_t size) {
  const struct {
    const char *name;
    void *to;
  } wanted[] = {{"cuCtxPushCurrent_v2", &d->push},
                {"cuCtxPopCurrent_v2", &d->pop},
                {"cuCtxGetCurrent", &d->get_current},
                {"cuCtxSetCurrent", &d->set_current},
                {"cuCtxGetFlags", &d->get_flags},
                {"cuCtxSetFlags", &d->set_flags},
                {"cuPointerGetAttribute", &d->pointer_attribute},
                {"cuPointerGetAttributes", &d->pointer_attributes},
                {"cuCtxGetDevice", &d->get_device},
                {"cuDeviceGetAttribute", &d->device_attribute},
                {"cuModuleLoadData", &d->load},
                {"cuModuleUnload", &d->unload},
                {"cuModuleGetFunction", &d->function},
                {"cuFuncSetAttribute", &d->function_set},
                {"cuLaunchKernelEx", &d->launch},
                {"cuStreamSynchronize", &d->synchronize},
                {"cuStreamIsCapturing", &d->is_capturing},
                {"cuStreamGetCtx", &d->stream_context},
                {"cuTensorMapEncodeTiled", &d->tensor_map},
                {"cuMemAllocAsync", &d->alloc},
                {"cuMemFreeAsync", &d->free},
                {"cuGetErrorString", &d->error_text}};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
    if (!find(library, wanted[i].name, wanted[i].to, reason, size)) return false;
  return true;
}

const cuda_driver *cuda_driver_find(char *reason, size_t size) {
  pthread_mutex_lock(&lock);
  if (!found) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL)
      snprintf(reason, size, "is not a device of the CUDA driver");
    else
      found = find_all(library, &driver, reason, size);
    if (library != NULL) dlclose(library);
  }
  pthread_mutex_unlock(&lock);
  return found ? &driver : NULL;
}
