/* Finds and loads HIP's runtime with dlopen: ROCm is needed neither to build nor to start. */
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gfxsim_hip.h"

enum { OLDEST_MAJOR = 6, VERSION_OF_MAJOR = 10000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects everything below */
static hip_library rocm, simulator;
static __typeof__(gfxsim_hip_open) *simulator_open;
static __typeof__(gfxsim_hip_close) *simulator_close;
static char simulated[48]; /* the chip that is open */
static int simulated_users;

/* ---- Loading ---- */

/* The address of a function as a pointer to a function: POSIX allows this for dlsym's result. */
static void find(void *handle, const char *name, void *pointer) {
  void *symbol = dlsym(handle, name);
  memcpy(pointer, &symbol, sizeof symbol);
}

/* Fills in the functions. Returns the name of the first one that is missing, or NULL. */
static const char *fill(hip_library *library, void *handle) {
  const char *missing = NULL;
#define HIP_FUNCTION(name)                   \
  find(handle, "hip" #name, &library->name); \
  if (library->name == NULL && missing == NULL) missing = "hip" #name;
#include "functions.def"
#undef HIP_FUNCTION
  return missing;
}

/* ---- ROCm ---- */

static tdm_status check_version(const hip_library *library, const char *missing, char *reason, size_t size) {
  int version = 0;
  hipError_t error = library->RuntimeGetVersion != NULL ? library->RuntimeGetVersion(&version) : hipSuccess;
  if (error != hipSuccess && library->GetErrorName != NULL && library->GetErrorString != NULL) {
    snprintf(reason, size, "%s: hipRuntimeGetVersion: %s: %s", library->file, library->GetErrorName(error),
             library->GetErrorString(error));
    return TDM_ERROR_DEVICE;
  }
  int major = version / VERSION_OF_MAJOR;
  if (missing == NULL && major >= OLDEST_MAJOR) return TDM_OK;
  char what[64] = "";
  if (missing != NULL) snprintf(what, sizeof what, " and lacks %s", missing);
  snprintf(reason, size, "%s is too old: it is of HIP %d.%d%s; ROCm 6 or newer is needed", library->file, major,
           version / 100000 % 100, what);
  return TDM_ERROR_UNSUPPORTED;
}

/* The newest first; .5 only to report that it is too old. */
static tdm_status load_rocm(char *reason, size_t size) {
  static const char *const files[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so", "libamdhip64.so.5"};
  void *handle = NULL;
  hip_library found = {0};
  for (size_t i = 0; i < sizeof files / sizeof files[0] && handle == NULL; i++) {
    handle = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    snprintf(found.file, sizeof found.file, "%s", files[i]);
  }
  if (handle == NULL) {
    snprintf(reason, size,
             "no libamdhip64.so.7 or .so.6 could be loaded: install ROCm's HIP runtime, or name its folder in "
             "LD_LIBRARY_PATH");
    return TDM_ERROR_UNSUPPORTED;
  }
  tdm_status status = check_version(&found, fill(&found, handle), reason, size);
  if (status == TDM_OK)
    rocm = found;
  else
    dlclose(handle);
  return status;
}

/* ---- The simulator ---- */

static tdm_status load_simulator(char *reason, size_t size) {
  static const char file[] = "libgfxsim-hip.so";
  if (simulator.file[0] != '\0') return TDM_OK;
  void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    snprintf(reason, size, "the simulator could not be loaded: %s", dlerror());
    return TDM_ERROR_UNSUPPORTED;
  }
  hip_library found = {0};
  const char *missing = fill(&found, handle);
  find(handle, "gfxsim_hip_open", &simulator_open);
  find(handle, "gfxsim_hip_close", &simulator_close);
  find(handle, "gfxsim_last_error", &found.last_words);
  if (simulator_open == NULL || simulator_close == NULL) missing = "gfxsim_hip_open";
  if (found.last_words == NULL) missing = "gfxsim_last_error";
  if (missing != NULL) {
    snprintf(reason, size, "%s lacks %s: it must be of the same version as this library", file, missing);
    dlclose(handle);
    return TDM_ERROR_UNSUPPORTED;
  }
  snprintf(found.file, sizeof found.file, "%s", file);
  simulator = found;
  return TDM_OK;
}

/* The simulator has one device: contexts of the same chip share it. */
static tdm_status open_chip(const char *chip, char *reason, size_t size) {
  if (simulated_users > 0 && strcmp(chip, simulated) != 0) {
    snprintf(reason, size, "sim:%s is open in this process, and the simulator has one chip at a time: close its contexts first",
             simulated);
    return TDM_ERROR_UNSUPPORTED;
  }
  if (simulated_users == 0) {
    if (simulator_open(chip, NULL) != GFXSIM_OK) {
      snprintf(reason, size, "%s", simulator.last_words());
      return TDM_ERROR_ARGUMENT;
    }
    snprintf(simulated, sizeof simulated, "%s", chip);
  }
  simulated_users++;
  return TDM_OK;
}

/* ---- Both ---- */

static tdm_status open_library(const char *device, const hip_library **library, char *reason, size_t size) {
  if (strncmp(device, "sim:", 4) == 0) {
    tdm_status status = load_simulator(reason, size);
    if (status != TDM_OK) return status;
    *library = &simulator;
    return open_chip(device + 4, reason, size);
  }
  *library = &rocm;
  return rocm.file[0] != '\0' ? TDM_OK : load_rocm(reason, size);
}

tdm_status tdm_hip_library(const char *device, const hip_library **library, char *reason, size_t size) {
  pthread_mutex_lock(&lock);
  tdm_status status = open_library(device, library, reason, size);
  pthread_mutex_unlock(&lock);
  return status;
}

void tdm_hip_library_done(const char *device) {
  if (strncmp(device, "sim:", 4) != 0) return;
  pthread_mutex_lock(&lock);
  if (--simulated_users == 0) simulator_close();
  pthread_mutex_unlock(&lock);
}

bool tdm_hip_has_simulator(void) {
  char reason[256];
  pthread_mutex_lock(&lock);
  tdm_status status = load_simulator(reason, sizeof reason);
  pthread_mutex_unlock(&lock);
  return status == TDM_OK;
}
