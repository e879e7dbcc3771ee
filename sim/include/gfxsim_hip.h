/* libgfxsim-hip: HIP's runtime interface over the simulator. A program loads it where it would load libamdhip64; it is a
 * library of its own so that a process may hold both.
 *
 * The chip comes from gfxsim_hip_open, else from the environment: GFXSIM_CHIP=gfx950 or sim:gfx950, with overrides as in
 * gfxsim_open. Without either there is no device (hipErrorNoDevice). One device; every call does its work before it returns, so
 * streams only check their handles, and the times of events are the host's. Functions may be called from any thread; they run
 * one after another. What a kernel did wrong comes back from its launch as hipErrorLaunchFailure, an instruction that the
 * simulator lacks as hipErrorNotSupported; gfxsim_last_error() has the text of every error. Device addresses are no host
 * pointers, nor can kernels use host memory: copies check both sides (hipErrorInvalidValue). */
#ifndef GFXSIM_HIP_H
#define GFXSIM_HIP_H
#include "gfxsim_counters.h"
#include "hip_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* chip: as in gfxsim_open, also after "sim:". Fails where a device is open. The report callback runs during a launch and must
 * not call hip functions. */
GFXSIM_API gfxsim_status gfxsim_hip_open(const char *chip, const gfxsim_options *options);
/* Frees the device with its memory and modules; streams, events and host memory too. Handles that are left are invalid. */
GFXSIM_API void gfxsim_hip_close(void);
/* Checks that devices opened without options from now on leave out: bits of gfxsim_check. */
GFXSIM_API void gfxsim_hip_uncheck(uint32_t checks);

/* gfxsim_reserve, gfxsim_map and gfxsim_unreserve of the open device: arrays of exact bounds, whose addresses kernels and
 * copies take like those of hipMalloc. */
GFXSIM_API gfxsim_status gfxsim_hip_reserve(const char *name, uint64_t offset, uint64_t bytes, uint64_t *address);
GFXSIM_API gfxsim_status gfxsim_hip_map(uint64_t address, uint64_t bytes);
GFXSIM_API gfxsim_status gfxsim_hip_unreserve(uint64_t address);

#ifdef __cplusplus
}
#endif
#endif
