/* The decoded form of one instruction, and the rows that the families of instructions are made of.
 *
 * An instruction is implemented by a row of a family's table: its name without the encoding's suffix, its function, and its
 * shape: one letter per operand of the disassembler's text, `=` before a written one and `+` before one that is read too.
 *
 *   b  32 bits            f  f32    h  f16    k  bf16   w  16-bit integer
 *   B  64 bits, unsigned  I  64 bits, signed  d  f64
 *   p  two f16            q  two 16-bit integers        K  two bf16      F  two f32 (a pair of registers)
 *   D  f64, registers of any number
 *   m  lane mask: a pair of SGPRs             r  registers of any number, or `off`
 *   s  one SGPR or constant used as an address or offset
 *   x  f32, or where op_sel_hi has the source's bit an f16
 *   i  anything: the function looks at the instruction's word
 *
 * An address, a shift amount or another selector has `@` before the letter.
 *
 * The letter decides the number of registers and the bits of constants. A shape of "*" takes no operands from the text. An
 * operand after `!` is not there under the modifier lds. One after `?` belongs to atomics that return: without sc0 `?=` is
 * not there, and `?+` is only read. */
#ifndef GFXSIM_INST_H
#define GFXSIM_INST_H
#include "sim/base/types.h"

typedef struct wave wave;
typedef struct inst inst;
typedef void run_function(wave *w, const inst *i);

/* Scalar registers keep the numbers of the encoding, so that VCC, M0 and EXEC are SGPRs. Source: CDNA 4 ISA, table 65. */
enum { SGPRS = 128, S_FLAT_SCRATCH = 102, S_XNACK = 104, S_VCC = 106, S_M0 = 124, S_EXEC = 126 };

typedef enum operand_kind {
  OPERAND_OFF, /* absent: `off`, `null` */
  OPERAND_SGPR,
  OPERAND_VGPR, /* AGPRs too: their registers lie after the VGPRs */
  OPERAND_CONST,
  OPERAND_SCC,
  OPERAND_VCCZ,
  OPERAND_EXECZ,
  OPERAND_TEXT, /* hwreg(...), a label: the word has it */
} operand_kind;

typedef struct operand {
  u8 kind, type; /* type: the shape's letter */
  u8 count;      /* registers, of 32 bits */
  bool write, read;
  bool neg, abs, sext;
  bool agpr;
  bool control; /* an address or a selector: see enum flow */
  bool plain;   /* a VGPR that needs no modifier: its row is the source */
  u8 source;    /* its number among the sources; NO_SOURCE for a written one */
  u16 reg;
  u64 value;        /* OPERAND_CONST: the bits */
  const u32 *lanes; /* OPERAND_CONST: the bits in every lane, a row per dword, modifiers applied */
} operand;

enum { OPERANDS = 8, NO_SOURCE = 7 };

/* ---- Modifiers of the text ---- */

typedef enum modifier {
  MOD_CLAMP = 1 << 0,
  MOD_OMOD = 1 << 1,
  MOD_OP_SEL = 1 << 2,
  MOD_OP_SEL_HI = 1 << 3,
  MOD_NEG_LO = 1 << 4, /* also DGEMM's neg:[...] */
  MOD_NEG_HI = 1 << 5,
  MOD_DPP = 1 << 6,
  MOD_SDWA = 1 << 7,
  MOD_OFFSET = 1 << 8,
  MOD_OFFSET01 = 1 << 9, /* offset0, offset1 */
  MOD_CACHE = 1 << 10,   /* sc0 sc1 nt: as bits of inst.cache */
  MOD_OFFEN = 1 << 11,
  MOD_IDXEN = 1 << 12,
  MOD_LDS = 1 << 13,
  MOD_MFMA = 1 << 14,    /* cbsz abid blgp */
  MOD_SRC = 1 << 15,     /* neg or abs on a source */
  MOD_SEXT = 1 << 16,    /* sext(...) on a source */
  MOD_SWIZZLE = 1 << 17, /* offset:swizzle(...): raw offset in inst.offset */
  MOD_BITOP3 = 1 << 18,  /* gfx950: the truth table, in inst.bitop3 */
} modifier;

enum { CACHE_SC0 = 1, CACHE_SC1 = 2, CACHE_NT = 4 };

typedef enum sdwa_select { SEL_BYTE_0, SEL_BYTE_1, SEL_BYTE_2, SEL_BYTE_3, SEL_WORD_0, SEL_WORD_1, SEL_DWORD } sdwa_select;
typedef enum sdwa_unused { UNUSED_PAD, UNUSED_SEXT, UNUSED_PRESERVE } sdwa_unused;

/* How definedness goes from sources to the result. */
typedef enum flow {
  FLOW_ALL,     /* a bit that is undefined in any source makes the whole result undefined */
  FLOW_BITWISE, /* bit by bit, by op.table */
  FLOW_CARRY,   /* from the lowest undefined bit upward: add, sub, mul */
  FLOW_MOVE,    /* every result bit is a source bit or a constant; which one, only `@` operands decide */
  FLOW_OWN,  /* the same between registers and memory, where `@` operands are addresses; matrices; or no definedness at all */
  FLOW_EXEC, /* EXEC = op.table of source and EXEC */
} flow;

/* The half of a register that a 16-bit result is written to. Of a store: the half that it takes. */
typedef enum half {
  HALF_CLEARS,   /* the low half; the high one becomes 0. Also instructions without 16-bit results */
  HALF_SELECTED, /* the half that op_sel's last bit selects; the other one keeps its value */
  HALF_LOW,      /* the low half; the high one keeps its value */
  HALF_HIGH,     /* the high half; the low one keeps its value */
} half;

/* Truth tables for op.table: TABLE_A & ~TABLE_B. */
enum { TABLE_A = 0xf0, TABLE_B = 0xcc, TABLE_C = 0xaa, TABLE_ALL = 0xff };

/* What an instruction reads or writes that its text does not name. */
enum { IMPLIED_SCC = 1, IMPLIED_SCC_RESULT = 2, IMPLIED_VCC = 4, IMPLIED_EXEC_RESULT = 8, IMPLIED_M0 = 16 };

/* What an instruction occupies, for counters. */
typedef enum inst_class {
  CLASS_SALU,
  CLASS_BRANCH, /* also waits, barriers and messages */
  CLASS_SMEM,
  CLASS_VALU,
  CLASS_MFMA,
  CLASS_LDS,
  CLASS_VMEM, /* global, buffer */
  CLASS_FLAT,
  CLASS_SCRATCH,
  CLASS_COUNT
} inst_class;

/* What an instruction of a memory class does. Every row of CLASS_SMEM, CLASS_LDS, CLASS_VMEM, CLASS_FLAT and CLASS_SCRATCH has
 * one, and no other row (test/proof/rows.c). */
typedef enum memory_kind {
  MEMORY_NONE,
  MEMORY_LOAD,
  MEMORY_STORE,
  MEMORY_ATOMIC,
  MEMORY_COMPARE, /* an atomic that writes only where it finds the expected value */
  MEMORY_LANES,   /* moves values between lanes; no memory is accessed */
  MEMORY_OTHER,   /* no access: a clock, a nop */
} memory_kind;

/* What an instruction means for the checks of waits and races. */
typedef enum sync_kind {
  SYNC_NONE,
  SYNC_WAIT,       /* s_waitcnt */
  SYNC_WRITE_BACK, /* buffer_wbl2 */
  SYNC_INVALIDATE, /* buffer_inv */
  SYNC_BARRIER,
  SYNC_END,
} sync_kind;

/* What an instruction that the scheduler itself executes does to its wave's time. */
typedef enum pause_kind { PAUSE_NONE, PAUSE_NOP, PAUSE_SLEEP, PAUSE_PRIORITY } pause_kind;

/* The clocks that a vector instruction takes of its SIMD (count/rate.c has the numbers and their sources). */
typedef enum valu_rate {
  RATE_FULL,
  RATE_TWO_RESULTS,    /* writes two registers in two passes */
  RATE_MULTIPLY,       /* 32-bit integers; time/parameters.def has its clocks */
  RATE_TRANSCENDENTAL, /* a quarter or a half of the full rate, by the chip */
} valu_rate;

typedef enum mfma_type {
  MFMA_F16,
  MFMA_BF16,
  MFMA_F32,
  MFMA_XF32,
  MFMA_FP8,
  MFMA_BF8,
  MFMA_I8,
  MFMA_F64,
  MFMA_F8F6F4, /* the instruction's cbsz selects the format of A, blgp that of B */
} mfma_type;

/* The shape of a matrix instruction: D[m][m] = A[m][k] * B[k][m] + C[m][m] in each block. */
typedef struct matrix_shape {
  u8 m, k, blocks; /* m: 0 in rows of other instructions */
  u8 a, b;         /* enum mfma_type */
} matrix_shape;

typedef struct op {
  const char *name;
  run_function *run;
  const char *shape;
  u32 mods;            /* in addition to the family's */
  u8 flow;             /* enum flow */
  u8 half;             /* enum half */
  u8 table;            /* FLOW_BITWISE, FLOW_EXEC: entry 4a + 2b + c is the result's bit */
  u8 implied;          /* IMPLIED_... */
  u32 matter;          /* FLOW_ALL, FLOW_CARRY: the bits of the sources that the result depends on; 0: all */
  bool ends;           /* ends a basic block */
  bool own_mode;       /* has its own rounding and denormals, whatever MODE says */
  bool to_lds;         /* memory straight into LDS, as others do under the modifier lds */
  bool internal;       /* the scheduler itself executes it: it is issued to no unit */
  bool transposes;     /* an LDS read that transposes between lanes */
  u8 memory;           /* enum memory_kind */
  u8 sync;             /* enum sync_kind */
  u8 rate;             /* enum valu_rate: CLASS_VALU */
  u8 pause;            /* enum pause_kind */
  matrix_shape matrix; /* CLASS_MFMA */
  int parameter;       /* one function for several rows */
} op;

/* A row's place among the rows of its hash: see op_find. Every family has one for each of its rows. */
typedef struct op_link {
  const op *op;
  const struct family *family;
  struct op_link *next;
} op_link;

typedef struct family {
  const char *name;
  inst_class class;
  u32 mods; /* modifiers that every row may have; any other one makes the instruction unimplemented */
  const op *ops;
  op_link *links; /* one for each row */
  size_t count;
} family;

/* All families, ending with NULL (sim/built_in.c). */
extern const family *const built_in_families[];
/* The row of a name without suffix; NULL where there is none. */
const op *op_find(const char *name, const family **of);

struct inst {
  run_function *run;
  const op *op;
  u64 pc; /* device address */
  u32 word[5];
  u8 size; /* bytes */
  u8 class;
  u8 operands;
  i16 simm16; /* of the first word's low half, for SOPP and SOPK */
  u32 mods;   /* which modifiers the text had */
  i32 offset;
  u8 offset0, offset1;
  u8 cache;
  u8 op_sel, op_sel_hi, neg_lo, neg_hi; /* a bit per source; op_sel_hi is right only with MOD_OP_SEL_HI */
  u8 clamp;
  bool in_mode; /* MODE is not the default: sources and results are flushed or scaled as it says (mode.c) */
  i8 omod;      /* exponent of the factor: 1, 2, -1 */
  u8 cbsz, abid, blgp, bitop3;
  u16 dpp_ctrl; /* the encoding's number */
  u8 row_mask, bank_mask;
  bool bound_ctrl, fetch_inactive; /* fetch_inactive: fi, of permlane swaps */
  u8 dst_sel, dst_unused, src_sel[2];
  bool plain_dst; /* no clamp, omod, DPP, SDWA, or half: the result goes to the register as it is */
  operand operand[OPERANDS];
  const char *text;
  const char *problem; /* why it can't be executed; NULL if it can */
};

static inline bool loads_to_lds(const inst *i) { return i->op->to_lds || (i->mods & MOD_LDS) != 0; }
static inline bool uses_m0(const inst *i) { return (i->op->implied & IMPLIED_M0) != 0 || loads_to_lds(i); }
static inline bool atomic_returns(const inst *i) { return (i->cache & CACHE_SC0) != 0; }
/* Multiplications and additions of one wave's MFMA; 0 for other instructions. For sparse ones the products with the zeros count
 * too, as in ROCm's amd_matrix_instruction_calculator. */
static inline u64 inst_flops(const inst *i) {
  const matrix_shape *s = &i->op->matrix;
  return UINT64_C(2) * s->m * s->m * s->k * s->blocks;
}
static inline bool is_atomic(const inst *i) { return i->op->memory == MEMORY_ATOMIC || i->op->memory == MEMORY_COMPARE; }

#endif
