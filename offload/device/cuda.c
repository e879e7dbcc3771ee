#include "cuda.h"

#include <stdio.h>

enum { POINTER_CONTEXT = 1, PROCESSORS = 16, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76, PAGEABLE_ACCESS = 88, BYTES = 256 };

/* If the driver does not know the memory, it belongs to another vendor's GPU: the drivers of both may be loaded. */
static tdm_status ask(const cuda_driver *d, uintptr_t memory, cuda_device *device, char *reason, size_t size) {
  int major, minor, code = d->pointer_attribute(&device->context, POINTER_CONTEXT, memory);
  void *popped;
  if (code != 0) {
    snprintf(reason, size, "is not a device of the CUDA driver, which does not know its memory (error %d)", code);
    return TDM_ERROR_UNSUPPORTED;
  }
  code = d->push(device->context);
  if (code == 0) {
    code = d->get_device(&device->number);
    int last = d->pop(&popped);
    if (code == 0) code = last;
  }
  if (code == 0) code = d->device_attribute(&device->processors, PROCESSORS, device->number);
  if (code == 0) code = d->device_attribute(&major, CAPABILITY_MAJOR, device->number);
  if (code == 0) code = d->device_attribute(&minor, CAPABILITY_MINOR, device->number);
  if (code == 0) code = d->device_attribute(&device->reads_host, PAGEABLE_ACCESS, device->number);
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
  char unused[128];
  const char *text = NULL;
  const cuda_driver *d = cuda_driver_find(unused, sizeof unused);
  if (d == NULL || d->error_text(error, &text) != 0 || text == NULL) text = "unknown error";
  const int out_of_memory = 2;
  return tdm_fail(error == out_of_memory ? TDM_ERROR_MEMORY : TDM_ERROR_DEVICE, "%s: the CUDA driver says: %s (error %d)", what,
                  text, error);
}
