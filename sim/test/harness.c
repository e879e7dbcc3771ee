/* Usage: instructions CLANG CHIP FAMILY, or `instructions list` for the text of every row */
#include "harness.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "edges.h"
#include "sim/include/gfxsim.h"

static const instruction_table *const tables[] = {
#define TABLE_NAME(name) &inst_##name,
#include "sim/isa/test/tables.def"
#undef TABLE_NAME
};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* Every pair of edges, twice with another c, and then random bits. */
enum { PAIRS = EDGES * EDGES, ITEMS = 3 * PAIRS };

static test_item items[ITEMS];
static uint32_t results[ITEMS][4];

static const struct {
  int dwords; /* of the result, mask or SCC not counted */
  bool scalar, extra;
  const char *mask;
} kinds[] = {
    [VECTOR32] = {1, false, false, NULL},
    [VECTOR64] = {2, false, false, NULL},
    [VECTOR96] = {3, false, false, NULL},
    [VECTOR128] = {4, false, false, NULL},
    [VECTOR32_VCC] = {1, false, true, "vcc"},
    [VECTOR64_VCC] = {2, false, true, "vcc"},
    [VECTOR32_SGPR] = {1, false, true, "s[20:21]"},
    [VECTOR64_SGPR] = {2, false, true, "s[20:21]"},
    [MASK_VCC] = {0, false, true, "vcc"},
    [MASK_SGPR] = {0, false, true, "s[20:21]"},
    [SCALAR32] = {1, true, false, NULL},
    [SCALAR64] = {2, true, false, NULL},
    [SCALAR_SCC] = {1, true, true, NULL},
    [SCALAR64_SCC] = {2, true, true, NULL},
    [SCC_ONLY] = {0, true, true, NULL},
};

static bool on_chip(const instruction_test *t, const char *chip) { return t->chip == NULL || strcmp(t->chip, chip) == 0; }

/* ---- Operands ---- */

static uint64_t random_bits(uint64_t n) { /* splitmix64, whose constants are Steele's, Lea's and Flood's (OOPSLA 2014) */
  n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
  n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
  return n ^ n >> 31;
}

static bool make_items(const instruction_test *t) {
  const char *letters = t->edges != NULL ? t->edges : "x";
  const uint64_t *set[3];
  for (int s = 0; s < 3; s++) {
    set[s] = edge_set(*letters);
    if (set[s] == NULL) return false;
    if (letters[1] != '\0') letters++;
  }
  for (uint64_t i = 0; i < ITEMS; i++) {
    uint64_t r[6];
    for (uint64_t n = 0; n < 6; n++) r[n] = random_bits(6 * i + n);
    items[i] = i >= 2 * PAIRS ? (test_item){r[0], r[1], {r[2], r[3]}, {r[4], r[5]}}
                              : (test_item){set[0][i % EDGES],
                                            set[1][i / EDGES % EDGES],
                                            {set[2][r[2] % EDGES], set[2][r[3] % EDGES]},
                                            {set[2][r[4] % EDGES], set[2][r[5] % EDGES]}};
  }
  return true;
}

/* ---- Assembling ---- */

/* s[0:1]: kernel arguments: items, results, EXEC. v0: item in the group; s2: group. */
static void write_loads(FILE *file, bool scalar) {
  fputs(" s_load_dwordx4 s[4:7], s[0:1], 0x0\n s_load_dwordx2 s[16:17], s[0:1], 0x10\n s_waitcnt lgkmcnt(0)\n", file);
  fprintf(file, " s_mul_i32 s2, s2, %d\n v_add_u32 v0, s2, v0\n v_mul_u32_u24 v1, 48, v0\n", scalar ? 1 : TEST_LANES);
  fputs(
      " global_load_dwordx4 v[2:5], v1, s[4:5]\n global_load_dwordx4 v[6:9], v1, s[4:5] offset:16\n"
      " global_load_dwordx4 v[10:13], v1, s[4:5] offset:32\n v_lshlrev_b32 v1, 4, v0\n s_waitcnt vmcnt(0)\n",
      file);
  if (scalar) {
    for (int r = 0; r < 6; r++) fprintf(file, " v_readfirstlane_b32 s%d, v%d\n", 8 + r, 2 + r);
    fputs(" v_readfirstlane_b32 s14, v10\n v_readfirstlane_b32 s15, v11\n s_bitcmp1_b32 s12, 0\n", file);
  } else {
    fputs(
        " v_and_b32 v20, 1, v6\n v_cmp_eq_u32 vcc, 1, v20\n s_mov_b64 s[20:21], vcc\n s_mov_b64 s[18:19], exec\n"
        " s_and_b64 exec, exec, s[16:17]\n s_nop 4\n",
        file);
  }
}

/* Brings the mask's or SCC's bit after the result. */
static void write_stores(FILE *file, test_kind kind) {
  int extra = kinds[kind].dwords;
  if (kinds[kind].scalar) {
    if (kinds[kind].extra) fputs(" s_cselect_b32 s3, 1, 0\n", file);
    fputs(" v_mov_b32 v10, s14\n v_mov_b32 v11, s15\n", file);
    if (kinds[kind].extra) fprintf(file, " v_mov_b32 v%d, s3\n", 10 + extra);
  } else {
    fputs(" s_mov_b64 exec, s[18:19]\n", file);
    if (kinds[kind].extra) fprintf(file, " v_cndmask_b32 v%d, 0, 1, %s\n", 10 + extra, kinds[kind].mask);
  }
  fputs(" global_store_dwordx4 v1, v[10:13], s[6:7]\n s_endpgm\n", file);
}

static void write_kernel(FILE *file, int n, const instruction_test *t) {
  fprintf(file, ".globl k%d\n.p2align 8\n.type k%d,@function\nk%d:\n", n, n, n);
  write_loads(file, kinds[t->kind].scalar);
  fprintf(file, " %s\n s_nop 4\n", t->text);
  write_stores(file, t->kind);
  const char *directives = t->kernel != NULL ? t->kernel : "";
  bool keeps = strstr(directives, "denorm_mode_32") == NULL; /* denormals, unless the row says something else of them */
  fprintf(file,
          ".rodata\n.p2align 6\n.amdhsa_kernel k%d\n .amdhsa_user_sgpr_kernarg_segment_ptr 1\n .amdhsa_next_free_vgpr 160\n"
          " .amdhsa_next_free_sgpr 96\n .amdhsa_accum_offset 128\n .amdhsa_kernarg_size 24\n"
          " .amdhsa_group_segment_fixed_size 4096\n%s%s.end_amdhsa_kernel\n.text\n",
          n, keeps ? " .amdhsa_float_denorm_mode_32 3\n" : "", directives);
}

static void write_metadata(FILE *file, const char *chip, const instruction_table *table) {
  fprintf(file, ".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.kernels:\n",
          chip);
  for (int n = 0; n < table->count; n++)
    if (on_chip(&table->tests[n], chip))
      fprintf(file,
              "  - .name: k%d\n    .symbol: k%d.kd\n    .kernarg_segment_size: 24\n    .kernarg_segment_align: 8\n"
              "    .group_segment_fixed_size: 4096\n    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n"
              "    .sgpr_count: 96\n    .vgpr_count: 160\n    .max_flat_workgroup_size: 64\n    .args:\n"
              "      - { .offset: 0, .size: 8, .value_kind: global_buffer }\n"
              "      - { .offset: 8, .size: 8, .value_kind: global_buffer }\n"
              "      - { .offset: 16, .size: 8, .value_kind: by_value }\n",
              n, n);
  fputs("...\n.end_amdgpu_metadata\n", file);
}

typedef struct sources {
  const char *chip;
  const instruction_table *table;
} sources;

static void write_all(FILE *file, const void *argument) {
  const sources *s = argument;
  fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n", s->chip);
  for (int n = 0; n < s->table->count; n++)
    if (on_chip(&s->table->tests[n], s->chip)) write_kernel(file, n, &s->table->tests[n]);
  write_metadata(file, s->chip, s->table);
}

/* ---- Running ---- */

static void expect_lane(const instruction_test *t, int i, uint64_t exec, uint32_t want[4]) {
  const test_item *x = &items[i];
  int lane = kinds[t->kind].scalar ? 0 : i % TEST_LANES;
  memcpy(want, x->old, sizeof x->old);
  if (!kinds[t->kind].scalar && (exec >> lane & 1) == 0) {
    want[kinds[t->kind].dwords & 3] = kinds[t->kind].extra ? 0 : want[kinds[t->kind].dwords & 3];
    return;
  }
  fesetround(t->round);
  if (t->wide != NULL) {
    t->wide(x - lane, lane, exec, want);
  } else {
    uint64_t value = t->expect(x->a, x->b, x->c[0], x->old[0]);
    memcpy(want, &value, sizeof value);
  }
  fesetround(FE_TONEAREST);
}

static void print_dwords(const char *label, const uint32_t *dword, int count) {
  fprintf(stderr, "%s 0x", label);
  for (int d = count - 1; d >= 0; d--) fprintf(stderr, "%08x", dword[d]);
}

static int check(const instruction_test *t, uint64_t exec) {
  int dwords = kinds[t->kind].dwords + kinds[t->kind].extra;
  for (int i = 0; i < ITEMS; i++) {
    const test_item *x = &items[i];
    uint32_t want[4];
    expect_lane(t, i, exec, want);
    bool on = kinds[t->kind].scalar || (exec >> (i % TEST_LANES) & 1) != 0;
    if (result_equal(on ? t->real : 0, t->ulp, dwords, results[i], want)) continue;
    fprintf(stderr, "%s: a = 0x%llx, b = 0x%llx, c = 0x%llx, old = 0x%llx, lane %s:", t->text, (unsigned long long)x->a,
            (unsigned long long)x->b, (unsigned long long)x->c[0], (unsigned long long)x->old[0], on ? "on" : "off");
    print_dwords(" got", results[i], dwords);
    print_dwords(": must be", want, dwords);
    fputc('\n', stderr);
    return 1;
  }
  return 0;
}

typedef struct setup {
  gfxsim_device *device;
  gfxsim_object *object;
  uint64_t input, output;
} setup;

static int run(const setup *s, const instruction_test *t, int n, uint64_t exec) {
  struct {
    uint64_t items, results, exec;
  } args = {s->input, s->output, exec};
  uint32_t block = kinds[t->kind].scalar ? 1 : TEST_LANES;
  gfxsim_launch launch = {.grid = {ITEMS / block, 1, 1}, .block = {block, 1, 1}, .args = &args, .arg_bytes = sizeof args};
  char name[16];
  gfxsim_kernel *kernel;
  snprintf(name, sizeof name, "k%d", n);
  if (gfxsim_write(s->device, s->input, items, sizeof items) != GFXSIM_OK ||
      gfxsim_kernel_find(s->object, name, &kernel) != GFXSIM_OK || gfxsim_run(kernel, &launch) != GFXSIM_OK ||
      gfxsim_read(s->device, s->output, results, sizeof results) != GFXSIM_OK) {
    fprintf(stderr, "%s: %s\n", t->text, gfxsim_last_error());
    return 1;
  }
  return check(t, exec);
}

static int run_all(const char *chip, const instruction_table *table, const void *data, size_t bytes) {
  setup s;
  int failures = 0, count = 0;
  if (gfxsim_open(chip, NULL, &s.device) != GFXSIM_OK || gfxsim_load(s.device, data, bytes, &s.object) != GFXSIM_OK ||
      gfxsim_alloc(s.device, sizeof items, &s.input) != GFXSIM_OK ||
      gfxsim_alloc(s.device, sizeof results, &s.output) != GFXSIM_OK) {
    fprintf(stderr, "instructions: %s\n", gfxsim_last_error());
    return 1;
  }
  for (int n = 0; n < table->count; n++) {
    const instruction_test *t = &table->tests[n];
    if (!on_chip(t, chip)) continue;
    count++;
    if (!make_items(t)) {
      fprintf(stderr, "%s: no edge operands \"%s\"\n", t->text, t->edges);
      failures++;
      continue;
    }
    int failed = run(&s, t, n, UINT64_MAX);
    if (failed == 0 && !kinds[t->kind].scalar) failed = run(&s, t, n, 0x6db6db6db6db6db6);
    failures += failed;
  }
  gfxsim_close(s.device);
  printf("%s: %d instructions, %d failed\n", table->name, count, failures);
  return failures > 0 || count == 0;
}

static int assemble_and_run(char *clang, const char *chip, const instruction_table *table) {
  static uint8_t data[1 << 23];
  sources from = {chip, table};
  size_t bytes = assemble(clang, chip, write_all, &from, data, sizeof data);
  return bytes == 0 ? 1 : run_all(chip, table, data, bytes);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "list") == 0) {
    for (int f = 0; f < TABLES; f++)
      for (int n = 0; n < tables[f]->count; n++) puts(tables[f]->tests[n].text);
    return 0;
  }
  for (int f = 0; argc == 4 && f < TABLES; f++)
    if (strcmp(argv[3], tables[f]->name) == 0) return assemble_and_run(argv[1], argv[2], tables[f]);
  fprintf(stderr, "usage: instructions list, or instructions CLANG CHIP FAMILY with FAMILY one of");
  for (int f = 0; f < TABLES; f++) fprintf(stderr, " %s", tables[f]->name);
  fputc('\n', stderr);
  return 2;
}
