/* How tandem-learn-run calls the function of a C exercise; each exercise has one, in its call.c. */
#ifndef TANDEM_LEARN_CALL_H
#define TANDEM_LEARN_CALL_H

#include <stdint.h>

#include "learn_config.h"

/* LEARN_CALLS is made of learn/meson.build's list: LEARN_CALL(omp_axpy) and so on. */
#define LEARN_CALL(name) void learn_call_##name(void (*kernel)(void), void *const *a, const int32_t *size);
LEARN_CALLS
#undef LEARN_CALL

#endif
