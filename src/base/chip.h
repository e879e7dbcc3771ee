/* The AMD chips that kernels are written for, and that gfxsim simulates: one row each. The HIP path, the bench, gfxsim and
 * device code (hip/device/chip.h) read this table; nothing else compares names of chips.
 *
 * Sources: [A] LLVM's AMDGPUUsage (processors, kernel descriptor, memory model), [B] LLVM's AMDGPU subtarget (GCNSubtarget,
 * AMDGPUBaseInfo), [C] AMD CDNA 3 and CDNA 4 white papers, [D] CDNA 4 ISA, [E] ROCm documentation, "AMD GPU specifications",
 * [F] ROCm Compute Profiler, analysis_configs gfx942 and gfx950, "System Speed-of-Light" (peaks), [G] LLVM's SISchedule.td, [H]
 * Hot Chips 2025, MI350 (as reported by wccftech), [I] HipKittens, analysis/paper_experiments/phases: measured on gfx950, [J]
 * ROCm documentation, Composable Kernel, "Understanding AMD GPU LDS and bank conflicts", [K]
 * ROCm/gfx950-gluon-tutorials, kernels/attention: clocks of instructions, measured on MI355X. */
#ifndef TANDEM_BASE_CHIP_H
#define TANDEM_BASE_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdio.h>
#include <string.h>
#endif

enum { TDM_GFX942, TDM_GFX950, TDM_CHIPS };

/* EF_AMDGPU_MACH of the ELF header's flags: which chip code is for. */
enum { TDM_MACHINE_GFX942 = 0x4c, TDM_MACHINE_GFX950 = 0x4f };

typedef struct tdm_chip {
  char name[16];
  uint32_t machine;    /* TDM_MACHINE_... */
  uint32_t isa;        /* 10 * major + minor version of the instruction set, as HIP counts */
  uint32_t pci_device; /* the number that PCI and HSA know the chip by */
  uint32_t xcds, cus_per_xcd, simds_per_cu, waves_per_simd;
  uint32_t lds_bytes, lds_granule;
  uint32_t lds_banks;                  /* of 4 bytes, as the widest reads see them */
  uint32_t vgprs, vgpr_granule, sgprs; /* of one wave at most */
  uint32_t scratch_bytes;              /* of one lane at most */
  uint32_t max_workgroup;              /* work items */
  uint32_t sgpr_file, sgpr_granule;    /* of a SIMD */
  uint32_t barriers;                   /* workgroups of several waves that a CU holds */
  /* For counters and estimates alone. A 0 has no source, and what follows from it prints as `not modelled`. */
  uint32_t clock_mhz, hbm_gbs;                          /* peak; GB/s of 10^9 bytes */
  uint32_t line_bytes;                                  /* of every cache below */
  uint32_t l1_bytes, l1_clock_bytes;                    /* vL1D of a CU; bytes a clock */
  uint32_t l2_bytes, l2_ways, l2_channels;              /* of an XCD; a channel reads a line or takes half a line a clock */
  uint32_t fabric_clock_bytes;                          /* between an XCD's L2 and the fabric, each way */
  uint32_t mall_bytes, mall_ways, mall_clock_bytes;     /* the memory-side cache */
  uint32_t lds_read_clock_bytes, lds_write_clock_bytes; /* at most; for accesses whose phases have no source */
  uint32_t valu_f32_flops, mfma_f32_flops, mfma_16bit_flops; /* dense, of a CU in a clock; f16 and bf16 alike */
  uint32_t dgemm_passes;                                     /* of the 16x16x4 f64 MFMA; a pass is 4 clocks */
  uint32_t transcendental_clocks;                            /* that exp, log, rcp, rsq, sqrt, sin, cos take of their SIMD */
  uint32_t memory_gib;                                       /* what hipMalloc gives at most */
  bool ocp_fp8;                                              /* 8-bit floats are OCP's; else FNUZ */
} tdm_chip;

/* A constant in device code too. */
#ifdef __cplusplus
#define TDM_CHIP_CONSTANT static constexpr
#else
#define TDM_CHIP_CONSTANT static const
#endif

TDM_CHIP_CONSTANT tdm_chip tdm_chips[TDM_CHIPS] = {
    {.name = "gfx942",              /* MI300A, MI300X, MI325X; the numbers are MI300X's */
     .machine = TDM_MACHINE_GFX942, /* [A] ELF header flags */
     .isa = 94,
     .pci_device = 0x74a1, /* MI300X */
     .xcds = 8,            /* [C] MI300X: 8 XCDs of 38 active CUs */
     .cus_per_xcd = 38,
     .simds_per_cu = 4,   /* [D] */
     .waves_per_simd = 8, /* [B] getMaxWavesPerEU of gfx90a and later gfx9 */
     .lds_bytes = 65536,  /* [D] LDS */
     .lds_granule = 512,  /* [B] */
     .lds_banks = 32,     /* [J] 8 lanes of 16 bytes a clock */
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
     .valu_f32_flops = 256,       /* [C] 163.4 TFLOP/s of 304 CUs at 2.1 GHz */
     .mfma_f32_flops = 256,       /* [C] 163.4 TFLOP/s */
     .mfma_16bit_flops = 2048,    /* [C] */
     .dgemm_passes = 8,           /* [G] */
     .transcendental_clocks = 16, /* [G] a quarter of the rate */
     .memory_gib = 192,           /* [C] */
     .ocp_fp8 = false},           /* [C] */
    {.name = "gfx950",            /* MI350X, MI355X */
     .machine = TDM_MACHINE_GFX950,
     .isa = 95,
     .pci_device = 0x75a0, /* MI350X */
     .xcds = 8,            /* [C] MI355X: 8 XCDs of 32 active CUs */
     .cus_per_xcd = 32,
     .simds_per_cu = 4,
     .waves_per_simd = 8,
     .lds_bytes = 163840, /* [D] LDS of CDNA 4: 160 KiB, allocated by 1280 bytes */
     .lds_granule = 1280,
     .lds_banks = 64, /* [I] 16 lanes of 16 bytes a clock */
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
     .lds_read_clock_bytes = 256,  /* [I] 32 lanes of 8 bytes in a phase */
     .lds_write_clock_bytes = 128, /* [I]: 16 lanes of 8 bytes */
     .valu_f32_flops = 256,        /* [C] 157.3 TFLOP/s of 256 CUs at 2.4 GHz */
     .mfma_f32_flops = 256,        /* [C] 157.3 TFLOP/s */
     .mfma_16bit_flops = 4096,     /* [C] */
     .dgemm_passes = 16,           /* [G] */
     .transcendental_clocks = 8,   /* [K]; [C] and [H] say twice the rate of CDNA 3. [G] still has 16 */
     .memory_gib = 288,            /* [C] */
     .ocp_fp8 = true},             /* [D] */
};

#ifndef __cplusplus
/* The row of the chip whose name is the first `length` characters; NULL: there is none. */
static inline const tdm_chip *tdm_chip_find(const char *name, size_t length) {
  for (int c = 0; c < TDM_CHIPS; c++)
    if (strlen(tdm_chips[c].name) == length && strncmp(name, tdm_chips[c].name, length) == 0) return &tdm_chips[c];
  return NULL;
}

/* "gfx942 or gfx950" with the last separator " or ". Text that does not fit is cut. */
static inline void tdm_chip_names(char *text, size_t size, const char *last) {
  size_t used = 0;
  for (int c = 0; c < TDM_CHIPS; c++) {
    int added = snprintf(text + used, size - used, "%s%s", c == 0 ? "" : c == TDM_CHIPS - 1 ? last : ", ", tdm_chips[c].name);
    used = used + (size_t)added < size ? used + (size_t)added : size - 1;
  }
}
#endif

/* FLOP of a CU's matrix units in a clock, for elements of so many bytes. */
static inline double tdm_chip_mfma_flops(const tdm_chip *chip, int bytes) {
  return bytes == 4 ? chip->mfma_f32_flops : chip->mfma_16bit_flops;
}

#endif
