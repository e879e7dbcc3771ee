/* Kernels of a folder's .hip files against C functions. Each is kernel(a, b, c, n), or has a structure in place of n. */
#ifndef SIM_TEST_PROGRAMS_H
#define SIM_TEST_PROGRAMS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ELEMENTS = 4096 };

/* Words of the inputs, and of the result that C expects; it starts with zeros, as the kernel's does. */
extern uint32_t a[ELEMENTS], b[ELEMENTS], want[ELEMENTS];

typedef enum fill {
  FILL_SMALL,  /* f32: small integers in a, quarters in b, so that sums are exact in any order */
  FILL_FLOATS, /* f32 in (-4, 4) */
  FILL_HALVES, /* pairs of f16 in (-4, 4) */
  FILL_INTS,   /* 0 to 999 */
  FILL_BITS,   /* any */
} fill;

typedef struct program {
  const char *name;
  uint32_t grid[3], block[3];
  int n, results; /* results: words of c that are compared */
  void (*expect)(int n);
  fill fill;
  uint32_t dynamic_lds;
  float tolerance; /* relative, of f32 results; 0: bit by bit */
  const void *structure;
  size_t structure_bytes;
} program;

extern const program assembly_programs[], basic_programs[], control_programs[], integer_programs[], lanes_programs[],
    math_programs[], memory_programs[], scopes_programs[]; /* each ends with a row without a name */

static inline float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#endif
