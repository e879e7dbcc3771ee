/* Code objects embedded in the library, which hip/meson.build makes from each .hip file, and the functions in them. */
#ifndef TANDEM_HIP_HOST_CODE_H
#define TANDEM_HIP_HOST_CODE_H

#include <stddef.h>

/* One chip's code object. tdm_code_NAME[] of hip/<op>/NAME.hip has one for each chip of the build, in the order of TDM_HIP. */
typedef struct hip_code {
  const void *data;
  size_t bytes;
} hip_code;

/* LDS of gfx950's compute units, in bytes; gfx942's have 64 KiB. Chips with so much also swap lanes (hip/device/chip.h). */
enum { HIP_WIDE_LDS = 160 << 10 };
/* LDS of a workgroup of the pipeline (engine/pipeline.h) there: two stages of 512 lines of 128 bytes. */
enum { HIP_PIPE_LDS = 128 << 10 };

/* Fewer waves on chips whose compute units have less LDS than this (0: on each chip), for some types (bits 1 << tdm_type; 0:
 * for all). */
typedef struct hip_fewer_waves {
  size_t lds_below;
  unsigned types;
  int waves;
} hip_fewer_waves;

/* So many on gfx942. */
#define HIP_FEWER_WAVES(count) {.lds_below = HIP_WIDE_LDS, .waves = (count)}

/* A device kernel, and what it was laid out for. Its functions are STEM, STEM_TYPE or STEM_LAYOUT_TYPE: one for each layout and
 * type that the kernel is compiled for. A row lists its kernels (tdm_kernel.functions). The test hip-registers compares each
 * function of each code object with what the rows say. */
typedef struct hip_functions {
  const hip_code *code;
  const char *stem;
  int waves;             /* that a SIMD holds at least, as registers, LDS and the largest workgroup allow */
  hip_fewer_waves fewer; /* an exception from waves; waves 0: there is none */
  int scratch;           /* bytes per lane, at most; 0: also no register is spilled */
  size_t least_lds;      /* chips with less LDS don't have these functions; 0: each chip has them */
  /* LDS of a workgroup in bytes, if that is more than 64 KiB on chips that have more: a driver may give less of it
   * (tdm_hip_lds_fits). 0: 64 KiB at most, or least_lds, or tdm_hip_supports_depth counts it. */
  size_t lds;
} hip_functions;

/* For tdm_kernel.functions: a list that ends with an entry without a stem. */
#define HIP_FUNCTIONS(...) ((const hip_functions[]){__VA_ARGS__, {.stem = NULL}})

/* The name of one of the functions. layout, type: NULL if the name has none. Returns what snprintf returns. */
int tdm_hip_function_name(char *name, size_t size, const hip_functions *f, const char *layout, const char *type);

#endif
