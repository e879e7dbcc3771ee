/* Each file here is compiled twice: with the fault, where -DFAULT, and without. The kernel gets 4096 ints that the host wrote
 * (element i is i), 4096 for results, 4096 that nobody wrote, and n = 64; grid 2, block 128. The line that must be reported
 * ends with a comment that names the kind. */
#ifndef SIM_TEST_FAULT_H
#define SIM_TEST_FAULT_H
#include "../../../test/device_code.h"

#ifdef FAULT
#define PLANTED(wrong, right) (wrong)
#define PLANTED_TEXT(wrong, right) wrong /* of inline assembly */
#else
#define PLANTED(wrong, right) (right)
#define PLANTED_TEXT(wrong, right) right
#endif

/* For inline assembly, which also keeps the compiler from leaving the array out. */
static inline __device__ unsigned lds_address(void *shared) {
  return (unsigned)(__UINTPTR_TYPE__)(__attribute__((address_space(3))) void *)shared;
}
#endif
