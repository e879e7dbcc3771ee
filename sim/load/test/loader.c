/* What a loader must refuse with words and survive: cut, corrupted and foreign files, wrong names and launches.
 * Usage: loader FILE.hsaco OTHER_CHIP.hsaco CORRUPTIONS. FILE holds axpy and reverse of program/assembly.s. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/include/gfxsim.h"

enum { MOST = 1 << 20, BUDGET = 16 };

static int failures;

static void require(bool holds, const char *what, size_t number) {
  if (holds) return;
  failures++;
  fprintf(stderr, "loader: %s (%zu): %s\n", what, number, gfxsim_last_error());
}

static size_t read_file(const char *name, uint8_t *data) {
  FILE *file = fopen(name, "rb");
  if (file == NULL) exit(2);
  size_t bytes = fread(data, 1, MOST, file);
  fclose(file);
  return bytes;
}

/* ---- Files ---- */

/* Runs what could be loaded, without arguments that mean anything: it may fail, with words. */
static void run_all(gfxsim_object *object, size_t number) {
  static const uint8_t zeros[65536];
  for (int k = 0; k < gfxsim_kernel_count(object); k++) {
    gfxsim_kernel *kernel = gfxsim_kernel_at(object, k);
    gfxsim_kernel_info info;
    gfxsim_kernel_describe(kernel, &info);
    gfxsim_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .args = zeros, .arg_bytes = info.kernarg_bytes};
    if (gfxsim_run(kernel, &launch) != GFXSIM_OK) require(*gfxsim_last_error() != '\0', "a run fails without words", number);
  }
}

/* Whether the file is accepted; every refusal must have words. */
static bool try_file(const char *chip, const uint8_t *data, size_t bytes, size_t number) {
  gfxsim_device *device;
  gfxsim_object *object;
  gfxsim_options options = {.threads = 1, .budget = BUDGET};
  if (gfxsim_open(chip, &options, &device) != GFXSIM_OK) return require(false, "open", number), false;
  uint8_t *copy = malloc(bytes + 1); /* of its own size, so that a sanitizer sees every read after it */
  if (copy == NULL) exit(2);
  memcpy(copy, data, bytes);
  gfxsim_fail(GFXSIM_OK, "");
  bool good = gfxsim_load(device, copy, bytes, &object) == GFXSIM_OK;
  free(copy);
  require(good || *gfxsim_last_error() != '\0', "refused without words", number);
  if (good) run_all(object, number);
  gfxsim_close(device);
  return good;
}

static void test_truncation(const char *chip, const uint8_t *data, size_t bytes) {
  size_t accepted = 0;
  for (size_t length = 0; length < bytes; length++) accepted += try_file(chip, data, length, length);
  require(try_file(chip, data, bytes, bytes), "the whole file is refused", bytes);
  require(accepted < bytes / 2, "most cut files must be refused; accepted", accepted);
}

static uint32_t random_bits(uint32_t *state) { /* xorshift (Marsaglia 2003) */
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

/* One to eight bytes anywhere: headers, symbols, metadata, descriptors, code. */
static void test_corruption(const char *chip, const uint8_t *data, size_t bytes, size_t count) {
  static uint8_t bad[MOST];
  size_t accepted = 0;
  uint32_t state = 2463534242u;
  for (size_t n = 0; n < count; n++) {
    memcpy(bad, data, bytes);
    for (uint32_t changes = random_bits(&state) % 8 + 1; changes > 0; changes--)
      bad[random_bits(&state) % bytes] = (uint8_t)random_bits(&state);
    accepted += try_file(chip, bad, bytes, n);
  }
  require(accepted < count, "no corrupted file is refused", accepted);
  printf("%zu of %zu corrupted files were refused\n", count - accepted, count);
}

/* ---- Requests ---- */

static void expect_invalid(gfxsim_status status, const char *word) {
  require(status == GFXSIM_INVALID && strstr(gfxsim_last_error(), word) != NULL, word, 0);
}

static void test_requests(const char *chip, const uint8_t *data, size_t bytes) {
  gfxsim_device *device;
  gfxsim_object *object;
  gfxsim_kernel *kernel;
  uint8_t args[28] = {0};
  if (gfxsim_open(chip, NULL, &device) != GFXSIM_OK || gfxsim_load(device, data, bytes, &object) != GFXSIM_OK) {
    require(false, "load", 0);
    return;
  }
  expect_invalid(gfxsim_kernel_find(object, "no_such_kernel", &kernel), "no_such_kernel");
  require(gfxsim_kernel_find(object, "reverse", &kernel) == GFXSIM_OK, "find", 0);
  require(gfxsim_kernel_at(object, 2) == NULL && gfxsim_kernel_at(object, -1) == NULL, "kernel_at", 0);
  const gfxsim_launch good = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .args = args, .arg_bytes = sizeof args};
  gfxsim_launch bad = good;
  bad.grid[1] = 0;
  expect_invalid(gfxsim_run(kernel, &bad), "grid = 1,0,1");
  bad = good, bad.block[0] = 0;
  expect_invalid(gfxsim_run(kernel, &bad), "block = 0,1,1");
  bad = good, bad.block[0] = 65;
  expect_invalid(gfxsim_run(kernel, &bad), "65 work items");
  bad = good, bad.dynamic_lds = 163840 - 255;
  expect_invalid(gfxsim_run(kernel, &bad), "dynamic_lds = 163585");
  bad = good, bad.arg_bytes = 27;
  expect_invalid(gfxsim_run(kernel, &bad), "arg_bytes = 27");
  bad = good, bad.arg_bytes = 29;
  expect_invalid(gfxsim_run(kernel, &bad), "arg_bytes = 29");
  gfxsim_close(device);
}

static void test_foreign(const char *chip, const uint8_t *other, size_t bytes) {
  gfxsim_device *device;
  gfxsim_object *object;
  if (gfxsim_open(chip, NULL, &device) != GFXSIM_OK) {
    require(false, "open", 0);
    return;
  }
  expect_invalid(gfxsim_load(device, other, bytes, &object), "the device is");
  expect_invalid(gfxsim_load(device, "no ELF", 6, &object), "too short");
  expect_invalid(gfxsim_load(device, NULL, 0, &object), "too short");
  require(gfxsim_object_chip("\177ELF", 4) == NULL, "chip of four bytes", 0);
  gfxsim_close(device);
}

int main(int argc, char **argv) {
  static uint8_t data[MOST], other[MOST];
  if (argc != 4) return fprintf(stderr, "usage: loader FILE.hsaco OTHER_CHIP.hsaco CORRUPTIONS\n"), 2;
  size_t bytes = read_file(argv[1], data), other_bytes = read_file(argv[2], other);
  const char *chip = gfxsim_object_chip(data, bytes);
  if (chip == NULL) return fprintf(stderr, "loader: %s: %s\n", argv[1], gfxsim_last_error()), 2;
  test_requests(chip, data, bytes);
  test_foreign(chip, other, other_bytes);
  test_truncation(chip, data, bytes);
  test_corruption(chip, data, bytes, (size_t)atoll(argv[3]));
  return failures > 0;
}
