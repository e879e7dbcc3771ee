/* Address space of the host, of which only some pages are memory; and the report of a fault in it. */
#ifndef TANDEM_TEST_REGION_H
#define TANDEM_TEST_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct check_region {
  unsigned char *low, *begin; /* of all addresses that are kept; of the `size` bytes that were asked for, a page's */
  size_t size, kept;
} check_region;

/* Keeps addresses, and a gap on both sides of them: a page, for sparse regions 16 GiB, so that an offset cut to 32 bits, of
 * elements of up to 4 bytes, still lands in it. Nothing of it is memory: it counts for no limit on memory that a system sets.
 */
bool check_region_open(check_region *r, size_t size, bool sparse);
/* Makes the pages that hold bytes [begin, end) memory. */
bool check_region_fill(const check_region *r, size_t begin, size_t end);
void check_region_close(check_region *r);

size_t check_page(void);

/* ---- Faults ---- */

enum { REGION_ARRAYS = 8 };

/* An array in a region, while a kernel may touch it. */
typedef struct check_watched {
  char name[16];
  const unsigned char *low, *high;  /* addresses that are kept for it */
  const unsigned char *begin, *end; /* the array */
} check_watched;

/* The arrays of the current run; 0: there is none. */
void check_watch(const check_watched *arrays, int count);
/* After this call, a fault in a watched array prints one line with the array, the place, and the case's command, and ends the
 * process with status 1. A crash elsewhere (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) prints the command, and ends the process
 * as usual. */
void check_catch_crashes(void);
/* The command of the current case, for both; NULL: there is none. */
void check_crash_command(const char *op, const char *command);

/* AddressSanitizer: [begin, end) must not, and may again, be touched. Nothing without it. */
void check_forbid(const unsigned char *begin, const unsigned char *end);
void check_allow(const unsigned char *begin, const unsigned char *end);

#endif
