/* The functions of a code object's symbol table: which one an instruction lies in. */
#ifndef GFXSIM_FUNCTION_H
#define GFXSIM_FUNCTION_H
#include "sim/base/types.h"
#include "sim/include/gfxsim.h"

typedef struct functions functions;

/* list: NULL before the first. */
gfxsim_status functions_add(functions **list, const char *name, u64 address, u64 bytes);
/* "" where no function has the address. */
const char *functions_find(const functions *list, u64 address);
void functions_free(functions *list);

#endif
