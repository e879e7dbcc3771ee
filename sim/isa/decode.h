/* Turns machine code into decoded instructions, once per kernel: by basic blocks, when execution first gets there. */
#ifndef GFXSIM_DECODE_H
#define GFXSIM_DECODE_H
#include "inst.h"
#include "sim/load/object.h"

typedef struct block {
  u32 count;
  u32 issued; /* instructions that a unit executes: all but s_nop and its like (rate.h) */
  u64 flops;  /* of its MFMAs */
  inst inst[];
} block;

/* Adds kernel->code; may be called by any thread once it is there. */
gfxsim_status code_make(gfxsim_kernel *kernel);
void code_free(code *c);
/* The block that starts at a device address. NULL: outside of the text, misaligned, or no memory. */
const block *code_block(gfxsim_kernel *kernel, u64 pc);

#endif
