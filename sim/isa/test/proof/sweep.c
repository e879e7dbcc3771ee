#include "sweep.h"

#include <stdio.h>

#include "sim/load/object.h"

enum { MOST = 1 << 20 };
static u8 data[MOST];

static size_t read_file(const char *file) {
  FILE *from = fopen(file, "rb");
  if (from == NULL) return perror(file), 0;
  size_t bytes = fread(data, 1, sizeof data, from);
  fclose(from);
  return bytes;
}

const char *sweep_chip(const char *file) { return gfxsim_object_chip(data, read_file(file)); }

static bool sweep_code(gfxsim_kernel *kernel, void (*each)(const inst *i, void *user), void *user) {
  if (kernel_decode(kernel) != GFXSIM_OK) return false;
  u64 pc = kernel->object->text_begin;
  while (pc < kernel->object->text_end) {
    const block *b = code_block(kernel->code, pc);
    if (b == NULL) return false;
    for (u32 n = 0; n < b->count; n++) each(&b->inst[n], user);
    pc = b->inst[b->count - 1].pc + b->inst[b->count - 1].size;
  }
  return true;
}

bool sweep(const char *file, void (*each)(const inst *i, void *user), void *user) {
  gfxsim_device *device = NULL;
  gfxsim_object *object;
  size_t bytes = read_file(file);
  const char *chip = gfxsim_object_chip(data, bytes);
  bool good = chip != NULL && gfxsim_open(chip, NULL, &device) == GFXSIM_OK &&
              gfxsim_load(device, data, bytes, &object) == GFXSIM_OK && sweep_code(gfxsim_kernel_at(object, 0), each, user);
  if (!good) fprintf(stderr, "%s: %s\n", file, gfxsim_last_error());
  gfxsim_close(device);
  return good;
}
