/* What all launches of kernels on Hopper's matrix units do with the driver. Each function returns the driver's error, or 0. */
#ifndef TANDEM_OFFLOAD_ENGINE_WGMMA_LAUNCH_H
#define TANDEM_OFFLOAD_ENGINE_WGMMA_LAUNCH_H

#include "offload/device/cuda.h"
#include "wgmma_args.h"
#include "wgmma_pack.h"

/* The driver's stream of the calling thread. It waits for what is in the driver's default stream. */
#define WG_STREAM ((void *)2)

/* A map of a tensor of elements of 2 or 4 bytes. stride: bytes, of all dimensions but the first. */
int wg_make_map(const cuda_driver *d, wg_map *map, int element, unsigned rank, uintptr_t base, const uint64_t *extent,
                const uint64_t *stride, const unsigned *box);

/* args: the kernel's parameter. */
int wg_launch_blocks(const cuda_driver *d, void *function, unsigned blocks, unsigned threads, unsigned shared, unsigned cluster,
                     void *args);
int wg_launch_pack(const cuda_driver *d, void *function, wg_pack_args *args, int processors);

/* Frees the memory of `count` allocations, where it is not 0, and waits for the stream. */
int wg_finish(const cuda_driver *d, const uintptr_t *memory, int count);

#endif
