/* Runs every matrix instruction: a one at every place of A with any B, the same of B, and random small integers, whose sums are
 * exact in any order; with operands in AGPRs, a constant C, broadcasts, permutations, signs and scales. EXEC is half empty,
 * which must not matter. Usage: mfma CLANG CHIP */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/include/gfxsim.h"
#include "sim/test/assemble.h"
#include "sim/test/mfma_shape.h"

enum { PROBLEMS = 256, VARIANTS_MOST = 64, RANDOM = 8 };

/* How an instruction is written. */
typedef struct variant {
  const char *suffix; /* modifiers of the text */
  char file;          /* of A, B, C, D: 'v' or 'a' */
  bool in_place;      /* D is C */
  const char *c;      /* NULL: registers; else a constant, and its value */
  double constant;
  int cbsz, abid, blgp, neg;
  int scale_byte[2];
} variant;

/* A lane's part of a problem. */
typedef struct lane_input {
  uint32_t a[SIDE_DWORDS], b[SIDE_DWORDS], c[RESULT_DWORDS];
  uint32_t scale[2]; /* of a sparse shape the first is the places of A's elements */
  uint32_t unused[14];
} lane_input;
static lane_input inputs[PROBLEMS][LANES];
static uint32_t results[PROBLEMS][LANES][RESULT_DWORDS];

/* The same problem as matrices. */
static double a[PROBLEMS][ELEMENTS_MOST], b[PROBLEMS][ELEMENTS_MOST], c[PROBLEMS][ELEMENTS_MOST];

static int index_of(int block, int row, int column, int rows, int columns) { return (block * rows + row) * columns + column; }
static int a_at(const shape *s, int block, int i, int k) { return index_of(block, i, k, s->m, s->k); }
static int b_at(const shape *s, int block, int k, int j) { return index_of(block, k, j, s->k, s->m); }
static int c_at(const shape *s, int block, int i, int j) { return index_of(block, i, j, s->m, s->m); }

static bool is_scaled(const shape *s) { return strncmp(s->name, "mfma_scale_", 11) == 0; }

/* ---- Variants ---- */

static char suffixes[VARIANTS_MOST][64];

static int broadcasts(const shape *s, variant *v, int count) {
  for (int cbsz = 1; 1 << cbsz <= s->blocks; cbsz++)
    for (int abid = 0; abid < 1 << cbsz; abid++) v[count++] = (variant){.file = 'v', .cbsz = cbsz, .abid = abid};
  for (int blgp = 1; blgp < 8; blgp++) v[count++] = (variant){.file = 'v', .blgp = blgp, .cbsz = s->blocks > 1};
  for (int n = 0; n < count; n++) {
    snprintf(suffixes[n], sizeof suffixes[n], " cbsz:%d abid:%d blgp:%d", v[n].cbsz, v[n].abid, v[n].blgp);
    if (v[n].cbsz + v[n].blgp > 0) v[n].suffix = suffixes[n];
  }
  return count;
}

/* D is C. A word has room for the places of all of a lane's elements one, two or four times: abid says which. */
static int sparse_variants(const shape *s, variant v[VARIANTS_MOST]) {
  int sets = 32 / (s->k * s->m / LANES);
  for (int n = 0; n < sets; n++) {
    snprintf(suffixes[n], sizeof suffixes[n], " abid:%d", n);
    v[n] = (variant){.suffix = n == 0 ? "" : suffixes[n], .file = n == 1 ? 'a' : 'v', .in_place = true, .abid = n};
  }
  return sets;
}

static int variants_of(const shape *s, variant v[VARIANTS_MOST]) {
  int count = 0;
  if (is_sparse(s)) return sparse_variants(s, v);
  v[count++] = (variant){.suffix = "", .file = 'v'};
  v[count++] = (variant){.suffix = "", .file = 'a', .in_place = true};
  v[count++] =
      (variant){.suffix = "", .file = 'v', .c = s->result == I32 ? "-7" : "2.0", .constant = s->result == I32 ? -7 : 2};
  if (s->permutes) return broadcasts(s, v, count);
  if (s->result == F64)
    for (int neg = 1; neg < 8; neg++) {
      snprintf(suffixes[count], sizeof suffixes[count], " neg:[%d,%d,%d]", neg & 1, neg >> 1 & 1, neg >> 2);
      v[count] = (variant){.suffix = suffixes[count], .file = 'v', .neg = neg};
      count++;
    }
  if (!is_f8f6f4(s)) return count;
  if (!is_scaled(s)) {
    for (int n = 0; n < count; n++) v[n].suffix = suffixes[n];
    for (int n = 0; n < count; n++) snprintf(suffixes[n], sizeof suffixes[n], " cbsz:%d blgp:%d", s->a - FP8, s->b - FP8);
    return count;
  }
  for (int n = 0; n < 4; n++) { /* every byte of both scales */
    if (n >= count) v[count++] = v[0];
    v[n].scale_byte[0] = n;
    v[n].scale_byte[1] = (n + 1) % 4;
    v[n].suffix = suffixes[n];
    snprintf(suffixes[n], sizeof suffixes[n], " op_sel:[%d,%d,0] op_sel_hi:[%d,%d,0] cbsz:%d blgp:%d", n & 1, (n + 1) & 1,
             n >> 1, (n + 1) % 4 >> 1, s->a - FP8, s->b - FP8);
  }
  return count;
}

/* ---- Source ---- */

typedef struct source {
  const char *chip;
  const shape *shape;
  const variant *variants;
  int count;
} source;

static void write_operand(FILE *file, char letter, int first, int dwords) {
  fprintf(file, dwords == 1 ? "%c%d" : "%c[%d:%d]", letter, first, first + dwords - 1);
}

/* A is in register 2, B in 10, C in 18, the scales in v50 and v51, D goes to 52. v0: lane; s2: problem. */
static void write_kernel(FILE *file, const shape *s, const variant *v, int n) {
  int result = s->m * s->m * s->blocks / LANES * (s->result == F64 ? 2 : 1), to = v->in_place ? 18 : 52;
  int elements = s->k * s->m * s->blocks / LANES;
  fprintf(file, ".globl k%d\n.p2align 8\n.type k%d,@function\nk%d:\n s_load_dwordx4 s[4:7], s[0:1], 0x0\n", n, n, n);
  fprintf(file, " s_lshl_b32 s3, s2, 14\n s_lshl_b32 s2, s2, 13\n s_waitcnt lgkmcnt(0)\n");
  fprintf(file, " s_add_u32 s4, s4, s3\n s_addc_u32 s5, s5, 0\n s_add_u32 s6, s6, s2\n s_addc_u32 s7, s7, 0\n");
  fprintf(file, " v_lshlrev_b32 v1, 8, v0\n v_lshlrev_b32 v0, 7, v0\n");
  for (int d = 0; d < 48; d += 4)
    fprintf(file, " global_load_dwordx4 %c[%d:%d], v1, s[4:5] offset:%d\n", v->file, 2 + d, 5 + d, 4 * d);
  fprintf(file, " global_load_dwordx2 v[50:51], v1, s[4:5] offset:192\n s_waitcnt vmcnt(0)\n");
  for (int d = 0; d < RESULT_DWORDS && !v->in_place; d++) /* all are stored */
    fprintf(file, v->file == 'a' ? " v_accvgpr_write_b32 a%d, 0\n" : " v_mov_b32 v%d, 0\n", to + d);
  fprintf(file, " s_mov_b64 s[8:9], exec\n s_mov_b32 exec_lo, 0x0f0f00ff\n s_mov_b32 exec_hi, 0x12345678\n v_%s ", s->name);
  write_operand(file, v->file, to, result);
  fputs(", ", file);
  write_operand(file, v->file, 2, elements * type_bits(s->a) / 32 / (is_sparse(s) ? 2 : 1));
  fputs(", ", file);
  write_operand(file, v->file, 10, elements * type_bits(s->b) / 32);
  fputs(", ", file);
  if (is_sparse(s))
    fputs("v50", file);
  else if (v->c != NULL)
    fputs(v->c, file);
  else
    write_operand(file, v->file, 18, result);
  fprintf(file, "%s%s\n s_nop 15\n s_nop 15\n s_mov_b64 exec, s[8:9]\n", is_scaled(s) ? ", v50, v51" : "", v->suffix);
  for (int d = 0; d < RESULT_DWORDS; d += 4)
    fprintf(file, " global_store_dwordx4 v0, %c[%d:%d], s[6:7] offset:%d\n", v->file, to + d, to + d + 3, 4 * d);
  fputs(" s_endpgm\n", file);
  fprintf(file,
          ".rodata\n.p2align 6\n.amdhsa_kernel k%d\n .amdhsa_user_sgpr_kernarg_segment_ptr 1\n .amdhsa_next_free_vgpr 192\n"
          " .amdhsa_next_free_sgpr 32\n .amdhsa_accum_offset 96\n .amdhsa_kernarg_size 16\n .amdhsa_float_denorm_mode_32 3\n"
          ".end_amdhsa_kernel\n.text\n",
          n);
}

static void write_source(FILE *file, const void *argument) {
  const source *from = argument;
  fprintf(file, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n.text\n", from->chip);
  for (int n = 0; n < from->count; n++) write_kernel(file, from->shape, &from->variants[n], n);
  fprintf(file, ".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.kernels:\n",
          from->chip);
  for (int n = 0; n < from->count; n++)
    fprintf(file,
            "  - .name: k%d\n    .symbol: k%d.kd\n    .kernarg_segment_size: 16\n    .kernarg_segment_align: 8\n"
            "    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    .wavefront_size: 64\n"
            "    .sgpr_count: 32\n    .vgpr_count: 192\n    .max_flat_workgroup_size: 64\n    .args:\n"
            "      - { .offset: 0, .size: 8, .value_kind: global_buffer }\n"
            "      - { .offset: 8, .size: 8, .value_kind: global_buffer }\n",
            n, n);
  fputs("...\n.end_amdgpu_metadata\n", file);
}

/* ---- Problems ---- */

static uint32_t state = 1;
static int below(int n) {
  state = state * 1664525 + 1013904223; /* Knuth's, from "Numerical Recipes" */
  return (int)((state >> 8) % (uint32_t)n);
}
/* Every type has these, and sums of 128 products of two of them are exact in f32. */
static double small(void) { return below(9) - 4; }

static void set_bits(uint32_t *dwords, int element, int bits, uint64_t code) {
  int at = element * bits, shift = at % 32;
  dwords[at / 32] |= (uint32_t)(code << shift);
  if (shift + bits > 32) dwords[at / 32 + 1] |= (uint32_t)(code >> (32 - shift));
}

static int blgp_lane(int blgp, int lane) {
  static const int quarter[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                    {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
  return quarter[blgp][lane / 16] * 16 + lane % 16;
}

static void make_scales(const shape *s, int problem) {
  if (!is_scaled(s)) return;
  for (int l = 0; l < LANES; l++)
    for (int side = 0; side < 2; side++)
      for (int byte = 0; byte < 4; byte++) inputs[problem][l].scale[side] |= (uint32_t)(125 + below(5)) << (8 * byte);
  if (problem % RANDOM == 0) inputs[problem][below(LANES)].scale[problem / RANDOM % 2] = 0xffffffff; /* NaN */
}

static double scale_of(const shape *s, const variant *v, int problem, int side, int lane) {
  if (!is_scaled(s)) return 1;
  uint32_t code = inputs[problem][lane].scale[side] >> (8 * v->scale_byte[side]) & 255;
  return code == 255 ? NAN : ldexp(1, (int)code - 127);
}

/* Keeps two of every four neighbours along k, one of which is where a lone element is, and makes the others 0. */
static void place_sparse(const shape *s, const variant *v, int p) {
  for (int i = 0; i < s->m; i++)
    for (int four = 0; four < s->k; four += 4) {
      double *row = &a[p][a_at(s, 0, i, four)];
      int first = below(3), second = first + 1 + below(3 - first);
      for (int n = 0; n < 4; n++)
        if (row[n] != 0 && row[(n + 1) % 4] == 0 && row[(n + 2) % 4] == 0) {
          first = n < 3 ? n : below(3);
          second = n < 3 ? n + 1 + below(3 - n) : 3;
        }
      for (int n = 0; n < 4; n++)
        if (n != first && n != second) row[n] = 0;
      place at = input_place(s, s->a, 0, i, four);
      int stored = at.element / 2, set = v->abid * s->k * s->m / LANES;
      set_bits(inputs[p][at.lane].a, stored, type_bits(s->a), code_of(s->a, row[first]));
      set_bits(inputs[p][at.lane].a, stored + 1, type_bits(s->a), code_of(s->a, row[second]));
      inputs[p][at.lane].scale[0] |= (uint32_t)(first | second << 2) << (set + 2 * stored);
    }
}

/* Stores the matrices to where the instruction has them. `a` and `b` hold what is stored, before scales. */
static void place_all(const shape *s, const variant *v, int p) {
  if (is_sparse(s)) place_sparse(s, v, p);
  for (int block = 0; block < s->blocks; block++)
    for (int i = 0; i < s->m; i++)
      for (int k = 0; k < s->k; k++) {
        double left = is_sparse(s) ? 0 : a[p][a_at(s, block, i, k)], right = b[p][b_at(s, block, k, i)];
        if (left == 0 && right == 0) continue; /* their bits are 0 */
        place of_a = input_place(s, s->a, block, i, k), of_b = input_place(s, s->b, block, i, k);
        set_bits(inputs[p][of_a.lane].a, of_a.element, type_bits(s->a), code_of(s->a, left));
        set_bits(inputs[p][of_b.lane].b, of_b.element, type_bits(s->b), code_of(s->b, right));
      }
  for (int block = 0; block < s->blocks; block++)
    for (int i = 0; i < s->m; i++)
      for (int j = 0; j < s->m; j++) {
        place at = result_place(s, block, i, j);
        set_bits(inputs[p][at.lane].c, at.element, type_bits(s->result), code_of(s->result, c[p][c_at(s, block, i, j)]));
      }
}

/* What the modifiers make of the matrices: for every block the A and B that it multiplies. */
static void modify(const shape *s, const variant *v, int p) {
  bool moves = v->cbsz != 0 || v->blgp != 0, changes = v->neg != 0 || v->c != NULL || is_scaled(s);
  if (!moves && !changes) return;
  static double from_a[ELEMENTS_MOST], from_b[ELEMENTS_MOST], at_lane[LANES][64];
  memcpy(from_a, a[p], sizeof from_a);
  memcpy(from_b, b[p], sizeof from_b);
  for (int block = 0; block < s->blocks; block++)
    for (int i = 0; i < s->m; i++)
      for (int k = 0; k < s->k; k++) {
        place at = input_place(s, s->b, block, i, k);
        at_lane[at.lane][at.element] = from_b[b_at(s, block, k, i)];
      }
  for (int block = 0; block < s->blocks; block++)
    for (int i = 0; i < s->m; i++)
      for (int k = 0; k < s->k; k++) {
        place at = input_place(s, s->b, block, i, k);
        int taken = is_sparse(s) ? block : (block >> v->cbsz << v->cbsz) + v->abid;
        a[p][a_at(s, block, i, k)] =
            from_a[a_at(s, taken, i, k)] * scale_of(s, v, p, 0, scale_lane(s, i, k)) * (v->neg & 1 ? -1 : 1);
        b[p][b_at(s, block, k, i)] = at_lane[blgp_lane(v->blgp, at.lane)][at.element] *
                                     scale_of(s, v, p, 1, scale_lane(s, i, k)) * (v->neg & 2 ? -1 : 1);
      }
  for (int e = 0; e < ELEMENTS_MOST; e++) {
    if (v->c != NULL) c[p][e] = v->constant;
    if (v->neg & 4) c[p][e] = -c[p][e];
  }
}

/* hot: the element of A, or after A's of B, that alone is not 0; -1: none is. */
static void make_problem(const shape *s, const variant *v, int p, int hot) {
  int elements = s->m * s->k * s->blocks;
  memset(inputs[p], 0, sizeof inputs[p]);
  for (int e = 0; e < s->m * s->m * s->blocks; e++) c[p][e] = small();
  for (int e = 0; e < elements; e++) {
    a[p][e] = hot < 0 || hot >= elements ? small() : 0;
    b[p][e] = hot < elements ? small() : 0;
  }
  if (hot >= 0) {
    type t = hot < elements ? s->a : s->b;
    double one = type_bits(t) > 8 ? 3 : value_of(t, (uint64_t)(hot % (1 << type_bits(t))));
    *(hot < elements ? &a[p][hot] : &b[p][hot - elements]) = isfinite(one) ? one : 1; /* every finite code has its turn */
  }
  make_scales(s, p);
  place_all(s, v, p);
  modify(s, v, p);
}

static void expect(const shape *s, int p) { /* c becomes c + a * b */
  for (int block = 0; block < s->blocks; block++)
    for (int k = 0; k < s->k; k++)
      for (int i = 0; i < s->m; i++) {
        double left = a[p][a_at(s, block, i, k)];
        for (int j = 0; j < s->m && left != 0; j++) c[p][c_at(s, block, i, j)] += left * b[p][b_at(s, block, k, j)];
        for (int j = 0; j < s->m && left == 0; j++)
          if (isnan(b[p][b_at(s, block, k, j)])) c[p][c_at(s, block, i, j)] = NAN;
      }
}

static int check(const shape *s, const variant *v, int p) {
  expect(s, p);
  for (int block = 0; block < s->blocks; block++)
    for (int i = 0; i < s->m; i++)
      for (int j = 0; j < s->m; j++) {
        place at = result_place(s, block, i, j);
        uint64_t code = results[p][at.lane][at.element];
        if (s->result == F64) memcpy(&code, &results[p][at.lane][2 * at.element], sizeof code);
        double got = value_of(s->result, code), want = c[p][c_at(s, block, i, j)];
        if (got == want || (isnan(got) && isnan(want))) continue;
        fprintf(stderr, "v_%s%s: block %d, D[%d][%d], lane %d, register %d: got %g: must be %g\n", s->name, v->suffix, block, i,
                j, at.lane, at.element, got, want);
        return 1;
      }
  return 0;
}

/* ---- Running ---- */

typedef struct setup {
  gfxsim_device *device;
  gfxsim_object *object;
  uint64_t input, output;
} setup;

/* One in `every` places of operands is tried: the one at `offset`, and so on. The number of places is a multiple of 8.
 */
static int every = 1, offset;

static int run_batch(const setup *at, const shape *s, const variant *v, int n, int first, int count, int hot_most) {
  struct {
    uint64_t input, output;
  } args = {at->input, at->output};
  gfxsim_launch launch = {.grid = {(uint32_t)count, 1, 1}, .block = {LANES, 1, 1}, .args = &args, .arg_bytes = sizeof args};
  gfxsim_kernel *kernel;
  char name[16];
  snprintf(name, sizeof name, "k%d", n);
  for (int p = 0; p < count; p++) make_problem(s, v, p, first + p < hot_most ? (first + p) * every + offset : -1);
  if (gfxsim_kernel_find(at->object, name, &kernel) != GFXSIM_OK ||
      gfxsim_write(at->device, at->input, inputs, sizeof inputs[0] * (size_t)count) != GFXSIM_OK ||
      gfxsim_run(kernel, &launch) != GFXSIM_OK ||
      gfxsim_read(at->device, at->output, results, sizeof results[0] * (size_t)count) != GFXSIM_OK)
    return fprintf(stderr, "v_%s%s: %s\n", s->name, v->suffix, gfxsim_last_error()), 1;
  for (int p = 0; p < count; p++)
    if (check(s, v, p) != 0) return 1;
  return 0;
}

static int run_shape(char *clang, const char *chip, const shape *s) {
  static uint8_t data[1 << 20];
  variant variants[VARIANTS_MOST] = {0};
  source from = {chip, s, variants, variants_of(s, variants)};
  size_t bytes = assemble(clang, chip, write_source, &from, data, sizeof data);
  setup at = {0};
  if (bytes == 0) return 1;
  if (gfxsim_open(chip, NULL, &at.device) != GFXSIM_OK || gfxsim_load(at.device, data, bytes, &at.object) != GFXSIM_OK ||
      gfxsim_alloc(at.device, sizeof inputs, &at.input) != GFXSIM_OK ||
      gfxsim_alloc(at.device, sizeof results, &at.output) != GFXSIM_OK)
    return fprintf(stderr, "mfma: %s\n", gfxsim_last_error()), 1;
  int failed = 0;
  for (int n = 0; n < from.count && failed == 0; n++) {
    /* Every place once, with the first variant; mixed pairs of fp8 and bf8, and scaled forms, have the places of others. */
    bool places = n == 0 && !is_scaled(s) && (s->a == s->b || is_f8f6f4(s));
    int hot = places ? 2 * s->m * s->k * s->blocks / every : 0;
    for (int first = 0; first < hot + RANDOM && failed == 0; first += PROBLEMS) {
      int left = hot + RANDOM - first;
      failed = run_batch(&at, s, &variants[n], n, first, left < PROBLEMS ? left : PROBLEMS, hot);
    }
  }
  gfxsim_close(at.device);
  return failed;
}

int main(int argc, char **argv) {
  bool in_parts = argc == 7 && strcmp(argv[3], "--every") == 0 && strcmp(argv[5], "--offset") == 0;
  if (in_parts) every = atoi(argv[4]);
  if ((argc != 3 && !in_parts) || every < 1) return fprintf(stderr, "usage: mfma CLANG CHIP [--every N --offset K]\n"), 2;
  if (in_parts) offset = (int)(strtoull(argv[6], NULL, 10) % (unsigned)every);
  int failures = 0, count = 0;
  for (int n = 0; n < shape_count; n++) {
    if (shapes[n].chip != NULL && strcmp(shapes[n].chip, argv[2]) != 0) continue;
    failures += run_shape(argv[1], argv[2], &shapes[n]);
    count++;
  }
  printf("%d instructions, %d failed\n", count, failures);
  return failures > 0 || count == 0;
}
