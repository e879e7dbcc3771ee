/* Work in a process of its own, whose end, words and time are watched: compilers, and code that users wrote. */
#ifndef TANDEM_LEARN_PROCESS_H
#define TANDEM_LEARN_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "learn.h"
#include "sandbox.h"

enum { PROCESS_TEXT = 16384 };

typedef struct process {
  char text[PROCESS_TEXT]; /* what it wrote to stdout and stderr, cut off */
  bool timed_out;
  bool stopped; /* take ended it */
  int status;   /* as of waitpid */
  int left;     /* processes that it had started and that outlived it; they are ended */
} process;

/* From now on an interrupt ends the running process and is told by process_interrupted, so that callers can tidy up. */
void process_catch_interrupts(void);
bool process_interrupted(void);

/* Work for a child. */
typedef struct process_work {
  void (*work)(void *argument);
  void *argument;
  double seconds;         /* that it may take */
  const sandbox *sandbox; /* NULL: none, for our own code */
  int input;              /* a file descriptor that becomes its stdin; below 0: /dev/null */
  /* Gets what the child writes to the file descriptor CHILD_RESULTS; its time is not counted. false ends the child. NULL: there
   * is none. */
  bool (*take)(void *user, const unsigned char *bytes, size_t count);
  void *user;
} process_work;

/* Runs work(argument) in a child, which ends with it. The child and everything that it started have ended when this returns.
 * While it runs it can't read this process's memory. false: no process could be made, or the sandbox not set up, and why is in
 * p->text. The caller must have no threads. */
bool process_run(const process_work *w, process *p);

/* How a process that ran a user's code ended, as a verdict; one that ended well leaves the outcome as it is. finished: all of
 * its results have come. */
void process_verdict(const process *p, double seconds, bool finished, learn_outcome *o);

#endif
