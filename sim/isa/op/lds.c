/* LDS: loads and stores. Source: CDNA 4 ISA 11.3.1: address = VGPR + offset; the two-address forms count their offsets in
 * elements. An address must be a multiple of 4 at most, because ROCm sets unaligned access mode. */
#include "vector_memory.h"

static void addresses(wave *w, const inst *i, int n, u32 offset, u32 address[LANES]) {
  const u32 *base = src(w, i, n);
  for (int l = 0; l < LANES; l++) address[l] = base[l] + offset;
}

static void read(wave *w, const inst *i) {
  u32 address[LANES], rows[4][LANES];
  u64 mask = get_exec(w);
  addresses(w, i, 1, (u32)i->offset, address);
  lds_load(w, i, mask, address, element_bytes(i), rows);
  if (w->state != WAVE_FAULT) element_return(w, i, mask, rows);
}

static void write(wave *w, const inst *i) {
  u32 address[LANES], half[1][LANES];
  addresses(w, i, 0, (u32)i->offset, address);
  lds_store(w, i, get_exec(w), address, element_bytes(i), element_rows(w, i, 1, half));
}

/* parameter: bytes of an element, times 64 in the st64 forms by 256 */
static void read2(wave *w, const inst *i) {
  u32 bytes = (u32)i->op->parameter & 255, step = bytes * (i->op->parameter > 255 ? 64 : 1);
  u32 address[LANES], rows[4][LANES];
  u64 mask = get_exec(w);
  for (int part = 0; part < 2; part++) {
    addresses(w, i, 1, (part == 0 ? i->offset0 : i->offset1) * step, address);
    lds_load(w, i, mask, address, bytes, rows + part * (int)(bytes / 4));
    if (w->state == WAVE_FAULT) return;
  }
  load_return(w, i, 0, mask, rows, bytes / 2);
}
static void write2(wave *w, const inst *i) {
  u32 bytes = (u32)i->op->parameter & 255, step = bytes * (i->op->parameter > 255 ? 64 : 1), address[LANES];
  for (int part = 0; part < 2 && w->state != WAVE_FAULT; part++) {
    addresses(w, i, 0, (part == 0 ? i->offset0 : i->offset1) * step, address);
    lds_store(w, i, get_exec(w), address, bytes, (const u32(*)[LANES])src(w, i, 1 + part));
  }
}

/* Address = offset + M0[15:0] + lane * 4. */
static void own_addresses(const wave *w, const inst *i, u32 address[LANES]) {
  for (u32 l = 0; l < LANES; l++) address[l] = (u32)i->offset + (w->s[S_M0] & 0xffff) + l * 4;
}
static void read_own(wave *w, const inst *i) {
  u32 address[LANES], rows[1][LANES];
  own_addresses(w, i, address);
  lds_load(w, i, get_exec(w), address, 4, rows);
  if (w->state != WAVE_FAULT) load_return(w, i, 0, get_exec(w), rows, 1);
}
static void write_own(wave *w, const inst *i) {
  u32 address[LANES];
  own_addresses(w, i, address);
  lds_store(w, i, get_exec(w), address, 4, (const u32(*)[LANES])operand_rows(w, i, 0));
}

static void nothing(wave *w, const inst *i) { (void)w, (void)i; }

static const op ops[] = {
    LOAD_ROW("ds_read_b32", read, "=r@b", 4),
    LOAD_ROW("ds_read_b64", read, "=r@b", 8),
    LOAD_ROW("ds_read_b96", read, "=r@b", 12),
    LOAD_ROW("ds_read_b128", read, "=r@b", 16),
    LOAD_ROW("ds_read_u8", read, "=r@b", 1),
    LOAD_ROW("ds_read_u16", read, "=r@b", 2),
    LOAD_ROW("ds_read_i8", read, "=r@b", 1 | ELEMENT_SIGNED),
    LOAD_ROW("ds_read_i16", read, "=r@b", 2 | ELEMENT_SIGNED),
    LOAD_HALF_ROW("ds_read_u8_d16", read, "+r@b", 1, HALF_LOW),
    LOAD_HALF_ROW("ds_read_u8_d16_hi", read, "+r@b", 1, HALF_HIGH),
    LOAD_HALF_ROW("ds_read_i8_d16", read, "+r@b", 1 | ELEMENT_SIGNED, HALF_LOW),
    LOAD_HALF_ROW("ds_read_i8_d16_hi", read, "+r@b", 1 | ELEMENT_SIGNED, HALF_HIGH),
    LOAD_HALF_ROW("ds_read_u16_d16", read, "+r@b", 2, HALF_LOW),
    LOAD_HALF_ROW("ds_read_u16_d16_hi", read, "+r@b", 2, HALF_HIGH),
    LOAD_ROW("ds_read2_b32", read2, "=r@b", 4),
    LOAD_ROW("ds_read2_b64", read2, "=r@b", 8),
    LOAD_ROW("ds_read2st64_b32", read2, "=r@b", 256 + 4),
    LOAD_ROW("ds_read2st64_b64", read2, "=r@b", 256 + 8),
    {"ds_read_addtid_b32", read_own, "=r", .flow = FLOW_OWN, .implied = IMPLIED_M0, .memory = MEMORY_LOAD},
    STORE_ROW("ds_write_b8", write, "@br", 1),
    STORE_ROW("ds_write_b16", write, "@br", 2),
    STORE_HALF_ROW("ds_write_b8_d16_hi", write, "@br", 1, HALF_HIGH),
    STORE_HALF_ROW("ds_write_b16_d16_hi", write, "@br", 2, HALF_HIGH),
    STORE_ROW("ds_write_b32", write, "@br", 4),
    STORE_ROW("ds_write_b64", write, "@br", 8),
    STORE_ROW("ds_write_b96", write, "@br", 12),
    STORE_ROW("ds_write_b128", write, "@br", 16),
    STORE_ROW("ds_write2_b32", write2, "@brr", 4),
    STORE_ROW("ds_write2_b64", write2, "@brr", 8),
    STORE_ROW("ds_write2st64_b32", write2, "@brr", 256 + 4),
    STORE_ROW("ds_write2st64_b64", write2, "@brr", 256 + 8),
    {"ds_write_addtid_b32", write_own, "r", .flow = FLOW_OWN, .implied = IMPLIED_M0, .memory = MEMORY_STORE},
    {"ds_nop", nothing, "*", .memory = MEMORY_OTHER},
};
FAMILY(family_lds, "lds", CLASS_LDS, MOD_OFFSET | MOD_OFFSET01, ops);
