/* Buffers: MUBUF. Source: CDNA 4 ISA 9.1, "Vector Memory Buffer Instructions"; the offset in an SGPR takes no part in the range
 * check (9.1.5.1; LLVM's AMDGPU intrinsics say the same). */
#include "vector_memory.h"

typedef struct buffer {
  u64 address[LANES];
  u64 inside[4]; /* lanes whose dword n is in range; every later one holds fewer lanes */
} buffer;

/* The resource descriptor V#, table 48. Swizzling arranges records: without an index there is one, and it is linear, as objects
 * that others compiled rely on. */
typedef struct resource {
  u64 base;
  u32 stride, records;
  bool add_lane;
} resource;

static bool stop(wave *w, const inst *i, const char *what) {
  wave_fault(w, i, GFXSIM_UNIMPLEMENTED_INSTRUCTION, -1, NO_ADDRESS, "buffer resource: %s", what);
  return false;
}

static bool read_resource(wave *w, const inst *i, int n, resource *r) {
  const u32 *word = &w->s[i->operand[n].reg];
  u32 format = word[3] >> 15 & 15;
  r->base = get_pair(w, i->operand[n].reg) & ((UINT64_C(1) << 48) - 1);
  r->stride = word[1] >> 16 & 0x3fff;
  r->records = word[2];
  r->add_lane = (word[3] >> 23 & 1) != 0;
  if (r->add_lane) r->stride |= format << 14;                    /* the field holds the upper bits of the stride */
  if ((word[0] | word[1] | word[2] | word[3]) == 0) return true; /* unbound: nothing is in range */
  if (format == 0 && !r->add_lane) return stop(w, i, "data format 0 is not valid");
  if (word[1] >> 31 != 0 && ((i->mods & MOD_IDXEN) != 0 || r->add_lane))
    return stop(w, i, "swizzling by an index: no document says where the size of an element is");
  if ((word[3] >> 19 & 1) != 0 || word[3] >> 30 != 0) return stop(w, i, "it describes a tiled pool, or is not a buffer");
  return true;
}

/* Lanes whose dword n is in range (9.1.5.1). A stride makes no record of a buffer that is addressed without an index. */
static bool check_range(wave *w, const inst *i, const resource *r, const u32 index[LANES], const u64 offset[LANES], buffer *b) {
  bool indexed = (i->mods & MOD_IDXEN) != 0;
  if (r->add_lane && indexed) return stop(w, i, "it adds lane and index: the range check for that is not documented");
  if (indexed && r->stride == 0 && r->records != 0)
    return stop(w, i, "an index without a stride: the range check for that is not documented");
  u64 high = 0; /* most often no lane is anywhere near the end */
  for (int l = 0; l < LANES; l++) high = offset[l] > high ? offset[l] : high;
  bool all = r->add_lane || (!indexed && high + 12 < r->records);
  for (u32 n = 0; n < 4; n++) b->inside[n] = get_exec(w);
  for (u32 n = 0; n < 4 && !all; n++)
    for (int l = 0; l < LANES; l++) {
      bool in = indexed ? index[l] < r->records : offset[l] + 4 * n < r->records;
      b->inside[n] &= ~((u64)!in << l);
    }
  return true;
}

/* Operand `at` is the VGPRs of index and offset, then come the resource and the SGPR's offset. */
static bool locate(wave *w, const inst *i, int at, buffer *b) {
  resource r;
  u32 index[LANES];
  u64 offset[LANES], base;
  bool indexed = (i->mods & MOD_IDXEN) != 0, shifted = (i->mods & MOD_OFFEN) != 0;
  const u32(*rows)[LANES] = (const u32(*)[LANES])operand_rows(w, i, at);
  if (!read_resource(w, i, at + 1, &r)) return false;
  base = r.base + s32(w, i, at + 2);
  for (u32 l = 0; l < LANES; l++) {
    index[l] = (indexed ? rows[0][l] : 0) + (r.add_lane ? l : 0);
    offset[l] = (shifted ? rows[indexed ? 1 : 0][l] : 0) + (u64)(u32)i->offset;
    b->address[l] = base + offset[l] + (u64)r.stride * index[l];
  }
  return check_range(w, i, &r, index, offset, b);
}

/* Dword n of the lanes that are in range only in part: which they are, and where. */
static u64 part(const buffer *b, u32 n, u64 whole, u64 at[LANES]) {
  for (int l = 0; l < LANES; l++) at[l] = b->address[l] + 4 * n;
  return b->inside[n] & ~whole;
}

static void load(wave *w, const inst *i) {
  buffer b;
  u64 at[LANES];
  u32 rows[4][LANES] = {0}, dwords = (element_bytes(i) + 3) / 4;
  bool lds = loads_to_lds(i);
  if (!locate(w, i, lds ? 0 : 1, &b)) return;
  u64 whole = b.inside[dwords - 1];
  global_load(w, i, whole, b.address, element_bytes(i), rows);
  for (u32 n = 0; n < dwords && b.inside[0] != whole && w->state != WAVE_FAULT; n++)
    global_load(w, i, part(&b, n, whole, at), at, 4, rows + n);
  if (w->state == WAVE_FAULT) return;
  if (lds)
    element_to_lds(w, i, get_exec(w), rows);
  else
    element_return(w, i, get_exec(w), rows);
}

static void store(wave *w, const inst *i) {
  buffer b;
  u64 at[LANES];
  u32 half[1][LANES], dwords = (element_bytes(i) + 3) / 4;
  if (!locate(w, i, 1, &b)) return;
  const u32(*rows)[LANES] = element_rows(w, i, 0, half);
  u64 whole = b.inside[dwords - 1];
  global_store(w, i, whole, b.address, element_bytes(i), rows);
  for (u32 n = 0; n < dwords && b.inside[0] != whole && w->state != WAVE_FAULT; n++)
    global_store(w, i, part(&b, n, whole, at), at, 4, rows + n);
}

/* All or nothing: an atomic that is in range in part is dropped, and returns 0. */
static void read_modify_write(wave *w, const inst *i) {
  buffer b;
  u32 old[2][LANES] = {0};
  atomic a = atomic_of(i);
  if (!locate(w, i, 1, &b)) return;
  atomic_rows rows = atomic_operand(w, i, 0, old);
  global_atomic(w, i, b.inside[a.bytes / 4 - 1], b.address, a, &rows);
  if (w->state != WAVE_FAULT && atomic_returns(i)) load_return(w, i, 0, get_exec(w), old, a.bytes / 4);
}

static const op ops[] = {LOAD_ROWS("buffer", load, "!", "@r@r@s"), STORE_ROWS("buffer", store, "r@r@r@s"),
                         ATOMIC_ROWS("buffer", read_modify_write, "?+r@r@r@s")};
FAMILY(family_buffer, "buffer", CLASS_VMEM, MOD_OFFSET | MOD_CACHE | MOD_OFFEN | MOD_IDXEN | MOD_LDS, ops);
