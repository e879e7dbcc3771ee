/* A loaded code object and its kernels. Source: LLVM's AMDGPUUsage, "Code Object V5 metadata", "Kernel Descriptor". */
#ifndef GFXSIM_OBJECT_H
#define GFXSIM_OBJECT_H
#include "function.h"
#include "sim/base/types.h"
#include "sim/device/device.h"
#include "sim/isa/decode.h"

struct source;

/* The fields of the 64-byte kernel descriptor that the simulator uses. */
typedef struct descriptor {
  u32 lds_bytes, scratch_bytes, kernarg_bytes;
  i64 entry; /* relative to the descriptor */
  u32 vgprs, accum_offset, mode;
  u32 user_sgprs;
  bool private_segment_buffer, dispatch_ptr, queue_ptr, kernarg_ptr, dispatch_id, flat_scratch_init, private_segment_size;
  bool workgroup_id[3], workgroup_info;
  u32 workitem_dims; /* 1 to 3 */
  u32 preload_dwords, preload_offset;
} descriptor;

struct gfxsim_kernel {
  gfxsim_object *object;
  char *name, *symbol;
  descriptor desc;
  u64 entry; /* device address */
  u32 sgprs, vgprs, agprs, sgpr_spills, vgpr_spills, lds_bytes, scratch_bytes, kernarg_bytes, max_workgroup;
  u32 segment_bytes; /* .kernarg_segment_size; kernarg_bytes is more where an argument lies beyond it */
  bool dynamic_stack;
  gfxsim_arg *args; /* names and kinds are owned */
  int arg_count;
  code *code; /* decoded so far; NULL before kernel_decode */
};

typedef struct variable {
  char *name;
  u64 address, bytes;
} variable;

struct gfxsim_object {
  gfxsim_device *device;
  gfxsim_object *next;
  allocation *image;        /* the segments as loaded */
  u64 text_begin, text_end; /* device addresses */
  struct source *source;    /* source.h; NULL without debug information */
  functions *functions;     /* NULL without a symbol table */
  gfxsim_kernel *kernels;
  int kernel_count;
  char **formats; /* of printf in kernels, as the note has them; NULL: none */
  int format_count;
  variable *variables; /* of the dynamic symbol table */
  int variable_count;
};

/* Makes kernel->code where it is not there yet. */
gfxsim_status kernel_decode(gfxsim_kernel *kernel);

/* metadata.c: kernels with name, symbol, counts and arguments from the note's msgpack. */
gfxsim_status metadata_read(const u8 *note, size_t bytes, gfxsim_object *object);
/* descriptor.c: checks the fields against the chip. */
gfxsim_status descriptor_read(const u8 bytes[64], const char *kernel, const chip *chip, descriptor *desc);

#endif
