/* A function for each exported name that no other file of this folder defines: weak, so that a definition there replaces it. */
#include "hip_stubs.h"

#define EXPORTED __attribute__((weak, visibility("default")))

#define HIP_NAME(node, name) \
  EXPORTED int name(void);   \
  int name(void) { return hip_stub(#name); }
#define HIP_TEXT(node, name)       \
  EXPORTED const char *name(void); \
  const char *name(void) {         \
    hip_stub(#name);               \
    return "unknown";              \
  }
#include "hip_names.def"
