/* The images of kernels on Hopper's matrix units: loaded into a device's context when a plan first needs them, and kept
 * there for as long as the process runs. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_IMAGE_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_IMAGE_H

#include "offload/device/cuda.h"
#include "wgmma_plan.h"

extern const wg_image tdm_wg_pack_image[];

/* The context's device, asked once. */
tdm_status wg_device_of(const tdm_context *context, cuda_device *device, char *reason, size_t size);

/* A function of an image, which may have so much shared memory. */
tdm_status wg_function(const tdm_plan *plan, const wg_image *image, const char *name, int shared_bytes, void **function);

#endif
