/* gfxsim's arrays of exact bounds, in the library that the device was opened with. */
#ifndef TANDEM_TEST_EXACT_H
#define TANDEM_TEST_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reserves an array that begins `offset` bytes after the begin of a page. false: `text` says why. */
bool check_exact_open(const char *name, uint64_t offset, uint64_t bytes, uint64_t *address, char *text, size_t size);
/* Makes memory of a part of it. */
bool check_exact_map(uint64_t address, uint64_t bytes, char *text, size_t size);
void check_exact_close(uint64_t address);

#endif
