/* Timing a forward pass. */
#ifndef LLAMA_MEASURE_H
#define LLAMA_MEASURE_H

#include "session.h"

typedef struct measured {
  double seconds; /* median; 0 on a simulated chip, whose time says nothing */
  int samples;
} measured;

double llama_seconds(void);
double median_of(double *samples, int count);
/* `repeats` passes of each of `count` versions, in turns, so that what disturbs a machine disturbs all of them. They are warm.
 * Not for simulated chips. */
bool measure_turns(const forward *f, int count, int repeats, measured *out, llama_error *error);
/* One pass to warm up, then `repeats` passes. On a simulated chip one pass in all. */
bool measure_forward(const forward *f, int repeats, measured *out, llama_error *error);
/* A simulated chip runs the kernels, and has no time of its own. */
bool is_simulated(const forward *f);
/* The model, the input, type and device, a line each. */
void print_model(const session *s);
void print_run(const session *s, const forward *f, const measured *time);

#endif
