/* Loads the segments of a code object: object->image and the range of its code. */
#ifndef GFXSIM_IMAGE_H
#define GFXSIM_IMAGE_H
#include <libelf.h>

#include "object.h"

gfxsim_status image_load(Elf *elf, const u8 *data, size_t bytes, gfxsim_object *o);

#endif
