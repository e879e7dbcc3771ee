/* What printf in kernels leaves to the host. */
#ifndef GFXSIM_HIP_PRINTF_H
#define GFXSIM_HIP_PRINTF_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A format, padded to 8 bytes, and its arguments: numbers in 8 bytes, strings padded to 8. Returns what printf would. */
int printf_message(FILE *file, const uint64_t *data, size_t count);
/* A buffer that __printf_alloc filled: bytes used, room, entries. formats: the code object's, each "0:0:HASH,FORMAT", up to a
 * NULL.
 */
void printf_buffer(const uint8_t *buffer, size_t bytes, const char *(*format_at)(const void *of, int index), const void *of);

#endif
