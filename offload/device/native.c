/* What a caller of the CUDA driver and this library share on an NVIDIA GPU: the current context, streams, and memory. Names and
 * values are those of NVIDIA's CUDA driver API. */
#include <stdio.h>

#include "cuda.h"

enum { INVALID_CONTEXT = 201, STREAM_CAPTURE_IMPLICIT = 906, WHAT = 320 };

/* Another vendor's GPU, or an old driver, is opened without all of this. */
tdm_status tdm_omp_open(tdm_context *context, const char *name, int number, char *reason, size_t size) {
  cuda_device device = {0};
  (void)name, (void)number;
  tdm_status status = cuda_device_of(context, &device, reason, size);
  if (status == TDM_ERROR_UNSUPPORTED) return TDM_OK;
  if (status != TDM_OK) return status;
  context->cuda = (tdm_cuda){.driver = cuda_driver_find(reason, size),
                             .context = device.context,
                             .number = device.number,
                             .reads_host = device.reads_host != 0};
  return TDM_OK;
}

/* ---- The calling thread's current context: LLVM's CUDA plugin sets its own before almost every call of the driver, and
 * leaves it ---- */

static const cuda_driver *driver_of(const tdm_context *context) {
  char unused[128];
  return context != NULL ? context->cuda.driver : cuda_driver_find(unused, sizeof unused);
}

static tdm_status fail_in(const char *what, const char *call, int code) {
  char text[WHAT];
  snprintf(text, sizeof text, "%s: %s", what, call);
  return cuda_fail(text, code);
}

/* Without a context, the driver may be loaded between the two; then nothing was current before. */
tdm_status tdm_omp_enter(const tdm_context *context, const char *what, void **before) {
  const cuda_driver *d = driver_of(context);
  *before = NULL;
  int code = d == NULL ? 0 : d->get_current(before);
  return code == 0 ? TDM_OK : fail_in(what, "cuCtxGetCurrent", code);
}

static tdm_status restore(const tdm_context *context, const char *what, void *before) {
  const cuda_driver *d = driver_of(context);
  int code = d == NULL ? 0 : d->set_current(before);
  return code == 0 ? TDM_OK : fail_in(what, "cuCtxSetCurrent", code);
}

tdm_status tdm_omp_leave(const tdm_context *context, const char *what, void *before, tdm_status status) {
  TDM_FIRST(status, restore(context, what, before));
  return status;
}

/* ---- Streams ---- */

tdm_status tdm_omp_wrap(const tdm_context *context, void *native) {
  static const char what[] = "stream_wrap";
  const cuda_driver *d = context->cuda.driver;
  void *owner = NULL, *popped;
  if (d == NULL)
    return tdm_fail(TDM_ERROR_UNSUPPORTED, "%s: device %s must be an NVIDIA GPU, with a driver of CUDA 12.1 or later", what,
                    context->device);
  int code = d->push(context->cuda.context);
  if (code != 0) return fail_in(what, "cuCtxPushCurrent", code);
  code = d->stream_context(native, &owner);
  int last = d->pop(&popped);
  if (code != 0) return fail_in(what, "cuStreamGetCtx", code);
  if (last != 0) return fail_in(what, "cuCtxPopCurrent", last);
  if (owner == context->cuda.context) return TDM_OK;
  return tdm_fail(TDM_ERROR_ARGUMENT, "%s: native = %p: must be a CUstream of the primary context of %s", what, native,
                  context->device);
}

/* In the device's context, which the stream NULL needs. The driver reports a capture of another stream as an error if native is
 * the default stream, which would wait for that stream. */
static tdm_status wait_for(const cuda_driver *d, const char *what, void *native) {
  int capture = 0, code = d->is_capturing(native, &capture);
  if (code == STREAM_CAPTURE_IMPLICIT || (code == 0 && capture != 0))
    return tdm_fail(TDM_ERROR_UNSUPPORTED, "%s: stream = %p: captures a graph: what runs through OpenMP can't be captured",
                    what, native);
  if (code != 0) return fail_in(what, "cuStreamIsCapturing", code);
  code = d->synchronize(native);
  return code == 0 ? TDM_OK : fail_in(what, "cuStreamSynchronize", code);
}

tdm_status tdm_omp_catch_up(const tdm_context *context, const char *what, void *native) {
  const cuda_driver *d = context->cuda.driver;
  void *popped;
  int code = d->push(context->cuda.context);
  if (code != 0) return fail_in(what, "cuCtxPushCurrent", code);
  tdm_status status = wait_for(d, what, native);
  code = d->pop(&popped);
  if (code != 0) TDM_FIRST(status, fail_in(what, "cuCtxPopCurrent", code));
  return status;
}

/* ---- Memory ---- */

/* One call of the driver. It gives type 0 to memory that it does not know: the host's, if it is not registered. With
 * INVALID_CONTEXT it can't tell, and then nothing is refused. */
tdm_status tdm_omp_reaches(const tdm_context *context, const char *what, const void *pointer, char *reason, size_t size) {
  enum { MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_ORDINAL = 9, UNKNOWN = 0, HOST = 1 };
  static const int attributes[] = {MEMORY_TYPE, IS_MANAGED, DEVICE_ORDINAL};
  const cuda_driver *d = context->cuda.driver;
  unsigned type = UNKNOWN, managed = 0;
  int number = -1;
  if (d == NULL) return TDM_OK;
  int code = d->pointer_attributes(3, attributes, (void *[]){&type, &managed, &number}, (uintptr_t)pointer);
  if (code != 0) return code == INVALID_CONTEXT ? TDM_OK : fail_in(what, "cuPointerGetAttributes", code);
  if (managed != 0 || type == HOST || (type == UNKNOWN && context->cuda.reads_host)) return TDM_OK;
  if (type != UNKNOWN && number == context->cuda.number) return TDM_OK;
  if (type == UNKNOWN)
    snprintf(reason, size, "is memory of the host, which %s can't read: must be its own, managed or registered",
             context->device);
  else
    snprintf(reason, size, "is memory of CUDA's device %d: must be of device %d, which is %s", number, context->cuda.number,
             context->device);
  return TDM_ERROR_ARGUMENT;
}
