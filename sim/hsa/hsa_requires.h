/* Whether a program that is loaded into this process has `omp requires unified_shared_memory`. */
#ifndef GFXSIM_HSA_REQUIRES_H
#define GFXSIM_HSA_REQUIRES_H
#include <stdbool.h>

bool requires_unified_memory(void);

#endif
