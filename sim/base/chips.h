/* The rows of the table of chips: of the simulator, and of the library's estimates (hip/host/cost.c).
 *
 * Sources: [A] LLVM's AMDGPUUsage (processors, kernel descriptor, memory model), [B] LLVM's AMDGPU subtarget (GCNSubtarget,
 * AMDGPUBaseInfo), [C] AMD CDNA 3 and CDNA 4 white papers, [D] CDNA 4 ISA, [E]
 * ROCm documentation, "AMD GPU specifications", [F] ROCm Compute Profiler, analysis_configs gfx942 and gfx950, "System
 * Speed-of-Light" (peaks), [G] LLVM's SISchedule.td, [H] Hot Chips 2025, MI350 (as reported by wccftech). */
#ifndef GFXSIM_CHIPS_H
#define GFXSIM_CHIPS_H
#include "chip.h"

static const chip chips[] = {
    {.name = "gfx942",
     .machine = MACHINE_GFX942, /* [A] ELF header flags */
     .isa = 94,
     .pci_device = 0x74a1, /* MI300X */
     .xcds = 8,            /* [C] MI300X: 8 XCDs of 38 active CUs */
     .cus_per_xcd = 38,
     .simds_per_cu = 4,   /* [D] */
     .waves_per_simd = 8, /* [B] getMaxWavesPerEU of gfx90a and later gfx9 */
     .lds_bytes = 65536,  /* [D] LDS */
     .lds_granule = 512,  /* [B] */
     .vgprs = 512,        /* [D] unified file of VGPRs and AGPRs, allocated by eights */
     .vgpr_granule = 8,
     .sgprs = 102,             /* [D] */
     .scratch_bytes = 1 << 18, /* ours: keeps a corrupt file from asking for gigabytes */
     .max_workgroup = 1024,
     .sgpr_file = 800,             /* [E] 12.5 KiB a CU */
     .sgpr_granule = 16,           /* [B] getSGPRAllocGranule */
     .barriers = 16,               /* [B] getMaxWorkGroupsPerCU */
     .clock_mhz = 2100,            /* [C] L2: 34.4 TB/s of 8 x 2048 bytes a clock */
     .hbm_gbs = 5300,              /* [C] MI300X */
     .line_bytes = 128,            /* [C] L2; [F] vL1D */
     .l1_bytes = 32768,            /* [E] */
     .l1_clock_bytes = 128,        /* [F] */
     .l2_bytes = 4 << 20,          /* [E] */
     .l2_ways = 16,                /* [C] */
     .l2_channels = 16,            /* [C]; [F] a line a clock each */
     .fabric_clock_bytes = 1024,   /* [C]: 16 channels of 64 bytes */
     .mall_bytes = 256u << 20,     /* [E] */
     .mall_ways = 16,              /* [C] */
     .mall_clock_bytes = 128 * 64, /* [C] 128 channels of 64 bytes: 17.2 TB/s at 2.1 GHz */
     .lds_read_clock_bytes = 128,  /* [F] */
     .lds_write_clock_bytes = 128,
     .mfma_flops = 2048, /* [C] */
     .dgemm_passes = 8,  /* [G] */
     .memory_gib = 192}, /* [C] */
    {.name = "gfx950",
     .machine = MACHINE_GFX950,
     .isa = 95,
     .pci_device = 0x75a0, /* MI350X */
     .xcds = 8,            /* [C] MI355X: 8 XCDs of 32 active CUs */
     .cus_per_xcd = 32,
     .simds_per_cu = 4,
     .waves_per_simd = 8,
     .lds_bytes = 163840, /* [D] LDS of CDNA 4: 160 KiB, allocated by 1280 bytes */
     .lds_granule = 1280,
     .vgprs = 512,
     .vgpr_granule = 8,
     .sgprs = 102,
     .scratch_bytes = 1 << 18,
     .max_workgroup = 1024,
     .sgpr_file = 800,             /* [E] 12.5 KiB a CU */
     .sgpr_granule = 16,           /* [B] getSGPRAllocGranule */
     .barriers = 16,               /* [B] getMaxWorkGroupsPerCU */
     .clock_mhz = 2400,            /* [H] MI355X */
     .hbm_gbs = 8000,              /* [H] MI355X */
     .line_bytes = 128,            /* [C] L2; [F] vL1D */
     .l1_bytes = 32768,            /* [E] */
     .l1_clock_bytes = 128,        /* [F] */
     .l2_bytes = 4 << 20,          /* [E] */
     .l2_ways = 16,                /* [C] CDNA 3; nothing read says that CDNA 4 changed it */
     .l2_channels = 16,            /* [C] CDNA 3; nothing read says that CDNA 4 changed it; [F] a line a clock each */
     .fabric_clock_bytes = 0,      /* no source; [H] wider than that of CDNA 3 */
     .mall_bytes = 256u << 20,     /* [E] */
     .mall_ways = 16,              /* [C] CDNA 3; nothing read says that CDNA 4 changed it */
     .mall_clock_bytes = 0,        /* no source */
     .lds_read_clock_bytes = 256,  /* count_lds.c [I]: 32 lanes of 8 bytes in a phase */
     .lds_write_clock_bytes = 128, /* [I]: 16 lanes of 8 bytes */
     .mfma_flops = 4096,           /* [C] */
     .dgemm_passes = 16,           /* [G] */
     .memory_gib = 288,            /* [C] */
     .ocp_fp8 = true},             /* [D] */
};
enum { CHIPS = sizeof chips / sizeof chips[0] };

#endif
