/* Edge operands of one type, and how results of a type are compared. */
#ifndef SIM_TEST_EDGES_H
#define SIM_TEST_EDGES_H
#include <stdbool.h>
#include <stdint.h>

enum { EDGES = 32 };

/* The n-th edge of a set (a letter of instruction_test.edges), or NULL's where there is no such set. */
const uint64_t *edge_set(char letter);

/* Whether `got` is allowed where `want` is expected: see instruction_test.real. dwords: of the result. */
bool result_equal(char real, int ulp, int dwords, const uint32_t *got, const uint32_t *want);

#endif
