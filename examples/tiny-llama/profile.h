/* Where a pass's time goes: its steps by name, timed one at a time, and their results beside version 1's. */
#ifndef LLAMA_PROFILE_H
#define LLAMA_PROFILE_H

#include "measure.h"

enum { PROFILE_ROWS = 32 };

typedef struct profile_row {
  const char *name, *op;
  int launches;
  double seconds; /* of all launches: sums of each launch's median */
  double flops, bytes;
  bool compared;
  double error; /* largest |difference| over the largest |value|, of the steps that have a result all versions have */
} profile_row;

typedef struct profile {
  profile_row row[PROFILE_ROWS];
  int count;
  double seconds; /* of all rows */
} profile;

/* Names, launches, FLOP and bytes of a pass's steps. */
void profile_begin(const forward *f, profile *p);
/* Times each step of `count` versions, up to its end on the device, pass by pass in turns. They are warm. Not for simulated
 * chips; count is at most VERSIONS. */
bool profile_turns(const forward *f, int count, int repeats, profile *const *p, llama_error *error);
/* Largest |difference| over the largest |reference|; NaN where one is. */
double largest_error(const float *x, const float *reference, int64_t count);
/* Runs f and a version 1 of the same input side by side and compares them at every point. */
bool profile_compare(const forward *f, const forward *reference, profile *p, llama_error *error);
void profile_print(const profile *p);
/* Sums over the rows of these names, "a|b|c"; 0 where there are none. */
double profile_seconds(const profile *p, const char *names);
double profile_bytes(const profile *p, const char *names);

/* What the path can do: the rate of its gemm, and bytes moved by its add, on this device. */
typedef struct path_rates {
  double gemm_flops, copy_bytes;
  int64_t gemm_size;
} path_rates;
bool measure_rates(tdm_context *context, tdm_type type, path_rates *rates, llama_error *error);
/* For a token, which reads `bytes` of weights: the rate of an add over three arrays with as many bytes in all, up to 64 M
 * elements each, so that caches serve both alike; and the seconds of a run of one element, launch and wait. */
typedef struct decode_rates {
  double bytes_per_second, run;
} decode_rates;
bool measure_decode_rates(tdm_context *context, tdm_type type, double bytes, decode_rates *rates, llama_error *error);
/* Products and attention at the gemm rate, everything else at the copy rate. */
double bound_seconds(const profile *p, const path_rates *rates);

#endif
