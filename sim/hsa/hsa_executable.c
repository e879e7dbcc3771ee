/* Code objects and executables: what kernels and variables a program has on a device. */
#include <stdlib.h>
#include <string.h>

#include "hsa_state.h"

typedef struct symbol {
  char *name;
  device *device;
  gfxsim_kernel *kernel; /* NULL: a variable */
  uint64_t address;
  size_t bytes;
} symbol;

typedef struct executable {
  bool frozen;
  struct loaded {
    device *device;
    gfxsim_object *object;
  } *loaded;
  int loaded_count;
  symbol *symbols; /* rows never move once frozen: their addresses are handles */
  int symbol_count;
  struct executable *next;
} executable;
static executable *executables; /* under `world` */

typedef struct code {
  void *data;
  size_t bytes;
  struct code *next;
} code;
static code *codes; /* under `world` */

/* ---- Code objects: kept until they are loaded ---- */

HSA_DOOR hsa_status hsa_code_object_deserialize(void *data, size_t bytes, const char *options, hsa_code_object *made) {
  HSA_ENTER();
  (void)options;
  if (data == NULL || bytes == 0 || made == NULL) return HSA_INVALID_ARGUMENT;
  code *c = malloc(sizeof *c);
  void *copy = malloc(bytes);
  if (c == NULL || copy == NULL) {
    free(c);
    free(copy);
    return HSA_OUT_OF_RESOURCES;
  }
  memcpy(copy, data, bytes);
  pthread_mutex_lock(&world);
  *c = (code){copy, bytes, codes};
  codes = c;
  pthread_mutex_unlock(&world);
  made->handle = (uint64_t)(uintptr_t)c;
  return HSA_SUCCESS;
}

HSA_DOOR hsa_status hsa_code_object_destroy(hsa_code_object handle) {
  HSA_LEAVE();
  code *found = NULL;
  pthread_mutex_lock(&world);
  for (code **at = &codes; *at != NULL && found == NULL;)
    if ((uint64_t)(uintptr_t)*at == handle.handle) {
      found = *at;
      *at = found->next;
    } else {
      at = &(*at)->next;
    }
  pthread_mutex_unlock(&world);
  if (found == NULL) return HSA_INVALID_CODE_OBJECT;
  free(found->data);
  free(found);
  return HSA_SUCCESS;
}

/* The same under the name of HSA 1.1; the program keeps the bytes alive there, a copy does no harm. */
HSA_DOOR hsa_status hsa_code_object_reader_create_from_memory(const void *data, size_t bytes, hsa_reader *made) {
  hsa_code_object object;
  hsa_status status = hsa_code_object_deserialize((void *)(uintptr_t)data, bytes, NULL, &object);
  if (status == HSA_SUCCESS) made->handle = object.handle;
  return status;
}
HSA_DOOR hsa_status hsa_code_object_reader_destroy(hsa_reader reader) {
  return hsa_code_object_destroy((hsa_code_object){reader.handle});
}

/* ---- Executables; the caller has `world` in the static functions ---- */

static executable *find(hsa_executable handle) {
  executable *e = executables;
  while (e != NULL && (uint64_t)(uintptr_t)e != handle.handle) e = e->next;
  return e;
}

HSA_DOOR hsa_status hsa_executable_create_alt(unsigned profile, unsigned rounding, const char *options, hsa_executable *made) {
  HSA_ENTER();
  (void)profile, (void)rounding, (void)options;
  if (made == NULL) return HSA_INVALID_ARGUMENT;
  executable *e = calloc(1, sizeof *e);
  if (e == NULL) return HSA_OUT_OF_RESOURCES;
  pthread_mutex_lock(&world);
  e->next = executables;
  executables = e;
  pthread_mutex_unlock(&world);
  made->handle = (uint64_t)(uintptr_t)e;
  return HSA_SUCCESS;
}

HSA_DOOR hsa_status hsa_executable_create(unsigned profile, unsigned state, const char *options, hsa_executable *made) {
  HSA_ENTER();
  return state == 0 ? hsa_executable_create_alt(profile, 0, options, made) : HSA_INVALID_ARGUMENT;
}

static void release(executable *e) {
  for (int n = 0; n < e->symbol_count; n++) free(e->symbols[n].name);
  free(e->symbols);
  for (int n = 0; n < e->loaded_count; n++) {
    pthread_mutex_lock(&e->loaded[n].device->lock);
    gfxsim_unload(e->loaded[n].object);
    pthread_mutex_unlock(&e->loaded[n].device->lock);
  }
  free(e->loaded);
  free(e);
}

HSA_DOOR hsa_status hsa_executable_destroy(hsa_executable handle) {
  HSA_LEAVE();
  pthread_mutex_lock(&world);
  executable *e = find(handle);
  for (executable **at = &executables; e != NULL && *at != NULL; at = &(*at)->next)
    if (*at == e) {
      *at = e->next;
      break;
    }
  pthread_mutex_unlock(&world);
  if (e == NULL) return HSA_INVALID_EXECUTABLE;
  release(e);
  return HSA_SUCCESS;
}

static bool add_symbol(executable *e, const symbol *row, const char *name, const char *ending) {
  symbol *grown = realloc(e->symbols, (size_t)(e->symbol_count + 1) * sizeof *grown);
  if (grown == NULL) return false;
  e->symbols = grown;
  size_t length = strlen(name), more = strlen(ending);
  char *copy = malloc(length + more + 1);
  if (copy == NULL) return false;
  memcpy(copy, name, length);
  memcpy(copy + length, ending, more + 1);
  grown[e->symbol_count] = *row;
  grown[e->symbol_count++].name = copy;
  return true;
}

static bool add_symbols(executable *e, device *d, gfxsim_object *object) {
  bool good = true;
  for (int k = 0; k < gfxsim_kernel_count(object) && good; k++) {
    gfxsim_kernel_info info;
    gfxsim_kernel_describe(gfxsim_kernel_at(object, k), &info);
    good = add_symbol(e, &(symbol){.device = d, .kernel = gfxsim_kernel_at(object, k)}, info.name, ".kd");
  }
  symbol row = {.device = d};
  const char *name;
  for (int v = 0; good && (name = gfxsim_variable_at(object, v, &row.address, &row.bytes)) != NULL; v++)
    good = add_symbol(e, &row, name, "");
  return good;
}

static hsa_status load(executable *e, device *d, const code *c) {
  struct loaded *grown = realloc(e->loaded, (size_t)(e->loaded_count + 1) * sizeof *grown);
  if (grown == NULL) return HSA_OUT_OF_RESOURCES;
  e->loaded = grown;
  gfxsim_object *object;
  pthread_mutex_lock(&d->lock);
  gfxsim_status status = gfxsim_load(d->sim, c->data, c->bytes, &object);
  pthread_mutex_unlock(&d->lock);
  if (status != GFXSIM_OK) {
    door_note("%s", gfxsim_last_error());
    return status == GFXSIM_NO_MEMORY ? HSA_OUT_OF_RESOURCES : HSA_INVALID_CODE_OBJECT;
  }
  e->loaded[e->loaded_count++] = (struct loaded){d, object};
  return add_symbols(e, d, object) ? HSA_SUCCESS : HSA_OUT_OF_RESOURCES;
}

HSA_DOOR hsa_status hsa_executable_load_code_object(hsa_executable handle, hsa_agent agent, hsa_code_object object,
                                                    const char *options) {
  HSA_ENTER();
  (void)options;
  bool known;
  device *d = hsa_agent_device(agent, &known);
  if (d == NULL) return HSA_INVALID_AGENT;
  pthread_mutex_lock(&world);
  executable *e = find(handle);
  const code *c = codes;
  while (c != NULL && (uint64_t)(uintptr_t)c != object.handle) c = c->next;
  hsa_status status = e == NULL ? HSA_INVALID_EXECUTABLE : e->frozen ? HSA_FROZEN_EXECUTABLE : HSA_SUCCESS;
  if (status == HSA_SUCCESS) status = c != NULL ? load(e, d, c) : HSA_INVALID_CODE_OBJECT;
  pthread_mutex_unlock(&world);
  return status;
}

HSA_DOOR hsa_status hsa_executable_load_agent_code_object(hsa_executable handle, hsa_agent agent, hsa_reader reader,
                                                          const char *options, hsa_loaded *loaded) {
  if (loaded != NULL) loaded->handle = reader.handle;
  return hsa_executable_load_code_object(handle, agent, (hsa_code_object){reader.handle}, options);
}

HSA_DOOR hsa_status hsa_executable_freeze(hsa_executable handle, const char *options) {
  HSA_ENTER();
  (void)options;
  pthread_mutex_lock(&world);
  executable *e = find(handle);
  hsa_status status = e == NULL ? HSA_INVALID_EXECUTABLE : e->frozen ? HSA_FROZEN_EXECUTABLE : HSA_SUCCESS;
  if (e != NULL) e->frozen = true;
  pthread_mutex_unlock(&world);
  return status;
}

HSA_DOOR hsa_status hsa_executable_validate(hsa_executable handle, uint32_t *result) {
  HSA_ENTER();
  if (result == NULL) return HSA_INVALID_ARGUMENT;
  pthread_mutex_lock(&world);
  bool known = find(handle) != NULL;
  pthread_mutex_unlock(&world);
  *result = !known; /* 0: valid. Loading has checked it */
  return known ? HSA_SUCCESS : HSA_INVALID_EXECUTABLE;
}

/* ---- Symbols ---- */

HSA_DOOR hsa_status hsa_executable_get_symbol_by_name(hsa_executable handle, const char *name, const hsa_agent *agent,
                                                      hsa_symbol *found) {
  HSA_ENTER();
  if (name == NULL || found == NULL) return HSA_INVALID_ARGUMENT;
  bool known = true;
  device *d = agent != NULL ? hsa_agent_device(*agent, &known) : NULL;
  if (!known) return HSA_INVALID_AGENT;
  pthread_mutex_lock(&world);
  const executable *e = find(handle);
  hsa_status status = e != NULL ? HSA_INVALID_SYMBOL_NAME : HSA_INVALID_EXECUTABLE;
  for (int n = 0; e != NULL && n < e->symbol_count && status != HSA_SUCCESS; n++)
    if ((d == NULL || e->symbols[n].device == d) && strcmp(e->symbols[n].name, name) == 0) {
      found->handle = (uint64_t)(uintptr_t)&e->symbols[n];
      status = HSA_SUCCESS;
    }
  pthread_mutex_unlock(&world);
  return status;
}

typedef hsa_status symbol_callback(hsa_executable executable, hsa_symbol symbol, void *data);
HSA_DOOR hsa_status hsa_executable_iterate_symbols(hsa_executable handle, symbol_callback *callback, void *data) {
  HSA_ENTER();
  if (callback == NULL) return HSA_INVALID_ARGUMENT;
  pthread_mutex_lock(&world);
  const executable *e = find(handle);
  pthread_mutex_unlock(&world); /* the callback asks for more; the program must not destroy it meanwhile */
  if (e == NULL) return HSA_INVALID_EXECUTABLE;
  hsa_status status = HSA_SUCCESS;
  for (int n = 0; n < e->symbol_count && status == HSA_SUCCESS; n++)
    status = callback(handle, (hsa_symbol){(uint64_t)(uintptr_t)&e->symbols[n]}, data);
  return status;
}

/* The caller has `world`. */
static const symbol *find_symbol(uint64_t handle) {
  for (const executable *e = executables; e != NULL; e = e->next) {
    uint64_t first = (uint64_t)(uintptr_t)e->symbols, place = (handle - first) / sizeof(symbol);
    if (e->symbols != NULL && handle >= first && place < (uint64_t)e->symbol_count && (handle - first) % sizeof(symbol) == 0)
      return &e->symbols[place];
  }
  return NULL;
}

/* A kernel object is the handle of its symbol. */
gfxsim_kernel *hsa_kernel(uint64_t object, device **on) {
  pthread_mutex_lock(&world);
  const symbol *s = find_symbol(object);
  *on = s != NULL ? s->device : NULL;
  gfxsim_kernel *kernel = s != NULL ? s->kernel : NULL;
  pthread_mutex_unlock(&world);
  return kernel;
}

#define PUT(type, ...)                           \
  do {                                           \
    type put_value = __VA_ARGS__;                \
    memcpy(value, &put_value, sizeof put_value); \
  } while (0)

static hsa_status symbol_info(const symbol *s, unsigned attribute, void *value) {
  gfxsim_kernel_info info = {0};
  if (s->kernel != NULL) gfxsim_kernel_describe(s->kernel, &info);
  switch (attribute) {
    case HSA_SYMBOL_TYPE: PUT(uint32_t, s->kernel != NULL ? HSA_SYMBOL_KERNEL : HSA_SYMBOL_VARIABLE); return HSA_SUCCESS;
    case HSA_SYMBOL_NAME_LENGTH: PUT(uint32_t, (uint32_t)strlen(s->name)); return HSA_SUCCESS;
    case HSA_SYMBOL_NAME: memcpy(value, s->name, strlen(s->name)); return HSA_SUCCESS; /* without a 0 at its end */
    case HSA_SYMBOL_LINKAGE: PUT(uint32_t, 1); return HSA_SUCCESS;
    case HSA_SYMBOL_IS_DEFINITION: PUT(bool, true); return HSA_SUCCESS;
    case HSA_SYMBOL_AGENT: PUT(hsa_agent, hsa_agent_of(s->device)); return HSA_SUCCESS;
    default: break;
  }
  if (s->kernel == NULL && attribute == HSA_SYMBOL_VARIABLE_SIZE)
    PUT(uint32_t, (uint32_t)s->bytes);
  else if (s->kernel == NULL && attribute == HSA_SYMBOL_VARIABLE_ADDRESS)
    PUT(uint64_t, s->address);
  else if (s->kernel != NULL && attribute == HSA_SYMBOL_KERNEL_OBJECT)
    PUT(uint64_t, (uint64_t)(uintptr_t)s);
  else if (s->kernel != NULL && attribute == HSA_SYMBOL_KERNARG_SIZE)
    PUT(uint32_t, info.kernarg_bytes);
  else if (s->kernel != NULL && attribute == HSA_SYMBOL_KERNARG_ALIGNMENT)
    PUT(uint32_t, 16);
  else if (s->kernel != NULL && attribute == HSA_SYMBOL_GROUP_SIZE)
    PUT(uint32_t, info.lds_bytes);
  else if (s->kernel != NULL && attribute == HSA_SYMBOL_PRIVATE_SIZE)
    PUT(uint32_t, info.scratch_bytes);
  else if (s->kernel != NULL && attribute == HSA_SYMBOL_DYNAMIC_STACK)
    PUT(bool, info.dynamic_stack);
  else
    return hsa_unserved(HSA_INVALID_ARGUMENT, "hsa_executable_symbol_get_info: attribute %u", attribute);
  return HSA_SUCCESS;
}

HSA_DOOR hsa_status hsa_executable_symbol_get_info(hsa_symbol handle, unsigned attribute, void *value) {
  HSA_ENTER();
  if (value == NULL) return HSA_INVALID_ARGUMENT;
  pthread_mutex_lock(&world);
  const symbol *s = find_symbol(handle.handle);
  pthread_mutex_unlock(&world);
  return s != NULL ? symbol_info(s, attribute, value) : HSA_INVALID_EXECUTABLE_SYMBOL;
}

void hsa_executables_release(void) {
  while (executables != NULL) {
    executable *e = executables;
    executables = e->next;
    release(e);
  }
  while (codes != NULL) {
    code *c = codes;
    codes = c->next;
    free(c->data);
    free(c);
  }
}
