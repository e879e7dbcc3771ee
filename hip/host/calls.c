/* Calls of the runtime: their errors, and the device that is current during them. */
#include "calls.h"

const char *tdm_hip_error_text(const hip_library *h, hipError_t error) {
  const char *text = h->last_words != NULL ? h->last_words() : h->GetErrorString(error);
  return text != NULL ? text : "no description";
}

const char *tdm_hip_error_name(const hip_library *h, hipError_t error) {
  const char *name = h->GetErrorName(error);
  return name != NULL ? name : "an unknown error";
}

tdm_status tdm_hip_check(const tdm_hip_device *device, const char *what, const char *call, int error) {
  const hip_library *h = device->library;
  if (error == hipSuccess) return TDM_OK;
  const char *text = tdm_hip_error_text(h, (hipError_t)error);
  (void)h->GetLastError(); /* clears it, so that the next caller in this thread does not get it */
  return tdm_fail(error == hipErrorOutOfMemory ? TDM_ERROR_MEMORY : TDM_ERROR_DEVICE, "%s: hip%s on %s: %s: %s", what, call,
                  device->name, tdm_hip_error_name(h, (hipError_t)error), text);
}

tdm_status tdm_hip_enter(const tdm_hip_device *device, const char *what, int *before) {
  *before = device->number;
  if (device->count == 1) return TDM_OK;
  TDM_TRY(tdm_hip_check(device, what, "GetDevice", device->library->GetDevice(before)));
  if (*before == device->number) return TDM_OK;
  return tdm_hip_check(device, what, "SetDevice", device->library->SetDevice(device->number));
}

tdm_status tdm_hip_leave(const tdm_hip_device *device, const char *what, int before, tdm_status status) {
  if (before == device->number) return status;
  TDM_FIRST(status, tdm_hip_check(device, what, "SetDevice", device->library->SetDevice(before)));
  return status;
}
