/* Prints the values of our declarations of HIP's runtime as static assertions, which headers_rocm.c holds against ROCm's. */
#include <stdio.h>

#include "hip_abi.h"

#define SINCE_6(...) __VA_ARGS__
#define SINCE_7(...) __VA_ARGS__
#include "headers.h"
#undef SINCE_6
#undef SINCE_7

#define FUNCTION(name, arguments)
#define VALUE(expression) \
  printf("_Static_assert((long long)(%s) == %lldLL, \"%s\");\n", #expression, (long long)(expression), #expression);
#define SINCE_6(...)                  \
  puts("#if HIP_VERSION_MAJOR >= 6"); \
  __VA_ARGS__ puts("#endif");
#define SINCE_7(...)                  \
  puts("#if HIP_VERSION_MAJOR >= 7"); \
  __VA_ARGS__ puts("#endif");

int main(void) {
#include "headers.def"
  return 0;
}
