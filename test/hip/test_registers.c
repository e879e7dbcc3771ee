/* What the compiler made of the kernels: waves that a SIMD holds, scratch and spills, against hip/registers.def. A compiler
 * that needs more registers than a kernel was laid out for costs speed, and nothing else reports it. argv: the code
 * objects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfxsim.h"

enum { SIMDS = 4, LANES = 64 };

typedef struct design {
  const char *stem, *chip;
  unsigned waves, scratch;
  bool met, read; /* by a kernel; an object for one of its chips was read */
} design;

static design designs[] = {
#define KERNELS(stem, chip, waves, scratch) {stem, chip, waves, scratch, false, false},
#include "hip/registers.def"
#undef KERNELS
};
enum { DESIGNS = sizeof designs / sizeof designs[0] };

static int failures, kernels;

/* The longest stem that the name begins with, for the chip. */
static design *find_design(const char *kernel, const char *chip) {
  design *best = NULL;
  for (int d = 0; d < DESIGNS; d++) {
    size_t length = strlen(designs[d].stem);
    bool fits = strncmp(kernel, designs[d].stem, length) == 0 && strstr(designs[d].chip, chip) != NULL;
    if (fits && (best == NULL || length > strlen(best->stem))) best = &designs[d];
  }
  return best;
}

static void check_kernel(const gfxsim_kernel *kernel, const char *chip) {
  gfxsim_kernel_info info;
  gfxsim_kernel_describe(kernel, &info);
  design *d = find_design(info.name, chip);
  unsigned waves = gfxsim_kernel_occupancy(kernel, info.max_workgroup, 0) * (info.max_workgroup / LANES) / SIMDS;
  kernels++;
  if (d != NULL) d->met = true;
  if (d != NULL && waves >= d->waves && info.scratch_bytes <= d->scratch && (info.vgpr_spills == 0 || d->scratch > 0)) return;
  failures++;
  printf("%s on %s: %u waves a SIMD (%u VGPRs, %u B of LDS, %u work-items), %u B of scratch, %u VGPRs spilled", info.name, chip,
         waves, info.vgprs, info.lds_bytes, info.max_workgroup, info.scratch_bytes, info.vgpr_spills);
  if (d == NULL)
    printf(": hip/registers.def has no row for it\n");
  else
    printf(": must be %u waves, %u B\n", d->waves, d->scratch);
}

static void *read_file(const char *name, size_t *bytes) {
  enum { MOST = 1 << 24 };
  FILE *file = fopen(name, "rb");
  void *data = malloc(MOST);
  *bytes = file != NULL && data != NULL ? fread(data, 1, MOST, file) : 0;
  if (file != NULL) fclose(file);
  return data;
}

static void check_file(const char *name) {
  size_t bytes;
  void *data = read_file(name, &bytes);
  const char *chip = gfxsim_object_chip(data, bytes);
  gfxsim_device *device = NULL;
  gfxsim_object *object = NULL;
  bool loaded =
      chip != NULL && gfxsim_open(chip, NULL, &device) == GFXSIM_OK && gfxsim_load(device, data, bytes, &object) == GFXSIM_OK;
  if (!loaded) {
    printf("%s: %s\n", name, gfxsim_last_error());
    failures++;
  }
  for (int d = 0; loaded && d < DESIGNS; d++) designs[d].read |= strstr(designs[d].chip, chip) != NULL;
  for (int k = 0; loaded && k < gfxsim_kernel_count(object); k++) check_kernel(gfxsim_kernel_at(object, k), chip);
  gfxsim_close(device);
  free(data);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) check_file(argv[i]);
  for (int d = 0; d < DESIGNS; d++)
    if (designs[d].read && !designs[d].met) {
      printf("%s on %s: no kernel has this row of hip/registers.def\n", designs[d].stem, designs[d].chip);
      failures++;
    }
  printf("%d kernels, %d failures\n", kernels, failures);
  return failures > 0 || kernels == 0;
}
