/* Which devices are simulated. */
#include <dlfcn.h>
#include <string.h>

#include "options.h"

bool case_in_process(const char *device) { return strncmp(device, "sim:", 4) == 0; }

/* Under `gfxsim exec` the runtime that serves omp:N or hip:N is the simulator's. It is looked up as the process has loaded it,
 * and exports gfxsim_run (dlsym also searches the libraries that it needs); ROCm's runtimes have no such name. */
bool case_is_simulated(const char *device) {
  static const struct {
    const char *prefix, *file;
  } runtimes[] = {{"omp:", "libhsa-runtime64.so.1"}, {"hip:", "libamdhip64.so.6"}};
  if (case_in_process(device)) return true;
  for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++) {
    if (strncmp(device, runtimes[i].prefix, strlen(runtimes[i].prefix)) != 0) continue;
    void *library = dlopen(runtimes[i].file, RTLD_NOW | RTLD_NOLOAD);
    bool found = library != NULL && dlsym(library, "gfxsim_run") != NULL;
    if (library != NULL) dlclose(library); /* who loaded it keeps it */
    return found;
  }
  return false;
}
