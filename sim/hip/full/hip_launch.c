/* Launches: checks and arguments at the call, the kernel itself as work of the stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip_state.h"

typedef struct launch_work {
  work base;
  launch_request request; /* params and extra are the program's, and gone */
  size_t arg_bytes;
  uint8_t args[];
} launch_work;

/* ---- On the device's thread ---- */

/* The device, and those whose memory its kernels may use, in one order: no two launches wait for each other. */
static void lock_devices(const device *d, bool lock) {
  for (int n = 0; n < hip_device_count(); n++) {
    device *other = hip_device_at(n);
    if (other != d && (d->peers >> n & 1) == 0) continue;
    if (lock)
      pthread_mutex_lock(&other->lock);
    else
      pthread_mutex_unlock(&other->lock);
  }
}

/* A failed assert, too, is a launch failure in ROCm. */
static hipError_t error_of(const device *d) {
  bool memory = d->fatal_kind == GFXSIM_OUT_OF_BOUNDS || d->fatal_kind == GFXSIM_AFTER_FREE;
  return memory ? hipErrorIllegalAddress : hipErrorLaunchFailure;
}

static hipError_t run_kernel(const launch_work *w, device *d, const hidden_list *hidden) {
  const launch_request *r = &w->request;
  gfxsim_launch launch = {.grid = {r->grid.x, r->grid.y, r->grid.z},
                          .block = {r->block.x, r->block.y, r->block.z},
                          .dynamic_lds = (uint32_t)r->dynamic_lds,
                          .args = w->args,
                          .arg_bytes = w->arg_bytes,
                          .hidden = hidden->row,
                          .hidden_count = hidden->count,
                          .cooperative = r->cooperative,
                          .grid_sync = hidden->grid_sync};
  door_measure measure;
  door_measure_begin(&measure, hip_profile(), &launch);
  const char *name = r->function->info.name;
  lock_devices(d, true);
  d->fatal = d->found = false;
  gfxsim_status status = gfxsim_run(r->function->kernel, &launch);
  bool fatal = d->fatal, found = d->found;
  lock_devices(d, false);
  door_measure_end(&measure, name, &launch, status);
  if (fatal) return error_of(d);
  if (status == GFXSIM_OK || status == GFXSIM_FAULT || found) return hipSuccess;
  door_found_text("refused launch", name, gfxsim_last_error());
  return hipErrorLaunchFailure;
}

static hipError_t run_launch(work *base, device *d) {
  launch_work *w = (launch_work *)base;
  hidden_list hidden = {0};
  atomic_fetch_add(&door_tally()->launches, 1);
  hipError_t error = hip_hidden_make(&hidden, d, w->request.function, &w->request);
  if (error == hipSuccess) error = hip_hostcalls_begin(d, &hidden);
  if (error == hipSuccess) {
    error = run_kernel(w, d, &hidden);
    hip_hostcalls_end(d, w->request.function, &hidden);
  }
  atomic_fetch_add(&door_tally()->ended, 1);
  return error;
}

/* ---- At the call ---- */

/* params: the address of each explicit argument, in order. */
static hipError_t gather(const launch_request *r, uint8_t *args) {
  const gfxsim_kernel_info *info = &r->function->info;
  for (int a = 0, n = 0; a < info->arg_count; a++) {
    const gfxsim_arg *arg = &info->args[a];
    if (arg->hidden) continue;
    if (r->params[n] == NULL)
      return hip_fail(hipErrorInvalidValue, "%s: kernel %s: params[%d] = NULL: must be an address", r->call, info->name, n);
    memcpy(args + arg->offset, r->params[n++], arg->size);
  }
  return hipSuccess;
}

/* extra: BUFFER_POINTER, address, BUFFER_SIZE, address of the size, END. The buffer may be longer than the arguments, by the
 * padding of the program's structure, or shorter by that of the last one. */
static hipError_t take_buffer(const launch_request *r, uint8_t *args) {
  void **extra = r->extra;
  if (extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
      extra[4] != HIP_LAUNCH_PARAM_END || extra[3] == NULL)
    return hip_fail(hipErrorInvalidValue, "%s: extra: must be BUFFER_POINTER, BUFFER_SIZE, END", r->call);
  size_t bytes;
  uint32_t want = r->function->arg_bytes;
  memcpy(&bytes, extra[3], sizeof bytes);
  if (bytes < want)
    return hip_fail(hipErrorInvalidValue, "%s: kernel %s: a buffer of %zu bytes: its arguments have %u", r->call,
                    r->function->info.name, bytes, want);
  memcpy(args, extra[1], want);
  return hipSuccess;
}

static hipError_t fill_args(const launch_request *r, uint8_t *args) {
  if (r->function->arg_bytes == 0) return hipSuccess;
  if (r->params != NULL && r->extra != NULL)
    return hip_fail(hipErrorInvalidValue, "%s: params and extra: one must be NULL", r->call);
  if (r->params == NULL && r->extra == NULL)
    return hip_fail(hipErrorInvalidValue, "%s: kernel %s has arguments: params or extra must be given", r->call,
                    r->function->info.name);
  return r->params != NULL ? gather(r, args) : take_buffer(r, args);
}

static hipError_t check(const launch_request *r) {
  const gfxsim_kernel_info *info = &r->function->info;
  const dim3 grid = r->grid, block = r->block;
  gfxsim_device_info chip;
  gfxsim_device_describe(r->stream->device->sim, &chip);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0)
    return hip_fail(hipErrorInvalidConfiguration, "%s: kernel %s: grid = %u,%u,%u, block = %u,%u,%u: must be positive", r->call,
                    info->name, grid.x, grid.y, grid.z, block.x, block.y, block.z);
  uint32_t most =
      info->max_workgroup != 0 && info->max_workgroup < chip.max_workgroup ? info->max_workgroup : chip.max_workgroup;
  if (block.x > most || block.y > most || block.z > most || (uint64_t)block.x * block.y * block.z > most)
    return hip_fail(hipErrorInvalidConfiguration, "%s: kernel %s: block = %u,%u,%u: must be %u work items or less", r->call,
                    info->name, block.x, block.y, block.z, most);
  if ((uint64_t)grid.x * block.x > UINT32_MAX || grid.y > UINT16_MAX || grid.z > UINT16_MAX)
    return hip_fail(hipErrorInvalidConfiguration,
                    "%s: kernel %s: grid = %u,%u,%u: y and z must be 65535 or less, and x times the "
                    "block's below 2^32",
                    r->call, info->name, grid.x, grid.y, grid.z);
  if (r->dynamic_lds > chip.lds_bytes - info->lds_bytes)
    return hip_fail(hipErrorInvalidValue, "%s: kernel %s: %zu bytes of dynamic LDS: with its %u above the chip's %u", r->call,
                    info->name, r->dynamic_lds, info->lds_bytes, chip.lds_bytes);
  uint64_t fit = (uint64_t)gfxsim_kernel_occupancy(r->function->kernel, block.x * block.y * block.z, (uint32_t)r->dynamic_lds) *
                 chip.compute_units;
  if (r->cooperative && (uint64_t)grid.x * grid.y * grid.z > fit)
    return hip_fail(hipErrorCooperativeLaunchTooLarge, "%s: kernel %s: %llu workgroups: the chip holds %llu at once", r->call,
                    info->name, (unsigned long long)grid.x * grid.y * grid.z, (unsigned long long)fit);
  return hipSuccess;
}

hipError_t hip_launch(const launch_request *r) {
  hipError_t error = check(r);
  if (error != hipSuccess) return error;
  uint32_t bytes = r->function->arg_bytes;
  launch_work *w = calloc(1, sizeof *w + bytes);
  if (w == NULL) return hip_fail(hipErrorOutOfMemory, "%s: no memory", r->call);
  w->base.run = run_launch;
  w->request = *r;
  w->arg_bytes = bytes;
  error = fill_args(r, w->args);
  if (error == hipSuccess) error = hip_record(r->call, r->start, r->stream);
  if (error != hipSuccess) {
    free(w);
    return error;
  }
  error = hip_submit(r->stream, &w->base);
  return error == hipSuccess ? hip_record(r->call, r->stop, r->stream) : error;
}

/* ---- Calls ---- */

static hipError_t launch_host(const char *call, const void *host, hipStream_t handle, launch_request *r) {
  r->call = call;
  hipError_t error = hip_stream(call, handle, &r->stream);
  if (error == hipSuccess) error = hip_function_of(call, host, r->stream->device, &r->function);
  return error == hipSuccess ? hip_launch(r) : error;
}

HIP_API hipError_t hipLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t lds, hipStream_t handle) {
  launch_request r = {.grid = grid, .block = block, .dynamic_lds = lds, .params = args};
  HIP_CALL(launch_host("hipLaunchKernel", host, handle, &r));
}
HIP_API hipError_t hipExtLaunchKernel(const void *host, dim3 grid, dim3 block, void **args, size_t lds, hipStream_t handle,
                                      hipEvent_t start, hipEvent_t stop, int flags) {
  (void)flags; /* whether it may run out of order: it need not */
  launch_request r = {.grid = grid, .block = block, .dynamic_lds = lds, .params = args, .start = start, .stop = stop};
  HIP_CALL(launch_host("hipExtLaunchKernel", host, handle, &r));
}
HIP_API hipError_t hipLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **args, unsigned lds,
                                              hipStream_t handle) {
  launch_request r = {.grid = grid, .block = block, .dynamic_lds = lds, .params = args, .cooperative = true};
  HIP_CALL(launch_host("hipLaunchCooperativeKernel", host, handle, &r));
}

static hipError_t launch_config(const hipLaunchConfig_t *c, const void *host, void **args) {
  if (c == NULL) return hip_fail(hipErrorInvalidValue, "hipLaunchKernelExC: config = NULL: must be an address");
  launch_request r = {.grid = c->gridDim, .block = c->blockDim, .dynamic_lds = c->dynamicSmemBytes, .params = args};
  for (unsigned n = 0; n < c->numAttrs; n++) {
    if (c->attrs[n].id == hipLaunchAttributeCooperative)
      r.cooperative = c->attrs[n].value.cooperative != 0;
    else
      door_unserved("hipLaunchKernelExC: attribute %d", c->attrs[n].id);
  }
  return launch_host("hipLaunchKernelExC", host, c->stream, &r);
}

HIP_API hipError_t hipLaunchKernelExC(const hipLaunchConfig_t *c, const void *host, void **args) {
  HIP_CALL(launch_config(c, host, args));
}

/* grid: in workgroups */
static hipError_t launch_function(const char *call, hipFunction_t handle, dim3 grid, dim3 block, size_t lds, hipStream_t on,
                                  void **params, void **extra, bool cooperative) {
  launch_request r = {
      .grid = grid, .block = block, .dynamic_lds = lds, .params = params, .extra = extra, .cooperative = cooperative};
  return launch_host(call, handle, on, &r);
}

HIP_API hipError_t hipModuleLaunchKernel(hipFunction_t handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                         unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds, hipStream_t on,
                                         void **params, void **extra) {
  HIP_CALL(launch_function("hipModuleLaunchKernel", handle, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z},
                           lds, on, params, extra, false));
}
HIP_API hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t handle, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds,
                                                    hipStream_t on, void **params) {
  HIP_CALL(launch_function("hipModuleLaunchCooperativeKernel", handle, (dim3){grid_x, grid_y, grid_z},
                           (dim3){block_x, block_y, block_z}, lds, on, params, NULL, true));
}

/* Their grid counts work items, and may end within a workgroup. */
static hipError_t launch_items(const char *call, hipFunction_t handle, dim3 items, launch_request *r, hipStream_t on) {
  uint32_t *grid[] = {&r->grid.x, &r->grid.y, &r->grid.z};
  const uint32_t all[] = {items.x, items.y, items.z}, block[] = {r->block.x, r->block.y, r->block.z};
  for (int n = 0; n < 3; n++) {
    if (block[n] == 0 || all[n] % block[n] != 0) {
      door_unserved("%s: %u work items in workgroups of %u: a workgroup that is smaller", call, all[n], block[n]);
      return hipErrorNotSupported;
    }
    *grid[n] = all[n] / block[n];
  }
  return launch_host(call, handle, on, r);
}

HIP_API hipError_t hipExtModuleLaunchKernel(hipFunction_t handle, uint32_t x, uint32_t y, uint32_t z, uint32_t block_x,
                                            uint32_t block_y, uint32_t block_z, size_t lds, hipStream_t on, void **params,
                                            void **extra, hipEvent_t start, hipEvent_t stop, uint32_t flags) {
  (void)flags;
  launch_request r = {
      .block = {block_x, block_y, block_z}, .dynamic_lds = lds, .params = params, .extra = extra, .start = start, .stop = stop};
  HIP_CALL(launch_items("hipExtModuleLaunchKernel", handle, (dim3){x, y, z}, &r, on));
}

/* ---- kernel<<<...>>>(...): the caller pushes the configuration, the function that clang makes for the kernel pops it and
 * launches ---- */

typedef struct configuration {
  dim3 grid, block;
  size_t lds;
  hipStream_t stream;
} configuration;
enum { PUSHED_MOST = 16 }; /* an argument of a launch may be computed by another one */
static _Thread_local configuration pushed[PUSHED_MOST];
static _Thread_local int pushed_count;

HIP_API hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, hipStream_t handle) {
  if (pushed_count == PUSHED_MOST)
    return hip_end(hip_fail(hipErrorInvalidConfiguration, "%d launches within each other: too many", PUSHED_MOST));
  pushed[pushed_count++] = (configuration){grid, block, lds, handle};
  return hipSuccess;
}

HIP_API hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *lds, hipStream_t *handle) {
  if (pushed_count == 0)
    return hip_end(hip_fail(hipErrorMissingConfiguration, "a kernel's host function was called without <<<...>>>"));
  configuration c = pushed[--pushed_count];
  *grid = c.grid;
  *block = c.block;
  *lds = c.lds;
  *handle = c.stream;
  return hipSuccess;
}
