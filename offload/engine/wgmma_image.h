/* The images of kernels on Hopper's matrix units: loaded into a device's context when a plan first needs them, and kept
 * there for as long as the process runs. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_IMAGE_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_IMAGE_H

#include "offload/device/cuda.h"
#include "wgmma_plan.h"

extern const wg_image tdm_wg_pack_image[];

/* The context's device, asked once. */
tdm_status wg_device_of(const tdm_context *context, cuda_device *device, char *reason, size_t size);

enum { WG_SHARED_BYTES = 232448 }; /* that a block may have on sm_90: 227 KiB */

/* A function of an image. large: a launch may ask for WG_SHARED_BYTES, otherwise for 48 KiB. The limit is the function's, which
 * plans share: if each set its own amount, a plan could not run after one that needs less was made. */
tdm_status wg_function(const tdm_plan *plan, const wg_image *image, const char *name, bool large, void **function);

#endif
