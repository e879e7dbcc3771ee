/* The modules of a device, for backend.c. */
#ifndef TANDEM_HIP_HOST_MODULE_H
#define TANDEM_HIP_HOST_MODULE_H

#include "hip.h"

/* Unloads all modules of the device. */
tdm_status tdm_hip_unload(tdm_hip_device *device);

#endif
