/* Events of the model of time as a picture: the waves of a workgroup on one CU, and the matrix units of its SIMDs. */
#ifndef GFXSIM_CLI_TIMELINE_H
#define GFXSIM_CLI_TIMELINE_H
#include "files/result.h"
#include "sim/include/gfxsim_time.h"

typedef struct timeline {
  const char *file, *clocks; /* clocks: "FROM-TO"; NULL: two turns of the hot loop in the middle */
  result_file to;
  struct span *spans;
  size_t count, capacity;
  uint64_t from, until; /* of clocks */
  bool open;
} timeline;

/* Print what is wrong to stderr before they return false. */
bool timeline_open(timeline *t, const char *file, const char *clocks);
bool timeline_event(timeline *t, const gfxsim_time_event *e);
/* predicted: NULL where the launch failed; the file is then dropped. */
bool timeline_close(timeline *t, const gfxsim_timing *predicted);

#endif
