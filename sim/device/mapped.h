/* Host memory that kernels reach at its own address: ranges that were mapped one by one, and, where all of the process is
 * shared, the ranges of /proc/self/maps, looked up when a kernel first touches one. */
#ifndef GFXSIM_MAPPED_H
#define GFXSIM_MAPPED_H
#include "memory.h"

gfxsim_status mapped_add(memory *m, void *host, u64 bytes);
gfxsim_status mapped_remove(memory *m, void *host);
gfxsim_status mapped_share(memory *m, bool share);
bool mapped_is_shared(const mapped *list); /* NULL is allowed */
/* The range that holds the address; NULL where there is none. May be called by several threads during a launch. */
allocation *mapped_find(mapped *list, u64 address);
/* Before a launch: forgets what was looked up, the process may have unmapped it since. NULL is allowed. */
void mapped_renew(mapped *list);
void mapped_free(mapped *list); /* NULL is allowed */
/* Whether the address is memory of this process, mapped for the device or not. */
bool mapped_is_host(u64 address);

#endif
