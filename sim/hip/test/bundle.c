/* Bundles that this test writes itself: plain and compressed ones, and what must be refused. */
#include "sim/hip/full/hip_bundle.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef GFXSIM_ZLIB
#include <zlib.h>
#endif
#ifdef GFXSIM_ZSTD
#include <zstd.h>
#endif

static int failures;
#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      failures++;                                                     \
    }                                                                 \
  } while (0)

enum { ROOM = 65536 };
typedef struct text {
  uint8_t bytes[ROOM];
  size_t used;
} text;

static void put(text *t, const void *bytes, size_t count) {
  memcpy(t->bytes + t->used, bytes, count);
  t->used += count;
}
static void put_number(text *t, uint64_t value, size_t count) { put(t, &value, count); } /* little-endian host */

/* One entry for each name; image n is the n-th letter, ten times. */
static text make_bundle(const char *const *names, int count) {
  text t = {.used = 0};
  put(&t, "__CLANG_OFFLOAD_BUNDLE__", 24);
  put_number(&t, (uint64_t)count, 8);
  size_t at = 32;
  for (int n = 0; n < count; n++) at += 24 + strlen(names[n]);
  for (int n = 0; n < count; n++) {
    put_number(&t, at + 10 * (uint64_t)n, 8);
    put_number(&t, 10, 8);
    put_number(&t, strlen(names[n]), 8);
    put(&t, names[n], strlen(names[n]));
  }
  for (int n = 0; n < count; n++) {
    memset(t.bytes + t.used, 'a' + n, 10);
    t.used += 10;
  }
  return t;
}

static bundle_status find(const text *t, size_t bytes, const char *chip, bool xnack, bundle_image *image) {
  uint8_t *exact = malloc(bytes > 0 ? bytes : 1); /* so that sanitizers see a read after its end */
  memcpy(exact, t->bytes, bytes);
  bundle_status status = bundle_find(exact, bytes, chip, xnack, image);
  if (status == BUNDLE_OK && image->owned == NULL) {
    image->owned = exact;
    return status;
  }
  free(exact);
  return status;
}

static void expect(const text *t, const char *chip, bool xnack, bundle_status want, char letter) {
  bundle_image image;
  bundle_status got = find(t, t->used, chip, xnack, &image);
  CHECK(got == want);
  if (got != BUNDLE_OK) return;
  CHECK(image.bytes == 10 && image.data[0] == letter && image.data[9] == letter);
  free(image.owned);
}

static void choose(void) {
  static const char *const names[] = {"host-x86_64-unknown-linux--", "hip-amdgcn-amd-amdhsa--gfx90a",
                                      "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
                                      "hipv4-amdgcn-amd-amdhsa-unknown-gfx950", "openmp-amdgcn-amd-amdhsa--gfx940"};
  static const char *const retried[] = {"hipv4-amdgcn-amd-amdhsa--gfx942:xnack+", "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc-"};
  static const char *const none[] = {"host-x86_64-unknown-linux--"};
  text t = make_bundle(names, 5);
  expect(&t, "gfx942", false, BUNDLE_OK, 'c');
  expect(&t, "gfx950", false, BUNDLE_OK, 'd');
  expect(&t, "gfx940", false, BUNDLE_NO_IMAGE, 0); /* another language's */
  expect(&t, "gfx94", false, BUNDLE_NO_IMAGE, 0);
  text x = make_bundle(retried, 2);
  expect(&x, "gfx942", false, BUNDLE_NO_IMAGE, 0);
  expect(&x, "gfx942", true, BUNDLE_OK, 'a');
  bundle_image image;
  CHECK(find(&t, t.used, "gfx1100", false, &image) == BUNDLE_NO_IMAGE);
  CHECK(strcmp(image.text, "gfx90a, gfx942:sramecc+:xnack-, gfx950") == 0);
  text n = make_bundle(none, 1);
  CHECK(find(&n, n.used, "gfx942", false, &image) == BUNDLE_NO_IMAGE && strcmp(image.text, "no AMD GPU") == 0);
  /* Cut at every byte, and with every number made too large. */
  for (size_t cut = 0; cut < t.used; cut++)
    if (find(&t, cut, "gfx950", false, &image) == BUNDLE_OK) {
      CHECK(cut >= t.used - 10);
      free(image.owned);
    }
  for (size_t at = 24; at < 40; at++) {
    text broken = t;
    broken.bytes[at] ^= 0x80;
    if (find(&broken, broken.used, "gfx942", false, &image) == BUNDLE_OK) free(image.owned);
  }
}

/* version 1 to 3; method 0 zlib, 1 zstd */
static text compress_bundle(const text *from, unsigned version, unsigned method) {
  text t = {.used = 0};
  static uint8_t made[ROOM];
  size_t bytes = 0;
#ifdef GFXSIM_ZLIB
  uLongf length = sizeof made;
  if (method == 0 && compress(made, &length, from->bytes, from->used) == Z_OK) bytes = length;
#endif
#ifdef GFXSIM_ZSTD
  if (method == 1) bytes = ZSTD_compress(made, sizeof made, from->bytes, from->used, 3);
#endif
  if (bytes == 0) memset(made, 0, bytes = 16); /* this build has no such library */
  size_t width = version == 3 ? 8 : 4, header = 8 + (version > 1 ? width : 0) + width + 8;
  put(&t, "CCOB", 4);
  put_number(&t, version, 2);
  put_number(&t, method, 2);
  if (version > 1) put_number(&t, header + bytes, width);
  put_number(&t, from->used, width);
  put_number(&t, 0x1234, 8);
  put(&t, made, bytes);
  return t;
}

static bool has(unsigned method) {
  (void)method;
#ifdef GFXSIM_ZLIB
  if (method == 0) return true;
#endif
#ifdef GFXSIM_ZSTD
  if (method == 1) return true;
#endif
  return false;
}

static void compressed(void) {
  static const char *const names[] = {"host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx942"};
  text plain = make_bundle(names, 2);
  bundle_image image;
  for (unsigned method = 0; method < 2; method++)
    for (unsigned version = 1; version <= 3; version++) {
      text t = compress_bundle(&plain, version, method);
      if (!has(method)) {
        CHECK(find(&t, t.used, "gfx942", false, &image) == BUNDLE_UNSERVED);
        continue;
      }
      expect(&t, "gfx942", false, BUNDLE_OK, 'b');
      t.used += 100; /* the length of what may be read is known only roughly */
      expect(&t, "gfx942", false, BUNDLE_OK, 'b');
      t.bytes[t.used - 110] ^= 0xff;
      bundle_status damaged = find(&t, t.used, "gfx942", false, &image);
      if (damaged == BUNDLE_OK) free(image.owned); /* a checksum is not in every format */
      text large = compress_bundle(&plain, version, method);
      memset(large.bytes + (version == 1 ? 8 : version == 2 ? 12 : 16), 0x7f, 4);
      CHECK(find(&large, large.used, "gfx942", false, &image) == BUNDLE_INVALID);
      text claim = compress_bundle(&plain, version, method);
      claim.bytes[(version == 1   ? 8
                   : version == 2 ? 12
                                  : 16) +
                  3] = 0x3f; /* 1 GiB less a bit: allowed, but not in so few bytes */
      CHECK(find(&claim, claim.used, "gfx942", false, &image) == BUNDLE_INVALID);
      CHECK(strstr(image.text, "can't become so many") != NULL);
    }
  text other = compress_bundle(&plain, 2, 0);
  other.bytes[6] = 7;
  CHECK(find(&other, other.used, "gfx942", false, &image) == BUNDLE_UNSERVED);
  other.bytes[4] = 9;
  CHECK(find(&other, other.used, "gfx942", false, &image) == BUNDLE_INVALID);
}

static void plain_elf(void) {
  text t = {.used = 256};
  Elf64_Ehdr header = {.e_shoff = 128, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 2};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  memcpy(t.bytes, &header, sizeof header);
  bundle_image image;
  CHECK(find(&t, 256, "gfx942", false, &image) == BUNDLE_OK && image.bytes == 256);
  free(image.owned);
  CHECK(find(&t, 255, "gfx942", false, &image) == BUNDLE_INVALID);
  CHECK(find(&t, 10, "gfx942", false, &image) == BUNDLE_INVALID);
  header.e_shoff = UINT64_MAX - 8;
  memcpy(t.bytes, &header, sizeof header);
  CHECK(find(&t, 256, "gfx942", false, &image) == BUNDLE_INVALID);
}

int main(void) {
  choose();
  compressed();
  plain_elf();
  return failures > 0;
}
