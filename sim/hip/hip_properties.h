/* What the table of chips says of a device, in HIP's structure. */
#ifndef GFXSIM_HIP_PROPERTIES_H
#define GFXSIM_HIP_PROPERTIES_H
#include "sim/include/gfxsim.h"
#include "sim/include/hip_abi.h"

void hip_properties(const gfxsim_device *device, hipDeviceProp_tR0600 *p);

#endif
