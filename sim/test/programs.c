/* Runs a kernel of kernel/ and compares every element with what a C function says. Usage: programs FILE.hsaco NAME */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfxsim.h"

enum { MOST = 4096 };

static float a[MOST], b[MOST], got[MOST], want[MOST];

typedef struct program {
  const char *name;
  uint32_t grid[3], block[3];
  int n, inputs, results; /* n: the kernel's last argument; inputs: elements of a and b */
  void (*expect)(int n);
} program;

static uint32_t word(const float *f) {
  uint32_t bits;
  memcpy(&bits, f, sizeof bits);
  return bits;
}

/* ---- What C says ---- */

static void vector_add(int n) {
  for (int i = 0; i < n; i++) want[i] = a[i] + b[i];
}

static void reduce(int n) {
  for (int i = 0; i < n; i++) want[i / 256] += a[i]; /* the inputs are small integers: any order is exact */
}

static void transpose(int n) {
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) want[x * n + y] = a[y * n + x];
}

static uint32_t mix(uint32_t h) {
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

static void integers(int n) {
  for (int i = 0; i < n; i++) {
    uint32_t h = mix(word(&a[i]) + (uint32_t)i);
    uint64_t wide = (uint64_t)h * word(&b[i]) + ((uint64_t)word(&b[i]) << 7);
    for (uint32_t steps = h & 15; steps > 0; steps--) wide = wide * 5 + steps;
    int32_t s = (int32_t)(uint32_t)((uint32_t)(wide >> 32) - (uint32_t)wide);
    uint32_t c = (uint32_t)(s < 0 ? (int32_t)(0u - (uint32_t)s) / 2 : s >> 3) ^ h;
    memcpy(&want[i], &c, sizeof c);
  }
}

static const program programs[] = {
    {"vector_add", {8, 1, 1}, {128, 1, 1}, 1000, 1000, 1000, vector_add},
    {"reduce", {4, 1, 1}, {256, 1, 1}, 1000, 1000, 4, reduce},
    {"transpose", {4, 4, 1}, {16, 16, 1}, 50, 2500, 2500, transpose},
    {"integers", {5, 1, 1}, {200, 1, 1}, 987, 987, 987, integers},
};

/* ---- Running ---- */

static int stop(const char *what) {
  fprintf(stderr, "programs: %s: %s\n", what, gfxsim_last_error());
  return 1;
}

static int compare(const program *p) {
  for (int i = 0; i < p->results; i++)
    if (word(&got[i]) != word(&want[i])) {
      fprintf(stderr, "programs: %s: element %d is 0x%08x (%g): must be 0x%08x (%g)\n", p->name, i, word(&got[i]), got[i],
              word(&want[i]), want[i]);
      return 1;
    }
  return 0;
}

static int run(const program *p, const void *data, size_t bytes) {
  gfxsim_device *device;
  gfxsim_object *object;
  gfxsim_kernel *kernel;
  struct {
    uint64_t a, b, c;
    int32_t n;
  } args = {.n = p->n};
  size_t input = (size_t)p->inputs * sizeof *a, result = (size_t)p->results * sizeof *a;
  for (int i = 0; i < p->inputs; i++) {
    a[i] = (float)(i % 37 - 18);
    b[i] = (float)(i % 101) * 0.25f;
  }
  p->expect(p->n);
  const char *chip = gfxsim_object_chip(data, bytes);
  if (chip == NULL || gfxsim_open(chip, NULL, &device) != GFXSIM_OK) return stop("open");
  if (gfxsim_load(device, data, bytes, &object) != GFXSIM_OK) return stop("load");
  if (gfxsim_kernel_find(object, p->name, &kernel) != GFXSIM_OK) return stop("find");
  if (gfxsim_alloc(device, input, &args.a) != GFXSIM_OK || gfxsim_alloc(device, input, &args.b) != GFXSIM_OK ||
      gfxsim_alloc(device, result, &args.c) != GFXSIM_OK)
    return stop("alloc");
  gfxsim_write(device, args.a, a, input);
  gfxsim_write(device, args.b, b, input);
  gfxsim_launch launch = {.args = &args, .arg_bytes = offsetof(__typeof__(args), n) + sizeof args.n};
  memcpy(launch.grid, p->grid, sizeof launch.grid);
  memcpy(launch.block, p->block, sizeof launch.block);
  if (gfxsim_run(kernel, &launch) != GFXSIM_OK) return stop("run");
  if (gfxsim_read(device, args.c, got, result) != GFXSIM_OK) return stop("read");
  gfxsim_close(device);
  return compare(p);
}

int main(int argc, char **argv) {
  static uint8_t data[1 << 20];
  FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) return fprintf(stderr, "usage: programs FILE.hsaco NAME\n"), 2;
  size_t bytes = fread(data, 1, sizeof data, file);
  fclose(file);
  for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++)
    if (strcmp(programs[p].name, argv[2]) == 0) return run(&programs[p], data, bytes);
  return fprintf(stderr, "programs: no program %s\n", argv[2]), 2;
}
