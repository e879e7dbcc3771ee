#include "decode.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "text.h"

enum { BLOCK_MOST = 256, TEXT_MOST = 256 };

typedef struct chunk { /* memory that lives as long as the code */
  struct chunk *next;
  _Alignas(64) u8 data[];
} chunk;

struct code {
  code_range range;
  LLVMDisasmContextRef llvm;
  pthread_mutex_t lock;           /* of all but `starts`, once published */
  _Atomic(const block *) *starts; /* by (pc - range.begin) / 4 */
  chunk *chunks;
};

static void *code_alloc(code *c, size_t bytes) {
  chunk *made = aligned_alloc(64, (sizeof *made + bytes + 63) / 64 * 64);
  if (made == NULL) return NULL;
  made->next = c->chunks;
  c->chunks = made;
  return memset(made->data, 0, bytes);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void start_llvm(void) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
}

gfxsim_status code_make(const code_range *range, code **made) {
  pthread_once(&once, start_llvm);
  code *c = calloc(1, sizeof *c);
  if (c == NULL) return fail(GFXSIM_NO_MEMORY, "kernel %s: no memory to decode it", range->kernel);
  c->range = *range;
  c->starts = calloc((range->end - range->begin) / 4 + 1, sizeof *c->starts);
  c->llvm = LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", range->chip, NULL, 0, NULL, NULL);
  if (c->starts == NULL || c->llvm == NULL) {
    const char *what = c->starts == NULL ? "no memory to decode it" : "this LLVM has no disassembler for the chip";
    code_free(c);
    return fail(GFXSIM_NO_MEMORY, "kernel %s: %s", range->kernel, what);
  }
  pthread_mutex_init(&c->lock, NULL);
  *made = c;
  return GFXSIM_OK;
}

void code_free(code *c) {
  if (c == NULL) return;
  if (c->llvm != NULL) LLVMDisasmDispose(c->llvm);
  while (c->chunks != NULL) {
    chunk *next = c->chunks->next;
    free(c->chunks);
    c->chunks = next;
  }
  free(c->starts);
  free(c);
}

/* ---- Constants ---- */

/* The nine inline floats in every format. Source: CDNA 4 ISA, table 65. */
static const struct {
  double value;
  u16 f16, bf16;
  u32 f32;
  u64 f64;
} inline_floats[] = {
    {0.5, 0x3800, 0x3f00, 0x3f000000, 0x3fe0000000000000},        {-0.5, 0xb800, 0xbf00, 0xbf000000, 0xbfe0000000000000},
    {1.0, 0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000},        {-1.0, 0xbc00, 0xbf80, 0xbf800000, 0xbff0000000000000},
    {2.0, 0x4000, 0x4000, 0x40000000, 0x4000000000000000},        {-2.0, 0xc000, 0xc000, 0xc0000000, 0xc000000000000000},
    {4.0, 0x4400, 0x4080, 0x40800000, 0x4010000000000000},        {-4.0, 0xc400, 0xc080, 0xc0800000, 0xc010000000000000},
    {0.15915494, 0x3118, 0x3e23, 0x3e22f983, 0x3fc45f306dc9c882},
};

static bool float_bits(const text_operand *t, char type, u64 *bits) {
  double value;
  memcpy(&value, &t->o.value, sizeof value);
  for (size_t f = 0; f < sizeof inline_floats / sizeof inline_floats[0]; f++) {
    double distance = value - inline_floats[f].value;
    if (distance > 1e-7 || distance < -1e-7) continue;
    switch (type) {
      case 'h':
      case 'p': *bits = inline_floats[f].f16; break;
      case 'k':
      case 'K': *bits = inline_floats[f].bf16; break;
      case 'd':
      case 'D':
      case 'B':
      case 'I': *bits = inline_floats[f].f64; break;
      default: *bits = inline_floats[f].f32; break; /* 16-bit integers too; 'F': the pair gets it twice */
    }
    return true;
  }
  return false;
}

static int type_registers(char type) { return strchr("BIdDmF", type) != NULL ? 2 : 1; }

/* An integer in the text is an inline constant (-16 to 64, sign-extended) or a 32-bit literal. A literal of an f64 is its upper
 * half; of 64-bit integers it is extended by sign or by zeros (CDNA 4 ISA 6.2.1.1). */
static u64 integer_bits(u64 value, bool literal, char type) {
  bool is_inline = !literal && (i64)value >= -16 && (i64)value <= 64;
  if ((type == 'd' || type == 'D') && !is_inline) return value << 32;
  if (type == 'I' && !is_inline) return (u64)(i64)(i32)(u32)value;
  if (type == 'F') return (value & UINT32_MAX) | value << 32;
  return type_registers(type) == 2 ? value : value & UINT32_MAX;
}

/* Folds the modifiers, if they are wanted so, and spreads the bits over the lanes. */
static bool bind_constant(code *c, operand *o, u64 bits, bool fold) {
  int sign = strchr("dB", o->type) != NULL ? 63 : strchr("hkw", o->type) != NULL ? 15 : 31;
  if (o->abs && fold) bits &= ~(UINT64_C(1) << sign);
  if (o->neg && fold) bits ^= UINT64_C(1) << sign;
  if (fold) o->neg = o->abs = false;
  o->value = bits;
  u32(*lanes)[LANES] = code_alloc(c, 2 * sizeof *lanes);
  if (lanes == NULL) return false;
  for (int l = 0; l < LANES; l++) {
    lanes[0][l] = (u32)bits;
    lanes[1][l] = (u32)(bits >> 32);
  }
  o->lanes = lanes[0];
  return true;
}

/* ---- Binding: the text's operands against the row's shape ---- */

static const char no_memory[] = "no memory to decode it";

static const char *bind_register(const code_range *r, operand *o) {
  if (o->kind == OPERAND_SGPR) return o->reg + o->count > SGPRS ? "SGPR out of range" : NULL;
  /* One register file holds both: a0 is register accum_offset, and v[n] is register n, also beyond accum_offset (LLVM's
   * AMDGPUUsage, ACCUM_OFFSET: "offset of a first AccVGPR in the unified register file"). */
  o->reg = (u16)(o->reg + (o->agpr ? r->accum_offset : 0));
  if (o->reg + o->count > r->vgprs) return "register beyond those that the kernel descriptor allocates";
  return NULL;
}

static const char *bind_operand(code *c, const text_operand *t, char type, bool write, bool read, bool fold, operand *o) {
  *o = t->o;
  o->type = (u8)type;
  o->write = write;
  o->read = read;
  if (type == 'i' || o->kind == OPERAND_OFF) return NULL;
  if (o->kind == OPERAND_TEXT) return "operand not implemented";
  if (write && o->kind != OPERAND_SGPR && o->kind != OPERAND_VGPR) return "destination not implemented";
  if (o->kind == OPERAND_CONST) {
    u64 bits = o->value;
    if (t->number && t->decimal && !float_bits(t, type, &bits)) return "constant not implemented";
    if (t->number && !t->decimal) bits = integer_bits(o->value, t->literal, type);
    o->count = (u8)type_registers(type);
    return bind_constant(c, o, bits, fold) ? NULL : no_memory;
  }
  if (o->kind != OPERAND_SGPR && o->kind != OPERAND_VGPR) return NULL;
  if (type != 'r' && type != 'D' && o->count != type_registers(type)) return "operand of an unexpected width";
  o->plain = o->kind == OPERAND_VGPR && !o->neg && !o->abs && !o->sext;
  return bind_register(&c->range, o);
}

static const char *bind_shape(code *c, const text_line *line, inst *i) {
  const char *shape = i->op->shape;
  int n = 0, source = 0;
  for (; *shape != '\0'; shape++) {
    bool kept = *shape != '?' || atomic_returns(i), here = *shape != '!' || (i->mods & MOD_LDS) == 0;
    if (*shape == '?' || *shape == '!') shape++;
    bool write = (*shape == '=' || *shape == '+') && kept, read = *shape != '=';
    here = here && (kept || *shape != '=');
    if (*shape == '=' || *shape == '+') shape++;
    bool control = *shape == '@';
    if (control) shape++;
    if (!here) continue;
    if (n == line->count) return "fewer operands than expected";
    bool mixed = *shape == 'x'; /* signs belong to the half that op_sel chooses */
    char type = !mixed ? *shape : (i->op_sel_hi >> source & 1) != 0 ? 'h' : 'f';
    const char *problem = bind_operand(c, &line->operand[n], type, write, read, !mixed, &i->operand[n]);
    source += !write;
    if (problem != NULL) return problem;
    i->operand[n++].control = control;
  }
  i->operands = (u8)n;
  return n == line->count ? NULL : "more operands than expected";
}

/* Under DPP source 0, under SDWA sources 0 and 1, under op_sel halves are no plain rows. */
static void bind_sources(inst *i) {
  u8 source = 0;
  for (int n = 0; n < i->operands; n++) {
    operand *o = &i->operand[n];
    if (o->write) {
      o->source = NO_SOURCE;
      continue;
    }
    bool moved = (source == 0 && (i->mods & MOD_DPP) != 0) || (source < 2 && (i->mods & MOD_SDWA) != 0);
    if (moved || (i->mods & MOD_OP_SEL) != 0) o->plain = false;
    o->source = source++;
  }
}

static const char *bind(code *c, const char *text, inst *i) {
  text_line line;
  const family *of;
  const char *rest = text_mnemonic(text, &line);
  if (rest == NULL) return "the disassembler's text is not understood";
  i->op = op_find(line.mnemonic, &of);
  if (i->op == NULL) return "instruction not implemented";
  i->class = (u8)of->class;
  if (i->op->shape[0] != '*') {
    const char *stuck = text_parse(rest, &line, i);
    if (stuck != NULL) return "operand or modifier not understood";
    const char *problem = bind_shape(c, &line, i);
    if (problem != NULL) return problem;
  }
  if ((i->mods & ~(of->mods | i->op->mods)) != 0) return "modifier not implemented for this instruction";
  i->plain_dst = (i->mods & (MOD_CLAMP | MOD_OMOD | MOD_DPP | MOD_SDWA | MOD_OP_SEL)) == 0 && i->op->half == HALF_CLEARS;
  bind_sources(i);
  return NULL;
}

/* ---- Blocks ---- */

/* Decodes one instruction. What is wrong with it is kept in `problem` and reported when it is executed: dead code may be
 * anything. */
static bool decode_one(code *c, u64 pc, inst *i) {
  char text[TEXT_MOST];
  const u8 *bytes = c->range.bytes + (pc - c->range.begin);
  size_t left = c->range.end - pc;
  *i = (inst){.pc = pc};
  size_t size = LLVMDisasmInstruction(c->llvm, (u8 *)bytes, left, pc, text, sizeof text);
  if (size > sizeof i->word) size = 0;
  memcpy(i->word, bytes, size > 0 ? size : 4);
  i->simm16 = (i16)(i->word[0] & 0xffff);
  i->size = (u8)(size > 0 ? size : 4);
  const char *problem = size == 0 ? "not an instruction" : bind(c, text, i);
  if (problem == no_memory) return false;
  i->run = problem == NULL ? i->op->run : NULL;
  if (size == 0) snprintf(text, sizeof text, ".long 0x%08x", i->word[0]);
  text[strcspn(text, "\n")] = '\0';
  const char *trimmed = text + strspn(text, " \t");
  char *copy = code_alloc(c, strlen(trimmed) + 1);
  if (copy == NULL) return false;
  strcpy(copy, trimmed);
  i->text = copy;
  i->problem = problem;
  return true;
}

static const block *decode_block(code *c, u64 pc) {
  inst *made = calloc(BLOCK_MOST, sizeof *made);
  if (made == NULL) return NULL;
  u32 count = 0;
  bool ends = false, good = true;
  while (good && !ends && count < BLOCK_MOST && pc < c->range.end) {
    inst *i = &made[count];
    good = decode_one(c, pc, i);
    ends = i->run == NULL || i->op->ends;
    pc += i->size;
    count++;
  }
  block *b = good ? code_alloc(c, sizeof *b + count * sizeof *made) : NULL;
  if (b != NULL) {
    b->count = count;
    for (u32 n = 0; n < count; n++) {
      if (made[n].run == NULL) continue;
      b->issued += !made[n].op->internal;
      b->flops += inst_flops(&made[n]);
    }
    memcpy(b->inst, made, count * sizeof *made);
  }
  free(made);
  return b;
}

const block *code_block(code *c, u64 pc) {
  if (pc < c->range.begin || pc >= c->range.end || pc % 4 != 0) return NULL;
  size_t index = (pc - c->range.begin) / 4;
  const block *b = atomic_load_explicit(&c->starts[index], memory_order_acquire);
  if (b != NULL) return b;
  pthread_mutex_lock(&c->lock);
  b = atomic_load_explicit(&c->starts[index], memory_order_relaxed);
  if (b == NULL) {
    b = decode_block(c, pc);
    atomic_store_explicit(&c->starts[index], b, memory_order_release);
  }
  pthread_mutex_unlock(&c->lock);
  return b;
}
