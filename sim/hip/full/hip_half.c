/* Conversions that compilers of ROCm 5 and 6 call for f16 on the host. */
#include "sim/base/half.h"

__attribute__((visibility("default"))) float __gnu_h2f_ieee(unsigned short half);
__attribute__((visibility("default"))) float __gnu_h2f_ieee(unsigned short half) { return half_f32(half); }
__attribute__((visibility("default"))) unsigned short __gnu_f2h_ieee(float value);
__attribute__((visibility("default"))) unsigned short __gnu_f2h_ieee(float value) {
  return (unsigned short)f32_half(value, ROUND_NEAREST);
}
