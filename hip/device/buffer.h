/* Buffer resources: a base and a length in SGPRs; each access has an offset of 32 bits. Dwords at or after the length load
 * as 0 and are not stored. An instruction's scalar offset takes no part in that check, so it is not used here: code that
 * moves through memory increases the base and decreases the length.
 *
 * The bound is linear. It masks the rows after the last one, but not the end of a row, because the next row follows it. */
#ifndef TANDEM_HIP_DEVICE_BUFFER_H
#define TANDEM_HIP_DEVICE_BUFFER_H

#include "types.h"

typedef __amdgpu_buffer_rsrc_t buffer;

/* An offset outside of every buffer: buffers made here end below it. */
enum : uint32_t { OUTSIDE = 0xfffffff0u };

/* `bytes` from base on, a multiple of 4 and at most OUTSIDE, so nothing needs to be compared. */
DEVICE buffer make_short_buffer(const void *base, uint32_t bytes) {
  /* 0x20000 is data format 32. "Raw" access does not use it, but it must be valid. */
  return __builtin_amdgcn_make_buffer_rsrc((void *)(uintptr_t)base, 0, (int)bytes, 0x20000);
}

/* Negative lengths become 0, and large ones OUTSIDE. A part of a dword at the end does not count. */
DEVICE uint32_t buffer_length(int64_t bytes) {
  /* In halves, because the scalar unit compares 32 bits. The compiler must not see that they are one number. */
  uint32_t low = (uint32_t)bytes, high = (uint32_t)(bytes >> 32);
  asm("" : "+s"(high));
  uint32_t length = low < OUTSIDE ? low & ~3u : OUTSIDE;
  return high == 0 ? length : (int32_t)high < 0 ? 0 : OUTSIDE;
}

/* `bytes` from base on. */
DEVICE buffer make_buffer(const void *base, int64_t bytes) { return make_short_buffer(base, buffer_length(bytes)); }

/* 16 bytes from an offset, which is a multiple of 4. */
DEVICE u32x4 buffer_load(buffer from, uint32_t offset) {
  return __builtin_amdgcn_raw_buffer_load_b128(from, (int)offset, 0, 0);
}

DEVICE void buffer_store(buffer to, uint32_t offset, u32x4 words) {
  __builtin_amdgcn_raw_buffer_store_b128(words, to, (int)offset, 0, 0);
}

/* Load-to-LDS: lane l's element goes to `to` + l * size, where `to` is the same in all lanes. size is 16 on gfx950, 4 on
 * gfx942. Wait for it with wait_memory(). */
DEVICE void buffer_load_to_lds(buffer from, uint32_t offset, LDS void *to) {
  __builtin_amdgcn_raw_ptr_buffer_load_lds(from, to, CHIP_LOAD_TO_LDS_BYTES, (int)offset, 0, 0, 0);
}

#endif
