/* Usage: instructions CLANG CHIP */
#include "harness.h"

#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gfxsim.h"

extern char **environ;

/* Integers' and floats' edges at once: zeros, small, largest, denormal, one, infinity, NaN, signs. */
static const uint64_t edges[] = {0,
                                 1,
                                 2,
                                 31,
                                 32,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x00800000,
                                 0x007fffff,
                                 0x80000001,
                                 0x3f800000,
                                 0xbf800000,
                                 0x3f000001,
                                 0x7f7fffff,
                                 0x7f800000,
                                 0xff800000,
                                 0x7fc00000,
                                 0x4b000001,
                                 0x123456789abcdef0,
                                 0x8000000000000000,
                                 0x7ff0000000000000,
                                 0xffffffffffffffff,
                                 0x3ff0000000000000};
enum { EDGES = sizeof edges / sizeof edges[0], ITEMS = EDGES * EDGES };

typedef struct item {
  uint64_t a, b, c, old;
} item;
static item items[ITEMS];
static uint64_t results[ITEMS];

/* ---- Assembling ---- */

/* s[0:1]: kernel arguments: items, results, EXEC. v0: item in the group; s2: group. */
static void write_kernel(FILE *file, int n, const instruction_test *t) {
  bool scalar = t->kind >= SCALAR32;
  fprintf(file, ".globl k%d\n.p2align 8\n.type k%d,@function\nk%d:\n", n, n, n);
  fputs(" s_load_dwordx4 s[4:7], s[0:1], 0x0\n s_load_dwordx2 s[16:17], s[0:1], 0x10\n s_waitcnt lgkmcnt(0)\n", file);
  fprintf(file, " s_mul_i32 s2, s2, %d\n v_add_u32 v0, s2, v0\n v_lshlrev_b32 v1, 5, v0\n", scalar ? 1 : 64);
  fputs(
      " global_load_dwordx4 v[2:5], v1, s[4:5]\n global_load_dwordx2 v[6:7], v1, s[4:5] offset:16\n"
      " global_load_dwordx2 v[10:11], v1, s[4:5] offset:24\n v_lshlrev_b32 v1, 3, v0\n s_waitcnt vmcnt(0)\n",
      file);
  if (scalar) {
    for (int r = 0; r < 6; r++) fprintf(file, " v_readfirstlane_b32 s%d, v%d\n", 8 + r, 2 + r);
    fputs(" v_readfirstlane_b32 s14, v10\n v_readfirstlane_b32 s15, v11\n s_bitcmp1_b32 s12, 0\n", file);
  }
  if (!scalar) fputs(" s_mov_b64 s[18:19], exec\n s_and_b64 exec, exec, s[16:17]\n s_nop 4\n", file);
  fprintf(file, " %s\n s_nop 4\n", t->text);
  if (t->kind == SCALAR_SCC) fputs(" s_cselect_b32 s15, 1, 0\n", file);
  if (scalar) fputs(" v_mov_b32 v10, s14\n v_mov_b32 v11, s15\n", file);
  if (!scalar) fputs(" s_mov_b64 exec, s[18:19]\n", file);
  fputs(" global_store_dwordx2 v1, v[10:11], s[6:7]\n s_endpgm\n", file);
  fprintf(file,
          ".rodata\n.p2align 6\n.amdhsa_kernel k%d\n .amdhsa_user_sgpr_kernarg_segment_ptr 1\n .amdhsa_next_free_vgpr 64\n"
          " .amdhsa_next_free_sgpr 96\n .amdhsa_accum_offset 32\n .amdhsa_kernarg_size 24\n .amdhsa_float_denorm_mode_32 "
          "3\n.end_amdhsa_kernel\n.text\n",
          n);
}

static void write_metadata(FILE *file, const char *chip) {
  fprintf(file, ".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.kernels:\n",
          chip);
  for (int n = 0; n < instruction_test_count; n++)
    fprintf(file,
            "  - .name: k%d\n    .symbol: k%d.kd\n    .kernarg_segment_size: 24\n    .kernarg_segment_align: 8\n"
            "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n"
            "    .sgpr_count: 96\n    .vgpr_count: 64\n    .max_flat_workgroup_size: 64\n    .args:\n"
            "      - { .offset: 0, .size: 8, .value_kind: global_buffer }\n"
            "      - { .offset: 8, .size: 8, .value_kind: global_buffer }\n"
            "      - { .offset: 16, .size: 8, .value_kind: by_value }\n",
            n, n);
  fputs("...\n.end_amdgpu_metadata\n", file);
}

static bool assemble(char *clang, const char *chip, char *source, char *object) {
  char cpu[32];
  FILE *file = fopen(source, "w");
  if (file == NULL) return false;
  fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n", chip);
  for (int n = 0; n < instruction_test_count; n++) write_kernel(file, n, &instruction_tests[n]);
  write_metadata(file, chip);
  if (fclose(file) != 0) return false;
  snprintf(cpu, sizeof cpu, "-mcpu=%s", chip);
  char *argv[] = {clang, "-target", "amdgcn-amd-amdhsa", cpu, source, "-o", object, NULL};
  pid_t child;
  int status;
  return posix_spawnp(&child, clang, NULL, NULL, argv, environ) == 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* ---- Running ---- */

static float as_float(uint64_t bits) {
  float value;
  uint32_t low = (uint32_t)bits;
  memcpy(&value, &low, sizeof value);
  return value;
}

static bool equal(const instruction_test *t, uint64_t got, uint64_t want) {
  bool narrow = t->kind == VECTOR32 || t->kind == SCALAR32;
  if (narrow && t->float_nan && isnan(as_float(got)) && isnan(as_float(want))) return true;
  return narrow ? (uint32_t)got == (uint32_t)want : got == want;
}

static int check(const instruction_test *t, uint64_t exec) {
  for (int i = 0; i < ITEMS; i++) {
    const item *x = &items[i];
    bool active = t->kind >= SCALAR32 || (exec >> (i % 64) & 1) != 0;
    uint64_t want = active ? t->expect(x->a, x->b, x->c, x->old) : x->old;
    if (equal(t, results[i], want)) continue;
    fprintf(stderr, "%s: a = 0x%llx, b = 0x%llx, c = 0x%llx, old = 0x%llx, lane %s: got 0x%llx: must be 0x%llx\n", t->text,
            (unsigned long long)x->a, (unsigned long long)x->b, (unsigned long long)x->c, (unsigned long long)x->old,
            active ? "on" : "off", (unsigned long long)results[i], (unsigned long long)want);
    return 1;
  }
  return 0;
}

static int run(gfxsim_device *device, gfxsim_object *object, int n, uint64_t input, uint64_t output, uint64_t exec) {
  const instruction_test *t = &instruction_tests[n];
  struct {
    uint64_t items, results, exec;
  } args = {input, output, exec};
  uint32_t block = t->kind >= SCALAR32 ? 1 : 64;
  gfxsim_launch launch = {.grid = {ITEMS / block, 1, 1}, .block = {block, 1, 1}, .args = &args, .arg_bytes = sizeof args};
  char name[16];
  gfxsim_kernel *kernel;
  snprintf(name, sizeof name, "k%d", n);
  if (gfxsim_kernel_find(object, name, &kernel) != GFXSIM_OK || gfxsim_run(kernel, &launch) != GFXSIM_OK ||
      gfxsim_read(device, output, results, sizeof results) != GFXSIM_OK) {
    fprintf(stderr, "%s: %s\n", t->text, gfxsim_last_error());
    return 1;
  }
  return check(t, exec);
}

static int run_all(const char *chip, const void *data, size_t bytes) {
  gfxsim_device *device = NULL;
  gfxsim_object *object;
  uint64_t input, output;
  int failures = 0;
  for (int i = 0; i < ITEMS; i++)
    items[i] = (item){edges[i % EDGES], edges[i / EDGES], edges[(i * 7 + 3) % EDGES], edges[(i * 5 + 11) % EDGES]};
  if (gfxsim_open(chip, NULL, &device) != GFXSIM_OK || gfxsim_load(device, data, bytes, &object) != GFXSIM_OK ||
      gfxsim_alloc(device, sizeof items, &input) != GFXSIM_OK || gfxsim_alloc(device, sizeof results, &output) != GFXSIM_OK ||
      gfxsim_write(device, input, items, sizeof items) != GFXSIM_OK) {
    fprintf(stderr, "instructions: %s\n", gfxsim_last_error());
    return 1;
  }
  for (int n = 0; n < instruction_test_count; n++) {
    int failed = run(device, object, n, input, output, UINT64_MAX);
    if (failed == 0 && instruction_tests[n].kind < SCALAR32) failed = run(device, object, n, input, output, 0x6db6db6db6db6db6);
    failures += failed;
  }
  gfxsim_close(device);
  printf("%d instructions, %d failed\n", instruction_test_count, failures);
  return failures > 0;
}

int main(int argc, char **argv) {
  static uint8_t data[1 << 22];
  char folder[] = "/tmp/gfxsim-XXXXXX", source[64], object[64];
  if (argc != 3 || mkdtemp(folder) == NULL) return fprintf(stderr, "usage: instructions CLANG CHIP\n"), 2;
  snprintf(source, sizeof source, "%s/k.s", folder);
  snprintf(object, sizeof object, "%s/k.hsaco", folder);
  int result = 1;
  FILE *file = assemble(argv[1], argv[2], source, object) ? fopen(object, "rb") : NULL;
  if (file != NULL) {
    result = run_all(argv[2], data, fread(data, 1, sizeof data, file));
    fclose(file);
  } else {
    fprintf(stderr, "instructions: %s can't assemble for %s\n", argv[1], argv[2]);
  }
  unlink(source);
  unlink(object);
  rmdir(folder);
  return result;
}
