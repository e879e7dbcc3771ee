/* Sources: [A] LLVM's AMDGPUUsage (processors, kernel descriptor, memory model), [B] LLVM's AMDGPU subtarget (GCNSubtarget,
 * AMDGPUBaseInfo), [C] AMD CDNA 3 and CDNA 4 white papers, [D] CDNA 4 ISA, [E]
 * ROCm documentation, "AMD GPU specifications", [F] ROCm Compute Profiler, analysis_configs gfx942 and gfx950, "System
 * Speed-of-Light" (peaks), [G] LLVM's SISchedule.td, [H] Hot Chips 2025, MI350 (as reported by wccftech). */
#include "chip.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"

static const chip chips[] = {
    {.name = "gfx942",
     .machine = 0x4c, /* [A] ELF header flags */
     .xcds = 8,       /* [C] MI300X: 8 XCDs of 38 active CUs */
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
     .dgemm_passes = 8,  /* [G] */
     .memory_gib = 192}, /* [C] */
    {.name = "gfx950",
     .machine = 0x4f,
     .xcds = 8, /* [C] MI355X: 8 XCDs of 32 active CUs */
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
     .dgemm_passes = 16,           /* [G] */
     .memory_gib = 288,            /* [C] */
     .ocp_fp8 = true},             /* [D] */
};
enum { CHIPS = sizeof chips / sizeof chips[0] };

static const struct {
  const char *name;
  size_t offset;
  u32 most; /* above it, other parts of the simulator have no room */
} fields[] = {
    {"xcds", offsetof(chip, xcds), 1024},
    {"cus_per_xcd", offsetof(chip, cus_per_xcd), 1024},
    {"simds_per_cu", offsetof(chip, simds_per_cu), 64},
    {"waves_per_simd", offsetof(chip, waves_per_simd), 64},
    {"lds_bytes", offsetof(chip, lds_bytes), 1 << 20},
    {"lds_granule", offsetof(chip, lds_granule), 1 << 16},
    {"vgprs", offsetof(chip, vgprs), 512},
    {"vgpr_granule", offsetof(chip, vgpr_granule), 64},
    {"sgprs", offsetof(chip, sgprs), 102},
    {"scratch_bytes", offsetof(chip, scratch_bytes), 1 << 24},
    {"max_workgroup", offsetof(chip, max_workgroup), 1024},
    {"clock_mhz", offsetof(chip, clock_mhz), 100000},
    {"hbm_gbs", offsetof(chip, hbm_gbs), 1000000},
    {"l1_bytes", offsetof(chip, l1_bytes), 1 << 20},
    {"l1_clock_bytes", offsetof(chip, l1_clock_bytes), 1 << 16},
    {"l2_bytes", offsetof(chip, l2_bytes), 1 << 30},
    {"l2_ways", offsetof(chip, l2_ways), 256},
    {"l2_channels", offsetof(chip, l2_channels), 1024},
    {"fabric_clock_bytes", offsetof(chip, fabric_clock_bytes), 1 << 20},
    {"mall_bytes", offsetof(chip, mall_bytes), 1 << 30},
    {"mall_ways", offsetof(chip, mall_ways), 256},
    {"mall_clock_bytes", offsetof(chip, mall_clock_bytes), 1 << 20},
    {"memory_gib", offsetof(chip, memory_gib), 4096},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static gfxsim_status override(chip *c, const char *text, size_t length) {
  for (int f = 0; f < FIELDS; f++) {
    size_t name = strlen(fields[f].name);
    if (length <= name + 1 || strncmp(text, fields[f].name, name) != 0 || text[name] != '=') continue;
    char *end;
    unsigned long long value = strtoull(text + name + 1, &end, 0);
    if (text[name + 1] == '-' || end != text + length || value < 1 || value > fields[f].most)
      return fail(GFXSIM_INVALID, "chip: %.*s: must be 1 to %u", (int)length, text, fields[f].most);
    *(u32 *)((char *)c + fields[f].offset) = (u32)value;
    return GFXSIM_OK;
  }
  return fail(GFXSIM_INVALID, "chip: '%.*s': must be FIELD=VALUE with a field such as xcds or lds_bytes", (int)length, text);
}

gfxsim_status chip_find(const char *text, chip *found) {
  size_t length = strcspn(text, ",");
  const chip *row = NULL;
  for (int c = 0; c < CHIPS; c++)
    if (strlen(chips[c].name) == length && strncmp(text, chips[c].name, length) == 0) row = &chips[c];
  if (row == NULL) return fail(GFXSIM_INVALID, "chip = '%.*s': must be gfx942 or gfx950", (int)length, text);
  *found = *row;
  for (text += length; *text == ',';) {
    text++;
    length = strcspn(text, ",");
    gfxsim_status status = override(found, text, length);
    if (status != GFXSIM_OK) return status;
    text += length;
  }
  return GFXSIM_OK;
}

const char *chip_of_machine(u32 machine) {
  for (int c = 0; c < CHIPS; c++)
    if (chips[c].machine == machine) return chips[c].name;
  return NULL;
}
