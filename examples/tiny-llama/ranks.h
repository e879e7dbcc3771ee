/* The processes of a run in tensor parallel, as MPI has started them: who they are, what they tell each other on the host,
 * and how they end. What moves activations between their devices is in mover.h. */
#ifndef LLAMA_RANKS_H
#define LLAMA_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

enum { RANKS_MOST = 1024 };

typedef struct ranks {
  int rank, size; /* 0 of 1: one process, without MPI */
  int local;      /* place among the ranks of this host */
  int beside;     /* ranks of this host */
  bool alone;     /* this process does the work of rank 0, and there are no others: nothing is exchanged */
} ranks;

/* text: "tp=N" or "alone=N", of --ranks; NULL: one process. After a failure, too, the ranks must be ended. */
bool ranks_open(const char *text, ranks *r, llama_error *error);
/* All have finished. */
void ranks_close(ranks *r);
/* This rank has failed: of the ranks that fail at the same time, the first prints the line. Then all of them are ended,
 * wherever they are. Returns where there is only one process, and after its line. */
void ranks_fail(const ranks *r, const llama_error *error);
/* Before ranks_open: is this the first process that a launcher has started, or the only one? */
bool ranks_first_started(void);
/* What each rank has, `bytes` of it, at all + rank * bytes. */
bool ranks_gather(const ranks *r, const void *mine, size_t bytes, void *all, llama_error *error);
/* Refuses bytes that are not the same on each rank. what: "another config.json". */
bool ranks_same(const ranks *r, const void *mine, size_t bytes, const char *what, llama_error *error);

#endif
