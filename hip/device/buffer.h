/* Buffer resources: a base and a length in SGPRs; each access has an offset of 32 bits. Dwords at or beyond the length load as
 * 0 and are not stored. The scalar offset of an instruction takes no part in that check, so it is not used here: whoever walks
 * through memory moves the base and shortens the length.
 *
 * The bound is linear: it masks rows behind the last one, but what is behind the end of a row is the next row. */
#ifndef TANDEM_HIP_BUFFER_H
#define TANDEM_HIP_BUFFER_H

#include "types.h"

typedef __amdgpu_buffer_rsrc_t buffer;

/* Offset that is out of every buffer: buffers made here end below it. */
enum : uint32_t { OUTSIDE = 0xfffffff0u };

/* `bytes` from base on, a multiple of 4 and at most OUTSIDE: nothing to compare. */
DEVICE buffer make_short_buffer(const void *base, uint32_t bytes) {
  /* 0x20000: data format 32, which "raw" access needs to be valid and does not use. */
  return __builtin_amdgcn_make_buffer_rsrc((void *)(uintptr_t)base, 0, (int)bytes, 0x20000);
}

/* Negative as 0, at most OUTSIDE; a part of a dword at the end does not count. */
DEVICE uint32_t buffer_length(int64_t bytes) {
  /* By halves, because the scalar unit compares 32 bits; the compiler must not see that they are one number. */
  uint32_t low = (uint32_t)bytes, high = (uint32_t)(bytes >> 32);
  asm("" : "+s"(high));
  uint32_t length = low < OUTSIDE ? low & ~3u : OUTSIDE;
  return high == 0 ? length : (int32_t)high < 0 ? 0 : OUTSIDE;
}

/* `bytes` from base on. */
DEVICE buffer make_buffer(const void *base, int64_t bytes) { return make_short_buffer(base, buffer_length(bytes)); }

/* 16 bytes from an offset that is a multiple of 4. */
DEVICE u32x4 buffer_load(buffer from, uint32_t offset) {
  return __builtin_amdgcn_raw_buffer_load_b128(from, (int)offset, 0, 0);
}

/* Straight into LDS: lane l's element goes to `to` + l * size, where `to` is the same in all lanes. size is 16 on gfx950, 4 on
 * gfx942. The wait is wait_memory(). */
#if defined(__gfx950__)
enum { LOAD_TO_LDS_BYTES = 16 };
#else
enum { LOAD_TO_LDS_BYTES = 4 };
#endif
DEVICE void buffer_load_to_lds(buffer from, uint32_t offset, LDS void *to) {
  __builtin_amdgcn_raw_ptr_buffer_load_lds(from, to, LOAD_TO_LDS_BYTES, (int)offset, 0, 0, 0);
}

#endif
