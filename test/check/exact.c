/* gfxsim's arrays of exact bounds. */
#include "exact.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "sim/include/gfxsim_hip.h"

static struct {
  __typeof__(gfxsim_hip_reserve) *reserve;
  __typeof__(gfxsim_hip_map) *map;
  __typeof__(gfxsim_hip_unreserve) *unreserve;
  __typeof__(gfxsim_last_error) *last_error;
} simulator;

/* dlsym's void * as a function pointer: POSIX represents both alike, but C does not convert between them. */
static bool find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool load(char *text, size_t size) {
  static const char file[] = "libgfxsim-hip.so"; /* the same that tdm_open loads */
  if (simulator.unreserve != NULL) return true;
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(text, size, "the simulator could not be loaded: %s", dlerror());
    return false;
  }
  if (find(library, "gfxsim_hip_reserve", &simulator.reserve) && find(library, "gfxsim_hip_map", &simulator.map) &&
      find(library, "gfxsim_last_error", &simulator.last_error) && find(library, "gfxsim_hip_unreserve", &simulator.unreserve))
    return true;
  snprintf(text, size, "%s lacks gfxsim_hip_reserve: it must be of the same version as this program", file);
  return false;
}

bool check_exact_open(const char *name, uint64_t offset, uint64_t bytes, uint64_t *address, char *text, size_t size) {
  if (!load(text, size)) return false;
  if (simulator.reserve(name, offset, bytes, address) == GFXSIM_OK) return true;
  snprintf(text, size, "%s", simulator.last_error());
  return false;
}

bool check_exact_map(uint64_t address, uint64_t bytes, char *text, size_t size) {
  if (simulator.map(address, bytes) == GFXSIM_OK) return true;
  snprintf(text, size, "%s", simulator.last_error());
  return false;
}

void check_exact_close(uint64_t address) {
  if (simulator.unreserve != NULL) simulator.unreserve(address);
}
