/* Large blocks of bytes that all have one value at first, and cost memory and time only where they are touched: LLVM's offload
 * runtime takes 512 MiB for a heap that most programs never touch, and a launch looks at few entries of its tables. */
#ifndef GFXSIM_PAGES_H
#define GFXSIM_PAGES_H
#include "types.h"

enum { PAGES_LEAST = 64 << 20 }; /* bytes from which it is worth it */

/* NULL: no memory. */
u8 *pages_make(u64 bytes, u8 value);
/* Gives all bytes the value again: the whole block of a pages_make. */
void pages_set(u8 *at, u64 bytes, u8 value);
void pages_free(u8 *at, u64 bytes); /* NULL is allowed */

#endif
