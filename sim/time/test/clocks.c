/* The model of time against what was published about single instructions: an expected value stands beside its source.
 * Usage: clocks CLANG CHIP */
#include <string.h>

#include "clocks_kernel.h"
#include "sim/test/assemble.h"

static int wrong;

/* [T] facebookexperimental/triton pull request 2507, measured on gfx950;
 * [G] ROCm/gfx950-gluon-tutorials: docs/lds_throughput.md, experiments/lds_throughput_validation (set F);
 * [L] LLVM 22, SISchedule.td; [I] CDNA 4 ISA; [W] CDNA 4 white paper;
 * [V] ifdefelse/ProgPOW issue 16: Vega, 16 clocks;
 * [P] ROCm Compute Profiler, "Pipeline descriptions": one instruction of a wave every 4 clocks. */
static const struct {
  const char *kernel, *chip; /* NULL: both */
  uint32_t block;
  double gfx942, gfx950, tolerance;
  const char *source;
} rates[] = {
    {"chain_16x16x32", "gfx950", 64, 0, 18, 0, "[T] 18"},
    {"chain_16x16x16", NULL, 64, 18, 18, 0, "[L] the same passes"},
    {"free_16x16x16", NULL, 64, 32, 32, 0, "[L] two of 16"},
    {"free_32x32x8", NULL, 64, 64, 64, 0, "[L] two of 32"},
    {"free_16x16x16", NULL, 512, 64, 64, 0.5, "[L] two waves of a SIMD share its matrix unit"},
    {"beside_valu", NULL, 64, 32, 32, 0, "[G] VALU beside MFMA: two in the 8 clocks that are left of 16"},
    {"beside_packed", NULL, 64, 40, 40, 0, "[G] packed f32 never beside"},
    {"valu_chain", NULL, 64, 8, 8, 0, "[T] 8"},
    {"valu_free", NULL, 64, 8, 8, 0, "[L] two of 4"},
    {"exp_free", NULL, 64, 32, 16, 0, "[L] two of 16; [W] two of 8"},
    {"multiply_free", NULL, 64, 32, 32, 0, "[V] two of 16"},
    {"salu_chain", NULL, 64, 4, 4, 0, "[P]"},
    {"nop", NULL, 64, 16, 16, 0, "[I] S_NOP: 4 wait states"},
    {"sleep", NULL, 64, 132, 132, 0, "[I] S_SLEEP: 2 * 64, and its own issue"},
    {"lds_b128", NULL, 64, 16, 16, 0.5, "[G] 1 wave: 8 each"},
    {"lds_b128", "gfx950", 256, 0, 32, 0.5, "[G] 4 waves: 16 each"},
    {"lds_conflict", "gfx950", 64, 0, 16, 0.5, "[G] 1 wave, 2-way conflicts: 8 each"},
    {"lds_conflict", "gfx950", 256, 0, 64, 0.5, "[G] 4 waves, 2-way conflicts: 32 each"},
    {"lds_unaligned", "gfx950", 64, 0, 128, 0.5, "[G] 1 wave, unaligned: 64 each"},
    {"lds_unaligned", "gfx950", 256, 0, 512, 0.5, "[G] 4 waves, unaligned: 256 each"},
    {"lds_wait", NULL, 64, 73, 73, 0, "[T] 69, and the issue of s_waitcnt"},
    {"load_wait", NULL, 64, 0, 0, 0, NULL}, /* below */
};

static void test_rates(void) {
  for (size_t n = 0; n < sizeof rates / sizeof rates[0]; n++) {
    bool first = strcmp(chip_name, "gfx942") == 0;
    double want = first ? rates[n].gfx942 : rates[n].gfx950;
    if (rates[n].source == NULL || (rates[n].chip != NULL && strcmp(rates[n].chip, chip_name) != 0)) continue;
    double got = clocks_each(rates[n].kernel, rates[n].block);
    if (got >= want - rates[n].tolerance && got <= want + rates[n].tolerance) continue;
    wrong++;
    fprintf(stderr, "clocks: %s, %s, %u work-items: %.2f: must be %.2f: %s\n", chip_name, rates[n].kernel, rates[n].block, got,
            want, rates[n].source);
  }
}

static double parameter(const char *name) {
  gfxsim_time_parameter row;
  for (int n = 0; gfxsim_time_parameter_at(n, &row); n++)
    if (strcmp(row.name, name) == 0) return strcmp(chip_name, "gfx942") == 0 ? row.gfx942 : row.gfx950;
  fatal(name);
  return 0;
}

static void expect(const char *what, double got, double least, double most) {
  if (got >= least && got <= most) return;
  wrong++;
  fprintf(stderr, "clocks: %s, %s: %g: must be %g to %g\n", chip_name, what, got, least, most);
}

/* A load that waits takes the latency of where its line is, and little more. */
static void test_latencies(void) {
  double far = parameter("hbm_latency"), near = parameter("l1_latency");
  expect("a load from HBM and its wait", clocks_each("load_wait", 64), far, far + 32);
  /* A flat load whose lanes all mean global memory, with three more instructions for its address. */
  expect("a flat load from HBM and its wait", clocks_each("flat_wait", 64), far, far + 32 + 3 * 8);
  expect("a load of the same line and its wait", clocks_each("load_again", 64), near, near + 32);
  /* 32 loads of 1 KiB fill the vL1D, and the next one enters when the first is back ([G] docs/tcp_bound_tile_model.md 1). */
  expect("loads that fill the vL1D", clocks_each("load_stream", 64), far / 32 - 1, far / 32 + 3);
  expect("a barrier of four waves", clocks_each("barrier", 256), parameter("barrier"), parameter("barrier") + 8);
}

static gfxsim_timing timed(const char *kernel, uint32_t grid, uint32_t block, const char *overrides) {
  timing_request r = {.kernel = kernel, .grid = grid, .block = block, .lds = 4096, .overrides = overrides};
  if (predict(&r) != GFXSIM_OK) fatal(kernel);
  return r.timing;
}

static void test_loop(void) {
  gfxsim_timing t = timed("loops", 1, 64, NULL);
  double inner = 4 + 16 + 4 + 4 + 4 + parameter("branch_taken"); /* add, nop, sub, cmp, branch */
  expect("loops: one was found", t.loop.found, 1, 1);
  expect("loops: turns of the inner one in a wave", t.loop.iterations, 21, 21);
  expect("loops: clocks of a turn", t.loop.clocks, inner, inner + 8);
  gfxsim_timing_release(&t);
  t = timed("visit", 1, 64, NULL);
  expect("visit: turns", t.loop.found ? t.loop.iterations : 0, 9, 9);
  gfxsim_timing_release(&t);
}

/* A product that is left out gives its sum as it was: what the registers had before would be other numbers for each run. */
static void test_left_out(void) {
  timing_request whole = {.kernel = "product"}, out = {.kernel = "product", .timing = {.skip_matrix = true}};
  if (predict(&whole) != GFXSIM_OK || predict(&out) != GFXSIM_OK) fatal("product");
  expect("product: clocks without arithmetic", (double)out.timing.clocks, (double)whole.timing.clocks,
         (double)whole.timing.clocks);
  gfxsim_timing_release(&whole.timing);
  gfxsim_timing_release(&out.timing);
}

/* Every clock of a wave has one cause, and lines have those of waves. */
static void test_causes(void) {
  gfxsim_timing t = timed("lds_b128_few", 3, 256, NULL);
  uint64_t lines = 0, waves = 0;
  for (uint64_t n = 0; n < t.wave_count; n++) {
    uint64_t sum = 0;
    for (int c = 0; c < GFXSIM_CAUSE_COUNT; c++) sum += t.waves[n].clocks[c];
    expect("clocks of a wave by cause", (double)sum, (double)(t.waves[n].end - t.waves[n].begin),
           (double)(t.waves[n].end - t.waves[n].begin));
    waves += sum;
  }
  for (int n = 0; n < t.instruction_count; n++)
    for (int c = 0; c < GFXSIM_CAUSE_COUNT; c++) lines += t.instructions[n].clocks[c];
  expect("waves that were told", (double)t.wave_count, 12, 12);
  expect("clocks of instructions", (double)lines, (double)waves, (double)waves);
  gfxsim_timing_release(&t);
}

/* A chip of one CU takes four workgroups of 8 waves with 128 VGPRs, two a SIMD each, two at a time: 4 waves a SIMD. */
static void test_dispatch(void) {
  static const char *const one = ",xcds=1,cus_per_xcd=1";
  gfxsim_timing two = timed("long", 2, 512, one), four = timed("long", 4, 512, one), wide = timed("long", 4, 512, NULL);
  double launch = parameter("launch"), round = (double)two.clocks - launch;
  timing_request some = {.kernel = "long", .grid = 20, .block = 512, .lds = 4096, .overrides = one, .timing = {.rounds = 3}};
  gfxsim_timing all = timed("long", 20, 512, one);
  if (predict(&some) != GFXSIM_OK) fatal("long");
  expect("three of ten rounds, extrapolated", (double)some.timing.clocks, 0.99 * (double)all.clocks, 1.01 * (double)all.clocks);
  expect("the share that did not run", some.timing.extrapolated, 0.69, 0.71);
  gfxsim_timing_release(&some.timing);
  gfxsim_timing_release(&all);
  /* 4 of 1024 rounds of two, in 8 runs of one. */
  timing_request drawn = {
      .kernel = "uneven", .grid = 2048, .block = 512, .lds = 4096, .overrides = one, .timing = {.rounds = 4, .spread = true}};
  all = timed("uneven", 2048, 512, one);
  if (predict(&drawn) != GFXSIM_OK) fatal("uneven");
  expect("workgroups of unequal work, drawn", (double)drawn.timing.clocks, 0.97 * (double)all.clocks,
         1.03 * (double)all.clocks);
  gfxsim_timing_release(&drawn.timing);
  gfxsim_timing_release(&all);
  /* The second round finds the arguments in a cache. */
  expect("two rounds of workgroups", (double)four.clocks - launch, 1.9 * round, 2.05 * round);
  expect("four workgroups on four CUs", (double)wide.clocks - launch, 0.9 * round, 1.1 * round);
  gfxsim_timing_release(&two);
  gfxsim_timing_release(&four);
  gfxsim_timing_release(&wide);
}

/* The first of eight workgroups on a CU takes as long as it does alone: it does not wait for those that are dispatched after
 * it. */
static void test_begin(void) {
  static const char *const one = ",xcds=1,cus_per_xcd=1";
  gfxsim_timing alone = timed("short", 1, 64, one), eight = timed("short", 8, 64, one);
  double first = 0, last = 0, dispatch = parameter("dispatch"), launch = parameter("launch");
  for (uint64_t n = 0; n < eight.wave_count; n++) {
    const gfxsim_time_wave *w = &eight.waves[n];
    if (w->workgroup == 0) first = (double)(w->end - w->begin);
    if (w->workgroup == 7) last = (double)w->begin;
  }
  expect("clocks of the first of eight workgroups", first, 1, (double)alone.clocks - launch);
  expect("the eighth workgroup begins", last, launch + 7 * dispatch, launch + 7 * dispatch);
  gfxsim_timing_release(&alone);
  gfxsim_timing_release(&eight);
}

/* All waves of a workgroup read the same argument, which comes from HBM: none has it before it arrives, and all do then. */
static void test_line_on_its_way(void) {
  gfxsim_timing t = timed("short", 1, 512, NULL);
  double far = parameter("hbm_latency"), first = 1e18, last = 0;
  for (uint64_t n = 0; n < t.wave_count; n++) {
    const double end = (double)(t.waves[n].end - t.launch_clocks);
    if (end < first) first = end;
    if (end > last) last = end;
  }
  expect("the first of eight waves with one argument ends", first, far, far + 64);
  expect("and the last one", last, far, far + 128);
  gfxsim_timing_release(&t);
}

static void test_priority(void) {
  gfxsim_timing t = timed("priority", 1, 512, NULL);
  uint64_t low = 0, high = 0;
  for (uint64_t n = 0; n < t.wave_count; n++) {
    if (t.waves[n].wave == 0) low = t.waves[n].end;
    if (t.waves[n].wave == 4) high = t.waves[n].end;
  }
  expect("the wave with priority ends first: the other takes, in its clocks,", (double)(low - t.launch_clocks),
         1.5 * (double)(high - t.launch_clocks), 3 * (double)(high - t.launch_clocks));
  gfxsim_timing_release(&t);
}

static void refused(const char *what, timing_request r, const char *words) {
  if (predict(&r) == GFXSIM_OK || strstr(gfxsim_last_error(), words) == NULL) {
    wrong++;
    fprintf(stderr, "clocks: %s, %s must be refused with '%s': %s\n", chip_name, what, words, gfxsim_last_error());
  }
  gfxsim_timing_release(&r.timing);
}

static void test_refusals(void) {
  refused("waves that wait for ever", (timing_request){.kernel = "spin", .grid = 3, .block = 128}, "for ever");
  refused("an LDS below its granule", (timing_request){.kernel = "short", .overrides = ",lds_bytes=1"}, "granule");
  refused("a cache of a byte", (timing_request){.kernel = "short", .overrides = ",mall_bytes=1"},
          "mall_bytes = 1: must be a line");
  refused("more waves than a CU has", (timing_request){.kernel = "short", .block = 512, .overrides = ",waves_per_simd=1"},
          "no CU holds");
  refused("a trace of no CU", (timing_request){.kernel = "short", .timing = {.trace_cus = "x"}}, "trace_cus");
  refused("a trace of a CU that is not there", (timing_request){.kernel = "short", .timing = {.trace_cus = "0-9999"}},
          "trace_cus");
}

/* Zeros take less power than other values, and no matrix unit takes less than busy ones. */
static void test_frequency(void) {
  gfxsim_timing zeros = timed("free_32x32x8_many", 256, 256, NULL), none = timed("valu_free_many", 256, 256, NULL);
  double power = parameter("frequency_power") * parameter("frequency_zeros"), share = zeros.mfma_share;
  double peak = strcmp(zeros.chip, "gfx942") == 0 ? 2.1 : 2.4, on_zeros = peak / (1 + power * share);
  expect("the share of busy matrix units", share, 0.3, 1);
  expect("the data of zeros", zeros.data, 0, 0);
  expect("the frequency on zeros", zeros.frequency_ghz, 0.999 * on_zeros, 1.001 * on_zeros);
  expect("the frequency without matrix units", none.frequency_ghz, peak, peak);
  expect("microseconds", none.microseconds * none.frequency_ghz * 1000, 0.999 * (double)none.clocks,
         1.001 * (double)none.clocks);
  gfxsim_timing_release(&zeros);
  gfxsim_timing_release(&none);
}

static void test_parameters(void) {
  gfxsim_time_parameter row;
  int fitted = 0, frequency = 0, rows = 0;
  for (; gfxsim_time_parameter_at(rows, &row); rows++) {
    fitted += row.fitted && !row.frequency;
    frequency += row.fitted && row.frequency;
    expect(row.name, (double)strlen(row.source), 20, 1000);
    expect(row.name, (double)strlen(row.unit), 1, 100);
    expect(row.name, row.gfx942 > 0 && row.gfx950 > 0, 1, 1);
  }
  expect("parameters", rows, 20, 100);
  expect("fitted parameters of clocks", fitted, 0, 10);
  expect("fitted parameters of frequency", frequency, 0, 3);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: clocks CLANG CHIP\n"), 2;
  chip_name = argv[2];
  object_bytes = assemble(argv[1], chip_name, write_kernels, chip_name, object_data, sizeof object_data);
  if (object_bytes == 0) return 1;
  test_parameters();
  test_rates();
  test_latencies();
  test_loop();
  test_left_out();
  test_causes();
  test_dispatch();
  test_begin();
  test_line_on_its_way();
  test_priority();
  test_frequency();
  test_refusals();
  return wrong > 0;
}
