/* The table of chips: every number that the simulator takes from a chip's documents. */
#ifndef GFXSIM_CHIP_H
#define GFXSIM_CHIP_H
#include "gfxsim.h"
#include "types.h"

typedef struct chip {
  char name[16];
  u32 machine; /* EF_AMDGPU_MACH of the ELF header's flags */
  u32 xcds, cus_per_xcd, simds_per_cu, waves_per_simd;
  u32 lds_bytes, lds_granule;
  u32 vgprs, vgpr_granule, sgprs; /* of one wave at most */
  u32 scratch_bytes;              /* of one lane at most */
  u32 max_workgroup;              /* work items */
} chip;

/* Finds the row and applies the overrides behind its name. */
gfxsim_status chip_find(const char *text, chip *found);
/* The name of a machine number; NULL where the table has none. */
const char *chip_of_machine(u32 machine);

#endif
