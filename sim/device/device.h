/* A simulated device: its chip, options, memory and code objects. */
#ifndef GFXSIM_DEVICE_H
#define GFXSIM_DEVICE_H
#include <pthread.h>

#include "memory.h"
#include "sim/base/chip.h"

struct gfxsim_device {
  chip chip;
  gfxsim_options options;
  memory memory;
  gfxsim_object *objects; /* a list, which the loader keeps (sim/load/object.c) */
};

/* The device and its memory, when its code objects are unloaded. */
void device_free(gfxsim_device *device);

#endif
