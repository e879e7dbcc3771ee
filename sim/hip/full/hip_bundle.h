/* The files that hold code objects for several chips: clang's offload bundles, and the compressed form of these. */
#ifndef GFXSIM_HIP_BUNDLE_H
#define GFXSIM_HIP_BUNDLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum bundle_status {
  BUNDLE_OK,
  BUNDLE_INVALID,  /* the data breaks the format */
  BUNDLE_NO_IMAGE, /* it has none for the chip */
  BUNDLE_NO_MEMORY,
  BUNDLE_UNSERVED, /* a kind of compression that this build does not have */
} bundle_status;

enum { BUNDLE_TEXT = 160 };
typedef struct bundle_image {
  const uint8_t *data; /* an ELF file, within the data or within `owned` */
  size_t bytes;
  uint8_t *owned;         /* the caller's to free */
  char text[BUNDLE_TEXT]; /* what was wrong; for BUNDLE_NO_IMAGE the targets that it has */
} bundle_image;

/* Finds the chip's image in an ELF file, a bundle or a compressed bundle. bytes: how many may be read, the data may be shorter.
 * xnack: whether code for retried page faults may run. */
bundle_status bundle_find(const uint8_t *data, size_t bytes, const char *chip, bool xnack, bundle_image *image);

#endif
