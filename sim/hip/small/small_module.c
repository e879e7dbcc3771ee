/* Code objects, kernels and launches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hip/elf_bytes.h"
#include "small_state.h"

typedef struct function {
  gfxsim_kernel *kernel;
  gfxsim_kernel_info info;
  uint32_t arg_bytes; /* of the explicit arguments */
} function;

typedef struct module {
  gfxsim_object *object;
  int count;
  void *functions[]; /* the handle of each kernel; NULL before it is asked for */
} module;

/* ---- Modules ---- */

enum { IMAGE_MOST = 1 << 30 };

static hipError_t load_image(hipModule_t *to, const void *image, size_t bytes) {
  gfxsim_device_info info;
  gfxsim_object *object;
  gfxsim_device_describe(hip_device(), &info);
  const char *chip = gfxsim_object_chip(image, bytes);
  if (chip == NULL) return hipErrorInvalidImage;
  gfxsim_status status = gfxsim_load(hip_device(), image, bytes, &object);
  if (status == GFXSIM_NO_MEMORY) return hipErrorOutOfMemory;
  if (status != GFXSIM_OK) return strcmp(chip, info.chip) != 0 ? hipErrorNoBinaryForGpu : hipErrorInvalidImage;
  int count = gfxsim_kernel_count(object);
  module *m = calloc(1, sizeof *m + (size_t)count * sizeof *m->functions);
  *to = m != NULL ? handle_open(HANDLE_MODULE, m) : NULL;
  if (*to == NULL) {
    free(m);
    gfxsim_unload(object);
    return hip_fail(hipErrorOutOfMemory, "hipModuleLoad: no memory");
  }
  m->object = object;
  m->count = count;
  return hipSuccess;
}

static hipError_t load_data(hipModule_t *to, const void *image) {
  if (to == NULL || image == NULL)
    return hip_fail(hipErrorInvalidValue, "hipModuleLoadData: module = %p, image = %p: must be addresses", (void *)to, image);
  *to = NULL;
  size_t bytes = elf_bytes(image, IMAGE_MOST);
  return bytes > 0 ? load_image(to, image, bytes)
                   : hip_fail(hipErrorInvalidImage, "hipModuleLoadData: image = %p: must be a code object, an ELF file", image);
}

hipError_t hipModuleLoadData(hipModule_t *to, const void *image) {
  return hip_leave(hip_enter() ? load_data(to, image) : hipErrorNoDevice);
}

/* The file's bytes, the caller's to free; NULL (and an error) where they can't be had. */
static uint8_t *read_file(const char *name, size_t *bytes, hipError_t *error) {
  FILE *file = fopen(name, "rb");
  long size = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  uint8_t *data = NULL;
  if (size < 0 || size > IMAGE_MOST || fseek(file, 0, SEEK_SET) != 0)
    *error = hip_fail(hipErrorFileNotFound, "hipModuleLoad: file = %s: can't be read", name);
  else if ((data = malloc((size_t)size + 1)) == NULL)
    *error = hip_fail(hipErrorOutOfMemory, "hipModuleLoad: no memory");
  else
    *bytes = fread(data, 1, (size_t)size, file);
  if (file != NULL) fclose(file);
  return data;
}

static hipError_t load_file(hipModule_t *to, const char *name) {
  if (to == NULL || name == NULL)
    return hip_fail(hipErrorInvalidValue, "hipModuleLoad: module = %p, file = %p: must be addresses", (void *)to,
                    (const void *)name);
  hipError_t error = hipSuccess;
  size_t bytes = 0;
  *to = NULL;
  uint8_t *data = read_file(name, &bytes, &error);
  if (data != NULL) error = load_image(to, data, bytes);
  free(data);
  return error;
}

hipError_t hipModuleLoad(hipModule_t *to, const char *name) {
  return hip_leave(hip_enter() ? load_file(to, name) : hipErrorNoDevice);
}

/* NULL (and an error: hipErrorInvalidHandle) where there is none. */
static module *find_module(const char *call, hipModule_t handle) {
  void *object = NULL;
  if (!handle_find(HANDLE_MODULE, handle, &object))
    hip_fail(hipErrorInvalidHandle, "%s: module = %p: must be a live module", call, (void *)handle);
  return object;
}

static hipError_t unload(hipModule_t handle) {
  module *m = find_module("hipModuleUnload", handle);
  if (m == NULL) return hipErrorInvalidHandle;
  for (int f = 0; f < m->count; f++) handle_close(m->functions[f]);
  gfxsim_unload(m->object);
  handle_close(handle);
  return hipSuccess;
}

hipError_t hipModuleUnload(hipModule_t handle) { return hip_leave(hip_enter() ? unload(handle) : hipErrorNoDevice); }

static hipError_t get_global(hipDeviceptr_t *pointer, size_t *bytes, hipModule_t handle, const char *name) {
  uint64_t address;
  size_t size;
  if (name == NULL || (pointer == NULL && bytes == NULL))
    return hip_fail(hipErrorInvalidValue, "hipModuleGetGlobal: name and one of pointer, bytes must not be NULL");
  module *m = find_module("hipModuleGetGlobal", handle);
  if (m == NULL) return hipErrorInvalidHandle;
  if (gfxsim_variable_find(m->object, name, &address, &size) != GFXSIM_OK) return hipErrorNotFound;
  if (pointer != NULL) *pointer = (void *)(uintptr_t)address;
  if (bytes != NULL) *bytes = size;
  return hipSuccess;
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t *pointer, size_t *bytes, hipModule_t handle, const char *name) {
  return hip_leave(hip_enter() ? get_global(pointer, bytes, handle, name) : hipErrorNoDevice);
}

/* ---- Functions ---- */

static void *make_function(gfxsim_kernel *kernel) {
  function *f = calloc(1, sizeof *f);
  void *handle = f != NULL ? handle_open(HANDLE_FUNCTION, f) : NULL;
  if (handle == NULL) {
    free(f);
    return NULL;
  }
  f->kernel = kernel;
  gfxsim_kernel_describe(kernel, &f->info);
  for (int a = 0; a < f->info.arg_count; a++) {
    const gfxsim_arg *arg = &f->info.args[a];
    if (!arg->hidden && arg->offset + arg->size > f->arg_bytes) f->arg_bytes = arg->offset + arg->size;
  }
  return handle;
}

static hipError_t get_function(hipFunction_t *to, hipModule_t handle, const char *name) {
  gfxsim_kernel *kernel;
  if (to == NULL || name == NULL || *name == '\0')
    return hip_fail(hipErrorInvalidValue, "hipModuleGetFunction: function and name must not be NULL or empty");
  *to = NULL;
  module *m = find_module("hipModuleGetFunction", handle);
  if (m == NULL) return hipErrorInvalidHandle;
  if (gfxsim_kernel_find(m->object, name, &kernel) != GFXSIM_OK) return hipErrorNotFound;
  int k = 0;
  while (gfxsim_kernel_at(m->object, k) != kernel) k++;
  if (m->functions[k] == NULL) m->functions[k] = make_function(kernel);
  *to = m->functions[k];
  return *to != NULL ? hipSuccess : hip_fail(hipErrorOutOfMemory, "hipModuleGetFunction: no memory");
}

hipError_t hipModuleGetFunction(hipFunction_t *to, hipModule_t handle, const char *name) {
  return hip_leave(hip_enter() ? get_function(to, handle, name) : hipErrorNoDevice);
}

/* As find_module. */
static function *find_function(const char *call, const void *handle) {
  void *object = NULL;
  if (!handle_find(HANDLE_FUNCTION, handle, &object))
    hip_fail(hipErrorInvalidHandle, "%s: function = %p: must be a function of a live module", call, handle);
  return object;
}

static uint32_t dynamic_lds_most(const function *f) {
  gfxsim_device_info info;
  gfxsim_device_describe(hip_device(), &info);
  return info.lds_bytes - f->info.lds_bytes;
}

static hipError_t function_attribute(int *value, hipFunction_attribute which, hipFunction_t handle) {
  if (value == NULL) return hip_fail(hipErrorInvalidValue, "hipFuncGetAttribute: value = NULL: must be an address");
  function *f = find_function("hipFuncGetAttribute", handle);
  if (f == NULL) return hipErrorInvalidHandle;
  switch (which) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)f->info.max_workgroup; break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)f->info.lds_bytes; break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)f->info.scratch_bytes; break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)f->info.vgprs; break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = (int)dynamic_lds_most(f); break;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = 0; break; /* AMD has no such choice */
    default:
      return hip_fail(hipErrorInvalidValue, "hipFuncGetAttribute: attribute = %d: gfxsim has no such number", (int)which);
  }
  return hipSuccess;
}

hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute which, hipFunction_t handle) {
  return hip_leave(hip_enter() ? function_attribute(value, which, handle) : hipErrorNoDevice);
}

/* Checked only: every kernel may have all of the LDS that it leaves free. */
static hipError_t set_attribute(const void *handle, hipFuncAttribute which, int value) {
  function *f = find_function("hipFuncSetAttribute", handle);
  if (f == NULL) return hipErrorInvalidDeviceFunction;
  bool lds = which == hipFuncAttributeMaxDynamicSharedMemorySize;
  if (!lds && which != hipFuncAttributePreferredSharedMemoryCarveout)
    return hip_fail(hipErrorInvalidValue, "hipFuncSetAttribute: attribute = %d: must be 8 or 9", (int)which);
  int least = lds ? 0 : -1, most = lds ? (int)dynamic_lds_most(f) : 100;
  if (value < least || value > most)
    return hip_fail(hipErrorInvalidValue, "hipFuncSetAttribute: value = %d: must be %d to %d", value, least, most);
  return hipSuccess;
}

hipError_t hipFuncSetAttribute(const void *handle, hipFuncAttribute which, int value) {
  return hip_leave(hip_enter() ? set_attribute(handle, which, value) : hipErrorNoDevice);
}

static hipError_t active_blocks(int *blocks, hipFunction_t handle, int block_size, size_t dynamic_lds) {
  if (blocks == NULL || block_size <= 0 || dynamic_lds > UINT32_MAX)
    return hip_fail(hipErrorInvalidValue,
                    "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor: block_size = %d: must be positive", block_size);
  const function *f = find_function("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", handle);
  if (f == NULL) return hipErrorInvalidHandle;
  *blocks = (int)gfxsim_kernel_occupancy(f->kernel, (uint32_t)block_size, (uint32_t)dynamic_lds);
  return hipSuccess;
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t handle, int block_size,
                                                              size_t dynamic_lds) {
  return hip_leave(hip_enter() ? active_blocks(blocks, handle, block_size, dynamic_lds) : hipErrorNoDevice);
}

/* ---- Launch ---- */

/* kernelParams: the address of each explicit argument, in order. */
static hipError_t gather(const function *f, void **params, uint8_t *args) {
  for (int a = 0, n = 0; a < f->info.arg_count; a++) {
    const gfxsim_arg *arg = &f->info.args[a];
    if (arg->hidden) continue;
    if (params[n] == NULL)
      return hip_fail(hipErrorInvalidValue, "hipModuleLaunchKernel: kernel %s: params[%d] = NULL: must be an address",
                      f->info.name, n);
    memcpy(args + arg->offset, params[n++], arg->size);
  }
  return hipSuccess;
}

/* extra: BUFFER_POINTER, address, BUFFER_SIZE, address of the size, END. */
static hipError_t check_extra(void **extra, const void **args, size_t *bytes) {
  if (extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
      extra[4] != HIP_LAUNCH_PARAM_END || extra[3] == NULL)
    return hip_fail(hipErrorInvalidValue, "hipModuleLaunchKernel: extra: must be BUFFER_POINTER, BUFFER_SIZE, END");
  *args = extra[1];
  memcpy(bytes, extra[3], sizeof *bytes);
  return hipSuccess;
}

/* The kernel argument segment may be longer than what is explicit; a caller's structure may be padded at its end. */
static hipError_t run(const function *f, gfxsim_launch *launch) {
  if (launch->arg_bytes > f->arg_bytes && launch->arg_bytes < f->arg_bytes + 8) launch->arg_bytes = f->arg_bytes;
  for (int d = 0; d < 3; d++)
    if (launch->block[d] == 0)
      return hip_fail(hipErrorInvalidConfiguration, "hipModuleLaunchKernel: block[%d] = 0: must be positive", d);
  return hip_status(gfxsim_run(f->kernel, launch));
}

static hipError_t launch_kernel(const function *f, gfxsim_launch *launch, void **params, void **extra) {
  uint8_t near[1024];
  if (params != NULL && extra != NULL)
    return hip_fail(hipErrorInvalidValue, "hipModuleLaunchKernel: params and extra: one must be NULL");
  if (params == NULL && extra == NULL && f->arg_bytes > 0)
    return hip_fail(hipErrorInvalidValue, "hipModuleLaunchKernel: kernel %s has arguments: params or extra must be given",
                    f->info.name);
  if (extra != NULL) {
    hipError_t error = check_extra(extra, &launch->args, &launch->arg_bytes);
    return error == hipSuccess ? run(f, launch) : error;
  }
  uint8_t *args = f->arg_bytes <= sizeof near ? near : malloc(f->arg_bytes);
  if (args == NULL) return hip_fail(hipErrorOutOfMemory, "hipModuleLaunchKernel: no memory");
  memset(args, 0, f->arg_bytes);
  hipError_t error = params != NULL ? gather(f, params, args) : hipSuccess;
  launch->args = args;
  launch->arg_bytes = f->arg_bytes;
  if (error == hipSuccess) error = run(f, launch);
  if (args != near) free(args);
  return error;
}

hipError_t hipModuleLaunchKernel(hipFunction_t handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned dynamic_lds, hipStream_t stream, void **params,
                                 void **extra) {
  gfxsim_launch launch = {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .dynamic_lds = dynamic_lds};
  if (!hip_enter()) return hip_leave(hipErrorNoDevice);
  const function *f = find_function("hipModuleLaunchKernel", handle);
  if (f == NULL) return hip_leave(hipErrorInvalidHandle);
  hipError_t error = hip_check_stream("hipModuleLaunchKernel", stream);
  return hip_leave(error == hipSuccess ? launch_kernel(f, &launch, params, extra) : error);
}
