/* How the process that runs a user's code is given its inputs, and how its results come back.
 *
 * The user's C code runs in the program tandem-learn-run (runner.c), which knows no expected value and holds no reference. Its
 * stdin is a job: a child_job, then of each shape a child_shape and the bytes of its arrays. It answers with messages through a
 * pipe, CHILD_RESULTS: a child_message and its payload. HIP kernels run in gfxsim, in a child without the user's native code,
 * which answers in the same way.
 *
 * Nothing that comes through this pipe is trusted once the user's code may have run: after CHILD_READY it may write there
 * itself. So a message can end a try as wrong, never as right: a try is right when the results of all shapes came, whole and in
 * order, and each of them is what tandem-learn expects of inputs that it drew itself for this try (receive.c). Lengths are
 * compared with what tandem-learn asked for; text is cut off, and printed without control characters. */
#ifndef TANDEM_LEARN_CHILD_H
#define TANDEM_LEARN_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  CHILD_RESULTS = 3,    /* the file descriptor of the pipe */
  CHILD_GUARD = 1 << 20 /* bytes before and after an array, which nobody may touch */
};

typedef struct child_job {
  char exercise[32], kernel[32];
  uint32_t shapes, arrays;
  uint32_t at_end;     /* 1: arrays end at a guard, 0: they begin at one */
  uint32_t device;     /* 1: an OpenMP device, whose driver needs more memory and calls than a host does */
  uint32_t calls_open; /* 1: without the filter of system calls */
  uint32_t unused;
} child_job;

typedef struct child_shape {
  int32_t size[4];
  uint64_t bytes[6]; /* of the arrays, which follow; a multiple of 8 each, rounded up */
} child_shape;

typedef enum child_kind {
  CHILD_READY = 1, /* the user's code is loaded next */
  CHILD_BEGIN,     /* of a shape: uint64_t addresses of the arrays, to say where a fault lies */
  CHILD_RESULT,    /* of a shape: all arrays, in C with the rest of their pages */
  CHILD_FAULT,     /* child_fault */
  CHILD_FOUND,     /* uint32_t learn_verdict, then text: what else was found */
  CHILD_COUNTERS   /* child_counters: of gfxsim */
} child_kind;

typedef struct child_message {
  uint32_t kind, shape;
  uint64_t bytes; /* of the payload */
} child_message;

typedef struct child_fault {
  uint64_t address;
  int32_t signal;
  int32_t write; /* 1 a write, 0 a read, -1 not known */
  int32_t call;  /* SIGSYS: the number of the system call */
  int32_t unused;
} child_fault;

/* Bytes that an array of so many takes between its guards. */
size_t child_span(size_t bytes);
/* Writes a message's head, or a part of its payload; false: the pipe is gone. */
bool child_write(const void *data, size_t bytes);
bool child_send(child_kind kind, int shape, const void *payload, size_t bytes);
bool child_say(uint32_t verdict, const char *text);

#endif
