#include "counters_kernel.h"

#include <stdlib.h>
#include <string.h>

/* ---- Kernels: s[4:5] = from, s[6:7] = to, s8 = stride in units of an access, s2 = workgroup, v0 = lane ---- */

typedef struct kernel_text {
  const char *name, *body;
  int vgprs;
  const char *chip; /* NULL: both */
  int sgprs;        /* 0: 38 */
} kernel_text;

/* LDS address: lane * stride * bytes. */
#define LDS(name, shift, instruction) \
  {name, " s_lshl_b32 s8, s8, " shift "\n v_mul_lo_u32 v1, v0, s8\n " instruction "\n s_waitcnt lgkmcnt(0)\n", 32, NULL}
/* Byte of memory: lane * stride * 4. */
#define LANE_DWORD " s_lshl_b32 s8, s8, 2\n v_mul_lo_u32 v1, v0, s8\n"
/* 16 bytes a lane; each workgroup its own 1 KiB. */
#define GROUP_QUAD " s_lshl_b32 s2, s2, 10\n v_lshlrev_b32 v1, 4, v0\n v_add_u32 v1, s2, v1\n"

static const kernel_text kernels[] = {
    LDS("read_b32", "2", "ds_read_b32 v2, v1"),
    LDS("read_b64", "3", "ds_read_b64 v[2:3], v1"),
    LDS("read_b128", "4", "ds_read_b128 v[2:5], v1"),
    LDS("write_b32", "2", "ds_write_b32 v1, v2"),
    LDS("write_b64", "3", "ds_write_b64 v1, v[2:3]"),
    LDS("write_b128", "4", "ds_write_b128 v1, v[2:5]"),
    {"load", LANE_DWORD " global_load_dword v2, v1, s[4:5]\n s_waitcnt vmcnt(0)\n", 32, NULL},
    {"store", LANE_DWORD " global_store_dword v1, v2, s[6:7]\n", 32, NULL},
    {"copy",
     GROUP_QUAD " global_load_dwordx4 v[4:7], v1, s[4:5]\n s_waitcnt vmcnt(0)\n"
                " global_store_dwordx4 v1, v[4:7], s[6:7]\n",
     32, NULL},
    {"to_lds", " s_mov_b32 m0, 0\n v_lshlrev_b32 v1, 2, v0\n global_load_lds_dword v1, s[4:5]\n s_waitcnt vmcnt(0)\n", 32},
    {"atomic", " v_lshlrev_b32 v1, 2, v0\n global_atomic_add v1, v0, s[6:7]\n", 32},
    {"cross", " v_lshlrev_b32 v1, 4, v0\n global_load_dwordx4 v[4:7], v1, s[4:5] offset:8\n s_waitcnt vmcnt(0)\n", 32},
    {"few",
     " s_mov_b64 exec, 0xf0f\n v_lshlrev_b32 v1, 2, v0\n global_load_dword v2, v1, s[4:5]\n"
     " ds_read_b32 v3, v1\n s_waitcnt lgkmcnt(0) vmcnt(0)\n",
     32},
    {"same", " v_lshlrev_b32 v1, 4, v0\n global_load_dwordx4 v[4:7], v1, s[4:5]\n s_waitcnt vmcnt(0)\n", 32, NULL},
    {"past_l1", " v_lshlrev_b32 v1, 4, v0\n global_load_dwordx4 v[4:7], v1, s[4:5] sc1\n s_waitcnt vmcnt(0)\n", 32, NULL},
    {"streamed", " v_lshlrev_b32 v1, 4, v0\n global_load_dwordx4 v[4:7], v1, s[4:5] nt\n s_waitcnt vmcnt(0)\n", 32, NULL},
    {"mixed",
     " s_movk_i32 s9, 3\n1:\n v_add_f32 v1, v1, v1\n v_exp_f32 v2, v2\n v_pk_fma_f32 v[4:5], v[4:5], v[4:5], v[4:5]\n"
     " v_swap_b32 v6, v7\n s_sub_i32 s9, s9, 1\n s_cmp_lg_u32 s9, 0\n s_cbranch_scc1 1b\n s_nop 3\n",
     32, NULL},
    /* Work that differs: rows of 16 workgroups of which each does one round more than the one before, as causal attention; and
     * by a number made of the workgroup's. Each round also stores. */
    {"causal",
     " s_and_b32 s9, s2, 15\n s_add_u32 s9, s9, 1\n1:\n global_store_dword v0, v2, s[6:7]\n s_sub_u32 s9, s9, 1\n"
     " s_cmp_lg_u32 s9, 0\n s_cbranch_scc1 1b\n",
     32},
    {"ragged",
     " s_mul_i32 s9, s2, 0x9e3779b1\n s_lshr_b32 s9, s9, 27\n s_add_u32 s9, s9, 1\n1:\n global_store_dword v0, v2, s[6:7]\n"
     " s_sub_u32 s9, s9, 1\n s_cmp_lg_u32 s9, 0\n s_cbranch_scc1 1b\n",
     32},
    {"matrix",
     " v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\n v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]\n"
     " v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3]\n v_mfma_f32_32x32x2_f32 v[0:15], v16, v17, v[0:15]\n"
     " v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], v[0:3]\n"
     " v_mfma_f32_32x32x4_2b_f16 v[32:63], v[4:5], v[6:7], v[32:63]\n"
     " v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[8:11], v6\n v_smfmac_i32_32x32x32_i8 v[0:15], v[16:17], v[20:23], v6\n",
     64, NULL},
    {"matrix_wide",
     " v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], v[0:3]\n v_mfma_f32_32x32x16_f16 v[0:15], v[16:19], v[20:23], v[0:15]\n"
     " v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]\n"
     " v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[12:15], v[0:3] cbsz:4 blgp:4\n",
     64, "gfx950"},
    {"registers_64", "", 64, NULL},
    {"registers_72", "", 72, NULL},
    {"registers_88", "", 88, NULL},
    {"registers_128", "", 128, NULL},
    {"registers_168", "", 168, NULL},
    {"registers_256", "", 256, NULL},
    {"registers_512", "", 512, NULL},
    {"scalars_102", "", 32, NULL, 102},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static void write_kernel(FILE *file, const kernel_text *k) {
  fprintf(
      file,
      ".globl %s\n.p2align 8\n.type %s,@function\n%s:\n s_load_dwordx4 s[4:7], s[0:1], 0x0\n s_load_dword s8, s[0:1], 0x10\n"
      " s_waitcnt lgkmcnt(0)\n%s s_endpgm\n",
      k->name, k->name, k->name, k->body);
  fprintf(file,
          ".rodata\n.p2align 6\n.amdhsa_kernel %s\n .amdhsa_user_sgpr_kernarg_segment_ptr 1\n .amdhsa_next_free_vgpr %d\n"
          " .amdhsa_next_free_sgpr 32\n .amdhsa_accum_offset %d\n .amdhsa_kernarg_size 24\n .amdhsa_float_denorm_mode_32 3\n"
          ".end_amdhsa_kernel\n.text\n",
          k->name, k->vgprs, k->vgprs < 256 ? k->vgprs : 256);
}

static bool on_chip(const kernel_text *k, const char *chip) { return k->chip == NULL || strcmp(k->chip, chip) == 0; }

void write_kernels(FILE *file, const void *argument) {
  const char *chip = argument;
  fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n", chip);
  for (int n = 0; n < KERNELS; n++)
    if (on_chip(&kernels[n], chip)) write_kernel(file, &kernels[n]);
  fprintf(file, ".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.kernels:\n",
          chip);
  for (int n = 0; n < KERNELS; n++)
    if (on_chip(&kernels[n], chip))
      fprintf(file,
              "  - .name: %s\n    .symbol: %s.kd\n    .kernarg_segment_size: 24\n    .kernarg_segment_align: 8\n"
              "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n"
              "    .sgpr_count: %d\n    .vgpr_count: %d\n    .max_flat_workgroup_size: 1024\n    .args:\n"
              "      - { .offset: 0, .size: 8, .value_kind: global_buffer }\n"
              "      - { .offset: 8, .size: 8, .value_kind: global_buffer }\n"
              "      - { .offset: 16, .size: 4, .value_kind: by_value }\n",
              kernels[n].name, kernels[n].name, kernels[n].sgprs > 0 ? kernels[n].sgprs : 38, kernels[n].vgprs);
  fputs("...\n.end_amdgpu_metadata\n", file);
}

/* ---- Launching ---- */

enum { BUFFER = 1 << 18 };

const char *chip_name;
uint8_t object_data[1 << 20];
size_t object_bytes;

void fatal(const char *what) {
  fprintf(stderr, "counters: %s: %s\n", what, gfxsim_last_error());
  exit(1);
}

gfxsim_counters count(request r) {
  gfxsim_device *device;
  gfxsim_object *object;
  gfxsim_kernel *kernel = NULL;
  gfxsim_counters counters;
  char chip[128];
  struct {
    uint64_t from, to;
    uint32_t stride;
  } args = {.stride = r.stride};
  gfxsim_options options = {.threads = r.threads, .unchecked = GFXSIM_CHECK_ALL};
  snprintf(chip, sizeof chip, "%s%s", chip_name, r.overrides != NULL ? r.overrides : "");
  if (gfxsim_open(chip, &options, &device) != GFXSIM_OK ||
      gfxsim_load(device, object_data, object_bytes, &object) != GFXSIM_OK ||
      gfxsim_kernel_find(object, r.kernel, &kernel) != GFXSIM_OK || gfxsim_alloc(device, BUFFER, &args.from) != GFXSIM_OK ||
      gfxsim_alloc(device, BUFFER, &args.to) != GFXSIM_OK)
    fatal(r.kernel);
  gfxsim_launch launch = {.grid = {r.grid > 0 ? r.grid : 1, 1, 1},
                          .block = {r.block > 0 ? r.block : 64, 1, 1},
                          .dynamic_lds = r.lds,
                          .args = &args,
                          .arg_bytes = 20,
                          .workgroups = r.workgroups,
                          .counters = &counters};
  if (gfxsim_run(kernel, &launch) != GFXSIM_OK) fatal(r.kernel);
  for (int n = 0; n < counters.instruction_count; n++) counters.instructions[n].text = ""; /* the code goes with the device */
  gfxsim_close(device);
  return counters;
}
