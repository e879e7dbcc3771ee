/* Events of the model of time as a file that Perfetto and chrome://tracing read. */
#ifndef GFXSIM_TIME_TRACE_H
#define GFXSIM_TIME_TRACE_H
#include "files/result.h"
#include "sim/include/gfxsim_time.h"

typedef struct trace {
  result_file to;
  uint64_t events, checked;
  struct track *tracks; /* whose names are written at the end */
  int track_count, track_capacity;
  bool open;
  char error[160]; /* what was wrong, where a function has returned false; without the file's name */
} trace;

bool trace_open(trace *t, const char *file);
bool trace_event(trace *t, const gfxsim_time_event *e);
/* keep: whether the launch ended well; otherwise the file is dropped. */
bool trace_close(trace *t, bool keep);

#endif
