/* Decodes the machine code of a kernel: by basic blocks, each once, when execution first gets there. */
#ifndef GFXSIM_DECODE_H
#define GFXSIM_DECODE_H
#include "inst.h"
#include "sim/include/gfxsim.h"

typedef struct block {
  u32 count;
  u32 issued; /* instructions that a unit executes: all except s_nop and its like (op.internal) */
  u64 flops;  /* of its MFMAs */
  inst inst[];
} block;

/* Where a kernel's code lies, and what its descriptor says of its registers. All that it points at outlives the code. */
typedef struct code_range {
  const char *kernel, *chip; /* names: for messages, and for LLVM */
  const u8 *bytes;           /* of the device addresses begin .. end - 1: all code of the code object */
  u64 begin, end;
  u32 vgprs, accum_offset; /* the registers of a lane, and the first AGPR among them */
} code_range;

typedef struct code code;

gfxsim_status code_make(const code_range *range, code **made);
void code_free(code *c); /* NULL is allowed */
/* The block that starts at a device address. NULL: outside of the range, misaligned, or no memory. Any thread may call it. */
const block *code_block(code *c, u64 pc);

#endif
