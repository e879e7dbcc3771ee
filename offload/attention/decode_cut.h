/* How the rows for few queries cut their work, and their plans (decode_cut.c). */
#ifndef TANDEM_OFFLOAD_ATTENTION_DECODE_CUT_H
#define TANDEM_OFFLOAD_ATTENTION_DECODE_CUT_H

#include "decode_parts.h"

/* What a kernel's cut depends on. */
typedef struct decode_kind {
  int rows;        /* of a block */
  int width;       /* of a row of results */
  int keys, waves; /* that a wave takes at a time; of a team */
  int at_once;     /* teams of a multiprocessor */
  double of_key;   /* clocks of a multiprocessor for a key */
  double step;     /* clocks of a wave that takes its keys as fast as memory answers */
} decode_kind;

/* The kernels of both rows for a description. */
decode_kind decode_lanes_kind(const tdm_attention_desc *d);
decode_kind decode_mma_kind(const tdm_attention_desc *d);

/* The run's cut, which has no more parts than the plan's. mma: of the kernels for matrix units. */
decode_cut decode_cut_of(const tdm_plan *run, bool mma);
int decode_teams(const tdm_attention_desc *d, const decode_cut *cut);
/* Are there few enough rows, and 32-bit numbers of teams? If not, writes the reason. */
bool decode_can_cut(const tdm_plan *plan, int most_rows, char *reason, size_t size);
/* Uploads the work and its counters, and sets the size of the workspace. with_mma: for both kernels. */
tdm_status decode_prepare(tdm_plan *plan, bool with_mma);
void decode_cost(const tdm_plan *plan, bool mma, tdm_cost *cost);

#endif
