/* Lines of A or B, the operands of a tile: from memory to LDS, and from there to the chunks that mfma.h multiplies.
 *
 * If an operand is stored along k (A in layouts n., B in .t), LDS has a row for each line, and a lane reads a chunk of it at
 * once (ALONG_K). If it is stored transposed, LDS has a row for each k, with the lines side by side as in memory. A lane then
 * gets its neighbours in k in one of these ways:
 *
 *   LDS_TRANSPOSE  f16, bf16 on gfx950: ds_read_b64_tr_b16 transposes on the way to the registers.
 *   PAIRS          f16, bf16 on gfx942, and f32: for each k of its chunk, the lane reads two neighbouring lines in one access
 *                  (b32; f32: b64). The even lines make one fragment, the odd ones the next. f16 and bf16 need a v_perm_b32
 *                  for each dword; f32 takes each k separately and needs nothing.
 *   ONE_OF_TWO     f16, bf16 on gfx942, if a wave has only one fragment: as PAIRS, but the lane uses only one of the two lines,
 *                  and two lanes read the same dword.
 *
 * ds_read_u16_d16 and _d16_hi would need no v_perm_b32 for f16 and bf16, but twice the clocks of LDS. */
#ifndef TANDEM_HIP_ENGINE_LINES_H
#define TANDEM_HIP_ENGINE_LINES_H

#include "hip/args/tiles.h"
#include "hip/device/buffer.h"
#include "hip/device/call.h"
#include "hip/device/lds.h"
#include "hip/device/mfma.h"
#include "hip/device/wait.h"

enum {
  PIPE_ROW = HIP_PIPE_ROW(CHIP_LDS_BYTES), /* bytes along k of a K step */
  PIPE_CHUNKS = PIPE_ROW / CHUNK_BYTES,
};

/* How an operand is stored and read; all constants. `waves` waves load `lines` lines. A wave takes `count` fragments of
 * them, each of `side` lines, which is the side of the matrix instruction: 16 or 32. With spread = 2 (along k only) the lines
 * are every second group of `side * count` lines. */
typedef struct form {
  bool along_k;
  tdm_type type;
  int side, count;
  int lines, waves;
  int spread;
} form;

/* The number of loads of a thread for a K step. */
DEVICE constexpr int loads_of(int lines, int waves) { return lines * PIPE_ROW / (waves * WAVE * CHIP_LOAD_TO_LDS_BYTES); }

enum operand_read { ALONG_K, LDS_TRANSPOSE, PAIRS, ONE_OF_TWO };
DEVICE operand_read operand_read_of(form f) {
  if (f.along_k) return ALONG_K;
  if (f.type != TDM_F32 && CHIP_TRANSPOSED_LDS_READS) return LDS_TRANSPOSE;
  return f.count > 1 ? PAIRS : ONE_OF_TWO;
}

/* ---- From memory to LDS ---- */

enum { MOST_LOADS = 8 };
typedef struct lines {
  const char *base;     /* of the next step to load; like all fields except offset, the same in all lanes */
  uint32_t step;        /* bytes from one step to the next, below 2^31 */
  int pitch;            /* bytes from one row to the next */
  uint32_t length;      /* bytes of a whole step, from the beginning of its first row to the end of its last row; 0: no lines */
  uint32_t tail_length; /* the same of the K tail */
  uint32_t offset[MOST_LOADS];
} lines;

/* The byte of LDS at which the wave's n-th load of `bytes` per lane begins. */
DEVICE uint32_t load_place(int n, int bytes, form f) { return (uint32_t)((n * f.waves + wave_index()) * WAVE * bytes); }

DEVICE int row_bytes(form f) { return f.along_k ? (int)PIPE_ROW : f.lines * tdm_bytes(f.type); }

enum { SWIZZLE_ROWS = 16 }; /* rows that differ by these have their chunks at the same places */

/* The place of a chunk in its row of LDS. It is its own inverse, so it is also the chunk at a place.
 *
 * Along k: chunk c of line r is at c ^ (r / 2 % PIPE_CHUNKS), for the reasons given in lds.h. On gfx942 two rows of 64
 * bytes fill the 32 banks. This also holds for 32 lines at one chunk. LDS_TRANSPOSE: of 32 lanes at once, a 16 x 16
 * fragment takes 32 bytes of each of 8 rows, which differ in k % 4 and k / 8 % 2; a 32 x 32 fragment takes 64 bytes of 4
 * rows, which differ in k % 4. Rows of less than 256 bytes (128 lines) differ by some bits of k already. PAIRS: of 32 lanes
 * at once, a 16 x 16 fragment takes 16 pairs of lines, which are half of the banks, at two k that are one chunk of k apart. */
DEVICE int place_of(uint32_t row, int chunk, form f) {
  int e = chunk_elements(f.type);
  switch (operand_read_of(f)) {
    case ALONG_K: return chunk ^ row / 2 % PIPE_CHUNKS;
    case LDS_TRANSPOSE: {
      int low = row / 8 % 2 * 2;
      return chunk ^ (f.lines >= 128 ? row % 4 * 4 + low : f.lines == 64 ? row / 2 % 2 * 4 + low : low);
    }
    case PAIRS:
    case ONE_OF_TWO: return chunk ^ row / e % 2 * (32 / e) % (row_bytes(f) / CHUNK_BYTES);
  }
  return chunk;
}

/* What a load writes to byte `place`: the line (along k) or the k, and the chunk of it. */
typedef struct lines_chunk {
  int row, chunk;
} lines_chunk;
DEVICE lines_chunk chunk_at(uint32_t place, form f) {
  uint32_t bytes = (uint32_t)row_bytes(f), row = place / bytes, chunk = place % bytes / CHUNK_BYTES;
  return (lines_chunk){(int)row, place_of(row, (int)chunk, f)};
}

/* Where in memory, counted from base, the data for byte `place` is. */
DEVICE uint32_t memory_offset(const lines *x, uint32_t place, form f) {
  lines_chunk c = chunk_at(place, f);
  if (f.spread > 1) c.row += c.row / (f.side * f.count) * (f.side * f.count);
  return (uint32_t)(c.row * x->pitch + c.chunk * CHUNK_BYTES + place % CHUNK_BYTES);
}

/* Lines from `line` on of a matrix, of which `left` are left. The length is that of a whole step. So nothing is read after the
 * last line (along k) or after the last row (otherwise). Lines are fewer than 2^31, and those of a tile are fewer bytes apart
 * (tile_launch.c): 64 bits would be twice as many instructions before the first load. */
DEVICE lines make_lines(const void *matrix, int left, int ld, int line, form f) {
  const int bytes = tdm_bytes(f.type);
  lines x;
  const int span = f.spread > 1 ? 2 * f.lines - f.side * f.count : f.lines; /* from the first line to the last */
  const int some = left < span ? left : span, rows = f.along_k ? some : PIPE_ROW / bytes;
  x.pitch = ld * bytes;
  x.base = (const char *)matrix + (uint64_t)(uint32_t)line * (uint32_t)(f.along_k ? x.pitch : bytes);
  x.step = (uint32_t)(f.along_k ? (int)PIPE_ROW : PIPE_ROW / bytes * x.pitch);
  x.length = left > 0 ? (uint32_t)((rows - 1) * x.pitch + (f.along_k ? (int)PIPE_ROW : some * bytes)) : 0;
  x.tail_length = 0;
  const int rows_of_load = f.waves * WAVE * CHIP_LOAD_TO_LDS_BYTES / row_bytes(f);
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++)
    if (n > 0 && rows_of_load % SWIZZLE_ROWS == 0)
      x.offset[n] = x.offset[0] + (uint32_t)(n * rows_of_load * f.spread * x.pitch);
    else
      x.offset[n] =
          memory_offset(&x, load_place(n, CHIP_LOAD_TO_LDS_BYTES, f) + (uint32_t)(lane_index() * CHIP_LOAD_TO_LDS_BYTES), f);
  return x;
}

/* The tail of `depth` values along k, if there are lines. Not in make_lines: the first loads need it only where K is short. */
DEVICE void set_tail(lines *x, int64_t depth, form f) {
  const int bytes = tdm_bytes(f.type), tail = (int)depth & (PIPE_ROW / bytes - 1), missing = PIPE_ROW / bytes - tail;
  const uint32_t less = (uint32_t)(f.along_k ? missing * bytes : missing * x->pitch);
  x->tail_length = uniform(tail > 0 ? x->length - less : 0);
}
DEVICE lines make_lines_with_tail(const void *matrix, int left, int ld, int line, int64_t depth, form f) {
  lines x = make_lines(matrix, left, ld, line, f);
  set_tail(&x, depth, f);
  if (x.length == 0) x.tail_length = 0;
  return x;
}

/* Bytes of `count` steps. Those of a row along k are below 2^31. */
DEVICE int64_t bytes_of_steps(int count, const lines *x, form f) {
  return f.along_k ? count * (int)PIPE_ROW : (int64_t)count * (int)x->step;
}

/* The wave's part of what load_lines fills, from its beginning on. */
DEVICE int wave_place(form f) { return load_place(0, CHIP_LOAD_TO_LDS_BYTES, f); }

/* The length of the next step's buffer. left: the number of whole steps that are not loaded yet. Above 0 the next step is a
 * whole one, at 0 it is the K tail, and below 0 nothing is left to load. */
DEVICE uint32_t step_length(const lines *x, int left) { return left > 0 ? x->length : left == 0 ? x->tail_length : 0; }

/* Starts the loads of the next step to `place`, where the wave's part begins. After the last step the buffer has no
 * length: zeros arrive without traffic, so there are always equally many loads to count. */
DEVICE void load_lines(lines *x, LDS char *place, uint32_t length, form f) {
  buffer from = make_short_buffer(x->base, length);
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++)
    buffer_load_to_lds(from, x->offset[n], place + n * f.waves * WAVE * CHIP_LOAD_TO_LDS_BYTES);
  x->base = advance_here(x->base, x->step);
}

/* The same one by one: for each of them place_load, another instruction, and start_load. There must be one between, because a
 * load sees M0 one instruction later. Left to itself, clang puts an s_nop there, sets M0 by way of another register, and copies
 * the buffer for each step: 134 instructions of a wave in a step of 64x128 in tn on gfx942, and 108 this way. So it is
 * assembly. M0 can't be named as clobbered, because clang reserves it: no builtin that sets it may come after these. The high
 * half of the base has zeros where a buffer has its stride. */
typedef struct line_loads {
  uint64_t base;
  uint32_t length, format; /* of the buffer */
  uint32_t place;
} line_loads;
/* Each operand's buffer has four registers to itself: this one, too, which would be the same constant (buffer.h). */
DEVICE uint32_t format_here(void) {
  uint32_t format;
  asm volatile("s_mov_b32 %0, 0x20000" : "=s"(format));
  return format;
}
/* The same in registers of their own, which the loads of a step keep when the lines go on. */
DEVICE void keep_loads(line_loads *l) {
  asm volatile("s_mov_b64 %0, %1" : "=s"(l->base) : "s"(l->base));
  asm volatile("s_mov_b32 %0, %1" : "=s"(l->length) : "s"(l->length));
}
DEVICE void begin_loads(line_loads *l, const lines *x, LDS char *place, uint32_t length) {
  l->base = (uint64_t)(uintptr_t)x->base;
  l->length = length;
  l->place = lds_address(place);
}
DEVICE void place_load(const line_loads *l, int n, form f) {
  if (n == 0)
    asm volatile("s_mov_b32 m0, %0" ::"s"(l->place));
  else
    asm volatile("s_add_u32 m0, %0, %1" ::"s"(l->place), "i"(n * f.waves * WAVE * CHIP_LOAD_TO_LDS_BYTES) : "scc");
}
DEVICE void start_load(const line_loads *l, const lines *x, int n) {
  const u32x4 from = {(uint32_t)l->base, (uint32_t)(l->base >> 32), l->length, l->format};
  if constexpr (CHIP_LOAD_TO_LDS_BYTES == CHUNK_BYTES)
    asm volatile("buffer_load_dwordx4 %0, %1, 0 offen lds" ::"v"(x->offset[n]), "s"(from) : "memory");
  else
    asm volatile("buffer_load_dword %0, %1, 0 offen lds" ::"v"(x->offset[n]), "s"(from) : "memory");
}

/* Puts zeros after the K tail, the last `depth` values of k, in what this wave loaded to `place`. Call it when these loads have
 * arrived. The tail is loaded like a step, with a length that ends at the end of the last row. Along k, the other rows are
 * followed in memory by the next row, which must not be multiplied. Rows begin at dwords and are whole dwords. */
DEVICE void cut_tail(LDS char *place, int depth, form f) {
  const int end = depth * tdm_bytes(f.type);
  if (!f.along_k) return; /* rows are values of k: those after the last one were loaded as 0 */
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++) {
    const uint32_t at = load_place(n, CHIP_LOAD_TO_LDS_BYTES, f) + (uint32_t)(lane_index() * CHIP_LOAD_TO_LDS_BYTES);
    const int first = chunk_at(at, f).chunk * CHUNK_BYTES + (int)at % CHUNK_BYTES;
    if (first >= end) {
      if constexpr (CHIP_LOAD_TO_LDS_BYTES == CHUNK_BYTES)
        *(LDS u32x4 *)(place + at) = 0;
      else
        *(LDS uint32_t *)(place + at) = 0;
    } else {
#pragma unroll
      for (int byte = 4; byte < CHIP_LOAD_TO_LDS_BYTES; byte += 4)
        if (first + byte >= end) *(LDS uint32_t *)(place + at + byte) = 0;
    }
  }
}

/* ---- From LDS to fragments ---- */

/* A K step has `parts` along k, each a chunk of every lane: 64 / side chunks of each line. */
DEVICE int parts_of(form f) { return PIPE_CHUNKS * f.side / WAVE; }

DEVICE int chunks_of(form f) { return parts_of(f) * f.count; }
/* How many of `count` chunks can be read apart from the others: PAIRS reads two at a time. */
DEVICE int whole_reads(int count, form f) { return operand_read_of(f) == PAIRS ? count / 2 * 2 : count; }

/* A wave's fragments: chunk part * count + fragment. Between read_fragments and take_fragments they hold what LDS returned,
 * which for ONE_OF_TWO is twice as much. */
typedef u32x4 fragments[PIPE_CHUNKS];

/* Where a wave reads its lines. The parts of an address that the swizzle changes are in the reader; the rest is the
 * constant offset of the read. */
enum { ADDRESSES = 4 };
typedef struct reader {
  uint32_t address[ADDRESSES];
} reader;

DEVICE int addresses_of(form f) {
  switch (operand_read_of(f)) {
    case ALONG_K: return parts_of(f);
    case LDS_TRANSPOSE:
    case ONE_OF_TWO: return f.count;
    case PAIRS: return f.count / 2;
  }
  return 0;
}

/* The byte that the lane reads with address n. */
DEVICE int read_place(int line, int n, form f) {
  const int e = chunk_elements(f.type), bytes = tdm_bytes(f.type);
  int i = lane_index() % f.side, g = lane_index() / f.side;
  int k = e * g, first = line + f.side * n; /* of the lane's access: the row, and the line in it */
  switch (operand_read_of(f)) {
    case ALONG_K: return (line + i) * PIPE_ROW + place_of((uint32_t)(line + i), n * (WAVE / f.side) + g, f) * CHUNK_BYTES;
    case LDS_TRANSPOSE: /* 16 lanes: 4 rows of k, 4 lines each */
      k += i % 16 / 4;
      first += i / 16 * 16 + i % 4 * 4;
      break;
    case PAIRS: first = line + f.side * 2 * n + 2 * i; break;
    case ONE_OF_TWO: first += i & ~1; break;
  }
  int byte = first * bytes;
  return k * row_bytes(f) + place_of((uint32_t)k, byte / CHUNK_BYTES, f) * CHUNK_BYTES + byte % CHUNK_BYTES;
}

DEVICE reader make_reader(LDS const char *lds, int line, form f) {
  reader r = {};
#pragma unroll
  for (int n = 0; n < addresses_of(f); n++)
    r.address[n] =
        in_order(lds_address(lds) + (uint32_t)read_place(line, n, f)); /* and not after the wait for the first loads */
  return r;
}

enum { MOST_OF_TWO = 1024 };
/* Two dwords, at multiples of 4 bytes below that after the address. */
DEVICE u32x2 lds_read_two_unordered(uint32_t address, int first, int second) {
  u32x2 words;
  asm volatile("ds_read2_b32 %0, %1 offset0:%2 offset1:%3" : "=v"(words) : "v"(address), "i"(first / 4), "i"(second / 4));
  return words;
}

/* 8 dwords of a row of k into two chunks: f16 and bf16 have two lines at each of 8 k, f32 at each of 4. */
DEVICE void read_rows(u32x4 *to, uint32_t address, int offset, form f) {
#pragma unroll
  for (int h = 0; h < 4; h++) {
    u32x2 two;
    if (f.type == TDM_F32)
      two = lds_read_8_unordered(address, offset + h * row_bytes(f));
    else if (row_bytes(f) == 256)
      two = lds_read_rows_unordered(address, offset / 256 + 2 * h);
    else if (offset + 8 * row_bytes(f) <= MOST_OF_TWO)
      two = lds_read_two_unordered(address, offset + 2 * h * row_bytes(f), offset + (2 * h + 1) * row_bytes(f));
    else
      two = (u32x2){lds_read_4_unordered(address, offset + 2 * h * row_bytes(f)),
                    lds_read_4_unordered(address, offset + (2 * h + 1) * row_bytes(f))};
    to[h / 2][h % 2 * 2] = two[0];
    to[h / 2][h % 2 * 2 + 1] = two[1];
  }
}

/* One of the two instructions that read a chunk whose rows are values of k. */
DEVICE void read_transposed_half(u32x4 *chunk, uint32_t address, int place, form f, int half) {
  const u32x2 words = lds_read_transposed_unordered(address, place + half * 4 * row_bytes(f));
  (*chunk)[2 * half] = words[0];
  (*chunk)[2 * half + 1] = words[1];
}

/* Starts reading the wave's chunks from `begin` to `end`, whose lines begin `place` bytes (a constant) after the reader's. The
 * lane's chunks lie in `to` from `begin` on. */
DEVICE void read_chunks(u32x4 *to, const reader *r, int place, form f, int begin, int end) {
  const int part_rows = WAVE / f.side * chunk_elements(f.type); /* transposed: rows of a part */
#pragma unroll
  for (int chunk = begin; chunk < end; chunk++) {
    const int part = chunk / f.count, n = chunk % f.count, at = place + part * part_rows * row_bytes(f);
    switch (operand_read_of(f)) {
      case ALONG_K: to[chunk] = lds_read_unordered(r->address[part], place + n * f.side * PIPE_ROW); break;
      case LDS_TRANSPOSE:
        read_transposed_half(to + chunk, r->address[n], at, f, 0);
        read_transposed_half(to + chunk, r->address[n], at, f, 1);
        break;
      case PAIRS:
        if (n % 2 == 0) read_rows(to + chunk, r->address[n / 2], at, f);
        break;
      case ONE_OF_TWO: read_rows(to + 2 * chunk, r->address[n], at, f); break;
    }
  }
}

/* The same of one chunk, whose two instructions may come apart if it is transposed: half 1 is the second one. */
DEVICE void read_chunk_half(u32x4 *to, const reader *r, int place, form f, int chunk, int half) {
  const int part = chunk / f.count, part_rows = WAVE / f.side * chunk_elements(f.type);
  if (operand_read_of(f) == LDS_TRANSPOSE)
    read_transposed_half(to + chunk, r->address[chunk % f.count], place + part * part_rows * row_bytes(f), f, half);
  else if (half == 0)
    read_chunks(to, r, place, f, chunk, chunk + 1);
}

DEVICE void read_fragments(fragments to, const reader *r, int place, form f) { read_chunks(to, r, place, f, 0, chunks_of(f)); }

/* Does a wave have to make chunks of what LDS returned, dword by dword? */
DEVICE bool makes_chunks(form f) { return operand_read_of(f) >= PAIRS && f.type != TDM_F32; }

/* A dword of the low halves of two, or of their high halves. */
DEVICE uint32_t halves_of(uint32_t here, uint32_t next, bool high) {
  return __builtin_amdgcn_perm(next, here, high ? 0x07060302 : 0x05040100);
}

/* Dword w of chunk n, made of what LDS returned. */
DEVICE uint32_t make_dword(const u32x4 *x, int n, int w, form f) {
  const bool pairs = operand_read_of(f) == PAIRS;
  const u32x4 *from = x + (pairs ? n / 2 * 2 : 2 * n) + w / 2;
  const uint32_t here = (*from)[w % 2 * 2], next = (*from)[w % 2 * 2 + 1];
  if (!pairs) return halves_of(here, next, lane_index() % 2 != 0);
  if (f.type == TDM_F32) return n % 2 == 0 ? here : next;
  return halves_of(here, next, n % 2 != 0);
}

/* What LDS returned for chunks from `begin` to `end` has arrived: until here their registers are LDS's. */
DEVICE void keep_read(u32x4 *x, form f, int begin, int end) {
  const int each = operand_read_of(f) == ONE_OF_TWO ? 2 : 1;
#pragma unroll
  for (int n = begin * each; n < end * each; n++) x[n] = in_order(x[n]);
}

/* After the wait: makes chunks from `begin` to `end` of what LDS returned. */
DEVICE void take_chunks(u32x4 *x, form f, int begin, int end) {
  keep_read(x, f, begin, end);
  if (operand_read_of(f) < PAIRS) return;
  fragments from;
#pragma unroll
  for (int n = 0; n < PIPE_CHUNKS; n++) from[n] = x[n];
#pragma unroll
  for (int n = begin; n < end; n++)
#pragma unroll
    for (int w = 0; w < 4; w++) x[n][w] = make_dword(from, n, w, f);
}
DEVICE void take_fragments(fragments x, form f) { take_chunks(x, f, 0, chunks_of(f)); }

/* Which of the wave's lines fragment `n` has at its place `i`. */
DEVICE int fragment_line(int n, int i, form f) {
  return operand_read_of(f) == PAIRS ? n / 2 * 2 * f.side + 2 * i + n % 2 : n * f.side + i;
}

#endif
