/* Counters of plans whose last workgroups add parts. */
#include <stdlib.h>
#include <string.h>

#include "hip.h"

tdm_status tdm_hip_upload_counters(tdm_plan *plan, const void *begin, size_t bytes, size_t counters) {
  const size_t all = bytes + counters * sizeof(uint32_t);
  char *table = calloc(all, 1);
  if (table == NULL) return tdm_fail(TDM_ERROR_MEMORY, "%s: no memory for %zu counters", plan->title, counters);
  if (bytes > 0) memcpy(table, begin, bytes);
  tdm_status status = tdm_plan_upload(plan, table, all);
  free(table);
  return status;
}
