/* LDS reads that transpose for MFMA: gfx950. In each row of 16 lanes the lanes' elements, lane by lane, are a matrix 16
 * elements wide; lane r gets its column r, the first row in the lowest bits. An element of 16 bits: 4 rows, of 8: 8, of 4 and
 * 6: 16. Sources: CDNA 4 ISA 11.4; LLVM has the mnemonics without the layout, which is that of hardware measured by HipKittens
 * (analysis/paper_experiments) for 16 and 8 bits and tested by rocRoller (TransposeLoadInstructionsTest) for 4 and 6. */
#include "vector_memory.h"

enum { ROW = 16 };

/* Bits [at, at + width) of a lane's three dwords. */
static u32 take_bits(const u32 rows[3][LANES], int lane, u32 at, u32 width) {
  u64 both = rows[at / 32][lane] | (at / 32 < 2 ? (u64)rows[at / 32 + 1][lane] << 32 : 0);
  return (u32)(both >> at % 32) & ((1u << width) - 1);
}
static void add_bits(u32 rows[3][LANES], int lane, u32 at, u32 width, u32 value) {
  u64 both = (u64)value << at % 32;
  rows[at / 32][lane] |= (u32)both;
  if (at % 32 + width > 32) rows[at / 32 + 1][lane] |= (u32)(both >> 32);
}

/* parameter: bits of an element. The addresses of 6-bit elements are aligned to 16 bytes, the others to 8 (11.4; rocRoller). */
static void read_transposed(wave *w, const inst *i) {
  u32 width = (u32)i->op->parameter, bytes = width == 6 ? 12 : 8, count = bytes * 8 / width, sharing = ROW / count;
  u32 address[LANES], from[3][LANES] = {0}, to[3][LANES] = {0};
  if (get_exec(w) != EXEC_ALL) {
    wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, -1, NO_ADDRESS, "the result is undefined unless all lanes are active");
    return;
  }
  const u32 *base = src(w, i, 1);
  u32 align = width == 6 ? 16 : 8;
  for (int l = 0; l < LANES; l++) {
    address[l] = base[l] + (u32)i->offset;
    if (address[l] % align == 0) continue;
    wave_fault_access(w, i, &(bad_access){GFXSIM_ACCESS_MISALIGNED, GFXSIM_SPACE_LDS, false, l, address[l], bytes},
                      "reads %u bytes of LDS at an address that is not a multiple of %u", bytes, align);
    return;
  }
  lds_load(w, i, EXEC_ALL, address, bytes, from);
  if (w->state == WAVE_FAULT) return;
  for (int l = 0; l < LANES; l++) { /* `sharing` lanes hold a row of the matrix */
    u32 column = (u32)l % ROW;
    for (u32 n = 0; n < count; n++) {
      int source = l / ROW * ROW + (int)(n * sharing + column / count);
      add_bits(to, l, n * width, width, take_bits((const u32(*)[LANES])from, source, column % count * width, width));
    }
  }
  load_return(w, i, 0, EXEC_ALL, to, bytes / 4);
}

static const op ops[] = {
    {"ds_read_b64_tr_b16", read_transposed, "=r@b", .parameter = 16, .flow = FLOW_OWN, .memory = MEMORY_LOAD,
     .transposes = true},
    {"ds_read_b64_tr_b8", read_transposed, "=r@b", .parameter = 8, .flow = FLOW_OWN, .memory = MEMORY_LOAD, .transposes = true},
    {"ds_read_b64_tr_b4", read_transposed, "=r@b", .parameter = 4, .flow = FLOW_OWN, .memory = MEMORY_LOAD, .transposes = true},
    {"ds_read_b96_tr_b6", read_transposed, "=r@b", .parameter = 6, .flow = FLOW_OWN, .memory = MEMORY_LOAD, .transposes = true},
};
FAMILY(family_lds_transpose, "lds_transpose", CLASS_LDS, MOD_OFFSET, ops);
