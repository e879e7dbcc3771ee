#include "bench/core/device_name.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* int GET_NAME(char *name, int length, int device): 0 is success in both APIs; devices of a process are numbered from 0. */
typedef int get_name(char *name, int length, int device);

/* Only what is loaded already: opening a driver may take a second, and its numbers are those of the runtime that opened it. */
void bench_device_name(const char *device, char *text, size_t size) {
  static const struct {
    const char *prefix, *library, *function;
  } drivers[] = {{"omp:", "libcuda.so.1", "cuDeviceGetName"},
                 {"hip:", "libamdhip64.so.7", "hipDeviceGetName"},
                 {"hip:", "libamdhip64.so.6", "hipDeviceGetName"}};
  char name[128] = "";
  text[0] = '\0';
  for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
    if (strncmp(device, drivers[i].prefix, strlen(drivers[i].prefix)) != 0) continue;
    void *library = dlopen(drivers[i].library, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) continue;
    get_name *function;
    *(void **)&function = dlsym(library, drivers[i].function); /* as POSIX has it */
    if (function != NULL && function(name, sizeof name, atoi(device + strlen(drivers[i].prefix))) == 0 && text[0] == '\0')
      snprintf(text, size, "%.127s", name);
    dlclose(library);
  }
}
