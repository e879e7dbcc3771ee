/* Code objects embedded in the library: hip/meson.build makes them from each .hip file. */
#ifndef TANDEM_HIP_HOST_CODE_H
#define TANDEM_HIP_HOST_CODE_H

#include <stddef.h>

/* One chip's code object. tdm_code_NAME[] of hip/<op>/NAME.hip has one for each chip of the build, in the order of TDM_HIP. */
typedef struct hip_code {
  const void *data;
  size_t bytes;
} hip_code;

#endif
