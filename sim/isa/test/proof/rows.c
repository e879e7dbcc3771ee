/* Rules that every row of the families' tables must keep: a name once, which a mnemonic can have; a shape of known letters; `@`
 * at every operand that is an address, since the check of uninitialised values tells addresses from data by it; and the facts
 * that checks and counters read from the row. Here these are worked out again from the names, which follow the ISA's rules: a
 * row that lacks a fact, or has a wrong one, fails. */
#include <stdio.h>
#include <string.h>

#include "sim/base/chip.h"
#include "sim/count/rate.h"
#include "sim/isa/op/ops.h"
#include "sim/isa/text.h"

static int failures;

static void fail(const char *name, const char *rule) {
  fprintf(stderr, "rows: %s: %s\n", name, rule);
  failures++;
}

/* The operands of an address in LLVM's syntax: buffers have a vector address, a resource and an offset; global and scratch
 * memory a vector and a scalar address; scalar memory a base and an offset. */
static const struct {
  const char *prefix;
  int operands;
} addresses[] = {
    {"buffer_", 3}, {"global_", 2},  {"scratch_", 2},  {"flat_", 1},     {"ds_", 1},
    {"s_load_", 2}, {"s_store_", 2}, {"s_buffer_", 2}, {"s_atomic_", 2},
};

/* No operand is the address: caches, the lane pattern in the instruction itself, or M0. */
static bool without_address(const op *o) {
  return strcmp(o->shape, "*") == 0 || strcmp(o->name, "ds_swizzle_b32") == 0 ||
         ((o->implied & IMPLIED_M0) != 0 && !o->to_lds && strncmp(o->name, "ds_", 3) == 0);
}

static void check_address(const op *o) {
  int marked = 0;
  for (const char *at = o->shape; *at != '\0'; at++) {
    marked += *at == '@';
    if (*at == 's' && (at == o->shape || at[-1] != '@')) fail(o->name, "s is an address or offset and needs an @");
  }
  for (size_t a = 0; a < sizeof addresses / sizeof addresses[0]; a++) {
    if (strncmp(o->name, addresses[a].prefix, strlen(addresses[a].prefix)) != 0) continue;
    if (marked != (without_address(o) ? 0 : addresses[a].operands)) fail(o->name, "every operand of its address needs an @");
  }
}

static bool starts(const char *name, const char *const *prefixes) {
  for (; *prefixes != NULL; prefixes++)
    if (strncmp(name, *prefixes, strlen(*prefixes)) == 0) return true;
  return false;
}
#define STARTS(name, ...) starts(name, (const char *const[]){__VA_ARGS__, NULL})
static bool has(const char *name, const char *part) { return strstr(name, part) != NULL; }

/* ---- Names and shapes that the decoder can find and read ---- */

static bool ends_with(const char *name, const char *end) {
  size_t length = strlen(name), tail = strlen(end);
  return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* The decoder looks for a mnemonic without its encoding, in a buffer of this size. */
static void check_name(const op *o) {
  static const char *const encodings[] = {"_e32", "_e64", "_dpp", "_sdwa"};
  text_line line;
  if (o->name[0] == '\0' || strcspn(o->name, " \t\n") != strlen(o->name) || strlen(o->name) >= sizeof line.mnemonic)
    fail(o->name, "no disassembler's mnemonic is like this name");
  for (size_t e = 0; e < sizeof encodings / sizeof encodings[0]; e++)
    if (ends_with(o->name, encodings[e])) fail(o->name, "the name must not have the encoding's suffix");
  if (o->run == NULL) fail(o->name, "has no function");
}

/* inst.h lists the letters. Before a letter stand, in this order and each at most once, `?` or `!`, `=` or `+`, and `@`. */
static void check_shape(const op *o) {
  const char *at = o->shape;
  int operands = 0;
  if (strcmp(at, "*") == 0) return;
  for (; *at != '\0'; at++, operands++) {
    if (*at == '?' || *at == '!') at++;
    if (*at == '=' || *at == '+') at++;
    if (*at == '@') at++;
    if (*at != '\0' && strchr("bfhkwBIdpqKFDmrsxi", *at) != NULL) continue;
    fail(o->name, "its shape has a letter that inst.h does not explain");
    return;
  }
  if (operands > OPERANDS) fail(o->name, "its shape has more operands than an instruction can have");
}

/* ---- Memory ---- */

static memory_kind memory_of(const op *o, inst_class class) {
  bool memory =
      class == CLASS_SMEM || class == CLASS_LDS || class == CLASS_VMEM || class == CLASS_FLAT || class == CLASS_SCRATCH;
  if (!memory) return MEMORY_NONE;
  if (STARTS(o->name, "s_mem", "ds_nop")) return MEMORY_OTHER;
  if (STARTS(o->name, "ds_permute", "ds_bpermute", "ds_swizzle")) return MEMORY_LANES;
  if (has(o->name, "_load_") || STARTS(o->name, "ds_read")) return MEMORY_LOAD;
  if (has(o->name, "_store_") || (STARTS(o->name, "ds_write"))) return MEMORY_STORE;
  return has(o->name, "cmp") ? MEMORY_COMPARE : MEMORY_ATOMIC;
}

static half half_of(const char *name) {
  const char *at = strstr(name, "_d16");
  return at == NULL ? HALF_CLEARS : strcmp(at, "_d16_hi") == 0 ? HALF_HIGH : HALF_LOW;
}

static void check_memory(const op *o, inst_class class) {
  if (o->memory != memory_of(o, class)) fail(o->name, ".memory is missing or wrong");
  if (o->memory != MEMORY_NONE && o->half != half_of(o->name)) fail(o->name, ".half is missing or wrong");
  if (o->transposes != has(o->name, "_tr_")) fail(o->name, ".transposes is missing or wrong");
  if (o->to_lds != has(o->name, "_load_lds_")) fail(o->name, ".to_lds is missing or wrong");
}

/* ---- Waits, barriers, and what is issued to no unit ---- */

static sync_kind sync_of(const char *name) {
  if (STARTS(name, "s_waitcnt")) return SYNC_WAIT;
  if (STARTS(name, "buffer_wbl2")) return SYNC_WRITE_BACK;
  if (STARTS(name, "buffer_inv")) return SYNC_INVALIDATE;
  if (STARTS(name, "s_barrier")) return SYNC_BARRIER;
  return STARTS(name, "s_endpgm") ? SYNC_END : SYNC_NONE;
}

static void check_sync(const op *o) {
  if (o->sync != sync_of(o->name)) fail(o->name, ".sync is missing or wrong");
  if (o->internal != STARTS(o->name, "s_nop", "s_waitcnt", "s_barrier", "s_sleep", "s_setprio"))
    fail(o->name, ".internal is missing or wrong");
}

/* ---- Rates, and shapes of matrices ---- */

static void check_rate(const op *o, inst_class class) {
  valu_rate want = RATE_FULL;
  if (STARTS(o->name, "v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_")) want = RATE_TRANSCENDENTAL;
  if (STARTS(o->name, "v_swap_b32", "v_permlane16_swap", "v_permlane32_swap")) want = RATE_TWO_RESULTS;
  if (STARTS(o->name, "v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mad_u64_u32", "v_mad_i64_i32") && !has(o->name, "24"))
    want = RATE_MULTIPLY;
  if (o->rate != want) fail(o->name, ".rate is missing or wrong");
  if (want != RATE_FULL && class != CLASS_VALU) fail(o->name, ".rate belongs to CLASS_VALU");
}

static const char *const type_names[] = {
    [MFMA_F16] = "f16", [MFMA_BF16] = "bf16", [MFMA_F32] = "f32", [MFMA_XF32] = "xf32",    [MFMA_FP8] = "fp8",
    [MFMA_BF8] = "bf8", [MFMA_I8] = "i8",     [MFMA_F64] = "f64", [MFMA_F8F6F4] = "f8f6f4"};

/* v_mfma_f32_32x32x4_2b_f16, v_mfma_scale_f32_16x16x128_f8f6f4, v_smfmac_f32_16x16x32_fp8_bf8 */
static void check_matrix(const chip *c, const op *o, inst_class class) {
  const matrix_shape *s = &o->matrix;
  if ((class == CLASS_MFMA) != STARTS(o->name, "v_mfma_", "v_smfmac_")) fail(o->name, "CLASS_MFMA is missing or wrong");
  if (class != CLASS_MFMA) {
    if (s->m != 0) fail(o->name, ".matrix belongs to CLASS_MFMA");
    return;
  }
  char shape[64], blocks[16] = "";
  if (s->blocks > 1) snprintf(blocks, sizeof blocks, "%db_", s->blocks);
  if (s->a == s->b && s->a != MFMA_FP8 && s->a != MFMA_BF8)
    snprintf(shape, sizeof shape, "_%dx%dx%d_%s%s", s->m, s->m, s->k, blocks, type_names[s->a]);
  else
    snprintf(shape, sizeof shape, "_%dx%dx%d_%s%s_%s", s->m, s->m, s->k, blocks, type_names[s->a], type_names[s->b]);
  const char *end = strlen(o->name) > strlen(shape) ? o->name + strlen(o->name) - strlen(shape) : "";
  if (strcmp(end, shape) != 0) fail(o->name, ".matrix is missing or wrong");
  inst i = {.op = o, .class = (u8) class};
  if (rate_clocks(c, &i) == 0 || inst_flops(&i) == 0) fail(o->name, "rate_clocks or inst_flops is 0");
}

int main(void) {
  chip c;
  int rows = 0;
  if (chip_find("gfx950", &c) != GFXSIM_OK) return 1;
  for (int f = 0; built_in_families[f] != NULL; f++)
    for (size_t n = 0; n < built_in_families[f]->count; n++) {
      const op *o = &built_in_families[f]->ops[n];
      const family *of;
      if (op_find(o->name, &of) != o) fail(o->name, "the name stands in two rows");
      check_name(o);
      check_shape(o);
      check_address(o);
      check_memory(o, built_in_families[f]->class);
      check_sync(o);
      check_rate(o, built_in_families[f]->class);
      check_matrix(&c, o, built_in_families[f]->class);
      rows++;
    }
  printf("rows: %d rows, %d failures\n", rows, failures);
  return failures > 0;
}
