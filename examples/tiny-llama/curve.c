/* Times of exchanges by size. */
#include "curve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "measure.h"

enum { LEAST = 1 << 12, MOST = 1 << 28, MOST_ON_HOST = 1 << 22, TIMES = 10, SETS = 5 };
enum { ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, KINDS };

/* One exchange, of which every rank has `count` f32 in the end (all-reduce, all-gather) or begins with (reduce-scatter). */
static bool exchange(mover *m, int kind, float *data, int64_t count, llama_error *error) {
  int64_t part = count / m->ranks->size;
  float *mine = data + part * m->ranks->rank;
  bool ok = kind == ALL_REDUCE       ? m->row->sum(m, data, count, TDM_F32, error)
            : kind == REDUCE_SCATTER ? m->row->sum_part(m, data, mine, part, TDM_F32, error)
                                     : m->row->join(m, mine, data, part, TDM_F32, error);
  return ok && m->row->wait(m, m->begun, error);
}

/* The median of the sets, each the mean of its exchanges on the slowest rank. Where they take LONG together, on a host whose
 * cores do other work, the others are left out: all ranks know the same times. */
static bool time_exchange(mover *m, int kind, float *data, int64_t count, double *seconds, llama_error *error) {
  const double LONG = 0.3;
  double set[SETS], all[RANKS_MOST], spent = 0;
  int sets = 0;
  for (int i = -1; i < SETS; i++) { /* the first set only warms up */
    if (!ranks_gather(m->ranks, &(double){0}, sizeof(double), all, error)) return false;
    double start = llama_seconds();
    for (int j = 0; j < TIMES; j++)
      if (!exchange(m, kind, data, count, error)) return false;
    double mine = (llama_seconds() - start) / TIMES;
    if (!ranks_gather(m->ranks, &mine, sizeof mine, all, error)) return false;
    for (int r = 0; r < m->ranks->size; r++) mine = all[r] > mine ? all[r] : mine;
    if (i >= 0) set[sets++] = mine;
    spent += mine * TIMES;
    if (i >= 0 && spent > LONG) break;
  }
  *seconds = median_of(set, sets);
  return true;
}

bool run_curve(session *s, llama_error *error) {
  void *data;
  if (s->ranks.size == 1) return llama_fail(error, "--curve: needs --ranks of at least two");
  int64_t most = memory_on_host(&s->m) ? MOST_ON_HOST : MOST;
  if (!memory_take(&s->m, MEMORY_ACTIVATIONS, (size_t)most, &data, error)) return false;
  void *zeros = calloc(1, (size_t)most);
  bool ok = zeros != NULL || llama_fail(error, "no memory for %" PRId64 " bytes", most);
  ok = ok &&
       (tdm_copy(s->m.context, data, zeros, (size_t)most, TDM_TO_DEVICE, NULL) == TDM_OK || llama_fail_tandem(error, "curve"));
  free(zeros);
  printf("%d ranks, through %s, on %s; the median of up to %d sets of %d exchanges of f32, each ended before the next\n",
         s->ranks.size, s->mover.row->name, tdm_context_device(s->m.context), SETS, TIMES);
  printf("%12s %16s %16s %16s %10s\n", "bytes", "all-reduce us", "reduce-scatter", "all-gather", "GB/s");
  for (int64_t bytes = LEAST; ok && bytes <= most; bytes *= 2) {
    double seconds[KINDS];
    int64_t unit = s->ranks.size, count = bytes / (int64_t)sizeof(float) / unit * unit;
    for (int kind = 0; ok && kind < KINDS; kind++) ok = time_exchange(&s->mover, kind, data, count, &seconds[kind], error);
    if (ok)
      printf("%12" PRId64 " %16.1f %16.1f %16.1f %10.2f\n", bytes, 1e6 * seconds[ALL_REDUCE], 1e6 * seconds[REDUCE_SCATTER],
             1e6 * seconds[ALL_GATHER], 1e-9 * (double)bytes / seconds[ALL_REDUCE]);
  }
  return ok;
}
