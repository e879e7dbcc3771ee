/* Fuzz target of gfxsim's loader and decoder: a file is refused with a message, or its kernels can be described and run for a
 * few blocks; what they do wrong is reported with a message too. */
#include <stdlib.h>

#include "gfxsim.h"

enum { KERNELS = 4, BLOCKS = 64, ARGS = 65536 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_words(gfxsim_status status) {
  if (status != GFXSIM_OK && *gfxsim_last_error() == '\0') abort();
}

static void run(gfxsim_kernel *kernel) {
  static const uint8_t zeros[ARGS];
  gfxsim_kernel_info info;
  gfxsim_kernel_describe(kernel, &info);
  if (info.name == NULL || info.kernarg_bytes > ARGS) abort();
  gfxsim_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .args = zeros, .arg_bytes = info.kernarg_bytes};
  require_words(gfxsim_run(kernel, &launch));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gfxsim_device *device;
  gfxsim_object *object;
  gfxsim_options options = {.threads = 1, .budget = BLOCKS};
  gfxsim_fail(GFXSIM_OK, "");
  const char *chip = gfxsim_object_chip(data, size);
  if (chip == NULL) {
    require_words(GFXSIM_INVALID);
    return 0;
  }
  if (gfxsim_open(chip, &options, &device) != GFXSIM_OK) abort();
  gfxsim_status status = gfxsim_load(device, data, size, &object);
  require_words(status);
  for (int k = 0; status == GFXSIM_OK && k < KERNELS && k < gfxsim_kernel_count(object); k++) run(gfxsim_kernel_at(object, k));
  gfxsim_close(device);
  return 0;
}
