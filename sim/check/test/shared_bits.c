/* Atomics of many workgroups to one dword, on several host threads: what tells which of its bits are undefined is shared too.
 * The suite `threads` runs this with ThreadSanitizer. Usage: shared-bits CLANG CHIP */
#include <stdio.h>

#include "sim/include/gfxsim.h"
#include "sim/test/assemble.h"

enum { GROUPS = 64, ROUNDS = 50, THREADS = 4 };

/* Each lane of each workgroup adds ROUNDS times. `undefined` adds a register that nothing has written. */
static const char *const names[] = {"defined", "undefined"};

static void write_all(FILE *file, const void *chip) {
  fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n", (const char *)chip);
  for (int n = 0; n < 2; n++)
    fprintf(file,
            ".globl %s\n.p2align 8\n.type %s,@function\n%s:\n s_load_dwordx2 s[4:5], s[0:1], 0x0\n v_mov_b32 v1, 1\n"
            " v_mov_b32 v2, 0\n s_movk_i32 s6, %d\n s_waitcnt lgkmcnt(0)\n"
            "%s_round:\n global_atomic_add v2, v%d, s[4:5]\n s_sub_i32 s6, s6, 1\n s_cmp_lg_u32 s6, 0\n"
            " s_cbranch_scc1 %s_round\n s_endpgm\n"
            ".rodata\n.p2align 6\n.amdhsa_kernel %s\n .amdhsa_user_sgpr_kernarg_segment_ptr 1\n .amdhsa_next_free_vgpr 8\n"
            " .amdhsa_next_free_sgpr 16\n .amdhsa_accum_offset 8\n .amdhsa_kernarg_size 8\n.end_amdhsa_kernel\n.text\n",
            names[n], names[n], names[n], ROUNDS, names[n], n == 0 ? 1 : 3, names[n], names[n]);
  fprintf(file, ".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.kernels:\n",
          (const char *)chip);
  for (int n = 0; n < 2; n++)
    fprintf(file,
            "  - .name: %s\n    .symbol: %s.kd\n    .kernarg_segment_size: 8\n    .kernarg_segment_align: 8\n"
            "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n"
            "    .sgpr_count: 16\n    .vgpr_count: 8\n    .agpr_count: 0\n    .max_flat_workgroup_size: 64\n    .args:\n"
            "      - { .offset: 0, .size: 8, .value_kind: global_buffer }\n",
            names[n], names[n]);
  fputs("...\n.end_amdgpu_metadata\n", file);
}

static int others;

static void count_finding(const gfxsim_report *r, void *user) {
  int *found = user;
  if (r->kind == GFXSIM_UNINITIALISED)
    (*found)++;
  else
    others++, fprintf(stderr, "shared-bits: %s: %s\n", r->instruction, r->message);
}

static bool test_one(const char *chip, const void *data, size_t bytes, int which) {
  int found = 0;
  gfxsim_options options = {.threads = THREADS, .report = count_finding, .user = &found};
  gfxsim_device *device = NULL;
  gfxsim_object *object;
  gfxsim_kernel *kernel;
  uint64_t address;
  uint32_t sum = 0;
  bool good = gfxsim_open(chip, &options, &device) == GFXSIM_OK && gfxsim_load(device, data, bytes, &object) == GFXSIM_OK &&
              gfxsim_kernel_find(object, names[which], &kernel) == GFXSIM_OK &&
              gfxsim_alloc(device, sizeof sum, &address) == GFXSIM_OK &&
              gfxsim_write(device, address, &sum, sizeof sum) == GFXSIM_OK;
  gfxsim_launch launch = {.grid = {GROUPS, 1, 1}, .block = {64, 1, 1}, .args = &address, .arg_bytes = sizeof address};
  gfxsim_status status = good ? gfxsim_run(kernel, &launch) : GFXSIM_INVALID, want = which == 0 ? GFXSIM_OK : GFXSIM_FAULT;
  good = good && gfxsim_read(device, address, &sum, sizeof sum) == GFXSIM_OK;
  gfxsim_close(device);
  uint32_t wanted = which == 0 ? GROUPS * 64 * ROUNDS : sum;
  if (good && status == want && (found > 0) == (which == 1) && others == 0 && sum == wanted) return true;
  fprintf(stderr, "shared-bits: %s %s: status %d, %d findings, %d others, sum %u: must be %d, %d, 0, %u: %s\n", chip,
          names[which], status, found, others, sum, want, which, wanted, gfxsim_last_error());
  return false;
}

int main(int argc, char **argv) {
  static uint8_t data[1 << 16];
  if (argc != 3) return fprintf(stderr, "usage: shared-bits CLANG CHIP\n"), 2;
  size_t bytes = assemble(argv[1], argv[2], write_all, argv[2], data, sizeof data);
  int failures = bytes == 0 ? 1 : !test_one(argv[2], data, bytes, 0) + !test_one(argv[2], data, bytes, 1);
  return failures > 0;
}
