/* The signatures of headers.def, for both sets of declarations. */
#include <stddef.h>
#include <stdint.h>

#define VALUE(expression)
#define FUNCTION(name, arguments) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(&name), hipError_t(*) arguments), "the signature of " #name);
#include "headers.def"
#undef VALUE
#undef FUNCTION
