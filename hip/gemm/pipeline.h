/* The K loop of the 256 x 256 tile on gfx950: 8 waves in two groups that take turns at the matrix units and at memory.
 * docs/gemm.md walks through it with pictures.
 *
 * A step is 128 bytes along k: 64 values of f16 or bf16, 32 of f32. Its tiles of A and B are four halves of 128 lines, 16 KiB
 * each: A0, A1, B0, B1. LDS has two stages of four halves, 128 KiB. Wave (wave_m, wave_n) of 2 x 4 computes 64 x 32 of each of
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
 * Each wave has at most 14 loads under way, 2 a phase. At the end of a memory slot it waits until 12 are left: then the half
 * that the next phase reads is complete as far as this wave loads it, and the barrier says the same of all others. */
#ifndef TANDEM_HIP_GEMM_PIPELINE_H
#define TANDEM_HIP_GEMM_PIPELINE_H

#include "../device/buffer.h"
#include "../device/lds.h"
#include "../device/mfma.h"
#include "../device/wait.h"
#include "store.h"

#if defined(__gfx950__)

enum {
  HALF_LINES = 128,
  HALF_BYTES = HALF_LINES * ROW_BYTES,
  PIPE_WAVES = 8,
  PIPE_THREADS = PIPE_WAVES * WAVE,
  LOADS = HALF_BYTES / (PIPE_THREADS * CHUNK_BYTES), /* of a thread for a half: 2 */
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
  uint32_t offset[LOADS];
} half;

/* The wave's n-th load fills 1024 bytes of the half's place: from this one on. */
DEVICE int load_place(int n) { return (n * PIPE_WAVES + wave_index()) * WAVE * CHUNK_BYTES; }

/* Rows of 256 bytes for halves that do not run along k: row k has 128 lines, 16 chunks of 8. The transposing read takes, of 32
 * lanes at once, 32 bytes of each of 8 rows: k % 4 and k / 8 % 2 tell them apart, and give each row other banks. */
enum { TURNED_BYTES = 256, TURNED_CHUNKS = 16 };
DEVICE int turned_swizzle(int k, int chunk) { return chunk ^ 2 * (k % 4 + k / 8 % 2 * 4); }

/* Which chunk of the half lands at byte `place` of it: in line (along k) or at k `row`, chunk `chunk` of it. */
typedef struct half_chunk {
  int row, chunk;
} half_chunk;
DEVICE half_chunk chunk_at(int place, bool along_k) {
  int pitch = along_k ? ROW_BYTES : TURNED_BYTES, row = place / pitch, chunk = place % pitch / CHUNK_BYTES;
  return (half_chunk){row, along_k ? swizzle(row, chunk) : turned_swizzle(row, chunk)};
}

/* Lines from `line` on of a matrix of lines x depth. */
DEVICE half make_half(const void *matrix, int64_t lines, int64_t depth, int64_t ld, int64_t line, bool along_k, tdm_type type) {
  const int bytes = type_bytes(type);
  half h;
  int64_t first = along_k ? line * ld : line, end = along_k ? (lines - 1) * ld + depth : (depth - 1) * ld + lines;
  h.base = (const char *)matrix + first * bytes;
  h.left = line < lines ? (end - first) * bytes : 0;
  h.step = along_k ? ROW_BYTES : ROW_BYTES / bytes * ld * bytes;
#pragma unroll
  for (int n = 0; n < LOADS; n++) {
    half_chunk at = chunk_at(load_place(n) + lane_index() * CHUNK_BYTES, along_k);
    h.offset[n] = (uint32_t)(at.row * (int)ld * bytes + at.chunk * CHUNK_BYTES);
  }
  return h;
}

/* Asks for the next step of a half. Past the last whole step the buffer has no length: zeros arrive, without traffic, so that
 * every phase has the same number of loads to count. */
DEVICE void load_half(half *h, LDS char *place, bool live) {
  buffer from = make_buffer(h->base, live ? h->left : 0);
#pragma unroll
  for (int n = 0; n < LOADS; n++) buffer_load_to_lds(from, h->offset[n], place + load_place(n));
  h->base += h->step;
  h->left -= h->step;
}

/* The last depth % step values of k go through registers, which can mask them. Rows begin at dwords and are whole dwords. */
DEVICE void put_tail(const half *h, LDS char *place, int depth, bool along_k, tdm_type type) {
  buffer from = make_buffer(h->base, h->left);
  const int per_dword = 4 / type_bytes(type);
#pragma unroll
  for (int n = 0; n < LOADS; n++) {
    int at = load_place(n) + lane_index() * CHUNK_BYTES;
    half_chunk c = chunk_at(at, along_k);
    u32x4 words = buffer_load(from, h->offset[n]);
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
  for (int n = 0; n < (along_k ? 2 : count); n++) {
    int chunk = (line + 16 * n) / 8 + i % 4 / 2, k = 8 * g + i / 4; /* turned: lane i gives 4 lines at k */
    int at = along_k ? chunk_offset(line + i, 4 * n + g)
                     : k * TURNED_BYTES + turned_swizzle(k, chunk) * CHUNK_BYTES + i % 2 * (CHUNK_BYTES / 2);
    r.address[n] = lds_address(lds) + (uint32_t)at;
  }
  return r;
}

DEVICE void flip_stage(reader *r) {
#pragma unroll
  for (int n = 0; n < ADDRESSES; n++) r->address[n] ^= STAGE_BYTES;
}

/* Half `part` of the step (4 chunks of k) for fragment f, of the half at `place` of the stage. */
DEVICE u32x4 read_fragment(const reader *r, int place, int part, int f, bool along_k) {
  if (along_k) return lds_read_unordered(r->address[part], place + f * 16 * ROW_BYTES);
  u32x2 low = lds_read_transposed_unordered(r->address[f], place + part * 32 * TURNED_BYTES);
  u32x2 high = lds_read_transposed_unordered(r->address[f], place + (part * 32 + 4) * TURNED_BYTES);
  return (u32x4){low[0], low[1], high[0], high[1]};
}

enum { A_FRAGMENTS = 4, B_FRAGMENTS = 2 };
typedef u32x4 a_fragments[2][A_FRAGMENTS];
typedef u32x4 b_fragments[2][B_FRAGMENTS];
typedef f32x4 quarter[A_FRAGMENTS][B_FRAGMENTS];

DEVICE void read_a(a_fragments a, const reader *r, int place, bool along_k) {
#pragma unroll
  for (int n = 0; n < 2 * A_FRAGMENTS; n++)
    a[n / A_FRAGMENTS][n % A_FRAGMENTS] = read_fragment(r, place, n / A_FRAGMENTS, n % A_FRAGMENTS, along_k);
}
DEVICE void read_b(b_fragments b, const reader *r, int place, bool along_k) {
#pragma unroll
  for (int n = 0; n < 2 * B_FRAGMENTS; n++)
    b[n / B_FRAGMENTS][n % B_FRAGMENTS] = read_fragment(r, place, n / B_FRAGMENTS, n % B_FRAGMENTS, along_k);
}

/* 16 matrix instructions (f32: 64), 256 clocks. */
DEVICE void multiply_quarter(quarter sums, const a_fragments a, const b_fragments b, tdm_type type) {
#pragma unroll
  for (int part = 0; part < 2; part++)
#pragma unroll
    for (int fm = 0; fm < A_FRAGMENTS; fm++)
#pragma unroll
      for (int fn = 0; fn < B_FRAGMENTS; fn++) sums[fm][fn] = mfma_16x16(b[part][fn], a[part][fm], sums[fm][fn], type);
}

/* The wave's first line in each half of A and of B. */
DEVICE int pipe_wave_m(void) { return wave_index() / 4 * 64; }
DEVICE int pipe_wave_n(void) { return wave_index() % 4 * 32; }

/* Puts the quarters of A's half h into the wave's block: 64 rows, B0's 32 columns and then B1's. Together the blocks fill LDS.
 */
enum { PIPE_BLOCK_ROWS = 64 };
DEVICE void put_half(LDS f32x4 *block, quarter sums[4], int h) {
#pragma unroll
  for (int f = 0; f < A_FRAGMENTS * 2 * B_FRAGMENTS; f++) {
    int fm = f / 4, v = f % 4 / 2, fn = f % 2;
    block_put(block, fm, f % 4, h == 0 ? sums[v][fm][fn] : sums[2 + v][fm][fn]);
  }
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
  const int values = ROW_BYTES / type_bytes(type);
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
#endif
