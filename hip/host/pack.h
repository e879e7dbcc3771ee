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

/* saves: the clocks that a copy of each operand would save, because its lines would not be loaded again. The result says which
 * ones to copy: bits. */
int tdm_hip_which_to_pack(const tdm_plan *plan, const hip_operand *of, const double *saves, int count, tdm_type type);
/* The clocks of a CU's average share of `tiles` tiles, which load `lines` lines along `k`, `again` times again. */
double tdm_hip_again_clocks(const tdm_plan *plan, tdm_type type, double again, double tiles, double lines, double k);

/* Elements from one row of the copy to the next. */
static inline int64_t tdm_hip_whole_rows(int64_t elements) {
  return (elements + HIP_PACK_ROW - 1) / HIP_PACK_ROW * HIP_PACK_ROW;
}
/* Copies begin at multiples of 256 bytes. */
static inline int64_t tdm_hip_whole_parts(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/* An operand's part of the launch, of which a run sets the pointers. */
hip_packed tdm_hip_packed(const hip_operand *x, int64_t to_rows);
/* As many workgroups as run at a time, or fewer. */
unsigned tdm_hip_pack_workgroups(const tdm_plan *plan, uint32_t blocks);
/* Gives what every run copies a place in the plan's workspace, and names it in the plan's explanation. */
void tdm_hip_add_copies(tdm_plan *plan, const char *names, bool dwords, int64_t bytes, unsigned workgroups, const char *kernel);

#endif
