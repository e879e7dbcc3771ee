/* Decodes the machine code of a kernel. A basic block is decoded when execution first reaches it, and kept. */
#ifndef GFXSIM_DECODE_H
#define GFXSIM_DECODE_H
#include "inst.h"
#include "sim/include/gfxsim.h"

typedef struct block {
  u32 count;
  u32 issued; /* instructions that occupy a unit: all except those that are handled internally, such as s_nop (op.internal) */
  u64 flops;  /* of all MFMAs in the block */
  inst inst[];
} block;

/* Where a kernel's code lies, and how many registers its descriptor asks for. The caller keeps everything that this struct
 * points at until code_free. */
typedef struct code_range {
  const char *kernel, *chip; /* names, for error messages and for LLVM's disassembler */
  const u8 *bytes;           /* all code of the code object; it has the device addresses begin .. end - 1 */
  u64 begin, end;
  u32 vgprs, accum_offset; /* the registers of a lane, and the first AGPR among them */
} code_range;

typedef struct code code;

gfxsim_status code_make(const code_range *range, code **made);
void code_free(code *c); /* NULL is allowed */
/* The block that starts at a device address. NULL: the address is outside the range or misaligned, or there is no memory. Any
 * thread may call it. */
const block *code_block(code *c, u64 pc);

#endif
