/* What clang puts into a program: code objects, and the kernels and variables in them, registered by constructors. They are
 * loaded for a device when the program first uses them there. */
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

enum { WRAPPER_MAGIC = 0x48495046, WRAPPER_VERSION = 1 }; /* "HIPF" */
typedef struct wrapper {
  uint32_t magic, version;
  const void *image;
  void *unused;
} wrapper;

typedef enum row_kind { ROW_FUNCTION, ROW_VARIABLE, ROW_MANAGED } row_kind;

typedef struct row {
  row_kind kind;
  const void *host; /* what the program names it by */
  const char *name; /* in the code object; the program keeps the text */
  void *managed;    /* the memory of a managed variable */
  size_t bytes;
  struct binary *binary;
  function *function[DOOR_DEVICES_MOST]; /* NULL before it is asked for */
  struct row *next;
} row;

typedef struct binary {
  const void *image;
  gfxsim_object *object[DOOR_DEVICES_MOST];
  hipError_t failed[DOOR_DEVICES_MOST];
  struct binary *next;
} binary;

static binary *binaries;
enum { BUCKETS = 1024 };
static row *rows[BUCKETS]; /* by the host's address */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static row **bucket(const void *host) { return &rows[hip_number(host) / 8 % BUCKETS]; }

/* ---- Registration ---- */

HIP_API void **__hipRegisterFatBinary(const void *data) {
  const wrapper *w = data;
  binary *b = calloc(1, sizeof *b);
  if (w == NULL || w->magic != WRAPPER_MAGIC || w->version != WRAPPER_VERSION || b == NULL) {
    hip_fail(hipErrorInvalidImage, "__hipRegisterFatBinary: magic 0x%x, version %u: must be 0x%x and %d",
             w != NULL ? w->magic : 0, w != NULL ? w->version : 0, WRAPPER_MAGIC, WRAPPER_VERSION);
    free(b);
    return NULL;
  }
  b->image = w->image;
  pthread_mutex_lock(&lock);
  b->next = binaries;
  binaries = b;
  pthread_mutex_unlock(&lock);
  return (void **)(void *)b;
}

static row *add(void **handle, row_kind kind, const void *host, const char *name, size_t bytes) {
  row *r = calloc(1, sizeof *r);
  if (r == NULL || handle == NULL) {
    hip_fail(hipErrorOutOfMemory, "registration of %s: no memory, or no code object", name);
    free(r);
    return NULL;
  }
  *r = (row){.kind = kind, .host = host, .name = name, .bytes = bytes, .binary = (binary *)(void *)handle};
  pthread_mutex_lock(&lock);
  row **at = bucket(host);
  r->next = *at;
  *at = r;
  pthread_mutex_unlock(&lock);
  return r;
}

HIP_API void __hipRegisterFunction(void **handle, const void *host, char *host_name, const char *name, unsigned thread_limit,
                                   void *thread, void *block, void *block_dim, void *grid_dim, int *warp_size) {
  (void)host_name, (void)thread_limit, (void)thread, (void)block, (void)block_dim, (void)grid_dim, (void)warp_size;
  add(handle, ROW_FUNCTION, host, name, 0);
}

HIP_API void __hipRegisterVar(void **handle, void *host, char *host_name, char *name, int external, size_t bytes, int constant,
                              int global) {
  (void)host_name, (void)external, (void)constant, (void)global;
  add(handle, ROW_VARIABLE, host, name, bytes);
}

/* The device's variable is a pointer to the memory, and so is the host's. */
HIP_API void __hipRegisterManagedVar(void *handle, void **pointer, void *initial, const char *name, size_t bytes,
                                     unsigned alignment) {
  (void)alignment; /* pages */
  if (!hip_begin() || hip_host_alloc(name, pointer, bytes, HOST_MANAGED, hipMemAttachGlobal) != hipSuccess) return;
  memcpy(*pointer, initial, bytes);
  row *r = add(handle, ROW_MANAGED, pointer, name, bytes);
  if (r != NULL) r->managed = *pointer;
}

HIP_API void __hipRegisterTexture(void **handle, void *host, char *host_name, char *name, int type, int normalized,
                                  int external) {
  (void)handle, (void)host, (void)host_name, (void)type, (void)normalized, (void)external;
  door_unserved("texture %s", name);
}
HIP_API void __hipRegisterSurface(void **handle, void *host, char *host_name, char *name, int type, int external) {
  (void)handle, (void)host, (void)host_name, (void)type, (void)external;
  door_unserved("surface %s", name);
}

static void forget_rows(const binary *b) {
  for (int n = 0; n < BUCKETS; n++)
    for (row **at = &rows[n]; *at != NULL;) {
      row *r = *at;
      if (r->binary != b) {
        at = &r->next;
        continue;
      }
      *at = r->next;
      for (int d = 0; d < DOOR_DEVICES_MOST; d++) free(r->function[d]);
      free(r);
    }
}

/* At the program's end, or when a library is closed: work in flight is done first, as in ROCm. */
HIP_API void __hipUnregisterFatBinary(void **handle) {
  bool usable = hip_device_count() == 0 || hip_begin();
  if (handle == NULL || !usable) return; /* a forked child leaves all as it is */
  for (int n = 0; n < hip_device_count(); n++) hip_wait_device(hip_device_at(n));
  pthread_mutex_lock(&lock);
  binary *b = NULL;
  for (binary **at = &binaries; *at != NULL; at = &(*at)->next)
    if ((void **)(void *)*at == handle) {
      b = *at;
      *at = b->next;
      break;
    }
  if (b != NULL) forget_rows(b);
  pthread_mutex_unlock(&lock);
  for (int n = 0; b != NULL && n < hip_device_count(); n++) {
    device *d = hip_device_at(n);
    pthread_mutex_lock(&d->lock);
    gfxsim_unload(b->object[n]);
    pthread_mutex_unlock(&d->lock);
  }
  free(b);
}

/* ---- First use; the caller has `lock` ---- */

static hipError_t point_managed(const binary *b, device *d) {
  for (int n = 0; n < BUCKETS; n++)
    for (const row *r = rows[n]; r != NULL; r = r->next) {
      uint64_t address;
      size_t bytes;
      if (r->binary != b || r->kind != ROW_MANAGED) continue;
      if (gfxsim_variable_find(b->object[d->number], r->name, &address, &bytes) != GFXSIM_OK) continue; /* nobody uses it */
      pthread_mutex_lock(&d->lock);
      gfxsim_status status = gfxsim_write(d->sim, address, &r->managed, sizeof r->managed);
      pthread_mutex_unlock(&d->lock);
      if (status != GFXSIM_OK) return hip_status(r->name, status);
    }
  return hipSuccess;
}

static hipError_t load(const char *call, binary *b, device *d) {
  int n = d->number;
  if (b->object[n] != NULL || b->failed[n] != hipSuccess) return b->failed[n];
  b->failed[n] = hip_load(call, d, b->image, 0, &b->object[n]);
  if (b->failed[n] == hipSuccess) b->failed[n] = point_managed(b, d);
  return b->failed[n];
}

static row *find(const void *host, row_kind kind) {
  row *r = *bucket(host);
  while (r != NULL && (r->host != host || r->kind != kind)) r = r->next;
  return r;
}

static hipError_t make_function(const char *call, row *r, device *d) {
  gfxsim_kernel *kernel;
  hipError_t error = load(call, r->binary, d);
  if (error != hipSuccess || r->function[d->number] != NULL) return error;
  if (gfxsim_kernel_find(r->binary->object[d->number], r->name, &kernel) != GFXSIM_OK)
    return hip_fail(hipErrorInvalidDeviceFunction, "%s: %s", call, gfxsim_last_error());
  function *f = malloc(sizeof *f);
  if (f == NULL) return hip_fail(hipErrorOutOfMemory, "%s: no memory", call);
  hip_function_make(f, d, kernel);
  r->function[d->number] = f;
  return hipSuccess;
}

hipError_t hip_function_of(const char *call, const void *host, device *d, function **found) {
  pthread_mutex_lock(&lock);
  row *r = find(host, ROW_FUNCTION);
  hipError_t error = r != NULL ? make_function(call, r, d) : hipSuccess;
  *found = r != NULL && error == hipSuccess ? r->function[d->number] : NULL;
  pthread_mutex_unlock(&lock);
  if (r == NULL) *found = hip_module_function(host);
  if (*found == NULL && error == hipSuccess)
    return hip_fail(hipErrorInvalidDeviceFunction, "%s: function = %p: must be a kernel of the program", call, host);
  return error;
}

hipError_t hip_symbol(const char *call, const void *host, device *d, uint64_t *address, size_t *bytes) {
  pthread_mutex_lock(&lock);
  row *r = find(host, ROW_VARIABLE);
  hipError_t error = r != NULL ? load(call, r->binary, d) : hipErrorInvalidSymbol;
  bool found = error == hipSuccess && gfxsim_variable_find(r->binary->object[d->number], r->name, address, bytes) == GFXSIM_OK;
  pthread_mutex_unlock(&lock);
  if (r == NULL) return hip_fail(hipErrorInvalidSymbol, "%s: symbol = %p: must be a variable of the program", call, host);
  if (error == hipSuccess && !found) return hip_fail(hipErrorInvalidSymbol, "%s: %s", call, gfxsim_last_error());
  return error;
}
