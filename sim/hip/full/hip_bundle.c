/* Sources: clang's documentation "Clang Offload Bundler" (the format of bundles and of compressed bundles, target IDs); the
 * versions 1 to 3 of the compressed header as LLVM 17 to 22 write them (llvm/lib/Object/OffloadBundle.cpp). */
#include "hip_bundle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hip/elf_bytes.h"

#ifdef GFXSIM_ZLIB
#include <zlib.h>
#endif
#ifdef GFXSIM_ZSTD
#include <zstd.h>
#endif

static const char bundle_magic[] = "__CLANG_OFFLOAD_BUNDLE__";
enum { MAGIC = sizeof bundle_magic - 1, ENTRIES_MOST = 4096, NAME_MOST = 1024 };
static const uint64_t image_most = UINT64_C(1) << 30;

static uint64_t number(const uint8_t *at, size_t bytes) {
  uint64_t value = 0;
  for (size_t n = bytes; n-- > 0;) value = value << 8 | at[n];
  return value;
}

__attribute__((format(printf, 3, 4))) static bundle_status say(bundle_image *image, bundle_status status, const char *format,
                                                               ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(image->text, sizeof image->text, format, args);
  va_end(args);
  return status;
}

/* ---- Entries. A name is KIND-TRIPLE-CHIP with features after colons: hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack- ---- */

static const char *target_of(const char *name) {
  const char *system = strstr(name, "amdgcn-amd-amdhsa-");
  const char *target = system != NULL ? strchr(system + strlen("amdgcn-amd-amdhsa-"), '-') : NULL;
  return strncmp(name, "hip", 3) == 0 && target != NULL ? target + 1 : NULL;
}

static bool fits(const char *target, const char *chip, bool xnack) {
  size_t length = strcspn(target, ":");
  if (length != strlen(chip) || strncmp(target, chip, length) != 0) return false;
  return strstr(target, ":sramecc-") == NULL && (xnack ? strstr(target, ":xnack-") : strstr(target, ":xnack+")) == NULL;
}

static void add_target(bundle_image *image, const char *target) {
  size_t used = strlen(image->text);
  snprintf(image->text + used, sizeof image->text - used, "%s%s", used > 0 ? ", " : "", target);
}

static bundle_status read_bundle(const uint8_t *data, size_t bytes, const char *chip, bool xnack, bundle_image *image) {
  if (bytes < MAGIC + 8) return say(image, BUNDLE_INVALID, "a bundle of %zu bytes: its header is cut", bytes);
  uint64_t count = number(data + MAGIC, 8);
  if (count > ENTRIES_MOST)
    return say(image, BUNDLE_INVALID, "a bundle of %llu entries: must be %d or less", (unsigned long long)count, ENTRIES_MOST);
  size_t at = MAGIC + 8;
  image->text[0] = '\0';
  for (uint64_t n = 0; n < count; n++) {
    if (bytes - at < 24) return say(image, BUNDLE_INVALID, "a bundle whose entry %llu is cut", (unsigned long long)n);
    uint64_t offset = number(data + at, 8), size = number(data + at + 8, 8), length = number(data + at + 16, 8);
    at += 24;
    if (length > NAME_MOST || length > bytes - at)
      return say(image, BUNDLE_INVALID, "a bundle whose entry %llu has a name that is too long", (unsigned long long)n);
    char name[NAME_MOST + 1];
    memcpy(name, data + at, length);
    name[length] = '\0';
    at += length;
    if (offset > bytes || size > bytes - offset)
      return say(image, BUNDLE_INVALID, "a bundle whose entry %llu lies beyond its end", (unsigned long long)n);
    const char *target = target_of(name);
    if (target == NULL) continue; /* the host's, or another language's */
    if (fits(target, chip, xnack)) {
      image->data = data + offset;
      image->bytes = size;
      return BUNDLE_OK;
    }
    add_target(image, target);
  }
  if (image->text[0] == '\0') add_target(image, "no AMD GPU");
  return BUNDLE_NO_IMAGE;
}

/* ---- Compressed bundles ---- */

enum { METHOD_ZLIB = 0, METHOD_ZSTD = 1 };

static bool inflate_zlib(const uint8_t *data, size_t bytes, uint8_t *to, size_t size) {
#ifdef GFXSIM_ZLIB
  uLongf made = size;
  return uncompress(to, &made, data, bytes) == Z_OK && made == size;
#else
  (void)data, (void)bytes, (void)to, (void)size;
  return false;
#endif
}

static bool inflate_zstd(const uint8_t *data, size_t bytes, uint8_t *to, size_t size) {
#ifdef GFXSIM_ZSTD
  size_t frame = ZSTD_findFrameCompressedSize(data, bytes);
  return !ZSTD_isError(frame) && ZSTD_decompress(to, size, data, frame) == size;
#else
  (void)data, (void)bytes, (void)to, (void)size;
  return false;
#endif
}

static bool has_method(unsigned method) {
#ifdef GFXSIM_ZLIB
  if (method == METHOD_ZLIB) return true;
#endif
#ifdef GFXSIM_ZSTD
  if (method == METHOD_ZSTD) return true;
#endif
  (void)method;
  return false;
}

/* The most that so many compressed bytes can become. The header's size is only a claim: memory is asked for what the data can
 * hold. Deflate makes at most 1032 bytes of one (zlib's technical details, "Maximum Compression Factor"); a block of zstd has a
 * header of 3 bytes, 1 more, and holds at most 128 KiB (RFC 8878, 3.1.1.2). */
static uint64_t can_become(unsigned method, uint64_t bytes) {
  return method == METHOD_ZLIB ? bytes * 1032 : (bytes / 4 + 1) * (128 << 10);
}

/* CCOB, version and method in 2 bytes each; from version 2 on the length of all; the length before compression; a hash of 8. */
static bundle_status expand(const uint8_t *data, size_t bytes, bundle_image *image, size_t *made) {
  if (bytes < 32) return say(image, BUNDLE_INVALID, "a compressed bundle of %zu bytes: its header is cut", bytes);
  unsigned version = (unsigned)number(data + 4, 2), method = (unsigned)number(data + 6, 2);
  if (version < 1 || version > 3)
    return say(image, BUNDLE_INVALID, "a compressed bundle of version %u: must be 1 to 3", version);
  if (!has_method(method))
    return say(image, BUNDLE_UNSERVED, "a bundle compressed by %s: this build of gfxsim can't read it",
               method == METHOD_ZLIB   ? "zlib"
               : method == METHOD_ZSTD ? "zstd"
                                       : "a method of no name");
  size_t width = version == 3 ? 8 : 4, at = 8;
  uint64_t all = version > 1 ? number(data + at, width) : bytes;
  if (version > 1) at += width;
  uint64_t size = number(data + at, width);
  at += width + 8;
  if (all > bytes || all < at || size < MAGIC || size > image_most)
    return say(image, BUNDLE_INVALID, "a compressed bundle of %llu bytes for %llu: cut, or above 1 GiB",
               (unsigned long long)all, (unsigned long long)size);
  if (size > can_become(method, all - at))
    return say(image, BUNDLE_INVALID, "a compressed bundle of %llu bytes for %llu: they can't become so many",
               (unsigned long long)all, (unsigned long long)size);
  image->owned = malloc(size);
  if (image->owned == NULL)
    return say(image, BUNDLE_NO_MEMORY, "no memory for a bundle of %llu bytes", (unsigned long long)size);
  bool good = method == METHOD_ZLIB ? inflate_zlib(data + at, all - at, image->owned, size)
                                    : inflate_zstd(data + at, all - at, image->owned, size);
  *made = size;
  return good ? BUNDLE_OK : say(image, BUNDLE_INVALID, "a compressed bundle whose data are damaged");
}

bundle_status bundle_find(const uint8_t *data, size_t bytes, const char *chip, bool xnack, bundle_image *image) {
  *image = (bundle_image){0};
  bundle_status status = BUNDLE_OK;
  if (bytes >= 4 && memcmp(data, "CCOB", 4) == 0) {
    status = expand(data, bytes, image, &bytes);
    data = image->owned;
  }
  if (status == BUNDLE_OK && bytes >= MAGIC && memcmp(data, bundle_magic, MAGIC) == 0) {
    status = read_bundle(data, bytes, chip, xnack, image);
  } else if (status == BUNDLE_OK) {
    image->bytes = elf_bytes(data, bytes < image_most ? bytes : image_most);
    image->data = data;
    if (image->bytes == 0) status = say(image, BUNDLE_INVALID, "neither an offload bundle nor an ELF file");
  }
  if (status == BUNDLE_OK) return status;
  free(image->owned);
  image->owned = NULL;
  return status;
}
