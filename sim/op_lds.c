/* LDS: DS. Source: MI300 ISA, "DS": address = VGPR + offset; the two-address forms count their offsets in elements. */
#include "access.h"
#include "ops.h"

static void addresses(wave *w, const inst *i, int n, u32 offset, u32 address[LANES]) {
  const u32 *base = src(w, i, n);
  for (int l = 0; l < LANES; l++) address[l] = base[l] + offset;
}

/* parameter: bytes; sign: the loaded bytes are signed */
static void read_extend(wave *w, const inst *i, bool sign) {
  u32 bytes = (u32)i->op->parameter, address[LANES], rows[4][LANES];
  u64 mask = get_exec(w);
  addresses(w, i, 1, (u32)i->offset, address);
  lds_load(w, i, mask, address, bytes, rows);
  if (w->state == WAVE_FAULT) return;
  for (int l = 0; l < LANES && sign; l++) rows[0][l] = bytes == 1 ? (u32)(i8)rows[0][l] : (u32)(i16)rows[0][l];
  load_return(w, i, 0, mask, rows, (bytes + 3) / 4);
}
static void read(wave *w, const inst *i) { read_extend(w, i, false); }
static void read_signed(wave *w, const inst *i) { read_extend(w, i, true); }

static void write(wave *w, const inst *i) {
  u32 address[LANES];
  addresses(w, i, 0, (u32)i->offset, address);
  lds_store(w, i, get_exec(w), address, (u32)i->op->parameter, (const u32(*)[LANES])src(w, i, 1));
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

static const op ops[] = {
    {"ds_read_b32", read, "=rb", .parameter = 4},
    {"ds_read_b64", read, "=rb", .parameter = 8},
    {"ds_read_b96", read, "=rb", .parameter = 12},
    {"ds_read_b128", read, "=rb", .parameter = 16},
    {"ds_read_u8", read, "=rb", .parameter = 1},
    {"ds_read_u16", read, "=rb", .parameter = 2},
    {"ds_read_i8", read_signed, "=rb", .parameter = 1},
    {"ds_read_i16", read_signed, "=rb", .parameter = 2},
    {"ds_read2_b32", read2, "=rb", .parameter = 4},
    {"ds_read2_b64", read2, "=rb", .parameter = 8},
    {"ds_read2st64_b32", read2, "=rb", .parameter = 256 + 4},
    {"ds_read2st64_b64", read2, "=rb", .parameter = 256 + 8},
    {"ds_write_b8", write, "br", .parameter = 1},
    {"ds_write_b16", write, "br", .parameter = 2},
    {"ds_write_b32", write, "br", .parameter = 4},
    {"ds_write_b64", write, "br", .parameter = 8},
    {"ds_write_b96", write, "br", .parameter = 12},
    {"ds_write_b128", write, "br", .parameter = 16},
    {"ds_write2_b32", write2, "brr", .parameter = 4},
    {"ds_write2_b64", write2, "brr", .parameter = 8},
    {"ds_write2st64_b32", write2, "brr", .parameter = 256 + 4},
    {"ds_write2st64_b64", write2, "brr", .parameter = 256 + 8},
};
FAMILY(family_lds, "lds", CLASS_LDS, MOD_OFFSET | MOD_OFFSET01, ops);
