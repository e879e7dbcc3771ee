/* HIP's runtime: ROCm's libamdhip64, or the simulator's library in its place. */
#ifndef TANDEM_HIP_HOST_LIBRARY_H
#define TANDEM_HIP_HOST_LIBRARY_H

#include <stdbool.h>

#include "hip_abi.h"
#include "tandem/tandem.h"

typedef struct hip_library {
  char file[64]; /* the name under which it was found: "libamdhip64.so.6" */
#define HIP_FUNCTION(name) __typeof__(hip##name) *name;
#include "functions.def"
#undef HIP_FUNCTION
  const char *(*last_words)(void); /* of the simulator: the text of its last error; NULL with ROCm */
} hip_library;

/* Opens "hip:N" or "sim:CHIP"; it stays open in the process. On failure writes the reason, without the device's name. */
tdm_status tdm_hip_library(const char *device, const hip_library **library, char *reason, size_t size);
/* Releases what tdm_hip_library opened for this device: the last user of a simulated chip closes it. */
void tdm_hip_library_done(const char *device);
/* Can the simulator's library be loaded? */
bool tdm_hip_has_simulator(void);

#endif
