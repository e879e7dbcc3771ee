/* What moves activations between the ranks' devices: one interface, with a row for each library. Every rank calls the same
 * functions in the same order. A function begins an operation, which may end later; wait says when. */
#ifndef LLAMA_MOVER_H
#define LLAMA_MOVER_H

#include <tandem/tandem.h>

#include "ranks.h"

typedef struct mover mover;

typedef struct mover_row {
  const char *name;
  bool loads; /* a library, which the user may name */
  /* library: the file to load, NULL: the usual one. */
  bool (*open)(mover *m, const char *library, llama_error *error);
  void (*close)(mover *m);
  /* data[i] becomes the sum over the ranks, the same bits on each. */
  bool (*sum)(mover *m, void *data, int64_t count, tdm_type type, llama_error *error);
  /* all: [size, count]. part: the sum of the ranks' all[rank]. */
  bool (*sum_part)(mover *m, const void *all, void *part, int64_t count, tdm_type type, llama_error *error);
  /* all: [size, count]: what each rank has in `part`. */
  bool (*join)(mover *m, const void *part, void *all, int64_t count, tdm_type type, llama_error *error);
  /* Returns when the first `number` operations have ended. */
  bool (*wait)(mover *m, int64_t number, llama_error *error);
  /* The device's multiprocessors. NULL: it has no such kernels. */
  bool (*processors)(mover *m, int *count, llama_error *error);
  /* Another thread calls it: exchanges that can't end are given up. NULL: not needed. */
  void (*abort)(mover *m);
} mover_row;

struct mover {
  const mover_row *row;
  const ranks *ranks;
  tdm_context *context;
  tdm_context *beside; /* of products that run beside operations, to which it leaves multiprocessors; NULL: context */
  int64_t begun;       /* operations */
  int64_t passes;      /* through the model, and what their operations took of the host's time: to begin them, and to wait */
  double seconds;
  void *own; /* of the row */
};

/* name: "mpi", "nccl" or "rccl", or one of the last two with the library's file, "nccl=FILE"; NULL: nccl for omp:N, rccl for
 * hip:N, else mpi. */
bool mover_open(mover *m, const char *name, const ranks *r, tdm_context *context, llama_error *error);
/* Leaves `count` multiprocessors of the device to the operations while products run beside them. options: those of context. */
bool mover_leave(mover *m, tdm_options options, int count, llama_error *error);
/* Forgets what passes have taken so far. */
void mover_restart(mover *m);
/* NULL-safe: a mover that was never opened is all 0. */
void mover_close(mover *m);

extern const mover_row mover_mpi, mover_nccl, mover_rccl;

#endif
