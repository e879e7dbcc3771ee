/* Tests of single instructions: each is assembled into a kernel of its own and run over every pair of edge operands, with all
 * lanes and with every third lane disabled; the result must be what a C function says, written from the ISA's words.
 *
 * The instruction's text finds a in v[2:3], b in v[4:5], c in v[6:7], and writes v[10:11], which hold `old` before. A scalar
 * one finds them in s[8:9], s[10:11], s[12:13] and SCC = c & 1, and writes s[14:15]; the expected upper word is then SCC where
 * the row says so. */
#ifndef SIM_TEST_HARNESS_H
#define SIM_TEST_HARNESS_H
#include <stdbool.h>
#include <stdint.h>

typedef uint64_t expected(uint64_t a, uint64_t b, uint64_t c, uint64_t old);

typedef enum test_kind { VECTOR32, VECTOR64, SCALAR32, SCALAR64, SCALAR_SCC } test_kind; /* SCC: as bit 32 of the result */

typedef struct instruction_test {
  const char *text;
  test_kind kind;
  expected *expect;
  bool float_nan; /* f32 result: any NaN equals any NaN */
} instruction_test;

extern const instruction_test instruction_tests[];
extern const int instruction_test_count;

#endif
