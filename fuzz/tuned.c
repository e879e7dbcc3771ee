/* Fuzz target of the reader of tuned tables: a text is refused with one line that says why, or its entries are whole. */
#include <stdlib.h>
#include <string.h>

#include "dispatch/tuned.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tdm_tuned *table = NULL;
  if (tdm_tuned_parse("fuzz", (const char *)data, size, &table) != TDM_OK) {
    if (table != NULL || tdm_last_error()[0] == '\0' || strchr(tdm_last_error(), '\n') != NULL) abort();
    return 0;
  }
  for (int i = 0; i < table->count; i++)
    if (tdm_tuned_find(table, &table->entries[i].key) == NULL && table->entries[i].kernel != NULL) abort();
  tdm_tuned_free(table);
  return 0;
}
