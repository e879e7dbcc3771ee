/* Runs the kernels of one .hip file and compares every element with what a C function says.
 * Usage: programs FILE.hsaco GROUP [KERNEL] */
#include "programs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/include/gfxsim_counters.h"
#include "sim/include/gfxsim_time.h"
#include "sim/test/half_expect.h"

uint32_t a[ELEMENTS], b[ELEMENTS], want[ELEMENTS];

static const struct {
  const char *name;
  const program *programs;
} groups[] = {
    {"assembly", assembly_programs}, {"basic", basic_programs}, {"control", control_programs}, {"integer", integer_programs},
    {"lanes", lanes_programs},       {"math", math_programs},   {"memory", memory_programs},   {"scopes", scopes_programs},
};

/* ---- Inputs ---- */

static uint32_t random_bits(uint32_t *state) { /* xorshift (Marsaglia 2003) */
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

static uint32_t element(fill fill, bool first, int i, uint32_t *state) {
  uint32_t r = random_bits(state);
  float unit = (float)(int32_t)r * 0x1p-29f; /* -4 to 4 */
  switch (fill) {
    case FILL_SMALL: return float_bits(first ? (float)(i % 37 - 18) : (float)(i % 101) * 0.25f);
    case FILL_FLOATS: return float_bits(unit);
    case FILL_HALVES: return half_from(unit) | half_from(unit * 0.37f) << 16;
    case FILL_INTS: return r % 1000;
    case FILL_BITS: return r;
  }
  return 0;
}

static void fill_inputs(const program *p) {
  uint32_t state = 2463534242u;
  for (int i = 0; i < ELEMENTS; i++) {
    a[i] = element(p->fill, true, i, &state);
    b[i] = element(p->fill, false, i, &state);
  }
  memset(want, 0, sizeof want);
}

/* ---- Running ---- */

static bool close_enough(const program *p, uint32_t got, uint32_t expected) {
  if (p->tolerance == 0) return got == expected;
  return fabsf(as_float(got) - as_float(expected)) <= p->tolerance * fabsf(as_float(expected));
}

static int compare(const program *p, const uint32_t *got) {
  for (int i = 0; i < p->results; i++)
    if (!close_enough(p, got[i], want[i])) {
      fprintf(stderr, "programs: %s: element %d is 0x%08x (%g): must be 0x%08x (%g)\n", p->name, i, got[i], as_float(got[i]),
              want[i], as_float(want[i]));
      return 1;
    }
  return 0;
}

static int stop(const program *p, const char *what) {
  fprintf(stderr, "programs: %s: %s: %s\n", p->name, what, gfxsim_last_error());
  return 1;
}

static bool timed; /* in the order of the model's time */

static int run(const program *p, gfxsim_device *device, gfxsim_object *object) {
  static uint32_t got[ELEMENTS];
  uint64_t addresses[3];
  uint8_t args[256];
  const size_t tail = p->structure != NULL ? p->structure_bytes : sizeof p->n;
  gfxsim_kernel *kernel;
  if (gfxsim_kernel_find(object, p->name, &kernel) != GFXSIM_OK) return stop(p, "find");
  for (int n = 0; n < 3; n++)
    if (gfxsim_alloc(device, sizeof got, &addresses[n]) != GFXSIM_OK) return stop(p, "alloc");
  fill_inputs(p);
  p->expect(p->n);
  if (gfxsim_write(device, addresses[0], a, sizeof a) != GFXSIM_OK ||
      gfxsim_write(device, addresses[1], b, sizeof b) != GFXSIM_OK ||
      gfxsim_fill(device, addresses[2], 0, sizeof got) != GFXSIM_OK)
    return stop(p, "write");
  memcpy(args, addresses, sizeof addresses);
  memcpy(args + sizeof addresses, p->structure != NULL ? p->structure : &p->n, tail);
  gfxsim_launch launch = {.args = args, .arg_bytes = sizeof addresses + tail, .dynamic_lds = p->dynamic_lds};
  memcpy(launch.grid, p->grid, sizeof launch.grid);
  memcpy(launch.block, p->block, sizeof launch.block);
  gfxsim_counters counters = {0};
  gfxsim_timing timing = {0};
  if (timed) {
    launch.counters = &counters;
    launch.timing = &timing;
  }
  if (gfxsim_run(kernel, &launch) != GFXSIM_OK) return stop(p, "run");
  if (timed && timing.clocks <= timing.launch_clocks) return stop(p, "no clocks");
  gfxsim_counters_release(&counters);
  gfxsim_timing_release(&timing);
  if (gfxsim_read(device, addresses[2], got, sizeof got) != GFXSIM_OK) return stop(p, "read");
  for (int n = 0; n < 3; n++) gfxsim_free(device, addresses[n]);
  return compare(p, got);
}

static int run_group(const program *programs, const char *only, const void *data, size_t bytes) {
  gfxsim_device *device;
  gfxsim_object *object;
  int failed = 0, ran = 0;
  const char *chip = gfxsim_object_chip(data, bytes);
  if (chip == NULL || gfxsim_open(chip, NULL, &device) != GFXSIM_OK || gfxsim_load(device, data, bytes, &object) != GFXSIM_OK)
    return stop(programs, "load");
  for (const program *p = programs; p->name != NULL; p++) {
    if (only != NULL && strcmp(only, p->name) != 0) continue;
    failed += run(p, device, object);
    ran++;
  }
  gfxsim_close(device);
  printf("%d kernels, %d failed\n", ran, failed);
  return failed > 0 || ran == 0;
}

int main(int argc, char **argv) {
  static uint8_t data[1 << 20];
  timed = argc > 3 && strcmp(argv[argc - 1], "timed") == 0;
  argc -= timed;
  FILE *file = argc == 3 || argc == 4 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) return fprintf(stderr, "usage: programs FILE.hsaco GROUP [KERNEL] [timed]\n"), 2;
  size_t bytes = fread(data, 1, sizeof data, file);
  fclose(file);
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
    if (strcmp(groups[g].name, argv[2]) == 0) return run_group(groups[g].programs, argc == 4 ? argv[3] : NULL, data, bytes);
  return fprintf(stderr, "programs: no group %s\n", argv[2]), 2;
}
