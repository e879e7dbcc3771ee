/* Operands of 16 bits that a launch before the tiles copies (engine/pack.h): those whose rows are not whole dwords, which tiles
 * can't load, and those whose rows do not begin at cache lines, if the copy takes less than it saves. */
#ifndef TANDEM_HIP_HOST_PACK_H
#define TANDEM_HIP_HOST_PACK_H

#include "hip/args/pack.h"
#include "tile_launch.h"

enum {
  HIP_PACK_ROW = 64,                     /* elements of 128 bytes, of which a copy's rows have whole ones */
  HIP_PACK_MOST_OPTIONAL_BYTES = 1 << 30 /* of copies that are only faster: so large a workspace may not be there */
};

/* An operand of a product: matrices of rows, along k or across it. */
typedef struct hip_operand {
  hip_stored stored;
  int64_t matrices;
  bool along_k;
} hip_operand;

/* The bytes of a copy at most, and whether there can be one. */
double tdm_hip_copy_bytes(const hip_operand *x, tdm_type type);
bool tdm_hip_copy_fits(const hip_operand *x, tdm_type type);
/* Explains why not, of one whose rows are not whole dwords. */
bool tdm_hip_copy_supported(const hip_operand *x, tdm_type type, char *reason, size_t size);

/* Lines that a step loads again for each line of the operand. */
double tdm_hip_loads_again(const tdm_plan *plan, const hip_operand *x, tdm_type type);
/* The clocks of a launch that copies so many bytes; 0 if it copies none. */
double tdm_hip_pack_clocks(const tdm_plan *plan, tdm_type type, double bytes);

/* The clocks of a CU's average share of `tiles` tiles, which load `lines` lines along `k`, `again` times again. */
double tdm_hip_again_clocks(const tdm_plan *plan, tdm_type type, double again, double tiles, double lines, double k);

/* Copies begin at multiples of 256 bytes. */
static inline int64_t tdm_hip_whole_parts(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/* What a launch copies: the operands of a product of `k`, in the order of the buffers, and which ones: bits. */
typedef struct hip_copies {
  hip_operand of[3];
  int count, packs;
  int64_t k;
  tdm_type type;
} hip_copies;

/* A copy: its leading dimension, elements from one matrix to the next, and bytes of all of them. */
typedef struct hip_copy {
  int64_t ld, stride, bytes;
} hip_copy;

/* saves: the clocks that a copy of each operand would save, because its lines would not be loaded again. The result says which
 * ones to copy; c->packs does not matter. */
int tdm_hip_which_to_pack(const tdm_plan *plan, const hip_copies *c, const double *saves);

/* k, or whole K steps if all operands are copied: the zeros take part in the sums for nothing, and there is no tail. */
int64_t tdm_hip_packed_k(const hip_copies *c);
hip_copy tdm_hip_copy_of(const hip_copies *c, int operand);
/* The bytes that copies of these operands take, with what is left between them. */
int64_t tdm_hip_bytes_of_copies(const hip_copies *c, int which);
/* Copies that every run needs lie at the workspace's end. */
void *tdm_hip_copy_at(const tdm_plan *plan, const hip_copies *c, int operand);
/* Sets these operands' parts of the launch, without their pointers, and *blocks. Returns the number of workgroups: as many as
 * run at a time, or fewer. */
unsigned tdm_hip_fill_copies(const tdm_plan *plan, const hip_copies *c, int which, hip_packed *of, uint32_t *blocks);
/* Gives what every run copies a place in the plan's workspace, and names it in the plan's explanation. */
void tdm_hip_add_copies(tdm_plan *plan, const hip_copies *c, unsigned workgroups, const char *kernel);

#endif
