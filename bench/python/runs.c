/* For overhead.py: an add as the C API runs it, in a loop, with the same arrays as Python's calls. The script compiles this to
 * a shared library and loads it beside the package. */
#include <time.h>

#include "tandem/add.h"

double tandem_seconds_of_add(const void *a, const void *b, void *c, int64_t rows, int64_t cols, int type, const char *device,
                             void *native, long runs);

/* Seconds of one run, over `runs` of them, on a stream of the caller's (NULL: none); -1 if something failed. */
double tandem_seconds_of_add(const void *a, const void *b, void *c, int64_t rows, int64_t cols, int type, const char *device,
                             void *native, long runs) {
  tdm_context *context;
  tdm_plan *plan;
  tdm_stream *stream = NULL;
  struct timespec begin, end;
  tdm_add_desc desc = tdm_add_default(rows, cols, (tdm_type)type);
  if (tdm_open(&(tdm_options){.device = device}, &context) != TDM_OK || tdm_add_plan(context, &desc, &plan) != TDM_OK)
    return -1;
  if (native != NULL && tdm_stream_wrap(context, native, &stream) != TDM_OK) return -1;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (long i = 0; i < runs; i++)
    if (tdm_add_run(plan, a, b, c, stream) != TDM_OK) return -1;
  clock_gettime(CLOCK_MONOTONIC, &end);
  tdm_stream_close(stream);
  tdm_plan_free(plan);
  tdm_close(context);
  return ((double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec)) / (double)runs;
}
