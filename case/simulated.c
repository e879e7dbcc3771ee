/* Which devices are simulated. */
#include <dlfcn.h>
#include <string.h>

#include "options.h"

bool case_in_process(const char *device) { return strncmp(device, "sim:", 4) == 0; }

/* The runtime that serves the device, as the process has loaded it. dlsym also searches what that library needs, and the
 * runtimes of `gfxsim exec` need libgfxsim; ROCm's have no such names. */
void *case_simulator_symbol(const char *device, const char *name) {
  static const struct {
    const char *prefix, *file;
  } runtimes[] = {{"sim:", "libgfxsim-hip.so"}, {"omp:", "libhsa-runtime64.so.1"}, {"hip:", "libamdhip64.so.6"}};
  for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++) {
    if (strncmp(device, runtimes[i].prefix, strlen(runtimes[i].prefix)) != 0) continue;
    void *library = dlopen(runtimes[i].file, RTLD_NOW | RTLD_NOLOAD);
    void *symbol = library != NULL ? dlsym(library, name) : NULL;
    if (library != NULL) dlclose(library); /* who loaded it keeps it */
    return symbol;
  }
  return NULL;
}

bool case_is_simulated(const char *device) {
  return case_in_process(device) || case_simulator_symbol(device, "gfxsim_run") != NULL; /* every version has it */
}
