#include "cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { POINTER_CONTEXT = 1, PROCESSORS = 16, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76, BYTES = 256 };

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
                {"cuCtxGetFlags", &d->get_flags},
                {"cuCtxSetFlags", &d->set_flags},
                {"cuPointerGetAttribute", &d->pointer_attribute},
                {"cuCtxGetDevice", &d->get_device},
                {"cuDeviceGetAttribute", &d->device_attribute},
                {"cuModuleLoadData", &d->load},
                {"cuModuleGetFunction", &d->function},
                {"cuFuncSetAttribute", &d->function_set},
                {"cuLaunchKernelEx", &d->launch},
                {"cuStreamSynchronize", &d->synchronize},
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

/* If the driver does not know the memory, it belongs to another vendor's GPU: the drivers of both may be loaded. */
static tdm_status ask(const cuda_driver *d, uintptr_t memory, cuda_device *device, char *reason, size_t size) {
  int number, major, minor, code = d->pointer_attribute(&device->context, POINTER_CONTEXT, memory);
  void *popped;
  if (code != 0) {
    snprintf(reason, size, "is not a device of the CUDA driver, which does not know its memory (error %d)", code);
    return TDM_ERROR_UNSUPPORTED;
  }
  code = d->push(device->context);
  if (code == 0) {
    code = d->get_device(&number);
    int last = d->pop(&popped);
    if (code == 0) code = last;
  }
  if (code == 0) code = d->device_attribute(&device->processors, PROCESSORS, number);
  if (code == 0) code = d->device_attribute(&major, CAPABILITY_MAJOR, number);
  if (code == 0) code = d->device_attribute(&minor, CAPABILITY_MINOR, number);
  if (code == 0) {
    device->capability = major * 10 + minor;
    return TDM_OK;
  }
  snprintf(reason, size, "the driver does not tell what it is (error %d)", code);
  return TDM_ERROR_DEVICE;
}

tdm_status cuda_device_of(const tdm_context *context, cuda_device *device, char *reason, size_t size) {
  void *memory = NULL;
  const cuda_driver *d = cuda_driver_find(reason, size);
  if (d == NULL) return TDM_ERROR_UNSUPPORTED;
  if (context->backend->alloc(context, BYTES, &memory) != TDM_OK) {
    snprintf(reason, size, "%s", tdm_last_error());
    return TDM_ERROR_DEVICE;
  }
  tdm_status status = ask(d, (uintptr_t)memory, device, reason, size);
  context->backend->free(context, memory);
  return status;
}

tdm_status cuda_fail(const char *what, int error) {
  const char *text = NULL;
  if (!found || driver.error_text(error, &text) != 0 || text == NULL) text = "unknown error";
  const int out_of_memory = 2;
  return tdm_fail(error == out_of_memory ? TDM_ERROR_MEMORY : TDM_ERROR_DEVICE, "%s: the CUDA driver says: %s (error %d)", what,
                  text, error);
}
