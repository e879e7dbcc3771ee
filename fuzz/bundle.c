/* Offload bundles, plain and compressed, and bare ELF files: whatever the bytes are, they are read or refused, and an image
 * lies inside the bytes that may be read. */
#include <stdlib.h>
#include <string.h>

#include "sim/hip/full/hip_bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  static const char *const chips[] = {"gfx942", "gfx950"};
  for (int c = 0; c < 2; c++) {
    bundle_image image;
    uint8_t sum = 0;
    if (bundle_find(data, bytes, chips[c], c == 1, &image) != BUNDLE_OK) {
      if (image.owned != NULL || memchr(image.text, '\0', sizeof image.text) == NULL || image.text[0] == '\0') abort();
      continue;
    }
    for (size_t n = 0; n < image.bytes; n++) sum ^= image.data[n];
    volatile uint8_t used = sum;
    (void)used;
    free(image.owned);
  }
  return 0;
}
