/* Sizes of Hopper's matrix unit (wgmma.h), and its descriptors of operands: for kernels, for the host that cuts their work,
 * and for a test that executes kernels on the host. */
#ifndef TANDEM_OFFLOAD_DEVICE_WGMMA_SIZES_H
#define TANDEM_OFFLOAD_DEVICE_WGMMA_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/inline.h"

enum {
  WG_THREADS = 128,      /* of a warpgroup */
  WG_LINES = 64,         /* that one instruction multiplies */
  WG_K = 16,             /* of an instruction */
  WG_STEP = 64,          /* k of a step: 128 bytes, the width of the swizzle */
  WG_LINE_BYTES = 128,   /* of a step and one row or column */
  WG_ATOM_BYTES = 1024,  /* 8 lines */
  WG_BLOCK_BYTES = 8192, /* 64 lines */
};

typedef uint32_t wg_address; /* in shared memory; the same place in each block of a cluster */

/* Descriptor of an operand without the address: what its atoms' distances are. block: bytes from 64 rows or columns to the
 * next, where k is not contiguous. */
TDM_INLINE uint64_t wg_descriptor_of(bool by_k, int block) {
  const uint64_t swizzle_128 = UINT64_C(1) << 62, atom = WG_ATOM_BYTES >> 4;
  return swizzle_128 | atom << 32 | (by_k ? 1 : (uint64_t)block >> 4) << 16;
}
/* Of a step of 64 k. */
TDM_INLINE uint64_t wg_descriptor(bool by_k) { return wg_descriptor_of(by_k, WG_BLOCK_BYTES); }
TDM_INLINE uint64_t wg_descriptor_at(uint64_t descriptor, wg_address at) { return descriptor | (at & 0x3ffff) >> 4; }
/* From one k of an instruction to the next, in units of a descriptor's address. */
TDM_INLINE int wg_next_k(bool by_k) { return (by_k ? WG_K * 2 : 2 * WG_ATOM_BYTES) >> 4; }

#endif
