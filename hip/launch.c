/* Code objects become modules when a plan needs them first; a run only launches. */
#include <stdlib.h>
#include <string.h>

#include "hip.h"
#include "library.h"

/* A module that is loaded, by the code that it was made of. */
struct hip_module_row {
  const hip_code *code;
  hipModule_t module;
  hip_module_row *next;
};

static const hip_code *code_of(const hip_code *codes, const char *chip) {
  while (codes->chip != NULL && strcmp(codes->chip, chip) != 0) codes++;
  return codes; /* a device is refused where the build has no code for its chip, so this is never the end of the list */
}

static tdm_status load(tdm_hip_device *d, const hip_code *code, const char *op, hipModule_t *module) {
  for (hip_module_row *row = d->modules; row != NULL; row = row->next)
    if (row->code == code) {
      *module = row->module;
      return TDM_OK;
    }
  hip_module_row *row = malloc(sizeof *row);
  if (row == NULL) return tdm_fail(TDM_ERROR_MEMORY, "%s: no memory for a module's entry of %zu bytes", op, sizeof *row);
  hipError_t error = d->library->ModuleLoadData(module, code->data);
  if (error != hipSuccess) {
    free(row);
    return tdm_hip_fail(d, TDM_ERROR_DEVICE, op, "ModuleLoadData", error);
  }
  *row = (hip_module_row){code, *module, d->modules};
  d->modules = row;
  return TDM_OK;
}

static tdm_status find(tdm_hip_device *d, const hip_code *code, const char *op, const char *name, void **function) {
  hipModule_t module;
  hipFunction_t found;
  TDM_TRY(load(d, code, op, &module));
  hipError_t error = d->library->ModuleGetFunction(&found, module, name);
  if (error != hipSuccess) return tdm_hip_fail(d, TDM_ERROR_DEVICE, name, "ModuleGetFunction", error);
  *function = found;
  return TDM_OK;
}

tdm_status tdm_hip_function(tdm_plan *plan, const hip_code *codes, const char *name, void **function) {
  tdm_hip_device *d = plan->context->hip;
  int before = tdm_hip_enter(d);
  pthread_mutex_lock(&d->lock);
  tdm_status status = find(d, code_of(codes, d->chip), tdm_op_names[plan->op], name, function);
  pthread_mutex_unlock(&d->lock);
  tdm_hip_leave(d, before);
  return status;
}

void tdm_hip_unload(tdm_hip_device *d) {
  int before = tdm_hip_enter(d);
  while (d->modules != NULL) {
    hip_module_row *row = d->modules;
    d->modules = row->next;
    d->library->ModuleUnload(row->module);
    free(row);
  }
  tdm_hip_leave(d, before);
}

tdm_status tdm_hip_launch(const tdm_plan *plan, const tdm_hip_kernel *kernel, const void *args, size_t bytes,
                          tdm_stream *stream) {
  const tdm_hip_device *d = plan->context->hip;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  int before = tdm_hip_enter(d);
  hipError_t error =
      d->library->ModuleLaunchKernel(kernel->function, kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block, 1, 1,
                                     kernel->lds, stream == NULL ? NULL : stream->handle, NULL, extra);
  tdm_hip_leave(d, before);
  return error == hipSuccess ? TDM_OK : tdm_hip_fail(d, TDM_ERROR_DEVICE, plan->title, "ModuleLaunchKernel", error);
}
