/* The arrays of a case while it is checked: device memory with canaries around it, and host images of it. */
#ifndef TANDEM_TEST_BUFFER_H
#define TANDEM_TEST_BUFFER_H

#include "case.h"

/* One array. The allocation is: canary, elements with the gaps between rows, canary. All of it holds poison, a NaN of a pattern
 * that no kernel makes, but for the elements of inputs: so reads outside turn results into NaN, and writes show. */
typedef struct check_buffer {
  case_array array;
  size_t bytes, begin;           /* of the allocation; of element 0 in it */
  unsigned char *before, *after; /* host images of the allocation: before a run, and after it */
  unsigned char *device;         /* the allocation */
  bool shared;                   /* an output in the memory of input array.same_as, which owns all of the above */
} check_buffer;

typedef struct check_buffers {
  tdm_context *context;
  int count;
  check_buffer buffer[CASE_MAX_ARRAYS];
} check_buffers;

/* Allocates and fills. false: out of memory, the library's words are in tdm_last_error or it was the host's. */
bool check_buffers_open(check_buffers *b, tdm_context *context, const tdm_case *c);
void check_buffers_close(check_buffers *b);

/* `before` to the device, and back from the device into *image (`after` or another block of the same size). */
bool check_buffers_upload(const check_buffers *b);
bool check_buffer_download(const check_buffers *b, const check_buffer *buffer, unsigned char *image);

/* What a run and the reference get. */
void check_device_pointers(const check_buffers *b, void *pointers[CASE_MAX_ARRAYS]);
void check_host_inputs(const check_buffers *b, const void *inputs[CASE_MAX_ARRAYS]);

/* Is this element still poison, bit by bit? */
bool check_is_poison(const check_buffer *buffer, const unsigned char *image, int64_t offset);

/* The first byte outside the elements that a run changed, as an offset from element 0 in elements (rounded down); false: none.
 * Copies the elements of `after` over those of `before`. */
bool check_find_outside(const check_buffer *buffer, int64_t *offset);
/* The first byte in which two images differ, as such an offset; false: none. */
bool check_find_difference(const check_buffer *buffer, const unsigned char *a, const unsigned char *b, int64_t *offset);

#endif
