/* Tuned tables: which kernel, with which parameters, for which plans. docs/tuning.md has the format. */
#ifndef TANDEM_DISPATCH_TUNED_H
#define TANDEM_DISPATCH_TUNED_H

#include "dispatch.h"
#include "op.h"

enum { TDM_TUNED_MOST_BYTES = 1 << 20 };

typedef struct tdm_tuned_entry {
  tdm_tuned_key key;
  bool near;                /* also for shapes that differ in no size by more than a quarter */
  const tdm_kernel *kernel; /* NULL: for a chip that this build has no kernels for */
  tdm_tuning tuning;
  int line;
} tdm_tuned_entry;

typedef struct tdm_tuned {
  char name[160]; /* of the file, for messages */
  int count;
  tdm_tuned_entry *entries;
} tdm_tuned;

/* name: for messages. ARGUMENT: one line that names the file, the line and what is allowed. */
tdm_status tdm_tuned_parse(const char *name, const char *text, size_t length, tdm_tuned **table);
tdm_status tdm_tuned_read(const char *path, tdm_tuned **table);
void tdm_tuned_free(tdm_tuned *table); /* NULL is allowed */

/* false: the plan's op has no entries. */
bool tdm_tuned_key_of(const tdm_plan *plan, tdm_tuned_key *key);
/* "gfx950 gemm bf16 nt 64x64x64" */
void tdm_tuned_print(const tdm_tuned_key *key, char *text, size_t size);
/* The entry with exactly this shape, or the nearest one that is also for near shapes, or the first of two that are equally
 * near. NULL: none. */
const tdm_tuned_entry *tdm_tuned_find(const tdm_tuned *table, const tdm_tuned_key *key);

#endif
