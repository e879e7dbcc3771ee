/* The K loop of the 256 x 256 tile: 8 waves in two groups that take turns at the matrix units and at memory. docs/gemm.md walks
 * through it with pictures.
 *
 * A step is 128 bytes along k on gfx950 (64 values of f16 or bf16, 32 of f32) and 64 on gfx942, whose LDS holds no more. Its
 * tiles of A and B are four halves of 128 lines, 16 KiB (8) each: A0, A1, B0, B1. LDS has two stages of four halves, 128 KiB
 * (64). Wave (wave_m, wave_n) of 2 x 4 computes 64 x 32 of each of
 * the four quarters of C, in four phases a step:
 *
 *   phase   reads from LDS      multiplies      asks memory for
 *     0     A0                  A0 B0           B0 of the step after next, into the place of this step's B0
 *     1     B1                  A0 B1           A0
 *     2     A1                  A1 B0           B1
 *     3     B0 of step + 1      A1 B1           A1
 *
 * So a half is read 7 phases after it was asked for, into a place that was read one phase before. A phase is two slots, each
 * ended by a barrier: memory (reads, loads), then multiplication. Waves 4-7 are one slot behind waves 0-3, and the two share
 * the SIMDs: while one group multiplies, the other uses LDS.
 *
 * Each wave has the loads of at most 7 phases under way, 2 a phase (gfx942: 4). At the end of a memory slot it waits until
 * those of 6 are left: then the half that the next phase reads is complete as far as this wave loads it, and the barrier says
 * the same of all others. */
#ifndef TANDEM_HIP_GEMM_PIPELINE_H
#define TANDEM_HIP_GEMM_PIPELINE_H

#include "../device/buffer.h"
#include "../device/lds.h"
#include "../device/mfma.h"
#include "../device/wait.h"
#include "store.h"

enum {
  PIPE_ROW = ON_GFX950 ? 128 : 64, /* bytes along k */
  PIPE_CHUNKS = PIPE_ROW / CHUNK_BYTES,
  PARTS = PIPE_CHUNKS / 4, /* of a step: a matrix instruction's operand has 4 chunks of each line */
  HALF_LINES = 128,
  HALF_BYTES = HALF_LINES * PIPE_ROW,
  PIPE_WAVES = 8,
  PIPE_THREADS = PIPE_WAVES * WAVE,
  LOADS = HALF_BYTES / (PIPE_THREADS * LOAD_TO_LDS_BYTES), /* of a thread for a half: 2, or 4 on gfx942 */
  STAGE_BYTES = 4 * HALF_BYTES,
  PIPE_BYTES = 2 * STAGE_BYTES,
  LOADS_LEFT = 6 * LOADS /* those of the 6 phases after the one whose half is wanted */
};
/* Places of the halves in a stage. */
enum { AT_A0 = 0, AT_A1 = HALF_BYTES, AT_B0 = 2 * HALF_BYTES, AT_B1 = 3 * HALF_BYTES };

/* One half of an operand in memory. `along_k`: lines run along k; otherwise each k has a row of neighbouring lines. */
typedef struct half {
  const char *base; /* of the next step to load; the same in all lanes, as all but offset */
  int64_t left;     /* bytes from there to the end of the matrix */
  int64_t step;     /* bytes from one step to the next */
  int pitch;        /* bytes from one row to the next */
  uint32_t offset[LOADS];
} half;

/* The wave's n-th load of `bytes` a lane begins at this byte of the half's place. */
DEVICE int load_place(int n, int bytes) { return (n * PIPE_WAVES + wave_index()) * WAVE * bytes; }

/* Along k, chunk c of line r lies at place c ^ (r / 2 % PIPE_CHUNKS), for the reasons of lds.h: on gfx942 two rows of 64 bytes
 * fill the 32 banks.
 *
 * Halves that do not run along k (gfx950) have rows of 256 bytes: row k has 128 lines, 16 chunks of 8. The transposing read
 * takes, of 32 lanes at once, 32 bytes of each of 8 rows: k % 4 and k / 8 % 2 tell them apart, and give each row other banks.
 */
enum { TURNED_BYTES = 256 };
DEVICE int pipe_swizzle(int r, int chunk) { return chunk ^ r / 2 % PIPE_CHUNKS; }
DEVICE int turned_swizzle(int k, int chunk) { return chunk ^ 2 * (k % 4 + k / 8 % 2 * 4); }

/* What lands at byte `place` of a half: line (along k) or k, and chunk of it. */
typedef struct half_chunk {
  int row, chunk;
} half_chunk;
DEVICE half_chunk chunk_at(int place, bool along_k) {
  int width = along_k ? PIPE_ROW : TURNED_BYTES, row = place / width, chunk = place % width / CHUNK_BYTES;
  return (half_chunk){row, along_k ? pipe_swizzle(row, chunk) : turned_swizzle(row, chunk)};
}

/* Where in memory, from base on, byte `place` of a half is. */
DEVICE uint32_t memory_offset(const half *h, int place, bool along_k) {
  half_chunk c = chunk_at(place, along_k);
  return (uint32_t)(c.row * h->pitch + c.chunk * CHUNK_BYTES + place % CHUNK_BYTES);
}

/* Lines from `line` on of a matrix of lines x depth. */
DEVICE half make_half(const void *matrix, int64_t lines, int64_t depth, int64_t ld, int64_t line, bool along_k, tdm_type type) {
  const int bytes = type_bytes(type);
  half h;
  int64_t first = along_k ? line * ld : line, end = along_k ? (lines - 1) * ld + depth : (depth - 1) * ld + lines;
  h.base = (const char *)matrix + first * bytes;
  h.left = line < lines ? (end - first) * bytes : 0;
  h.step = along_k ? PIPE_ROW : PIPE_ROW / bytes * ld * bytes;
  h.pitch = (int)ld * bytes;
#pragma unroll
  for (int n = 0; n < LOADS; n++)
    h.offset[n] = memory_offset(&h, load_place(n, LOAD_TO_LDS_BYTES) + lane_index() * LOAD_TO_LDS_BYTES, along_k);
  return h;
}

/* Asks for the next step of a half. Past the last whole step the buffer has no length: zeros arrive, without traffic, so that
 * every phase has the same number of loads to count. */
DEVICE void load_half(half *h, LDS char *place, bool live) {
  buffer from = make_buffer(h->base, live ? h->left : 0);
#pragma unroll
  for (int n = 0; n < LOADS; n++) buffer_load_to_lds(from, h->offset[n], place + load_place(n, LOAD_TO_LDS_BYTES));
  h->base += h->step;
  h->left -= h->step;
}

/* The last depth % step values of k go through registers, which can mask them. Rows begin at dwords and are whole dwords. */
DEVICE void put_tail(const half *h, LDS char *place, int depth, bool along_k, tdm_type type) {
  buffer from = make_buffer(h->base, h->left);
  const int per_dword = 4 / type_bytes(type);
#pragma unroll
  for (int n = 0; n < HALF_BYTES / (PIPE_THREADS * CHUNK_BYTES); n++) {
    int at = load_place(n, CHUNK_BYTES) + lane_index() * CHUNK_BYTES;
    half_chunk c = chunk_at(at, along_k);
    u32x4 words = buffer_load(from, memory_offset(h, at, along_k));
#pragma unroll
    for (int w = 0; w < 4; w++) {
      int k = along_k ? (c.chunk * 4 + w) * per_dword : c.row;
      words[w] = k < depth ? words[w] : 0;
    }
    *(LDS u32x4 *)(place + at) = words;
  }
}

/* ---- Fragments ---- */

/* Where a wave reads its lines of a half: `count` fragments of 16 lines. Along k the swizzle depends on which half of the row
 * is read, otherwise on the fragment; what depends on neither is the read's constant offset. */
enum { ADDRESSES = 4 };
typedef struct reader {
  uint32_t address[ADDRESSES];
} reader;

DEVICE reader make_reader(LDS const char *lds, int line, int count, bool along_k) {
  reader r = {};
  int i = lane_index() % 16, g = lane_index() / 16;
#pragma unroll
  for (int n = 0; n < (along_k ? (int)PARTS : count); n++) {
    int chunk = (line + 16 * n) / 8 + i % 4 / 2, k = 8 * g + i / 4; /* turned: lane i gives 4 lines at k */
    int at = along_k ? (line + i) * PIPE_ROW + pipe_swizzle(line + i, 4 * n + g) * CHUNK_BYTES
                     : k * TURNED_BYTES + turned_swizzle(k, chunk) * CHUNK_BYTES + i % 2 * (CHUNK_BYTES / 2);
    r.address[n] = lds_address(lds) + (uint32_t)at;
  }
  return r;
}

/* LDS begins at a multiple of two stages, so that one bit tells them apart. */
DEVICE void flip_stage(reader *r) {
#pragma unroll
  for (int n = 0; n < ADDRESSES; n++) r->address[n] ^= STAGE_BYTES;
}

/* Part `part` of the step (4 chunks of k) for fragment f, of the half at `place` of the stage. */
DEVICE u32x4 read_fragment(const reader *r, int place, int part, int f, bool along_k) {
  if (along_k) return lds_read_unordered(r->address[part], place + f * 16 * PIPE_ROW);
#if defined(__gfx950__)
  u32x2 low = lds_read_transposed_unordered(r->address[f], place + part * 32 * TURNED_BYTES);
  u32x2 high = lds_read_transposed_unordered(r->address[f], place + (part * 32 + 4) * TURNED_BYTES);
  return (u32x4){low[0], low[1], high[0], high[1]};
#else
  return 0; /* no kernel of gfx942 has such a half */
#endif
}

enum { A_FRAGMENTS = 4, B_FRAGMENTS = 2 };
typedef u32x4 a_fragments[PARTS][A_FRAGMENTS];
typedef u32x4 b_fragments[PARTS][B_FRAGMENTS];
typedef f32x4 quarter[A_FRAGMENTS][B_FRAGMENTS];

DEVICE void read_a(a_fragments a, const reader *r, int place, bool along_k) {
#pragma unroll
  for (int n = 0; n < PARTS * A_FRAGMENTS; n++)
    a[n / A_FRAGMENTS][n % A_FRAGMENTS] = read_fragment(r, place, n / A_FRAGMENTS, n % A_FRAGMENTS, along_k);
}
DEVICE void read_b(b_fragments b, const reader *r, int place, bool along_k) {
#pragma unroll
  for (int n = 0; n < PARTS * B_FRAGMENTS; n++)
    b[n / B_FRAGMENTS][n % B_FRAGMENTS] = read_fragment(r, place, n / B_FRAGMENTS, n % B_FRAGMENTS, along_k);
}

/* 16 matrix instructions of 16 clocks (f32: 64 of 32, or 32 on gfx942). */
DEVICE void multiply_quarter(quarter sums, const a_fragments a, const b_fragments b, tdm_type type) {
#pragma unroll
  for (int part = 0; part < PARTS; part++)
#pragma unroll
    for (int fm = 0; fm < A_FRAGMENTS; fm++)
#pragma unroll
      for (int fn = 0; fn < B_FRAGMENTS; fn++) sums[fm][fn] = mfma(b[part][fn], a[part][fm], sums[fm][fn], type);
}

/* The wave's first line in each half of A and of B. */
DEVICE int pipe_wave_m(void) { return wave_index() / 4 * 64; }
DEVICE int pipe_wave_n(void) { return wave_index() % 4 * 32; }

/* Sums go to C in passes of PASS_ROWS rows of each wave; the waves' blocks (store.h) fill LDS. */
enum { PASS_ROWS = PIPE_BYTES / PIPE_WAVES / (BLOCK_COLUMNS * 4), PASSES = 2 * 64 / PASS_ROWS };

/* Puts a pass into the wave's block: B0's 32 columns, and then B1's. The pass is a variable of the caller's loop, but registers
 * have no index: so it is compared with constants. Returns the first row of the pass, from the tile's on. */
DEVICE int put_pass(LDS f32x4 *block, quarter sums[4], int pass) {
#pragma unroll
  for (int p = 0; p < PASSES; p++) {
    if (p != pass) continue;
#pragma unroll
    for (int f = 0; f < PASS_ROWS / 16 * 4; f++) {
      int row = p * PASS_ROWS + f / 4 * 16; /* of the wave's 2 x 64 */
      block_put(block, f / 4, f % 4, sums[row / 64 * 2 + f % 4 / 2][row % 64 / 16][f % 2]);
    }
  }
  return pass * PASS_ROWS / 64 * HALF_LINES + pass * PASS_ROWS % 64 + pipe_wave_m();
}

/* ---- The loop ---- */

typedef struct pipeline {
  half a0, a1, b0, b1;
  int64_t depth;
  bool a_along_k, b_along_k; /* constants */
} pipeline;

/* Ends a memory slot. */
DEVICE void end_memory_slot(void) {
  wait_memory<LOADS_LEFT>(); /* this wave's share of the half that the next phase reads is in LDS */
  wait_lds();                /* the fragments have arrived: no one needs their place in LDS any more */
  barrier();                 /* the same holds for every wave of the group; and the other group has multiplied */
}

DEVICE void multiply_slot(quarter sums, const a_fragments a, const b_fragments b, tdm_type type) {
  keep_order();      /* not before the fragments have arrived */
  set_priority<1>(); /* the matrix units first: the other group's loads fit between */
  multiply_quarter(sums, a, b, type);
  set_priority<0>();
  keep_order(); /* not behind the barrier, where the other group multiplies */
  barrier();    /* the other group has ended its memory slot */
}

/* sums[2 h + v] += A's half h times B's half v over the whole depth. */
DEVICE void run_pipeline(quarter sums[4], pipeline *p, LDS char *lds, tdm_type type) {
  const int values = PIPE_ROW / type_bytes(type);
  const int steps = (int)(p->depth / values), tail = (int)(p->depth % values);
  int group = wave_index() / 4;
  reader from_a = make_reader(lds, pipe_wave_m(), A_FRAGMENTS, p->a_along_k);
  reader from_b = make_reader(lds, pipe_wave_n(), B_FRAGMENTS, p->b_along_k);
  a_fragments a;
  b_fragments b0, b1;

  load_half(&p->b0, lds + AT_B0, steps > 0);
  load_half(&p->a0, lds + AT_A0, steps > 0);
  load_half(&p->b1, lds + AT_B1, steps > 0);
  load_half(&p->a1, lds + AT_A1, steps > 0);
  load_half(&p->b0, lds + STAGE_BYTES + AT_B0, steps > 1);
  load_half(&p->a0, lds + STAGE_BYTES + AT_A0, steps > 1);
  load_half(&p->b1, lds + STAGE_BYTES + AT_B1, steps > 1);
  wait_memory<LOADS_LEFT>(); /* this wave's share of the first B0 is in LDS */
  barrier();                 /* and everyone's */
  if (group == 1) barrier(); /* one slot behind: matched by group 0 after the loop */
  load_half(&p->a1, lds + STAGE_BYTES + AT_A1, steps > 1);
  read_b(b0, &from_b, AT_B0, p->b_along_k);
  end_memory_slot();
  barrier(); /* the slot in which phase -1 has nothing to multiply */

  int stage = 0;
  for (int t = 0; t < steps; t++) {
    LDS char *here = lds + stage;
    bool live = t + 2 < steps;
    load_half(&p->b0, here + AT_B0, live);
    read_a(a, &from_a, AT_A0, p->a_along_k);
    end_memory_slot();
    multiply_slot(sums[0], a, b0, type);

    load_half(&p->a0, here + AT_A0, live);
    read_b(b1, &from_b, AT_B1, p->b_along_k);
    end_memory_slot();
    multiply_slot(sums[1], a, b1, type);

    load_half(&p->b1, here + AT_B1, live);
    read_a(a, &from_a, AT_A1, p->a_along_k);
    end_memory_slot();
    multiply_slot(sums[2], a, b0, type);

    flip_stage(&from_a);
    flip_stage(&from_b);
    load_half(&p->a1, here + AT_A1, live);
    read_b(b0, &from_b, AT_B0, p->b_along_k);
    end_memory_slot();
    multiply_slot(sums[3], a, b1, type);
    stage ^= STAGE_BYTES;
  }
  wait_memory<0>();          /* the zeros behind the last step: LDS is about to get another use */
  if (group == 0) barrier(); /* both groups are at the same slot again */
  barrier();                 /* nobody reads or fills a stage any more */
  if (tail == 0) return;

  /* The halves' bases are two steps past what was loaded for nothing, and stand at the tail when taken back. */
  half *halves[4] = {&p->a0, &p->a1, &p->b0, &p->b1};
#pragma unroll
  for (int h = 0; h < 4; h++) {
    halves[h]->base -= 2 * halves[h]->step;
    halves[h]->left += 2 * halves[h]->step;
    put_tail(halves[h], lds + h * HALF_BYTES, tail, h < 2 ? p->a_along_k : p->b_along_k, type);
  }
  sync_lds(); /* the tail is in LDS */
  from_a = make_reader(lds, pipe_wave_m(), A_FRAGMENTS, p->a_along_k);
  from_b = make_reader(lds, pipe_wave_n(), B_FRAGMENTS, p->b_along_k);
  read_b(b0, &from_b, AT_B0, p->b_along_k);
  read_b(b1, &from_b, AT_B1, p->b_along_k);
#pragma unroll
  for (int h = 0; h < 2; h++) {
    read_a(a, &from_a, h == 0 ? AT_A0 : AT_A1, p->a_along_k);
    wait_lds(); /* the fragments have arrived */
    keep_order();
    multiply_quarter(sums[2 * h], a, b0, type);
    multiply_quarter(sums[2 * h + 1], a, b1, type);
    keep_order(); /* the next half's reads come behind */
  }
  sync_lds(); /* every wave has its fragments: LDS is free */
}

#endif
