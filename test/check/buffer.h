/* The arrays of a case while it is checked: their memory where the kernels find it, and host images of it. */
#ifndef TANDEM_TEST_BUFFER_H
#define TANDEM_TEST_BUFFER_H

#include "case.h"
#include "region.h"

/* How the arrays' memory ends. */
typedef enum check_bounds {
  CHECK_CANARIES, /* tdm_alloc, with a canary on both sides: writes outside show, reads outside are not seen */
  CHECK_GUARDED,  /* host: its own pages, with unmapped addresses on both sides. An access past an array that touches another
                     page faults */
  CHECK_EXACT     /* gfxsim: every array is an allocation of its exact size, and a read outside is a finding */
} check_bounds;

/* Where a guarded array lies in its pages. Each case runs once in each place, so that reads past both ends fault. */
typedef enum check_place {
  CHECK_FRONT, /* begins with a page, or `shift` elements after */
  CHECK_BACK   /* ends with a page, to the byte */
} check_place;

/* Bytes [begin, end) of an image that are memory. */
typedef struct check_part {
  size_t begin, end;
} check_part;

typedef struct check_parts {
  int count;
  check_part *part; /* in order, apart from each other */
} check_parts;

/* One array. Its image is: canary, elements with the gaps between rows, canary. All of it holds poison, a NaN of a pattern that
 * no kernel makes, except for the elements of inputs: so what is read outside turns results into NaN, and writes show.
 *
 * An array that is nearly all gaps (leading dimensions and strides beyond 2^31 elements) is sparse: only its rows are memory,
 * in the images too. */
typedef struct check_buffer {
  case_array array;
  size_t bytes, begin;           /* of the image; of element 0 in it */
  unsigned char *before, *after; /* host images: before a run, and after it */
  unsigned char *device;         /* where image byte 0 would lie for kernels */
  check_parts image, there;      /* memory of the images; and of the device, at the present place */
  check_parts rows;              /* elements */
  bool shared;                   /* an output in the memory of input array.same_as, which owns all of this */
  bool sparse;
  check_region images[2]; /* sparse: of before and after, which are blocks of malloc otherwise */
  check_region region;    /* CHECK_GUARDED */
  void *allocated;        /* CHECK_CANARIES */
  uint64_t reserved;      /* CHECK_EXACT */
} check_buffer;

typedef struct check_buffers {
  tdm_context *context;
  check_bounds bounds;
  int64_t shift;
  int count;
  check_buffer buffer[CASE_MAX_ARRAYS];
} check_buffers;

/* What a device allows. `canaries`: these in any case. */
check_bounds check_bounds_of(const tdm_context *context, bool canaries);

/* Is an array nearly all gaps? */
bool check_is_sparse(const case_array *array);
/* Bytes of memory that an image of the array takes. */
double check_image_memory(const case_array *array);

/* Allocates, places arrays at CHECK_FRONT and fills the images. Otherwise says why in `text`; CHECK_NO_MEMORY: a device has
 * none for arrays that are sparse. */
typedef enum check_opened { CHECK_OPENED, CHECK_NOT_OPENED, CHECK_NO_MEMORY } check_opened;
check_opened check_buffers_open(check_buffers *b, tdm_context *context, check_bounds bounds, const tdm_case *c, char *text,
                                size_t size);
/* false: device memory could not be freed, tdm_last_error says why. */
bool check_buffers_close(check_buffers *b);

/* Moves guarded arrays; what they hold is lost. Others stay where they are. false: no memory. */
bool check_buffers_place(check_buffers *b, check_place place);

/* `before` to the device, and back from the device into an image (`after` or another block of the same size). */
bool check_buffers_upload(const check_buffers *b);
bool check_buffer_download(const check_buffers *b, const check_buffer *buffer, unsigned char *image);

/* Around a run. Between them a fault in guarded arrays is reported with the array's name (region.h), and AddressSanitizer
 * refuses the bytes next to arrays. */
void check_buffers_enter(const check_buffers *b);
void check_buffers_leave(const check_buffers *b);

/* What a run and the reference get. */
void check_device_pointers(const check_buffers *b, void *pointers[CASE_MAX_ARRAYS]);
void check_host_inputs(const check_buffers *b, const void *inputs[CASE_MAX_ARRAYS]);

/* Is this element still poison, bit by bit? */
bool check_is_poison(const check_buffer *buffer, const unsigned char *image, int64_t offset);

/* The first byte outside the elements that a run changed, as an offset from element 0 in elements (rounded down); false: none.
 */
bool check_find_outside(const check_buffer *buffer, int64_t *offset);
/* The first byte in which two images differ, as such an offset; false: none. */
bool check_find_difference(const check_buffer *buffer, const unsigned char *a, const unsigned char *b, int64_t *offset);

#endif
