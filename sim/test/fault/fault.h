/* Each file here is compiled twice: with the fault, where -DFAULT, and without. The kernel gets 4096 ints that the host wrote
 * (element i is i), 4096 for results, 4096 that nobody wrote, and n = 64; grid 2, block 128. The line that must be reported
 * ends with a comment that names the kind. */
#ifndef SIM_TEST_FAULT_H
#define SIM_TEST_FAULT_H
#include "../kernel/device.h"

#ifdef FAULT
#define PLANTED(wrong, right) (wrong)
#else
#define PLANTED(wrong, right) (right)
#endif
#endif
