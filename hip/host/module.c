/* A code object becomes a module when the first plan needs it; a run only launches. */
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"
#include "module.h"

/* A loaded module, and the code that it was made from. */
struct hip_module_row {
  const hip_code *code;
  hipModule_t module;
  hip_module_row *next;
};

static tdm_status load(tdm_hip_device *d, const hip_code *code, const char *op, hipModule_t *module) {
  for (hip_module_row *row = d->modules; row != NULL; row = row->next)
    if (row->code == code) {
      *module = row->module;
      return TDM_OK;
    }
  hip_module_row *row = malloc(sizeof *row);
  if (row == NULL) return tdm_fail(TDM_ERROR_MEMORY, "%s: no memory for a module's entry of %zu bytes", op, sizeof *row);
  tdm_status status = tdm_hip_check(d, op, "ModuleLoadData", d->library->ModuleLoadData(module, code->data));
  if (status != TDM_OK) {
    free(row);
    return status;
  }
  *row = (hip_module_row){code, *module, d->modules};
  d->modules = row;
  return TDM_OK;
}

static tdm_status find(tdm_hip_device *d, const hip_code *code, const char *op, const char *name, void **function) {
  hipModule_t module;
  hipFunction_t found;
  TDM_TRY(load(d, code, op, &module));
  TDM_TRY(tdm_hip_check(d, name, "ModuleGetFunction", d->library->ModuleGetFunction(&found, module, name)));
  *function = found;
  return TDM_OK;
}

int tdm_hip_function_name(char *name, size_t size, const hip_functions *f, const char *layout, const char *type) {
  return snprintf(name, size, "%s%s%s%s%s", f->stem, layout != NULL ? "_" : "", layout != NULL ? layout : "",
                  type != NULL ? "_" : "", type != NULL ? type : "");
}

bool tdm_hip_lds_fits(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_hip_device *device = plan->context->hip;
  for (const hip_functions *f = plan->kernel->functions; f->stem != NULL; f++) {
    if (f->lds <= device->lds_bytes || f->lds > device->chip->lds_bytes) continue; /* other chips' functions have 64 KiB */
    snprintf(reason, size, "%zu bytes of LDS: a workgroup of this %s may have %zu", f->lds, device->chip->name,
             device->lds_bytes);
    return false;
  }
  return true;
}

tdm_status tdm_hip_function(tdm_plan *plan, const hip_functions *functions, const char *layout, const char *type,
                            void **function) {
  tdm_hip_device *d = plan->context->hip;
  const char *op = tdm_op_names[plan->op];
  char name[64];
  int before;
  tdm_hip_function_name(name, sizeof name, functions, layout, type);
  TDM_TRY(tdm_hip_enter(d, op, &before));
  pthread_mutex_lock(&d->lock);
  tdm_status status = find(d, &functions->code[d->built], op, name, function);
  pthread_mutex_unlock(&d->lock);
  return tdm_hip_leave(d, op, before, status);
}

/* A module knows its device, so it is unloaded even if its device can't be made current. */
tdm_status tdm_hip_unload(tdm_hip_device *d) {
  tdm_status status = TDM_OK;
  while (d->modules != NULL) {
    hip_module_row *row = d->modules;
    d->modules = row->next;
    TDM_FIRST(status, tdm_hip_check(d, "close", "ModuleUnload", d->library->ModuleUnload(row->module)));
    free(row);
  }
  return status;
}

/* A launch that fails may have run in part: the simulator executes it immediately, and so does ROCm with
 * HIP_LAUNCH_BLOCKING. */
tdm_status tdm_hip_launch(const tdm_plan *plan, const tdm_hip_kernel *kernel, const void *args, size_t bytes,
                          tdm_stream *stream) {
  const tdm_hip_device *d = plan->context->hip;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  int before;
  TDM_TRY(tdm_hip_enter(d, plan->title, &before));
  hipError_t error =
      d->library->ModuleLaunchKernel(kernel->function, kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block, 1, 1,
                                     kernel->lds, stream == NULL ? NULL : stream->handle, NULL, extra);
  tdm_status status = tdm_hip_check(d, plan->title, "ModuleLaunchKernel", error);
  return tdm_may_have_written(tdm_hip_leave(d, plan->title, before, status));
}

/* ---- Memory of a run ---- */

tdm_status tdm_hip_borrow(const tdm_plan *plan, size_t bytes, tdm_stream *stream, void **memory) {
  const tdm_hip_device *d = plan->context->hip;
  char what[sizeof plan->title + 64];
  int before;
  snprintf(what, sizeof what, "%s: memory of a run, bytes = %zu", plan->title, bytes);
  TDM_TRY(tdm_hip_enter(d, plan->title, &before));
  tdm_status status =
      tdm_hip_check(d, what, "MallocAsync", d->library->MallocAsync(memory, bytes, stream == NULL ? NULL : stream->handle));
  bool made = status == TDM_OK;
  status = tdm_hip_leave(d, plan->title, before, status);
  if (status != TDM_OK && made) TDM_CLEAN_UP(tdm_hip_return(plan, *memory, stream));
  return status;
}

/* The memory is given back even if its device can't be made current: a stream knows its device. HIP's default stream does not,
 * so then hipFree waits for all of the memory's device. */
tdm_status tdm_hip_return(const tdm_plan *plan, void *memory, tdm_stream *stream) {
  const tdm_hip_device *d = plan->context->hip;
  const hip_library *h = d->library;
  void *handle = stream == NULL ? NULL : stream->handle;
  int before;
  tdm_status status = tdm_hip_enter(d, plan->title, &before);
  const bool entered = status == TDM_OK;
  if (entered || handle != NULL)
    TDM_FIRST(status, tdm_hip_check(d, plan->title, "FreeAsync", h->FreeAsync(memory, handle)));
  else
    TDM_FIRST(status, tdm_hip_check(d, plan->title, "Free", h->Free(memory)));
  return entered ? tdm_hip_leave(d, plan->title, before, status) : status;
}
