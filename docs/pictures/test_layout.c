/* layout.h, from which the pictures are drawn, beside what gfxsim makes of the kernels' own device code: which lane holds what
 * of a matrix instruction, where the swizzle puts a chunk, what a ds_read_b128 costs, how many lines a load touches. Usage:
 * layout-test FILE.hsaco CHIP. Chunks of 8 values in one instruction are gfx950's alone. An order of k that A and B share can
 * not show in a product. */
#include "layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/half.h"
#include "sim/include/gfxsim.h"
#include "sim/include/gfxsim_counters.h"
#include "src/base/chip.h"

static gfxsim_device *device;
static gfxsim_object *object;
static int wrong;

__attribute__((format(printf, 1, 2), noreturn)) static void fatal(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "layout: ");
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
  exit(1);
}

static void need(gfxsim_status status) {
  if (status != GFXSIM_OK) fatal("%s", gfxsim_last_error());
}

static void expect(const char *what, int index, long got, long want) {
  if (got == want) return;
  if (wrong++ < 10) fprintf(stderr, "layout: %s %d: executed %ld, layout.h has %ld\n", what, index, got, want);
}

static void load(const char *path, const char *chip) {
  static unsigned char data[1 << 20];
  FILE *file = fopen(path, "rb");
  if (file == NULL) fatal("%s can't be opened", path);
  size_t bytes = fread(data, 1, sizeof data, file);
  fclose(file);
  const gfxsim_options options = {.unchecked = GFXSIM_CHECK_UNINITIALISED}; /* read_lds reads what nobody wrote */
  need(gfxsim_open(chip, &options, &device));
  need(gfxsim_load(device, data, bytes, &object));
}

/* One wave of a kernel with three arguments of 8 bytes. */
static gfxsim_counters run(const char *name, const uint64_t args[3], size_t bytes) {
  gfxsim_kernel *kernel;
  gfxsim_counters counters;
  need(gfxsim_kernel_find(object, name, &kernel));
  gfxsim_launch launch = {.grid = {1, 1, 1}, .block = {WAVE, 1, 1}, .args = args, .arg_bytes = bytes, .counters = &counters};
  need(gfxsim_run(kernel, &launch));
  return counters;
}

static uint64_t to_device(const void *data, size_t bytes) {
  uint64_t address;
  need(gfxsim_alloc(device, bytes, &address));
  need(gfxsim_write(device, address, data, bytes));
  return address;
}

/* A's values are their own places, and B picks columns first .. first + side - 1 of A: the result shows where each came from.
 */
static void test_product(int side, int first) {
  enum { VALUES = WAVE * CHUNK, MOST_RESULTS = 32 * 32 };
  static uint16_t a[VALUES], b[VALUES];
  static float d[MOST_RESULTS];
  int k_count = WAVE / side * CHUNK;
  memset(b, 0, sizeof b);
  for (int n = 0; n < VALUES; n++) a[n] = (uint16_t)f32_half((float)n, 0); /* exact up to 2048 */
  for (int j = 0; j < side && first + j < k_count; j++) {
    place p = operand_place(side, j, first + j);
    b[p.lane * CHUNK + p.element] = 0x3c00;
  }
  memset(d, 0xff, sizeof d);
  uint64_t args[3] = {to_device(a, sizeof a), to_device(b, sizeof b), to_device(d, sizeof d)};
  gfxsim_counters c = run(side == 16 ? "multiply_16" : "multiply_32", args, sizeof args);
  gfxsim_counters_release(&c);
  need(gfxsim_read(device, args[2], d, sizeof d));
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++) {
      place from = operand_place(side, i, first + j), to = result_place(side, i, j);
      long want = first + j < k_count ? from.lane * CHUNK + from.element : 0;
      expect(side == 16 ? "16x16x32, element" : "32x32x16, element", i * side + j, (long)d[to.element * WAVE + to.lane], want);
    }
}

static void test_lds(const lds_reads *chip, int swizzled) {
  lds_rule rule = !swizzled ? LDS_PLAIN : chip == &lds_chips[LDS_GFX942] ? LDS_XOR_1 : LDS_XOR_2;
  static uint32_t byte[WAVE], chunk[4 * WAVE];
  uint64_t args[3] = {to_device(byte, sizeof byte), to_device(chunk, sizeof chunk), (uint64_t)swizzled};
  gfxsim_counters c = run("read_lds", args, 20);
  need(gfxsim_read(device, args[0], byte, sizeof byte));
  for (int l = 0; l < WAVE; l++) expect("byte in LDS of lane", l, byte[l], (long)lds_read_byte(l, rule));
  int clocks = read_clocks(chip, rule);
  expect("accesses to LDS, swizzled", swizzled, (long)c.lds.accesses, 1);
  expect("clocks of ds_read_b128, swizzled", swizzled, (long)c.lds.clocks, clocks);
  expect("conflicts of ds_read_b128, swizzled", swizzled, (long)c.lds.conflict_clocks, clocks - lds_phases(chip));
  gfxsim_counters_release(&c);
}

static void test_access(access kind) {
  static uint32_t memory[2048], word[WAVE], result[WAVE];
  for (int l = 0; l < WAVE; l++) word[l] = access_byte(kind, l) / 4;
  uint64_t args[3] = {to_device(memory, sizeof memory), to_device(word, sizeof word), to_device(result, sizeof result)};
  gfxsim_counters c = run("read_memory", args, sizeof args);
  enum { INDEX_LINES = 4 * WAVE / LINE_BYTES }; /* of the load of word[] */
  expect("lines of access", (int)kind, (long)c.load.lines128, access_lines(kind) + INDEX_LINES);
  gfxsim_counters_release(&c);
}

int main(int argc, char **argv) {
  if (argc != 3) fatal("usage: layout-test FILE.hsaco CHIP");
  int c = strcmp(argv[2], lds_chips[LDS_GFX942].chip) == 0 ? LDS_GFX942 : LDS_GFX950;
  load(argv[1], argv[2]);
  expect("banks of", c, lds_chips[c].banks, (long)tdm_chip_find(argv[2], strlen(argv[2]))->lds_banks);
  for (int first = 0; first < 32 && c == LDS_GFX950; first += 16) test_product(16, first);
  if (c == LDS_GFX950) test_product(32, 0);
  for (int swizzled = 0; swizzled < 2; swizzled++) test_lds(&lds_chips[c], swizzled);
  for (int kind = 0; kind < ACCESSES; kind++) test_access((access)kind);
  gfxsim_close(device);
  if (wrong == 0) printf("layout: all as executed\n");
  return wrong != 0;
}
