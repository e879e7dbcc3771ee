/* The table of chips: every number that the simulator takes from a chip's documents. */
#ifndef GFXSIM_CHIP_H
#define GFXSIM_CHIP_H
#include "sim/include/gfxsim.h"
#include "types.h"

/* EF_AMDGPU_MACH of the ELF header's flags: which chip code is for. */
enum { MACHINE_GFX942 = 0x4c, MACHINE_GFX950 = 0x4f };

typedef struct chip {
  char name[16];
  u32 machine;    /* MACHINE_... */
  u32 isa;        /* 10 * major + minor version of the instruction set, as HIP counts */
  u32 pci_device; /* the number that PCI and HSA know the chip by */
  u32 xcds, cus_per_xcd, simds_per_cu, waves_per_simd;
  u32 lds_bytes, lds_granule;
  u32 vgprs, vgpr_granule, sgprs; /* of one wave at most */
  u32 scratch_bytes;              /* of one lane at most */
  u32 max_workgroup;              /* work items */
  u32 sgpr_file, sgpr_granule;    /* of a SIMD */
  u32 barriers;                   /* workgroups of several waves that a CU holds */
  /* For the counters alone. A 0 has no source, and what follows from it prints as `not modelled`. */
  u32 clock_mhz, hbm_gbs;                          /* peak; GB/s of 10^9 bytes */
  u32 line_bytes;                                  /* of every cache below */
  u32 l1_bytes, l1_clock_bytes;                    /* vL1D of a CU; bytes a clock */
  u32 l2_bytes, l2_ways, l2_channels;              /* of an XCD; a channel reads a line or takes half a line a clock */
  u32 fabric_clock_bytes;                          /* between an XCD's L2 and the fabric, each way */
  u32 mall_bytes, mall_ways, mall_clock_bytes;     /* the memory-side cache */
  u32 lds_read_clock_bytes, lds_write_clock_bytes; /* at most; for accesses whose phases have no source */
  u32 mfma_flops;                                  /* dense f16 and bf16, of a CU in a clock */
  u32 dgemm_passes;                                /* of the 16x16x4 f64 MFMA; a pass is 4 clocks */
  u32 memory_gib;                                  /* what hipMalloc gives at most */
  bool ocp_fp8;                                    /* 8-bit floats are OCP's; else FNUZ */
} chip;

/* Finds the row and applies the overrides after its name. */
gfxsim_status chip_find(const char *text, chip *found);
/* The name of a machine number; NULL where the table has none. */
const char *chip_of_machine(u32 machine);

#endif
