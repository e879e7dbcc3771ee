/* What a child sends, read and judged: child.h. */
#ifndef TANDEM_LEARN_RECEIVE_H
#define TANDEM_LEARN_RECEIVE_H

#include "child.h"
#include "data.h"
#include "process.h"

/* What gfxsim counted, in one message. */
typedef struct child_counters {
  double counter[LEARN_COUNTERS];
  char floor[16];
} child_counters;

typedef struct receiver {
  const learn_request *request;
  learn_outcome *outcome;
  learn_data data[LEARN_SHAPES]; /* the inputs */
  int shapes, done;              /* done: came whole, and were right */
  bool native;                   /* the user's own machine code runs there */
  bool guarded, at_end;          /* arrays come with the rest of their pages: it ends with the array, or begins so */
  bool ready;                    /* native: from here on it may be the user's code that writes */
  child_message head;
  size_t have; /* bytes of the message so far, its head included */
  unsigned char *payload;
  size_t room; /* bytes that payload can hold */
} receiver;

/* Draws the inputs of a run. false: the outcome says why; receiver_free in any case. */
bool receiver_make(receiver *r, const learn_request *request, int run, learn_outcome *o);
void receiver_free(receiver *r);
/* Takes bytes from the pipe, for process_work. false: nothing more is wanted. */
bool receiver_take(void *user, const unsigned char *bytes, size_t count);
/* After the child's end. */
void receiver_end(const receiver *r, const process *p, double seconds);

#endif
