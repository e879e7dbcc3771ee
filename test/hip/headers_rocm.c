/* Our declarations of HIP's runtime against ROCm's headers: compiling this is the test. */
#include <hip/hip_runtime_api.h>

#if HIP_VERSION_MAJOR >= 6
#define SINCE_6(...) __VA_ARGS__
#else
#define SINCE_6(...)
#endif
#if HIP_VERSION_MAJOR >= 7
#define SINCE_7(...) __VA_ARGS__
#else
#define SINCE_7(...)
#endif
#include "headers.h"

#include "headers-values.h" /* what headers_ours.c printed */
