#include "clocks_kernel.h"

#include <stdlib.h>
#include <string.h>

/* s[4:5] = a buffer, v0 = lane; LDS address of a lane: v1 = 16 * lane, v2 = 32 * lane, v3 = 1024 * wave + 16 * lane. */
typedef struct kernel_text {
  const char *name, *body;
  const char *chip; /* NULL: both */
  bool once;        /* the body as it is; otherwise two kernels that repeat it */
} kernel_text;

enum { FEW = 64, MANY = 192, VGPRS = 128, BUFFER = 1 << 22 };

static const kernel_text kernels[] = {
    {"chain_16x16x32", " v_mfma_f32_16x16x32_f16 v[16:19], v[8:11], v[12:15], v[16:19]\n", "gfx950", false},
    {"chain_16x16x16", " v_mfma_f32_16x16x16_f16 v[16:19], v[8:9], v[12:13], v[16:19]\n", NULL, false},
    {"free_16x16x16",
     " v_mfma_f32_16x16x16_f16 v[16:19], v[8:9], v[12:13], v[16:19]\n"
     " v_mfma_f32_16x16x16_f16 v[20:23], v[8:9], v[12:13], v[20:23]\n",
     NULL, false},
    {"free_32x32x8",
     " v_mfma_f32_32x32x8_f16 v[16:31], v[8:9], v[12:13], v[16:31]\n"
     " v_mfma_f32_32x32x8_f16 v[32:47], v[8:9], v[12:13], v[32:47]\n",
     NULL, false},
    {"beside_valu",
     " v_mfma_f32_16x16x16_f16 v[16:19], v[8:9], v[12:13], v[16:19]\n v_add_f32 v40, v41, v42\n v_add_f32 v43, v44, v45\n"
     " v_mfma_f32_16x16x16_f16 v[20:23], v[8:9], v[12:13], v[20:23]\n v_add_f32 v46, v47, v48\n v_add_f32 v49, v50, v51\n",
     NULL, false},
    {"beside_packed",
     " v_mfma_f32_16x16x16_f16 v[16:19], v[8:9], v[12:13], v[16:19]\n v_pk_fma_f32 v[40:41], v[42:43], v[44:45], v[46:47]\n"
     " v_mfma_f32_16x16x16_f16 v[20:23], v[8:9], v[12:13], v[20:23]\n v_pk_fma_f32 v[48:49], v[50:51], v[52:53], v[54:55]\n",
     NULL, false},
    {"valu_chain", " v_add_f32 v16, v16, v17\n", NULL, false},
    {"valu_free", " v_add_f32 v16, v17, v18\n v_add_f32 v19, v20, v21\n", NULL, false},
    {"exp_free", " v_exp_f32 v16, v17\n v_exp_f32 v18, v19\n", NULL, false},
    {"multiply_free", " v_mul_lo_u32 v16, v17, v18\n v_mad_u64_u32 v[20:21], s[20:21], v22, v23, v[24:25]\n", NULL, false},
    {"salu_chain", " s_add_u32 s20, s20, s21\n", NULL, false},
    {"nop", " s_nop 3\n", NULL, false},
    {"sleep", " s_sleep 2\n", NULL, false},
    {"lds_b128", " ds_read_b128 v[16:19], v1\n ds_read_b128 v[20:23], v1\n", NULL, false},
    {"lds_conflict", " ds_read_b128 v[16:19], v2\n ds_read_b128 v[20:23], v2\n", NULL, false},
    {"lds_unaligned", " ds_read_b128 v[16:19], v1 offset:4\n ds_read_b128 v[20:23], v1 offset:4\n", NULL, false},
    {"lds_wait", " ds_read_b128 v[16:19], v1\n s_waitcnt lgkmcnt(0)\n", NULL, false},
    {"load_wait", " global_load_dword v16, v4, s[4:5]\n s_waitcnt vmcnt(0)\n v_add_u32 v4, 0x4000, v4\n", NULL, false},
    {"load_stream", " global_load_dwordx4 v[16:19], v5, s[4:5]\n v_add_u32 v5, 0x400, v5\n", NULL, false},
    {"load_again", " global_load_dword v16, v1, s[4:5]\n s_waitcnt vmcnt(0)\n", NULL, false},
    {"flat_wait",
     " v_mov_b32 v7, s5\n v_add_co_u32 v6, vcc, s4, v4\n v_addc_co_u32 v7, vcc, 0, v7, vcc\n flat_load_dword v16, v[6:7]\n"
     " s_waitcnt vmcnt(0) lgkmcnt(0)\n v_add_u32 v4, 0x4000, v4\n",
     NULL, false},
    {"barrier", " s_barrier\n", NULL, false},
    /* Workgroup 0 waits for what only workgroup 1 would write. */
    {"spin",
     "1:\n global_load_dword v16, v0, s[4:5] sc1\n s_waitcnt vmcnt(0)\n s_sleep 1\n v_readfirstlane_b32 s20, v16\n"
     " s_cmp_eq_u32 s20, 0\n s_cbranch_scc1 1b\n",
     NULL, true},
    /* An inner loop of 7 turns in an outer one of 3. */
    {"loops",
     " s_movk_i32 s20, 3\n1:\n s_movk_i32 s21, 7\n2:\n v_add_f32 v16, v17, v18\n s_nop 3\n s_sub_u32 s21, s21, 1\n"
     " s_cmp_lg_u32 s21, 0\n s_cbranch_scc1 2b\n s_sub_u32 s20, s20, 1\n s_cmp_lg_u32 s20, 0\n s_cbranch_scc1 1b\n",
     NULL, true},
    /* A loop of 9 turns, one of which visits a block after it. */
    {"visit",
     " s_movk_i32 s20, 9\n1:\n.rept 16\n v_add_f32 v16, v17, v18\n.endr\n s_cmp_eq_u32 s20, 4\n s_cbranch_scc1 3f\n2:\n s_nop "
     "3\n"
     " s_sub_u32 s20, s20, 1\n s_cmp_lg_u32 s20, 0\n s_cbranch_scc1 1b\n s_branch 4f\n3:\n s_nop 3\n s_branch 2b\n4:\n",
     NULL, true},
    /* 0 * 0 + 0 over what is not 0 before: else a loop of long instructions follows. */
    {"product",
     " v_mov_b32 v8, 0\n v_mov_b32 v9, 0\n v_mov_b32 v16, 1.0\n s_nop 7\n v_mfma_f32_16x16x16_f16 v[16:19], v[8:9], v[8:9], 0\n"
     " s_nop 15\n s_nop 15\n v_readfirstlane_b32 s20, v16\n s_cmp_eq_u32 s20, 0\n s_cbranch_scc1 1f\n"
     ".rept 256\n s_nop 15\n.endr\n1:\n",
     NULL, true},
    {"short", " s_nop 0\n", NULL, true},
    {"long", ".rept 256\n s_nop 15\n.endr\n", NULL, true},
    /* A workgroup's work rises from 1 to 64, 32 times in a grid of 2048. */
    {"uneven",
     " s_and_b32 s20, s2, 63\n s_add_u32 s20, s20, 1\n1:\n.rept 8\n s_nop 15\n.endr\n s_sub_u32 s20, s20, 1\n"
     " s_cmp_lg_u32 s20, 0\n s_cbranch_scc1 1b\n",
     NULL, true},
    /* Wave 0 sets its priority; both waves of a SIMD have the same independent work. */
    {"priority",
     " v_readfirstlane_b32 s20, v0\n s_cmp_lt_u32 s20, 256\n s_cbranch_scc1 1f\n s_setprio 3\n1:\n"
     ".rept 256\n v_add_f32 v16, v17, v18\n v_add_f32 v19, v20, v21\n.endr\n",
     NULL, true},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

static bool on_chip(const kernel_text *k, const char *chip) { return k->chip == NULL || strcmp(k->chip, chip) == 0; }

/* The name of a kernel's version number n; false: it has no more. */
static bool version(const kernel_text *k, int n, char name[64], int *repeat) {
  if (n > (k->once ? 0 : 1)) return false;
  *repeat = k->once ? 1 : n == 0 ? FEW : MANY;
  snprintf(name, 64, "%s%s", k->name, k->once ? "" : n == 0 ? "_few" : "_many");
  return true;
}

static void write_code(FILE *file, const kernel_text *k, const char *name, int repeat) {
  fprintf(file,
          ".globl %s\n.p2align 8\n.type %s,@function\n%s:\n s_load_dwordx2 s[4:5], s[0:1], 0x0\n s_movk_i32 s20, 0\n"
          " v_lshlrev_b32 v1, 4, v0\n v_lshlrev_b32 v2, 5, v0\n v_lshlrev_b32 v4, 2, v0\n v_lshlrev_b32 v5, 4, v0\n v_and_b32 "
          "v1, 1023, v1\n"
          " v_and_b32 v2, 2047, v2\n s_waitcnt lgkmcnt(0)\n.rept %d\n%s.endr\n s_endpgm\n",
          name, name, name, repeat, k->body);
  fprintf(file,
          ".rodata\n.p2align 6\n.amdhsa_kernel %s\n .amdhsa_user_sgpr_kernarg_segment_ptr 1\n .amdhsa_next_free_vgpr %d\n"
          " .amdhsa_next_free_sgpr 32\n .amdhsa_accum_offset %d\n .amdhsa_kernarg_size 8\n .amdhsa_float_denorm_mode_32 3\n"
          ".end_amdhsa_kernel\n.text\n",
          name, VGPRS, VGPRS);
}

void write_kernels(FILE *file, const void *argument) {
  const char *chip = argument;
  char name[64];
  int repeat;
  fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n", chip);
  for (int n = 0; n < KERNELS; n++)
    for (int v = 0; on_chip(&kernels[n], chip) && version(&kernels[n], v, name, &repeat); v++)
      write_code(file, &kernels[n], name, repeat);
  fprintf(file, ".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.kernels:\n",
          chip);
  for (int n = 0; n < KERNELS; n++)
    for (int v = 0; on_chip(&kernels[n], chip) && version(&kernels[n], v, name, &repeat); v++)
      fprintf(file,
              "  - .name: %s\n    .symbol: %s.kd\n    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n"
              "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n"
              "    .sgpr_count: 38\n    .vgpr_count: %d\n    .max_flat_workgroup_size: 1024\n    .args:\n"
              "      - { .offset: 0, .size: 8, .value_kind: global_buffer }\n",
              name, name, VGPRS);
  fputs("...\n.end_amdgpu_metadata\n", file);
}

/* ---- Launching ---- */

const char *chip_name;
uint8_t object_data[4 << 20];
size_t object_bytes;

void fatal(const char *what) {
  fprintf(stderr, "clocks: %s, %s: %s\n", chip_name, what, gfxsim_last_error());
  exit(1);
}

gfxsim_status predict(timing_request *r) {
  gfxsim_device *device;
  gfxsim_object *object;
  gfxsim_kernel *kernel = NULL;
  gfxsim_counters counters = {0};
  gfxsim_options options = {.unchecked = GFXSIM_CHECK_ALL};
  uint64_t address;
  char chip[128];
  snprintf(chip, sizeof chip, "%s%s", chip_name, r->overrides != NULL ? r->overrides : "");
  if (gfxsim_open(chip, &options, &device) != GFXSIM_OK ||
      gfxsim_load(device, object_data, object_bytes, &object) != GFXSIM_OK ||
      gfxsim_kernel_find(object, r->kernel, &kernel) != GFXSIM_OK || gfxsim_alloc(device, BUFFER, &address) != GFXSIM_OK ||
      gfxsim_fill(device, address, 0, BUFFER) != GFXSIM_OK)
    fatal(r->kernel);
  gfxsim_launch launch = {.grid = {r->grid > 0 ? r->grid : 1, 1, 1},
                          .block = {r->block > 0 ? r->block : 64, 1, 1},
                          .dynamic_lds = r->lds,
                          .args = &address,
                          .arg_bytes = sizeof address,
                          .counters = &counters,
                          .timing = &r->timing};
  gfxsim_status status = gfxsim_run(kernel, &launch);
  gfxsim_counters_release(&counters);
  for (int n = 0; n < r->timing.instruction_count; n++) r->timing.instructions[n].text = ""; /* the code goes with the device */
  gfxsim_close(device);
  return status;
}

static uint64_t longest(const gfxsim_timing *t) {
  uint64_t most = 0;
  for (uint64_t n = 0; n < t->wave_count; n++)
    if (t->waves[n].end - t->waves[n].begin > most) most = t->waves[n].end - t->waves[n].begin;
  return most;
}

double clocks_each(const char *name, uint32_t block) {
  uint64_t clocks[2];
  for (int v = 0; v < 2; v++) {
    char kernel[64];
    snprintf(kernel, sizeof kernel, "%s%s", name, v == 0 ? "_few" : "_many");
    timing_request r = {.kernel = kernel, .block = block, .lds = 32768};
    if (predict(&r) != GFXSIM_OK) fatal(kernel);
    clocks[v] = longest(&r.timing);
    gfxsim_timing_release(&r.timing);
  }
  return (double)(clocks[1] - clocks[0]) / (MANY - FEW);
}
