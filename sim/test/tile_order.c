/* src/base/order.h gives a kernel the tiles that it gives the host. Usage: tile_order FILE.hsaco, of tile_order.hip. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfxsim.h"
#include "src/base/order.h"

enum { LANES_OF_A_WAVE = 64, MOST = 2048 };

static tdm_tile host[MOST], device_tiles[MOST];

static bool run(gfxsim_device *device, gfxsim_object *object, const char *name, unsigned groups, tdm_order order) {
  struct {
    tdm_order order;
    uint64_t tiles;
  } args = {.order = order};
  _Static_assert(sizeof args == 32, "as the kernel's arguments lie");
  gfxsim_kernel *kernel;
  gfxsim_launch launch = {.grid = {groups, 1, 1}, .block = {LANES_OF_A_WAVE, 1, 1}, .args = &args, .arg_bytes = sizeof args};
  size_t bytes = order.count * sizeof *host;
  bool good = gfxsim_kernel_find(object, name, &kernel) == GFXSIM_OK && gfxsim_alloc(device, bytes, &args.tiles) == GFXSIM_OK &&
              gfxsim_fill(device, args.tiles, 0xff, bytes) == GFXSIM_OK && gfxsim_run(kernel, &launch) == GFXSIM_OK &&
              gfxsim_read(device, args.tiles, device_tiles, bytes) == GFXSIM_OK && gfxsim_free(device, args.tiles) == GFXSIM_OK;
  if (!good) fprintf(stderr, "order: %s: %s\n", name, gfxsim_last_error());
  if (!good || memcmp(host, device_tiles, bytes) == 0) return good;
  unsigned id = 0;
  while (memcmp(&host[id], &device_tiles[id], sizeof *host) == 0) id++;
  fprintf(
      stderr,
      "order: %s: %ux%u tiles, xcds %u, window %u, chunk %u: workgroup %u is tile %u, %u of matrix %u: must be %u, %u of %u\n",
      name, order.tiles_m, order.tiles_n, order.xcds, order.window, order.chunk, id, device_tiles[id].m, device_tiles[id].n,
      device_tiles[id].matrix, host[id].m, host[id].n, host[id].matrix);
  return false;
}

static void show(const gfxsim_report *report, void *user) {
  (void)user;
  fprintf(stderr, "order: %s: %s: %s\n", gfxsim_kind_name(report->kind), report->instruction, report->message);
}

int main(int argc, char **argv) {
  static uint8_t data[1 << 20];
  FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) return fprintf(stderr, "usage: order FILE.hsaco\n"), 2;
  size_t bytes = fread(data, 1, sizeof data, file);
  fclose(file);
  const struct {
    unsigned tiles_m, tiles_n, matrices, xcds, window, chunk;
  } cases[] = {
      {1, 1, 1, 8, 1, 1},     {3, 11, 1, 32, 1, 0},   {9, 13, 1, 8, 4, 3}, {36, 36, 1, 8, 5, 25},
      {36, 48, 1, 8, 7, 216}, {17, 5, 23, 6, 16, 64}, {64, 7, 4, 1, 8, 0}, {33, 61, 1, 16, 8, 8},
  };
  gfxsim_device *device = NULL;
  gfxsim_object *object;
  const char *chip = gfxsim_object_chip(data, bytes);
  bool good = chip != NULL && gfxsim_open(chip, &(gfxsim_options){.report = show}, &device) == GFXSIM_OK &&
              gfxsim_load(device, data, bytes, &object) == GFXSIM_OK;
  if (!good) fprintf(stderr, "order: %s\n", gfxsim_last_error());
  for (size_t c = 0; c < sizeof cases / sizeof cases[0] && good; c++) {
    tdm_order order =
        tdm_order_make(cases[c].tiles_m, cases[c].tiles_n, cases[c].matrices, cases[c].xcds, cases[c].window, cases[c].chunk);
    for (unsigned id = 0; id < order.count; id++) host[id] = tdm_order_tile(order, id);
    good = run(device, object, "by_workgroup", order.count, order) &&
           run(device, object, "by_lane", (order.count - 1) / LANES_OF_A_WAVE + 1, order);
  }
  gfxsim_close(device);
  return good ? 0 : 1;
}
