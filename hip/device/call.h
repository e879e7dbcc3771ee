/* Functions of device code that are called, not inlined: for much code, not in a loop, that is the same for many kernels. */
#ifndef TANDEM_HIP_DEVICE_CALL_H
#define TANDEM_HIP_DEVICE_CALL_H

#include "types.h"

/* A function that is called. Clang knows which registers it uses, because it is static: callers keep their values in others,
 * and the function saves none. It doesn't for calls that may be tail calls. */
#define CALLED static __attribute__((device, noinline, not_tail_called))
/* First and last in a called function: keep the address to return to where it is. Else clang takes its registers for something
 * else, and keeps the address in a vector register, whose old value it keeps in scratch. */
#define CALL_BEGIN() void *call_returns_to = __builtin_return_address(0)
#define CALL_END() asm volatile("" : : "{s[30:31]}"(call_returns_to))

/* A value that is the same in all lanes, as the compiler shall know: a called function gets its arguments in vector
 * registers. */
template <typename value>
DEVICE value uniform(value x) {
  if constexpr (sizeof(value) == 4) {
    return __builtin_bit_cast(value, __builtin_amdgcn_readfirstlane(__builtin_bit_cast(int, x)));
  } else {
    typedef int pair __attribute__((ext_vector_type(2)));
    pair two = __builtin_bit_cast(pair, x);
    two[0] = __builtin_amdgcn_readfirstlane(two[0]);
    two[1] = __builtin_amdgcn_readfirstlane(two[1]);
    return __builtin_bit_cast(value, two);
  }
}

#endif
