/* What the steps of a job share: its error line, and its arrays as the case has them. */
#include "job.h"

#include <stdarg.h>
#include <stdio.h>

bool job_fail(job *j, int exit_code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(j->error, sizeof j->error, format, args);
  va_end(args);
  j->exit_code = exit_code;
  return false;
}

bool job_fail_file(job *j, int index, const char *format, ...) {
  const job_array *array = &j->array[index];
  int used = snprintf(j->error, sizeof j->error, "--%s = '%.300s': ", array->is.name, array->file);
  va_list args;
  va_start(args, format);
  vsnprintf(j->error + used, sizeof j->error - (size_t)used, format, args);
  va_end(args);
  j->exit_code = EXIT_USAGE;
  return false;
}

void job_name_arrays(job *j) {
  case_array arrays[CASE_MAX_ARRAYS] = {0};
  j->count = j->c.op->arrays(&j->c, arrays);
  for (int i = 0; i < j->count; i++) j->array[i].is = arrays[i];
}
