/* Calls of the runtime, for backend.c and module.c: a failed call becomes a status. The right device is current during it. */
#ifndef TANDEM_HIP_HOST_CALLS_H
#define TANDEM_HIP_HOST_CALLS_H

#include "hip.h"
#include "library.h"

/* The runtime's text and name of an error; never NULL. */
const char *tdm_hip_error_text(const hip_library *h, hipError_t error);
const char *tdm_hip_error_name(const hip_library *h, hipError_t error);

/* The status of a call of the runtime, which is named without its "hip": OK, MEMORY for hipErrorOutOfMemory, otherwise
 * DEVICE. The message is "add f32 3x4: hipModuleLaunchKernel on hip:0: hipErrorLaunchFailure: unspecified launch failure". */
tdm_status tdm_hip_check(const tdm_hip_device *device, const char *what, const char *call, int error);
/* tdm_hip_enter makes the device current in this thread, and tdm_hip_leave restores the caller's. If the runtime has only
 * one device, neither calls it. tdm_hip_leave returns status, or its own failure if status is TDM_OK. */
tdm_status tdm_hip_enter(const tdm_hip_device *device, const char *what, int *before);
tdm_status tdm_hip_leave(const tdm_hip_device *device, const char *what, int before, tdm_status status);

#endif
