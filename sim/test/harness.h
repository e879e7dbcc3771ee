/* Tests of single instructions: each is assembled into a kernel of its own and run over edge operands, with all lanes and with
 * every third lane disabled; the result must be what a C function says, written from the ISA's words.
 *
 * A vector row's text finds a in v[2:3], b in v[4:5], c in v[6:9], the number of the item in v0 and bit 0 of c in VCC. It
 * writes v[10:13], which hold `old` before, and, where its kind says so, a lane mask: VCC, or s[20:21] for a _SGPR kind. The
 * mask's bit of the lane follows the result's dwords, and must be 0 outside of EXEC.
 * A scalar row's text finds them in s[8:9], s[10:11], s[12:13] and SCC = c & 1, and writes s[14:15]; SCC follows the result's
 * dwords where the kind says so.
 *
 * A new family is a file inst_NAME.c with an instruction_table, a line in tables.def, and its name in meson.build.
 */
#ifndef SIM_TEST_HARNESS_H
#define SIM_TEST_HARNESS_H
#include <stdbool.h>
#include <stdint.h>

enum { TEST_LANES = 64 };

typedef struct test_item {
  uint64_t a, b;
  uint64_t c[2], old[2]; /* low half first */
} test_item;

/* The result of up to 64 bits of one lane, mask bit or SCC included. `old` is what the destination held. */
typedef uint64_t expected(uint64_t a, uint64_t b, uint64_t c, uint64_t old);
/* Any result; wave[lane] is the lane's own item, and `exec` the lanes that are on. `result` holds `old` before. */
typedef void expected_wide(const test_item wave[TEST_LANES], int lane, uint64_t exec, uint32_t result[4]);

typedef enum test_kind {
  VECTOR32,
  VECTOR64,
  VECTOR96,
  VECTOR128,
  VECTOR32_VCC, /* a mask beside the result */
  VECTOR64_VCC,
  VECTOR32_SGPR,
  VECTOR64_SGPR,
  MASK_VCC, /* nothing but a mask */
  MASK_SGPR,
  SCALAR32, /* from here scalar */
  SCALAR64,
  SCALAR_SCC, /* 32 bits and SCC */
  SCALAR64_SCC,
  SCC_ONLY,
} test_kind;

typedef struct instruction_test {
  const char *text;
  test_kind kind;
  expected *expect; /* or .wide, for what it can't say */
  /* Result type, as the letters of inst.h: f d h k p (two f16) F (two f32) K (two bf16). NaN then equals any NaN, but must be
   * quiet, and `ulp` units in the last place are allowed. 0: bits. */
  char real;
  int ulp;
  /* Edge operands of a, b and c; the last letter holds for the rest: f f32, d f64, p two f16, k two bf16, i integers of any
   * width, s small integers. NULL: "x", integers and floats of 32 and 64 bits mixed. */
  const char *edges;
  const char *chip;   /* NULL: both */
  const char *kernel; /* more .amdhsa_ directives, a line each, such as "  .amdhsa_float_round_mode_32 1\n" */
  int round;          /* the host's rounding while it computes what is expected: a value of fesetround, 0 is to nearest */
  expected_wide *wide;
} instruction_test;

typedef struct instruction_table {
  const char *name;
  const instruction_test *tests;
  int count;
} instruction_table;

#define TABLE_NAME(name) extern const instruction_table inst_##name;
#include "sim/isa/test/tables.def"
#undef TABLE_NAME

/* The first line refuses a table that tables.def lacks: its tests would never run. */
#define TABLE(family)                                           \
  _Static_assert(sizeof inst_##family > 0, "is in tables.def"); \
  const instruction_table inst_##family = {#family, tests, (int)(sizeof tests / sizeof tests[0])}

#endif
