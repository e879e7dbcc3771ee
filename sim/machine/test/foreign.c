/* What code does that others compiled or wrote by hand: orders of loads that need no wait, barriers that ended waves do not
 * reach, all 256 VGPRs without AGPRs, and waves that rely on each other to advance evenly.
 * Usage: foreign CLANG CHIP
 *
 * A kernel finds its numbers in s[4:5] (element i is 100 + i), its results in s[6:7], the lane in v0 and its bytes in v1, LDS
 * whose dword i is 200 + i in its first KiB, and leaves its result in v2. It has 1 to 4 waves, and v3 is the wave. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/include/gfxsim.h"
#include "sim/test/assemble.h"

enum { LANES = 64, WAVES_MOST = 4, ELEMENTS = 1024, NOTHING = -1 };

typedef struct foreign_test {
  const char *name, *body;
  int finding;    /* gfxsim_kind, or NOTHING */
  uint32_t first; /* the result of lane 0; a lane's is `step` more than its neighbour's */
  uint32_t step;
  uint32_t waves;   /* 0: 1 */
  uint32_t checked; /* of gfxsim_options */
} foreign_test;

#define LDS_READS " ds_read_b32 v10, v1\n ds_read_b32 v11, v1 offset:4\n ds_read_b32 v12, v1 offset:8\n"
#define SCALAR_LOADS " s_load_dword s20, s[4:5], 0x0\n s_load_dword s21, s[4:5], 0x4\n"
#define ALL_DONE " s_waitcnt vmcnt(0) lgkmcnt(0)\n"
#define GLOBAL_LOAD " global_load_dword v2, v1, s[4:5]\n"
/* A flat address of LDS in v[10:11], one of the numbers in v[12:13]. */
#define FLAT_ADDRESSES                                                                                  \
  " s_mov_b64 s[20:21], src_shared_base\n v_mov_b32 v10, v1\n v_mov_b32 v11, s21\n v_mov_b32 v13, s5\n" \
  " v_add_co_u32 v12, vcc, s4, v1\n v_addc_co_u32 v13, vcc, 0, v13, vcc\n"
#define BUFFER " s_mov_b32 s8, s4\n s_mov_b32 s9, s5\n s_mov_b32 s10, 4096\n s_mov_b32 s11, 0x20000\n"

static const foreign_test tests[] = {
    /* Scalar loads may overtake LDS, so lgkmcnt(2) leaves two LDS reads at most, in order (CDNA 4 ISA 4.4). */
    {"scalars_first", SCALAR_LOADS LDS_READS " s_waitcnt lgkmcnt(2)\n v_mov_b32 v2, v10\n" ALL_DONE, NOTHING, 200, 1},
    {"scalars_last", LDS_READS SCALAR_LOADS " s_waitcnt lgkmcnt(2)\n v_mov_b32 v2, v10\n" ALL_DONE, NOTHING, 200, 1},
    {"scalar_between",
     " ds_read_b32 v10, v1\n s_load_dwordx2 s[20:21], s[4:5], 0x0\n ds_read_b32 v11, v1 offset:4\n"
     " ds_read_b32 v12, v1 offset:8\n s_waitcnt lgkmcnt(1)\n v_add_u32 v2, v10, v11\n" ALL_DONE,
     NOTHING, 401, 2},
    {"scalars_second_read", SCALAR_LOADS LDS_READS " s_waitcnt lgkmcnt(2)\n v_mov_b32 v2, v11\n" ALL_DONE, GFXSIM_WAIT, 0, 0},
    {"scalars_unknown", SCALAR_LOADS LDS_READS " s_waitcnt lgkmcnt(2)\n v_mov_b32 v2, s20\n" ALL_DONE, GFXSIM_WAIT, 0, 0},

    /* Vector loads of one counter write in order. */
    {"two_global", GLOBAL_LOAD " global_load_dword v2, v1, s[4:5] offset:4\n" ALL_DONE, NOTHING, 101, 1},
    {"global_buffer", BUFFER GLOBAL_LOAD " buffer_load_dword v2, v1, s[8:11], 0 offen offset:8\n" ALL_DONE, NOTHING, 102, 1},
    {"wide_then_one",
     " global_load_dwordx2 v[10:11], v1, s[4:5]\n global_load_dword v11, v1, s[4:5] offset:16\n" ALL_DONE
     " v_add_u32 v2, v10, v11\n",
     NOTHING, 204, 2},
    {"first_of_two_waited",
     GLOBAL_LOAD " global_load_dword v2, v1, s[4:5] offset:4\n s_waitcnt vmcnt(1)\n v_add_u32 v2, 1, v2\n", GFXSIM_WAIT, 0, 0},
    {"two_flat", FLAT_ADDRESSES " flat_load_dword v2, v[12:13]\n flat_load_dword v2, v[12:13] offset:4\n" ALL_DONE, NOTHING,
     101, 1},
    {"global_flat", FLAT_ADDRESSES GLOBAL_LOAD " flat_load_dword v2, v[12:13] offset:4\n" ALL_DONE, NOTHING, 101, 1},
    {"global_flat_lds", FLAT_ADDRESSES GLOBAL_LOAD " flat_load_dword v2, v[10:11]\n" ALL_DONE, GFXSIM_WAIT, 0, 0},
    {"flat_lds_global", FLAT_ADDRESSES " flat_load_dword v2, v[10:11]\n" GLOBAL_LOAD ALL_DONE, GFXSIM_WAIT, 0, 0},
    {"two_lds", " ds_read_b32 v2, v1\n ds_read_b32 v2, v1 offset:4\n" ALL_DONE, NOTHING, 201, 1},
    {"lds_after_global", GLOBAL_LOAD " ds_read_b32 v2, v1\n" ALL_DONE, GFXSIM_WAIT, 0, 0},
    {"halves", " global_load_short_d16 v2, v1, s[4:5]\n global_load_short_d16_hi v2, v1, s[4:5] offset:4\n" ALL_DONE, NOTHING,
     100 | 101u << 16, 0x10001},
    {"half_after_whole", GLOBAL_LOAD " global_load_short_d16_hi v2, v1, s[4:5] offset:4\n" ALL_DONE, NOTHING, 100 | 101u << 16,
     0x10001},
    {"lds_halves", " v_mov_b32 v2, 0\n ds_read_u16_d16 v2, v1\n ds_read_u16_d16_hi v2, v1 offset:4\n" ALL_DONE, NOTHING,
     200 | 201u << 16, 0x10001},
    {"half_read_early", " v_mov_b32 v2, 0\n global_load_short_d16 v2, v1, s[4:5]\n v_add_u32 v2, 1, v2\n" ALL_DONE, GFXSIM_WAIT,
     0, 0},
    {"half_other_counter", " v_mov_b32 v2, 0\n ds_read_u16_d16 v2, v1\n global_load_short_d16_hi v2, v1, s[4:5]\n" ALL_DONE,
     GFXSIM_WAIT, 0, 0},

    /* "If some waves in the threadgroup have already terminated, this waits on only the surviving waves" (S_BARRIER). */
    {"ended_wave",
     " v_readfirstlane_b32 s20, v3\n s_cmp_eq_u32 s20, 1\n s_cbranch_scc1 ended_wave_end\n s_barrier\n v_mov_b32 v2, v0\n"
     " s_barrier\n v_add_u32 v2, 5, v2\n",
     NOTHING, 5, 1, 3},
    {"ended_wave_strict",
     " v_readfirstlane_b32 s20, v3\n s_cmp_eq_u32 s20, 1\n s_cbranch_scc1 ended_wave_strict_end\n s_barrier\n v_mov_b32 v2, "
     "v0\n",
     GFXSIM_BARRIER, 0, 0, 3, GFXSIM_CHECK_BARRIER},

    /* accum_offset is 160 and 256 registers are allocated, of which none is an AGPR. */
    {"all_registers", " v_mov_b32 v160, 7\n v_add_u32 v255, v0, v160\n v_mov_b32 v2, v255\n", NOTHING, 7, 1},
    {"over_the_border", " global_load_dwordx4 v[158:161], v1, s[4:5]\n s_waitcnt vmcnt(0)\n v_add_u32 v2, v158, v161\n",
     NOTHING, 203, 2},
    {"loaded_beyond", " global_load_dwordx4 v[240:243], v1, s[4:5]\n s_waitcnt vmcnt(0)\n v_add_u32 v2, v240, v243\n", NOTHING,
     203, 2},
};
enum { TESTS = sizeof tests / sizeof tests[0] };

/* Each wave counts its rounds in its dword of LDS, and keeps the largest distance from wave 0 that it has seen: s20 rounds of
 * about 14 instructions. The last one to be late is the last wave's. */
static const char even_body[] =
    " v_readfirstlane_b32 s22, v3\n s_lshl_b32 s22, s22, 2\n v_mov_b32 v10, s22\n v_mov_b32 v11, 0\n v_mov_b32 v2, 0\n"
    " ds_write_b32 v10, v11 offset:2048\n s_waitcnt lgkmcnt(0)\n s_barrier\n s_movk_i32 s20, 200\n"
    "even_round:\n v_add_u32 v11, 1, v11\n ds_write_b32 v10, v11 offset:2048\n v_mov_b32 v12, 0\n"
    " ds_read_b32 v13, v12 offset:2048\n s_waitcnt lgkmcnt(0)\n v_sub_u32 v14, v11, v13\n v_sub_u32 v15, v13, v11\n"
    " v_max_i32 v14, v14, v15\n v_max_i32 v2, v2, v14\n s_sub_i32 s20, s20, 1\n s_cmp_lg_u32 s20, 0\n"
    " s_cbranch_scc1 even_round\n";

/* The order in which waves draw numbers in LDS, 64 times each: their sum, each times its place. */
static const char order_body[] =
    " v_mov_b32 v10, 0\n v_mov_b32 v11, 1\n v_mov_b32 v2, 0\n s_mov_b64 s[24:25], exec\n s_mov_b64 exec, 1\n"
    " v_mov_b32 v12, 0\n ds_write_b32 v10, v12 offset:2048\n s_waitcnt lgkmcnt(0)\n s_barrier\n s_movk_i32 s20, 64\n"
    "order_round:\n ds_add_rtn_u32 v12, v10, v11 offset:2048\n s_waitcnt lgkmcnt(0)\n v_mul_lo_u32 v2, v2, 31\n"
    " v_add_u32 v2, v2, v12\n s_sub_i32 s20, s20, 1\n s_cmp_lg_u32 s20, 0\n s_cbranch_scc1 order_round\n"
    " s_mov_b64 exec, s[24:25]\n";

/* ---- Assembling ---- */

static void write_kernel(FILE *file, const char *name, const char *body) {
  fprintf(file,
          ".globl %s\n.p2align 8\n.type %s,@function\n%s:\n s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
          " v_lshrrev_b32 v3, 6, v0\n v_lshlrev_b32 v4, 2, v0\n v_add_u32 v5, 200, v0\n ds_write_b32 v4, v5\n"
          " v_and_b32 v0, 63, v0\n v_lshlrev_b32 v1, 2, v0\n v_add_u32 v5, 264, v0\n ds_write_b32 v1, v5 offset:256\n"
          " s_waitcnt lgkmcnt(0)\n s_barrier\n%s s_waitcnt vmcnt(0) lgkmcnt(0)\n"
          " s_lshl_b32 s2, s2, 10\n v_add_u32 v4, s2, v4\n global_store_dword v4, v2, s[6:7]\n%s_end:\n s_endpgm\n"
          ".rodata\n.p2align 6\n.amdhsa_kernel %s\n .amdhsa_user_sgpr_kernarg_segment_ptr 1\n .amdhsa_next_free_vgpr 256\n"
          " .amdhsa_next_free_sgpr 48\n .amdhsa_accum_offset 160\n .amdhsa_kernarg_size 16\n"
          " .amdhsa_group_segment_fixed_size 4096\n.end_amdhsa_kernel\n.text\n",
          name, name, name, body, name, name);
}

static void write_metadata(FILE *file, const char *name) {
  fprintf(file,
          "  - .name: %s\n    .symbol: %s.kd\n    .kernarg_segment_size: 16\n    .kernarg_segment_align: 8\n"
          "    .group_segment_fixed_size: 4096\n    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n"
          "    .sgpr_count: 48\n    .vgpr_count: 256\n    .agpr_count: 0\n    .max_flat_workgroup_size: 256\n    .args:\n"
          "      - { .offset: 0, .size: 8, .value_kind: global_buffer }\n"
          "      - { .offset: 8, .size: 8, .value_kind: global_buffer }\n",
          name, name);
}

static void write_all(FILE *file, const void *chip) {
  fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n", (const char *)chip);
  for (int n = 0; n < TESTS; n++) write_kernel(file, tests[n].name, tests[n].body);
  write_kernel(file, "even", even_body);
  write_kernel(file, "order", order_body);
  fprintf(file, ".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.kernels:\n",
          (const char *)chip);
  for (int n = 0; n < TESTS; n++) write_metadata(file, tests[n].name);
  write_metadata(file, "even");
  write_metadata(file, "order");
  fputs("...\n.end_amdgpu_metadata\n", file);
}

/* ---- Running ---- */

static const char *chip;
static uint8_t object_data[1 << 20];
static size_t object_bytes;
static int failures;

typedef struct findings {
  const char *name;
  int wanted, found, others;
} findings;

static void count_finding(const gfxsim_report *r, void *user) {
  findings *f = user;
  if ((int)r->kind == f->wanted) {
    f->found++;
    return;
  }
  f->others++;
  fprintf(stderr, "foreign: %s %s: %s: %s\n", chip, f->name, r->instruction, r->message);
}

/* Results of `groups` workgroups, 256 each. False: the launch could not be made. */
static bool launch(const char *name, gfxsim_options options, uint32_t waves, uint32_t groups, uint32_t *results) {
  gfxsim_device *device = NULL;
  gfxsim_object *object;
  gfxsim_kernel *kernel;
  uint32_t numbers[ELEMENTS];
  uint64_t args[2];
  size_t bytes = groups * 256 * sizeof *results;
  for (uint32_t n = 0; n < ELEMENTS; n++) numbers[n] = 100 + n;
  bool good = gfxsim_open(chip, &options, &device) == GFXSIM_OK &&
              gfxsim_load(device, object_data, object_bytes, &object) == GFXSIM_OK &&
              gfxsim_kernel_find(object, name, &kernel) == GFXSIM_OK &&
              gfxsim_alloc(device, sizeof numbers, &args[0]) == GFXSIM_OK &&
              gfxsim_write(device, args[0], numbers, sizeof numbers) == GFXSIM_OK &&
              gfxsim_alloc(device, bytes, &args[1]) == GFXSIM_OK && gfxsim_fill(device, args[1], 0, bytes) == GFXSIM_OK;
  gfxsim_launch asked = {.grid = {groups, 1, 1}, .block = {LANES * waves, 1, 1}, .args = args, .arg_bytes = sizeof args};
  gfxsim_status status = good ? gfxsim_run(kernel, &asked) : GFXSIM_INVALID;
  good = good && (status == GFXSIM_OK || status == GFXSIM_FAULT) && gfxsim_read(device, args[1], results, bytes) == GFXSIM_OK;
  if (!good) fprintf(stderr, "foreign: %s %s: %s\n", chip, name, gfxsim_last_error());
  gfxsim_close(device);
  return good;
}

static void fail(const char *name, const char *what, uint64_t got, uint64_t wanted) {
  failures++;
  fprintf(stderr, "foreign: %s %s: %s %llu: must be %llu\n", chip, name, what, (unsigned long long)got,
          (unsigned long long)wanted);
}

static void test_one(const foreign_test *t) {
  findings f = {.name = t->name, .wanted = t->finding};
  uint32_t results[256];
  gfxsim_options options = {.report = count_finding, .user = &f, .checked = t->checked, .threads = 1};
  if (!launch(t->name, options, t->waves > 0 ? t->waves : 1, 1, results)) failures++;
  if ((f.found > 0) != (t->finding != NOTHING)) fail(t->name, "findings", (uint64_t)f.found, t->finding != NOTHING);
  if (f.others > 0) fail(t->name, "other findings", (uint64_t)f.others, 0);
  for (uint32_t l = 0; l < LANES && t->finding == NOTHING; l++)
    if (results[l] != t->first + l * t->step) {
      fail(t->name, "result", results[l], t->first + l * t->step);
      return;
    }
}

/* By turns of `turn` instructions no wave is more than two turns ahead of another: rounds of 12 instructions. */
static void test_even(uint32_t turn, uint64_t seed) {
  uint32_t results[256], most = 0, length = turn > 0 ? turn : 16;
  gfxsim_options options = {.unchecked = GFXSIM_CHECK_RACE, .turn = turn, .seed = seed, .threads = 1};
  if (!launch("even", options, WAVES_MOST, 1, results)) failures++;
  for (int n = 0; n < 256; n++) most = results[n] > most ? results[n] : most;
  uint32_t allowed = 2 * length / 12 + 2;
  if (seed == 0 && most > allowed) fail("even", "rounds between two waves", most, allowed);
  if (turn >= 1000 && most < 50) fail("even", "rounds between two waves, by long turns", most, 50);
}

static uint64_t order_sum(uint32_t turn, uint64_t seed, int threads) {
  enum { GROUPS = 8 };
  static uint32_t results[GROUPS * 256];
  gfxsim_options options = {.turn = turn, .seed = seed, .threads = threads};
  if (!launch("order", options, WAVES_MOST, GROUPS, results)) failures++;
  uint64_t sum = 0;
  for (int n = 0; n < GROUPS * 256; n++) sum = sum * UINT64_C(6364136223846793005) + results[n];
  return sum;
}

static void test_order(void) {
  enum { SEEDS = 8 };
  uint64_t seen[SEEDS];
  for (uint64_t s = 0; s < SEEDS; s++) {
    seen[s] = order_sum(0, s, 1);
    if (order_sum(0, s, 3) != seen[s]) fail("order", "the order by this seed depends on the threads:", s, s);
    for (uint64_t other = 0; other < s; other++)
      if (seen[other] == seen[s]) fail("order", "the same order by the seed", s, other);
  }
  if (order_sum(5, 0, 1) == seen[0]) fail("order", "the same order by a turn of", 5, 16);
  if (order_sum(16, 0, 1) != seen[0]) fail("order", "another order by the default turn", 16, 16);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: foreign CLANG CHIP\n"), 2;
  chip = argv[2];
  object_bytes = assemble(argv[1], chip, write_all, chip, object_data, sizeof object_data);
  if (object_bytes == 0) return 1;
  for (int n = 0; n < TESTS; n++) test_one(&tests[n]);
  static const uint32_t turns[] = {0, 1, 5, 16, 64, 1000};
  for (size_t n = 0; n < sizeof turns / sizeof turns[0]; n++) test_even(turns[n], 0);
  test_even(0, 7);
  test_order();
  printf("foreign %s: %d kernels, %d failures\n", chip, TESTS + 2, failures);
  return failures > 0;
}
