/* The instructions of counters, by mnemonic and by source line. */
#ifndef GFXSIM_COUNTERS_ROWS_H
#define GFXSIM_COUNTERS_ROWS_H
#include <jansson.h>

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
/* Adds "mnemonics", "source_lines" and "instructions" to what counters_json made. False: no memory. */
bool counters_rows_json(json_t *root, const gfxsim_counters *c);

#endif
