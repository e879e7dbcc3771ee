/* Lines of A or B, the operands of a tile: from memory straight into LDS, and on as the chunks that mfma.h multiplies.
 *
 * Along k (A in layouts n., B in .t) LDS has a row for each line, and a lane reads a chunk of it at once. Turned, it has a row
 * for each k, with the lines side by side as memory has them. How a lane then gets neighbours in k:
 *
 *   LDS_TURNS   f16, bf16 on gfx950: ds_read_b64_tr_b16 turns them on the way to the registers
 *   PAIRS       f16, bf16 on gfx942, f32: the lane reads two neighbouring lines at one k in one access (b32; f32: b64), for
 * each k of its chunk. The even lines make one fragment, the odd ones the next. f16 and bf16 are put together by v_perm_b32,
 * one for each dword; f32 takes each k alone, and there is nothing to do. ONE_OF_TWO  f16, bf16 on gfx942 where a wave has but
 * one fragment: as PAIRS, but the lane wants one line of its two. Two lanes read the same dword.
 *
 * f16 and bf16 by ds_read_u16_d16 and _d16_hi instead would need no v_perm_b32, and twice the clocks of LDS. */
#ifndef TANDEM_HIP_GEMM_LINES_H
#define TANDEM_HIP_GEMM_LINES_H

#include "hip/device/buffer.h"
#include "hip/device/lds.h"
#include "hip/device/mfma.h"
#include "hip/device/wait.h"

enum {
  PIPE_ROW = ON_GFX950 ? 128 : 64, /* bytes along k of a step */
  PIPE_CHUNKS = PIPE_ROW / CHUNK_BYTES,
};

/* How an operand is stored and read: constants. `waves` waves load `lines` lines; a wave takes `count` fragments of them, each
 * of `side` lines, which are those of the matrix instruction: 16 or 32. */
typedef struct form {
  bool along_k;
  tdm_type type;
  int side, count;
  int lines, waves;
} form;

/* Loads of a thread for a step. */
DEVICE constexpr int loads_of(int lines, int waves) { return lines * PIPE_ROW / (waves * WAVE * LOAD_TO_LDS_BYTES); }

enum turning { ALONG_K, LDS_TURNS, PAIRS, ONE_OF_TWO };
DEVICE turning turning_of(form f) {
  if (f.along_k) return ALONG_K;
  if (f.type != TDM_F32 && ON_GFX950) return LDS_TURNS;
  return f.count > 1 ? PAIRS : ONE_OF_TWO;
}

/* ---- From memory to LDS ---- */

enum { MOST_LOADS = 8 };
typedef struct lines {
  const char *base; /* of the next step to load; the same in all lanes, as all but offset */
  int64_t step;     /* bytes from one step to the next */
  int pitch;        /* bytes from one row to the next */
  uint32_t length;  /* bytes of a whole step, from its first row's begin to its last row's end; 0: no lines */
  uint32_t offset[MOST_LOADS];
} lines;

/* The wave's n-th load of `bytes` a lane begins at this byte. */
DEVICE int load_place(int n, int bytes, form f) { return (n * f.waves + wave_index()) * WAVE * bytes; }

DEVICE int row_bytes(form f) { return f.along_k ? (int)PIPE_ROW : f.lines * type_bytes(f.type); }

/* The place of a chunk in its row of LDS; and, being its own inverse, the chunk at a place.
 *
 * Along k: chunk c of line r lies at c ^ (r / 2 % PIPE_CHUNKS), for the reasons of lds.h; on gfx942 two rows of 64 bytes fill
 * the 32 banks. It holds for 32 lines at one chunk too. LDS_TURNS: of 32 lanes at once, a 16 x 16 fragment takes 32 bytes of
 * each of 8 rows, which k % 4 and k / 8 % 2 tell apart, and a 32 x 32 one 64 bytes of 4 rows, k % 4; rows of less than 256
 * bytes (128 lines) differ by some bits of k already. PAIRS: of 32 lanes at
 * once, a 16 x 16 fragment takes 16 pairs of lines, half of the banks, at two k that lie a chunk of k apart. */
DEVICE int place_of(int row, int chunk, form f) {
  int e = chunk_elements(f.type);
  switch (turning_of(f)) {
    case ALONG_K: return chunk ^ row / 2 % PIPE_CHUNKS;
    case LDS_TURNS: {
      int low = row / 8 % 2 * 2;
      return chunk ^ (f.lines >= 128 ? row % 4 * 4 + low : f.lines == 64 ? row / 2 % 2 * 4 + low : low);
    }
    case PAIRS:
    case ONE_OF_TWO: return chunk ^ row / e % 2 * (32 / e) % (row_bytes(f) / CHUNK_BYTES);
  }
  return chunk;
}

/* What lands at byte `place`: line (along k) or k, and chunk of it. */
typedef struct lines_chunk {
  int row, chunk;
} lines_chunk;
DEVICE lines_chunk chunk_at(int place, form f) {
  int row = place / row_bytes(f), chunk = place % row_bytes(f) / CHUNK_BYTES;
  return (lines_chunk){row, place_of(row, chunk, f)};
}

/* Where in memory, from base on, what lands at byte `place` is. */
DEVICE uint32_t memory_offset(const lines *x, int place, form f) {
  lines_chunk c = chunk_at(place, f);
  return (uint32_t)(c.row * x->pitch + c.chunk * CHUNK_BYTES + place % CHUNK_BYTES);
}

/* Lines from `line` on of a matrix that has `count`. The length is that of the rows that a whole step has, so that what lies
 * behind the last line of along k, or behind the last row otherwise, is not read. */
DEVICE lines make_lines(const void *matrix, int64_t count, int64_t ld, int64_t line, form f) {
  const int bytes = type_bytes(f.type);
  lines x;
  int64_t some = count - line < f.lines ? count - line : (int64_t)f.lines;
  int rows = f.along_k ? (int)some : PIPE_ROW / bytes;
  x.base = (const char *)matrix + (f.along_k ? line * ld : line) * bytes;
  x.step = f.along_k ? PIPE_ROW : PIPE_ROW / bytes * ld * bytes;
  x.pitch = (int)ld * bytes;
  x.length = some > 0 ? (uint32_t)((rows - 1) * x.pitch + (f.along_k ? (int)PIPE_ROW : (int)some * bytes)) : 0;
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++)
    x.offset[n] = memory_offset(&x, load_place(n, LOAD_TO_LDS_BYTES, f) + lane_index() * LOAD_TO_LDS_BYTES, f);
  return x;
}

DEVICE void move_steps(lines *x, int steps) { x->base += steps * x->step; }

/* Asks for the next step. Past the last whole step the buffer has no length: zeros arrive, without traffic, so that there are
 * always as many loads to count. */
DEVICE void load_lines(lines *x, LDS char *place, bool live, form f) {
  buffer from = make_short_buffer(x->base, live ? x->length : 0);
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++)
    buffer_load_to_lds(from, x->offset[n], place + load_place(n, LOAD_TO_LDS_BYTES, f));
  move_steps(x, 1);
}

/* The last depth % step values of k go through registers, which can mask them. Rows begin at dwords and are whole dwords. */
DEVICE void put_tail(const lines *x, LDS char *place, int depth, form f) {
  const int bytes = type_bytes(f.type), per_dword = 4 / bytes;
  uint32_t missing = (uint32_t)(f.along_k ? PIPE_ROW - depth * bytes : (PIPE_ROW / bytes - depth) * x->pitch);
  buffer from = make_short_buffer(x->base, x->length > 0 ? x->length - missing : 0);
#pragma unroll
  for (int n = 0; n * f.waves * WAVE * CHUNK_BYTES < f.lines * PIPE_ROW; n++) {
    int at = load_place(n, CHUNK_BYTES, f) + lane_index() * CHUNK_BYTES;
    if (at >= f.lines * PIPE_ROW) continue; /* fewer chunks than threads */
    lines_chunk c = chunk_at(at, f);
    u32x4 words = buffer_load(from, memory_offset(x, at, f));
#pragma unroll
    for (int w = 0; w < 4; w++) {
      int k = f.along_k ? (c.chunk * 4 + w) * per_dword : c.row;
      words[w] = k < depth ? words[w] : 0;
    }
    *(LDS u32x4 *)(place + at) = words;
  }
}

/* ---- From LDS to fragments ---- */

/* A step has `parts` along k, each of a chunk of every lane: 64 / side chunks of each line. */
DEVICE int parts_of(form f) { return PIPE_CHUNKS * f.side / WAVE; }

/* A wave's fragments: chunk part * count + fragment. Between read and take they hold what LDS gave, of ONE_OF_TWO
 * twice as much. */
typedef u32x4 fragments[PIPE_CHUNKS];

/* Where a wave reads its lines. What the swizzle makes of parts and fragments differs from address to address; the
 * rest is the read's constant offset. */
enum { ADDRESSES = 4 };
typedef struct reader {
  uint32_t address[ADDRESSES];
} reader;

DEVICE int addresses_of(form f) {
  switch (turning_of(f)) {
    case ALONG_K: return parts_of(f);
    case LDS_TURNS:
    case ONE_OF_TWO: return f.count;
    case PAIRS: return f.count / 2;
  }
  return 0;
}

/* Byte that the lane reads with address n. */
DEVICE int read_place(int line, int n, form f) {
  const int e = chunk_elements(f.type), bytes = type_bytes(f.type);
  int i = lane_index() % f.side, g = lane_index() / f.side;
  int k = e * g, first = line + f.side * n; /* of the lane's access: row and line in it */
  switch (turning_of(f)) {
    case ALONG_K: return (line + i) * PIPE_ROW + place_of(line + i, n * (WAVE / f.side) + g, f) * CHUNK_BYTES;
    case LDS_TURNS: /* 16 lanes: 4 rows of k, 4 lines each */
      k += i % 16 / 4;
      first += i / 16 * 16 + i % 4 * 4;
      break;
    case PAIRS: first = line + f.side * 2 * n + 2 * i; break;
    case ONE_OF_TWO: first += i & ~1; break;
  }
  int byte = first * bytes;
  return k * row_bytes(f) + place_of(k, byte / CHUNK_BYTES, f) * CHUNK_BYTES + byte % CHUNK_BYTES;
}

DEVICE reader make_reader(LDS const char *lds, int line, form f) {
  reader r = {};
#pragma unroll
  for (int n = 0; n < addresses_of(f); n++) r.address[n] = lds_address(lds) + (uint32_t)read_place(line, n, f);
  return r;
}

/* 8 dwords in a row of k into two chunks: f16 and bf16 two lines at each of 8 k, f32 at each of 4. */
DEVICE void read_rows(u32x4 *to, uint32_t address, int offset, form f) {
#pragma unroll
  for (int h = 0; h < 4; h++) {
    u32x2 two;
    if (f.type == TDM_F32)
      two = lds_read_8_unordered(address, offset + h * row_bytes(f));
    else if (row_bytes(f) == 256)
      two = lds_read_rows_unordered(address, offset / 256 + 2 * h);
    else
      two = (u32x2){lds_read_4_unordered(address, offset + 2 * h * row_bytes(f)),
                    lds_read_4_unordered(address, offset + (2 * h + 1) * row_bytes(f))};
    to[h / 2][h % 2 * 2] = two[0];
    to[h / 2][h % 2 * 2 + 1] = two[1];
  }
}

/* Asks LDS for the fragments, of lines that begin `place` bytes (a constant) behind the reader's. */
DEVICE void read_fragments(fragments to, const reader *r, int place, form f) {
  const int part_rows = WAVE / f.side * chunk_elements(f.type); /* turned: rows of a part */
#pragma unroll
  for (int part = 0; part < parts_of(f); part++)
#pragma unroll
    for (int n = 0; n < f.count; n++) {
      int at = place + part * part_rows * row_bytes(f), chunk = part * f.count + n;
      switch (turning_of(f)) {
        case ALONG_K: to[chunk] = lds_read_unordered(r->address[part], place + n * f.side * PIPE_ROW); break;
        case LDS_TURNS: {
          u32x2 first = lds_read_transposed_unordered(r->address[n], at);
          u32x2 second = lds_read_transposed_unordered(r->address[n], at + 4 * row_bytes(f));
          to[chunk] = (u32x4){first[0], first[1], second[0], second[1]};
          break;
        }
        case PAIRS:
          if (n % 2 == 0) read_rows(to + chunk, r->address[n / 2], at, f);
          break;
        case ONE_OF_TWO: read_rows(to + 2 * chunk, r->address[n], at, f); break;
      }
    }
}

/* Behind the wait: makes fragments of what LDS gave. */
DEVICE void take_fragments(fragments x, form f) {
  const turning how = turning_of(f);
#pragma unroll
  for (int n = 0; n < parts_of(f) * f.count * (how == ONE_OF_TWO ? 2 : 1); n++) x[n] = in_order(x[n]);
  if (how == ALONG_K || how == LDS_TURNS) return;
  const uint32_t low = 0x05040100, high = 0x07060302; /* halves of a dword that v_perm_b32 takes of two */
  const uint32_t mine = lane_index() % 2 == 0 ? low : high;
#pragma unroll
  for (int n = 0; n < parts_of(f) * f.count; n += how == PAIRS ? 2 : 1) {
    u32x4 *from = x + (how == PAIRS ? n : 2 * n), first = from[0], second = from[1];
    uint32_t dword[8] = {first[0], first[1], first[2], first[3], second[0], second[1], second[2], second[3]};
#pragma unroll
    for (int w = 0; w < 4; w++) {
      uint32_t here = dword[2 * w], next = dword[2 * w + 1];
      if (how == ONE_OF_TWO) {
        x[n][w] = __builtin_amdgcn_perm(next, here, mine);
      } else {
        x[n][w] = f.type == TDM_F32 ? here : __builtin_amdgcn_perm(next, here, low);
        x[n + 1][w] = f.type == TDM_F32 ? next : __builtin_amdgcn_perm(next, here, high);
      }
    }
  }
}

/* Which of the wave's lines fragment `n` has in its place `i`. */
DEVICE int fragment_line(int n, int i, form f) {
  return turning_of(f) == PAIRS ? n / 2 * 2 * f.side + 2 * i + n % 2 : n * f.side + i;
}

#endif
