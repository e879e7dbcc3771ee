/* Work in a process of its own, whose end, words and time are watched: compilers, and code that users wrote. */
#ifndef TANDEM_LEARN_PROCESS_H
#define TANDEM_LEARN_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "learn.h"

enum { PROCESS_TEXT = 16384 };

typedef struct process {
  char text[PROCESS_TEXT]; /* what it wrote to stdout and stderr, cut off */
  bool timed_out;
  int status; /* as of waitpid */
  int left;   /* processes that it had started and that outlived it; they are ended */
} process;

/* From now on an interrupt ends the running process and is told by process_interrupted, so that callers can tidy up. */
void process_catch_interrupts(void);
bool process_interrupted(void);

/* Runs work(argument) in a child, which ends with it, for so many seconds at most. The child and what it started is gone when
 * this returns. false: no process could be made, and why is in p->text. The caller must have no threads. */
bool process_run(void (*work)(void *argument), void *argument, double seconds, process *p);

/* How a process that ran a user's code ended, as a verdict; one that ended well leaves the outcome as it is. */
void process_verdict(const process *p, double seconds, learn_outcome *o);

/* Memory that a child shares with its parent; NULL: none. */
void *process_share(size_t bytes);

#endif
