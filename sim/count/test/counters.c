/* Kernels whose counts are known by hand. Usage: counters CLANG CHIP */
#include <math.h>
#include <string.h>

#include "counters_kernel.h"
#include "sim/test/assemble.h"

static int wrong;

static void expect(const char *kernel, uint32_t stride, const char *what, uint64_t got, uint64_t want) {
  if (got == want) return;
  wrong++;
  fprintf(stderr, "counters: %s, %s, stride %u: %s = %llu: must be %llu\n", chip_name, kernel, stride, what,
          (unsigned long long)got, (unsigned long long)want);
}
#define EXPECT(r, field, want) expect((r).kernel, (r).stride, #field, c.field, want)

/* ---- LDS ---- */

enum { STRIDES = 8 };
static const uint32_t strides[STRIDES] = {0, 1, 2, 4, 8, 16, 32, 33}; /* 0: all lanes at one address */

/* Conflict clocks of the strides. A phase of p lanes, w words each, of a stride s hits s * lane mod (banks / w): where all
 * residues of its lanes mod (banks / w) differ, it takes gcd(s, banks / w) clocks. */
static const struct {
  const char *chip, *kernel;
  uint32_t phases, conflicts[STRIDES];
} lds_rows[] = {
    {"gfx942", "read_b32", 2, {0, 0, 2, 6, 14, 30, 62, 0}}, /* lanes 0-31, 32-63 */
    {"gfx942", "write_b32", 2, {0, 0, 2, 6, 14, 30, 62, 0}},
    {"gfx942", "read_b128", 8, {0, 0, 8, 24, 56, 56, 56, 0}},  /* 0-3 and 20-23, ...: 8 places of 4 banks */
    {"gfx942", "write_b128", 8, {0, 0, 8, 24, 56, 56, 56, 0}}, /* 0-7, 8-15, ... */
    {"gfx950", "read_b64", 2, {0, 0, 2, 6, 14, 30, 62, 0}},    /* 0-31, 32-63: 32 places of 2 of 64 banks */
    {"gfx950", "read_b128", 4, {0, 0, 4, 12, 28, 60, 60, 0}},  /* 0-3, 12-15, 20-27, ...: 16 places of 4 of 64 banks */
    {"gfx950", "write_b64", 4, {0, 0, 4, 12, 28, 60, 60, 0}},  /* 0-15, 16-31, ...: 16 places of 2 of 32 banks */
    {"gfx950", "write_b128", 8, {0, 0, 8, 24, 56, 56, 56, 0}},
};

/* Those without a source take the clocks of their bytes, at what is known to move in a clock at most: 128, reads of gfx950 256.
 * If the wave wants more distinct dwords of one bank, it takes as many clocks as those: of the 64 lanes with w words each, a
 * stride s puts 64 / (banks / w / gcd(s, banks / w)) into a bank. Of these clocks, those beyond one for each 128 bytes are
 * conflicts. */
static const struct {
  const char *chip, *kernel;
  uint32_t phases, clocks[STRIDES];
} lds_unknown[] = {{"gfx942", "read_b64", 4, {4, 4, 8, 16, 32, 64, 64, 4}},
                   {"gfx942", "write_b64", 4, {4, 4, 8, 16, 32, 64, 64, 4}},
                   {"gfx950", "read_b32", 2, {1, 1, 2, 4, 8, 16, 32, 1}},
                   {"gfx950", "write_b32", 2, {2, 2, 2, 4, 8, 16, 32, 2}}};

static void test_lds(void) {
  for (size_t n = 0; n < sizeof lds_rows / sizeof lds_rows[0]; n++)
    for (int s = 0; s < STRIDES && strcmp(lds_rows[n].chip, chip_name) == 0; s++) {
      request r = {.kernel = lds_rows[n].kernel, .stride = strides[s], .lds = 40000};
      gfxsim_counters c = count(r);
      EXPECT(r, lds.accesses, 1);
      EXPECT(r, lds.conflict_clocks, lds_rows[n].conflicts[s]);
      EXPECT(r, lds.clocks, lds_rows[n].conflicts[s] + lds_rows[n].phases);
      EXPECT(r, lds.unmodelled, 0);
      gfxsim_counters_release(&c);
    }
  for (size_t n = 0; n < sizeof lds_unknown / sizeof lds_unknown[0]; n++)
    for (int s = 0; s < STRIDES && strcmp(lds_unknown[n].chip, chip_name) == 0; s++) {
      request r = {.kernel = lds_unknown[n].kernel, .stride = strides[s], .lds = 40000};
      gfxsim_counters c = count(r);
      EXPECT(r, lds.unmodelled, 1);
      EXPECT(r, lds.clocks, lds_unknown[n].clocks[s]);
      uint32_t clocks = lds_unknown[n].clocks[s], phases = lds_unknown[n].phases;
      EXPECT(r, lds.conflict_clocks, clocks > phases ? clocks - phases : 0);
      gfxsim_counters_release(&c);
    }
}

/* ---- Instructions ---- */

static void test_classes(void) {
  request r = {.kernel = "mixed", .grid = 3, .block = 128};
  gfxsim_counters c = count(r);
  uint64_t waves = 6, turns = 3, exp_clocks = strcmp(chip_name, "gfx950") == 0 ? 8 : 16;
  EXPECT(r, waves, waves);
  EXPECT(r, classes[GFXSIM_CLASS_SMEM], 2 * waves);
  EXPECT(r, classes[GFXSIM_CLASS_SALU], (1 + 2 * turns) * waves);
  EXPECT(r, classes[GFXSIM_CLASS_VALU], 4 * turns * waves);
  EXPECT(r, classes[GFXSIM_CLASS_BRANCH], (turns + 1) * waves);     /* s_endpgm */
  EXPECT(r, classes[GFXSIM_CLASS_INTERNAL], 2 * waves);             /* s_waitcnt, s_nop */
  EXPECT(r, valu_clocks, (4 + exp_clocks + 4 + 8) * turns * waves); /* add, exp, packed fma, swap */
  EXPECT(r, longest_wave, 2 + 1 + 7 * turns + 1);
  EXPECT(r, instruction_count, 13);
  gfxsim_counters_release(&c);
}

/* 2 m n k a block. Clocks: the table of hardware's issue intervals, 4 clocks a pass; CDNA 4 ISA, table 33, for sparse ones. */
static void test_matrix(void) {
  request r = {.kernel = "matrix"};
  gfxsim_counters c = count(r);
  EXPECT(r, classes[GFXSIM_CLASS_MFMA], 8);
  EXPECT(r, mfma_flops, 8192 + 16384 + 2048 + 4096 + 2048 + 16384 + 16384 + 65536);
  EXPECT(r, mfma_clocks, 16 + 32 + 32 + 64 + 8 + 64 + 16 + 32);
  gfxsim_counters_release(&c);
  if (strcmp(chip_name, "gfx950") != 0) return;
  r.kernel = "matrix_wide";
  c = count(r);
  EXPECT(r, mfma_flops, 16384 + 32768 + 65536 + 65536);
  EXPECT(r, mfma_clocks, 16 + 32 + 32 + 16); /* fp8 takes twice what fp4 takes */
  gfxsim_counters_release(&c);
}

/* ---- Global memory ---- */

static void test_coalescing(void) {
  static const struct {
    uint32_t stride, lines64, lines128;
  } rows[] = {{0, 1, 1}, {1, 4, 2}, {2, 8, 4}, {8, 32, 16}, {16, 64, 32}, {32, 64, 64}, {33, 64, 64}};
  for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
    request r = {.kernel = "load", .stride = rows[n].stride};
    gfxsim_counters c = count(r);
    EXPECT(r, load.accesses, 1);
    EXPECT(r, load.asked, 256);
    EXPECT(r, load.lines64, rows[n].lines64);
    EXPECT(r, load.lines128, rows[n].lines128);
    EXPECT(r, hbm_read, 128 * rows[n].lines128);
    EXPECT(r, scalar_bytes, 20);
    gfxsim_counters_release(&c);
  }
  request r = {.kernel = "store", .stride = 32}; /* a sector of 32 bytes of every line is dirty */
  gfxsim_counters c = count(r);
  EXPECT(r, store.lines128, 64);
  EXPECT(r, hbm_written, 64 * 32);
  EXPECT(r, hbm_read, 0);
  gfxsim_counters_release(&c);
}

static void test_accesses(void) {
  request r = {.kernel = "to_lds", .lds = 4096};
  gfxsim_counters c = count(r);
  EXPECT(r, classes[GFXSIM_CLASS_VMEM], 1);
  EXPECT(r, load.asked, 256);
  EXPECT(r, lds.bytes, 256);
  EXPECT(r, lds.clocks, 2);
  EXPECT(r, lds.unmodelled, 0);
  gfxsim_counters_release(&c);
  r.kernel = "atomic"; /* done in the L2, which needs what was there */
  c = count(r);
  EXPECT(r, atomic.accesses, 1);
  EXPECT(r, atomic.lines128, 2);
  EXPECT(r, l1_lines, 0);
  EXPECT(r, l2[0].writes, 2);
  EXPECT(r, hbm_read, 256);
  EXPECT(r, hbm_written, 256);
  gfxsim_counters_release(&c);
  r.kernel = "cross"; /* bytes 8 to 1031 */
  c = count(r);
  EXPECT(r, load.asked, 1024);
  EXPECT(r, load.lines64, 17);
  EXPECT(r, load.lines128, 9);
  gfxsim_counters_release(&c);
  r.kernel = "few"; /* lanes 0-3 and 8-11 */
  c = count(r);
  EXPECT(r, load.asked, 32);
  EXPECT(r, load.lines64, 1);
  EXPECT(r, lds.bytes, 32);
  EXPECT(r, lds.clocks, 1);
  gfxsim_counters_release(&c);
}

/* Two XCDs of two CUs, 16 workgroups: each CU holds all of its 4 at once. */
static void test_caches(void) {
  request r = {.kernel = "same", .overrides = ",xcds=2,cus_per_xcd=2", .grid = 16};
  gfxsim_counters c = count(r); /* 8 lines, read by all: a CU misses them once, an L2 once, the MALL once */
  EXPECT(r, l1_lines, 16 * 8);
  EXPECT(r, l1_hits, 12 * 8);
  for (int x = 0; x < 2; x++) {
    EXPECT(r, l2[x].reads, 2 * 8);
    EXPECT(r, l2[x].read_hits, 8);
  }
  EXPECT(r, mall_lines, 16);
  EXPECT(r, mall_hits, 8);
  EXPECT(r, hbm_read, 1024);
  gfxsim_counters_release(&c);
  for (int streamed = 0; streamed < 2; streamed++) {
    r.kernel = streamed ? "streamed" : "past_l1";
    c = count(r);
    EXPECT(r, l1_lines, 0);
    EXPECT(r, l2[0].reads, 8 * 8);
    EXPECT(r, l2[0].read_hits, 7 * 8);
    gfxsim_counters_release(&c);
  }
  r.kernel = "copy"; /* every workgroup its own: one read and one write of each byte */
  c = count(r);
  EXPECT(r, l1_hits, 0);
  EXPECT(r, l2[1].reads, 8 * 8);
  EXPECT(r, l2[1].read_hits, 0);
  EXPECT(r, l2[1].write_halves, 8 * 16);
  EXPECT(r, hbm_read, 16 * 1024);
  EXPECT(r, hbm_written, 16 * 1024);
  gfxsim_counters_release(&c);
  r.overrides = ",xcds=2,cus_per_xcd=2,l2_bytes=4096,l2_ways=2,mall_bytes=8192"; /* the L2s now write back on the way */
  c = count(r);
  EXPECT(r, hbm_read, 16 * 1024);
  EXPECT(r, hbm_written, 16 * 1024);
  gfxsim_counters_release(&c);
}

/* ---- Occupancy: 512 registers a lane and SIMD, by eights; at most 8 waves; LDS by its granule ---- */

static void test_occupancy(void) {
  static const struct {
    const char *kernel;
    uint32_t waves;
  } rows[] = {{"registers_64", 8},  {"registers_72", 7},  {"registers_88", 5}, {"registers_128", 4}, {"registers_168", 3},
              {"registers_256", 2}, {"registers_512", 1}, {"scalars_102", 7}}; /* 800 scalar ones a SIMD, by 16 */
  for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
    request r = {.kernel = rows[n].kernel, .block = 256};
    gfxsim_counters c = count(r);
    EXPECT(r, occupancy.waves_per_simd, rows[n].waves);
    EXPECT(r, occupancy.workgroups_per_cu, rows[n].waves); /* four waves a workgroup, one on each SIMD */
    gfxsim_counters_release(&c);
  }
  bool large = strcmp(chip_name, "gfx950") == 0;
  const struct {
    uint32_t lds, block, groups, waves;
    const char *limit;
  } by_lds[] = {{0, 64, 32, 8, "waves"},
                {0, 128, 16, 8, "waves"},
                {20000, 64, large ? 8 : 3, large ? 2 : 1, "LDS"},   /* 20480 as allocated, on either chip */
                {65536, 512, large ? 2 : 1, large ? 4 : 2, "LDS"}}; /* 66560 on gfx950 */
  for (size_t n = 0; n < sizeof by_lds / sizeof by_lds[0]; n++) {
    request r = {.kernel = "mixed", .lds = by_lds[n].lds, .block = by_lds[n].block};
    gfxsim_counters c = count(r);
    EXPECT(r, occupancy.workgroups_per_cu, by_lds[n].groups);
    EXPECT(r, occupancy.waves_per_simd, by_lds[n].waves);
    if (strcmp(c.occupancy.limit, by_lds[n].limit) != 0) {
      fprintf(stderr, "counters: LDS %u: limit is %s: must be %s\n", by_lds[n].lds, c.occupancy.limit, by_lds[n].limit);
      wrong++;
    }
    gfxsim_counters_release(&c);
  }
}

/* ---- Bounds ---- */

static void expect_near(const char *what, double got, double want) {
  if (got > want * 0.999 && got < want * 1.001) return;
  wrong++;
  fprintf(stderr, "counters: %s: bound = %g: must be %g\n", what, got, want);
}

static void test_bounds(void) {
  gfxsim_counters c = count((request){.kernel = "matrix", .grid = 8, .block = 256, .overrides = ",xcds=2,cus_per_xcd=2"});
  expect_near("MFMA", c.bound[GFXSIM_PIPE_MFMA], 2 * 264);   /* two workgroups a CU, a wave of each on every SIMD */
  expect_near("VALU", c.bound[GFXSIM_PIPE_VALU], 2 * 8 * 4); /* only the issue of the MFMA */
  expect_near("tail", c.tail, 1);
  if (c.floor != GFXSIM_PIPE_MFMA) wrong++, fprintf(stderr, "counters: the floor must be MFMA\n");
  gfxsim_counters_release(&c);
  c = count((request){.kernel = "copy", .grid = 256});
  bool old = strcmp(chip_name, "gfx942") == 0;
  expect_near("HBM", c.bound[GFXSIM_PIPE_HBM], 2 * 262144 / (old ? 5300 / 2.1 : 8000 / 2.4));
  expect_near("L2", c.bound[GFXSIM_PIPE_L2], 32 * 16 / 16.0); /* 32 workgroups an XCD write 16 halves each */
  expect_near("vL1D", c.bound[GFXSIM_PIPE_L1], 16);
  if (old) expect_near("MALL", c.bound[GFXSIM_PIPE_MALL], 262144 / 8192.0);
  if (old) expect_near("fabric", c.bound[GFXSIM_PIPE_FABRIC], 32);
  if (!old && (c.bound[GFXSIM_PIPE_MALL] >= 0 || c.bound[GFXSIM_PIPE_FABRIC] >= 0)) {
    wrong++;
    fprintf(stderr, "counters: the MALL and the fabric of gfx950 have no source\n");
  }
  gfxsim_counters_release(&c);
  c = count((request){.kernel = "mixed", .grid = 5, .overrides = ",xcds=2,cus_per_xcd=2"});
  expect_near("tail of 5 on 4", c.tail, 2 / 1.25);
  gfxsim_counters_release(&c);
}

/* ---- Samples and threads ---- */

static bool equal_instructions(const gfxsim_counters *a, const gfxsim_counters *b) {
  if (a->instruction_count != b->instruction_count) return false;
  for (int n = 0; n < a->instruction_count; n++)
    if (a->instructions[n].pc != b->instructions[n].pc || a->instructions[n].count != b->instructions[n].count ||
        a->instructions[n].clocks != b->instructions[n].clocks)
      return false;
  return true;
}

/* A sample sees nothing of what workgroups share: it has no bounds beyond the vL1D. */
static bool equal_bounds(const gfxsim_counters *a, const gfxsim_counters *b) {
  bool sampled = b->workgroups_run < b->workgroups;
  for (int p = 0; p < GFXSIM_PIPE_COUNT; p++)
    if (p >= GFXSIM_PIPE_L2 && sampled ? b->bound[p] >= 0 : a->bound[p] < b->bound[p] || a->bound[p] > b->bound[p])
      return false;
  return sampled || a->floor == b->floor;
}

#define SAME(field) (memcmp(&a->field, &b->field, sizeof a->field) == 0)

static void expect_equal(const char *what, const gfxsim_counters *a, const gfxsim_counters *b) {
  if (equal_instructions(a, b) && equal_bounds(a, b) && SAME(xcds) && SAME(workgroups) && SAME(waves) && SAME(classes) &&
      SAME(longest_wave) && SAME(mfma_flops) && SAME(mfma_clocks) && SAME(valu_clocks) && SAME(lds) && SAME(load) &&
      SAME(store) && SAME(atomic) && SAME(scalar_bytes) && SAME(scratch_read) && SAME(scratch_written) && SAME(l1_lines) &&
      SAME(l1_hits) && SAME(mall_lines) && SAME(mall_hits) && SAME(hbm_read) && SAME(hbm_written) && SAME(tail) &&
      memcmp(a->l2, b->l2, (size_t)a->xcds * sizeof *a->l2) == 0)
    return;
  wrong++;
  fprintf(stderr, "counters: %s, %s: the counters differ\n", chip_name, what);
}

static void test_sameness(void) {
  request r = {.kernel = "copy", .grid = 64, .block = 64, .overrides = ",xcds=2,cus_per_xcd=1,l2_bytes=16384", .threads = 1};
  gfxsim_counters one = count(r); /* 64 workgroups: two rounds of 2 x 32 on the two CUs would fit; the L2 does not hold them */
  r.threads = 2;
  gfxsim_counters two = count(r);
  expect_equal("two threads", &one, &two);
  gfxsim_counters_release(&two);
  r.threads = 5;
  r.overrides = ",xcds=2,cus_per_xcd=1,l2_bytes=16384,waves_per_simd=1"; /* rounds of 8 */
  gfxsim_counters five = count(r);
  r.threads = 1;
  gfxsim_counters alone = count(r);
  expect_equal("five threads", &five, &alone);
  gfxsim_counters_release(&five);
  gfxsim_counters_release(&alone);
  gfxsim_counters_release(&one);
  r.overrides = NULL;
  gfxsim_counters all = count(r);
  static const char *const samples[] = {"16", "0-7,32-39", "64"};
  for (int s = 0; s < 3; s++) {
    r.workgroups = samples[s];
    gfxsim_counters part = count(r);
    expect("copy", 0, "workgroups_run", part.workgroups_run, s < 2 ? 16 : 64);
    expect_equal(samples[s], &all, &part);
    gfxsim_counters_release(&part);
  }
  gfxsim_counters_release(&all);
}

static double off(uint64_t part, uint64_t all) { return fabs((double)part / (double)all - 1); }

/* The stated error holds the true one (in 19 of 20 cases: the samples are always the same ones, so that these stay so), is of
 * its size, and shrinks with the sample. Work that is equal everywhere has none. */
static void test_sample_error(void) {
  static const char *const kernels[] = {"causal", "ragged"}, *const samples[] = {"16", "32", "64", "128", "100"};
  for (int k = 0; k < 2; k++) {
    request r = {.kernel = kernels[k], .grid = 512, .block = 64};
    gfxsim_counters all = count(r);
    double stated = 1;
    for (int s = 0; s < 5; s++) {
      r.workgroups = samples[s];
      gfxsim_counters part = count(r);
      double error = part.sample_error[GFXSIM_ESTIMATE_BYTES];
      bool good = off(part.store.asked, all.store.asked) <= error && error < stated && error > 0.02 &&
                  off(part.classes[GFXSIM_CLASS_SALU], all.classes[GFXSIM_CLASS_SALU]) <=
                      part.sample_error[GFXSIM_ESTIMATE_INSTRUCTIONS] * 1.5;
      if (!good) {
        wrong++;
        fprintf(stderr, "counters: %s, %s of 512 %s: off by %.3f, stated %.3f\n", chip_name, samples[s], kernels[k],
                off(part.store.asked, all.store.asked), error);
      }
      if (s < 3) stated = error;
      gfxsim_counters_release(&part);
    }
    if (all.sample_error[0] > 0) wrong++, fprintf(stderr, "counters: all workgroups have an error\n");
    gfxsim_counters_release(&all);
  }
  gfxsim_counters equal = count((request){.kernel = "copy", .grid = 64, .block = 64, .workgroups = "16"});
  gfxsim_counters named = count((request){.kernel = "copy", .grid = 64, .block = 64, .workgroups = "0-15"});
  gfxsim_counters one = count((request){.kernel = "copy", .grid = 64, .block = 64, .workgroups = "1"});
  for (int e = 0; e < GFXSIM_ESTIMATE_COUNT; e++)
    if (equal.sample_error[e] > 0 || equal.sample_error[e] < 0 || named.sample_error[e] >= 0 || one.sample_error[e] >= 0)
      wrong++, fprintf(stderr, "counters: error of equal work %g, of named workgroups %g, of one %g\n", equal.sample_error[e],
                       named.sample_error[e], one.sample_error[e]);
  gfxsim_counters_release(&equal);
  gfxsim_counters_release(&named);
  gfxsim_counters_release(&one);
}

/* What can't be a sample is refused. */
static void test_refusals(void) {
  static const char *const bad[] = {"", "0", "65", "x", "3x", "-1", "1-", "5-4", "0-64", "4-7,6-9", "1,,2", "1,"};
  gfxsim_device *device;
  gfxsim_object *object;
  gfxsim_kernel *kernel = NULL;
  if (gfxsim_open(chip_name, NULL, &device) != GFXSIM_OK ||
      gfxsim_load(device, object_data, object_bytes, &object) != GFXSIM_OK ||
      gfxsim_kernel_find(object, "mixed", &kernel) != GFXSIM_OK)
    fatal("mixed");
  uint64_t args[3] = {0};
  for (size_t b = 0; b < sizeof bad / sizeof bad[0]; b++) {
    gfxsim_launch launch = {.grid = {64, 1, 1}, .block = {64, 1, 1}, .args = args, .arg_bytes = 20, .workgroups = bad[b]};
    if (gfxsim_run(kernel, &launch) == GFXSIM_INVALID) continue;
    wrong++;
    fprintf(stderr, "counters: workgroups = '%s' must be refused\n", bad[b]);
  }
  gfxsim_close(device);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: counters CLANG CHIP\n"), 2;
  chip_name = argv[2];
  object_bytes = assemble(argv[1], chip_name, write_kernels, chip_name, object_data, sizeof object_data);
  if (object_bytes == 0) return 1;
  test_lds();
  test_classes();
  test_matrix();
  test_coalescing();
  test_accesses();
  test_caches();
  test_occupancy();
  test_bounds();
  test_sameness();
  test_sample_error();
  test_refusals();
  return wrong > 0;
}
