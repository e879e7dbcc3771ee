/* Showing counters. */
#ifndef GFXSIM_CLI_PROFILE_H
#define GFXSIM_CLI_PROFILE_H
#include "sim/include/gfxsim_counters.h"

/* Instructions that share a mnemonic or a source line. */
typedef struct count_row {
  const char *key; /* not ended at `length` */
  int length;
  uint64_t count, clocks;
} count_row;

typedef enum count_key { BY_MNEMONIC, BY_SOURCE } count_key;

/* The rows by falling count, for free(). NULL: no memory. Without -g the key of BY_SOURCE is empty. */
count_row *count_rows(const gfxsim_counters *c, count_key by, int *rows);

/* As text to stdout, or as JSON to a file. Prints what is wrong to stderr before it returns false. */
bool profile_show(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const char *json);
bool profile_write_json(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const char *file);

#endif
