/* --predict: the clocks that gfxsim's model of time predicts for all launches of a simulated chip. Nothing is measured. */
#ifndef LLAMA_PREDICT_H
#define LLAMA_PREDICT_H

#include "session.h"

/* Of a number of launches, each by itself: what the host does, and gaps between launches, are not modelled. */
typedef struct predicted {
  int launches, own; /* own: of the user's kernels */
  double seconds, own_seconds;
} predicted;

/* From now on launches are predicted, until predict_end. One at a time. */
bool predict_begin(const session *s, llama_error *error);
/* What was launched since the last call, which begins anew; false: a launch had no prediction. */
bool predict_take(predicted *p, llama_error *error);
void predict_end(const session *s);
/* After a generation: of the prompt's pass, and of the passes for `tokens` tokens after it. */
void predict_print(const predicted *prefill, int64_t prompt, const predicted *decode, int64_t tokens);

#endif
