/* The K loop of the 256 x 256 tile: 8 waves in two groups that alternate, so that one uses the matrix units and the other
 * memory. docs/gemm.md explains it with pictures.
 *
 * A K step is 128 bytes along k on gfx950 (64 values of f16 or bf16, 32 of f32), and 64 on gfx942, whose LDS is smaller.
 * Its tiles of A and B are four halves of 128 lines, 16 KiB (gfx942: 8) each: A0, A1, B0, B1. LDS has two stages of four
 * halves, 128 KiB (64). Wave (wave_m, wave_n) of 2 x 4 computes 64 x 32 of each of the four quarters of C, in four phases
 * per step:
 *
 *   phase   reads from LDS      multiplies      starts to load
 *     0     A0                  A0 B0           B0 of the step after next, into the buffer of this step's B0
 *     1     B1                  A0 B1           A0
 *     2     A1                  A1 B0           B1
 *     3     B0 of step + 1      A1 B1           A1
 *
 * So a half is read 7 phases after its load was started, and its buffer was read one phase before that. A phase is two
 * slots, each ended by a barrier: memory (reads, loads), then multiplication. Waves 4-7 are one slot later than waves 0-3,
 * and the two groups share the SIMDs: while one group multiplies, the other one uses LDS.
 *
 * Each wave has the loads of at most 7 phases outstanding, 2 per phase (gfx942: 4). At the end of a memory slot it waits
 * until only those of 6 phases are left. Then this wave's part of the half that the next phase reads has arrived, and the
 * barrier says the same of all other waves. */
#ifndef TANDEM_HIP_ENGINE_PIPELINE_H
#define TANDEM_HIP_ENGINE_PIPELINE_H

#include "hip/args/tiles.h"
#include "lines.h"
#include "store.h"

enum {
  HALF_LINES = PIPE_LINES / 2,
  HALF_BYTES = HALF_LINES * PIPE_ROW,
  PIPE_WAVES = PIPE_WAVES_M * PIPE_WAVES_N,
  STAGE_BYTES = 4 * HALF_BYTES,
  PIPE_BYTES = 2 * STAGE_BYTES,
  LOADS_LEFT = 6 * loads_of(HALF_LINES, PIPE_WAVES) /* those of the 6 phases after the one whose half is needed */
};
/* Where the halves are in a stage. */
enum { AT_A0 = 0, AT_A1 = HALF_BYTES, AT_B0 = 2 * HALF_BYTES, AT_B1 = 3 * HALF_BYTES };

/* What a wave computes of each quarter of C. */
enum { WAVE_M = HALF_LINES / PIPE_WAVES_M, WAVE_N = HALF_LINES / PIPE_WAVES_N };

/* With matrix instructions of SIDE x SIDE results. */
template <int SIDE>
using quarter = mfma_sums<SIDE>[WAVE_M / SIDE][WAVE_N / SIDE];

/* LDS begins at a multiple of two stages, so one bit tells the stages apart. */
DEVICE void flip_stage(reader *r) {
#pragma unroll
  for (int n = 0; n < ADDRESSES; n++) r->address[n] ^= STAGE_BYTES;
}

/* 256 clocks of matrix instructions: 16 of 16 clocks, 8 of 32 (f32: 2048, or 1024 on gfx942). */
template <int SIDE>
DEVICE void multiply_quarter(quarter<SIDE> sums, const fragments a, const fragments b, tdm_type type) {
  enum { A_COUNT = WAVE_M / SIDE, B_COUNT = WAVE_N / SIDE, PARTS = PIPE_CHUNKS * SIDE / WAVE };
#pragma unroll
  for (int part = 0; part < PARTS; part++)
#pragma unroll
    for (int m = 0; m < A_COUNT; m++)
#pragma unroll
      for (int n = 0; n < B_COUNT; n++) sums[m][n] = mfma(b[part * B_COUNT + n], a[part * A_COUNT + m], sums[m][n], type);
#pragma unroll
  for (int m = 0; m < A_COUNT; m++)
#pragma unroll
    for (int n = 0; n < B_COUNT; n++) sums[m][n] = in_order(sums[m][n]);
}

/* The wave's first line in each half of A and of B. */
DEVICE int pipe_wave_m(void) { return wave_index() / PIPE_WAVES_N * WAVE_M; }
DEVICE int pipe_wave_n(void) { return wave_index() % PIPE_WAVES_N * WAVE_N; }

/* Sums go to C in passes of PASS_ROWS rows of each wave. The waves' blocks (store.h) fill LDS. */
enum { PASS_ROWS = PIPE_BYTES / PIPE_WAVES / (BLOCK_COLUMNS * 4), PASSES = 2 * 64 / PASS_ROWS };

typedef struct pipeline {
  lines a0, a1, b0, b1;
  int64_t depth;
  form a, b;
} pipeline;

template <int SIDE>
DEVICE form form_of_a(bool along_k, tdm_type type) {
  return (form){along_k, type, SIDE, WAVE_M / SIDE, HALF_LINES, PIPE_WAVES};
}
template <int SIDE>
DEVICE form form_of_b(bool along_k, tdm_type type) {
  return (form){along_k, type, SIDE, WAVE_N / SIDE, HALF_LINES, PIPE_WAVES};
}

/* ---- From the sums to the waves' blocks ---- */

/* Puts a pass into the wave's block: B0's 32 columns, and then B1's. The pass is a variable of the caller's loop, but
 * registers can't be indexed, so it is compared with constants. Returns the first row of the pass, counted from the tile's
 * first row. */
template <int SIDE>
DEVICE int put_pass(LDS f32x4 *block, quarter<SIDE> sums[4], const pipeline *at, int pass) {
#pragma unroll
  for (int h = 0; h < 2; h++)
#pragma unroll
    for (int m = 0; m < WAVE_M / SIDE; m++) {
      int row = h * WAVE_M + fragment_line(m, lane_index() % SIDE, at->a);
      if (row / PASS_ROWS != pass) continue;
#pragma unroll
      for (int v = 0; v < 2; v++) put_row<SIDE>(block, row % PASS_ROWS, v * WAVE_N / 4, sums[2 * h + v][m], at->b);
    }
  return pass * PASS_ROWS / WAVE_M * HALF_LINES + pass * PASS_ROWS % WAVE_M + pipe_wave_m();
}

/* ---- The loop ---- */

/* Ends a memory slot in which the reads of `read` were started. */
DEVICE void end_memory_slot(fragments read, form f) {
  wait_lds();                /* they have arrived: nobody needs their buffer in LDS any more */
  take_fragments(read, f);   /* now, while the other group multiplies */
  wait_memory<LOADS_LEFT>(); /* this wave's part of the half that the next phase reads is in LDS */
  keep_order();
  barrier(); /* the same is true for every wave of the group, and the other group has multiplied */
}

template <int SIDE>
DEVICE void multiply_slot(quarter<SIDE> sums, const fragments a, const fragments b, tdm_type type) {
  keep_order();      /* not before the fragments have arrived */
  set_priority<1>(); /* the matrix units first: the other group's loads fit in between */
  multiply_quarter<SIDE>(sums, a, b, type);
  set_priority<0>();
  keep_order(); /* not after the barrier, when the other group multiplies */
  barrier();    /* the other group has ended its memory slot */
}

/* sums[2 h + v] += A's half h times B's half v, over the whole depth. */
template <int SIDE>
DEVICE void run_pipeline(quarter<SIDE> sums[4], pipeline *p, LDS char *lds) {
  const tdm_type type = p->a.type;
  const int values = PIPE_ROW / tdm_bytes(type);
  const int steps = (int)(p->depth / values), tail = (int)(p->depth % values);
  int group = wave_index() / 4;
  reader from_a = make_reader(lds, pipe_wave_m(), p->a);
  reader from_b = make_reader(lds, pipe_wave_n(), p->b);
  fragments a, b0, b1;

  load_lines(&p->b0, lds + AT_B0, steps > 0, p->b);
  load_lines(&p->a0, lds + AT_A0, steps > 0, p->a);
  load_lines(&p->b1, lds + AT_B1, steps > 0, p->b);
  load_lines(&p->a1, lds + AT_A1, steps > 0, p->a);
  load_lines(&p->b0, lds + STAGE_BYTES + AT_B0, steps > 1, p->b);
  load_lines(&p->a0, lds + STAGE_BYTES + AT_A0, steps > 1, p->a);
  load_lines(&p->b1, lds + STAGE_BYTES + AT_B1, steps > 1, p->b);
  wait_memory<LOADS_LEFT>(); /* this wave's part of the first B0 is in LDS */
  barrier();                 /* and every other wave's part */
  if (group == 1) barrier(); /* one slot later: group 0 makes up for it after the loop */
  load_lines(&p->a1, lds + STAGE_BYTES + AT_A1, steps > 1, p->a);
  read_fragments(b0, &from_b, AT_B0, p->b);
  end_memory_slot(b0, p->b);
  barrier(); /* in this slot phase -1 would multiply, but there is no phase -1 */

  int stage = 0;
  for (int t = 0; t < steps; t++) {
    LDS char *here = lds + stage;
    bool live = t + 2 < steps;
    load_lines(&p->b0, here + AT_B0, live, p->b);
    read_fragments(a, &from_a, AT_A0, p->a);
    end_memory_slot(a, p->a);
    multiply_slot<SIDE>(sums[0], a, b0, type);

    load_lines(&p->a0, here + AT_A0, live, p->a);
    read_fragments(b1, &from_b, AT_B1, p->b);
    end_memory_slot(b1, p->b);
    multiply_slot<SIDE>(sums[1], a, b1, type);

    load_lines(&p->b1, here + AT_B1, live, p->b);
    read_fragments(a, &from_a, AT_A1, p->a);
    end_memory_slot(a, p->a);
    multiply_slot<SIDE>(sums[2], a, b0, type);

    flip_stage(&from_a);
    flip_stage(&from_b);
    load_lines(&p->a1, here + AT_A1, live, p->a);
    read_fragments(b0, &from_b, AT_B0, p->b);
    end_memory_slot(b0, p->b);
    multiply_slot<SIDE>(sums[3], a, b1, type);
    stage ^= STAGE_BYTES;
  }
  wait_memory<0>();          /* the zeros after the last step: LDS is about to be used for something else */
  if (group == 0) barrier(); /* both groups are in the same slot again */
  barrier();                 /* nobody reads or fills a stage any more */
  /* At most one round. It is a loop only for the compiler: with a branch it would keep the sums of both paths, and spill. */
  for (int left = tail; left > 0;) {
    /* The loop has loaded two steps too many, for nothing. Moved back by those, the bases are at the tail. */
    lines *halves[4] = {&p->a0, &p->a1, &p->b0, &p->b1};
#pragma unroll
    for (int h = 0; h < 4; h++) {
      move_steps(halves[h], -2);
      put_tail(halves[h], lds + h * HALF_BYTES, left, h < 2 ? p->a : p->b);
    }
    sync_lds(); /* the tail is in LDS */
    from_a = make_reader(lds, pipe_wave_m(), p->a);
    from_b = make_reader(lds, pipe_wave_n(), p->b);
    read_fragments(b0, &from_b, AT_B0, p->b);
    read_fragments(b1, &from_b, AT_B1, p->b);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      read_fragments(a, &from_a, h == 0 ? AT_A0 : AT_A1, p->a);
      wait_lds(); /* the fragments have arrived */
      take_fragments(a, p->a);
      if (h == 0) take_fragments(b0, p->b);
      if (h == 0) take_fragments(b1, p->b);
      keep_order();
      multiply_quarter<SIDE>(sums[2 * h], a, b0, type);
      multiply_quarter<SIDE>(sums[2 * h + 1], a, b1, type);
      keep_order(); /* the next half's reads come after this */
    }
    sync_lds(); /* every wave has its fragments: LDS is free */
    left = 0;
    asm volatile("" : "+s"(left));
  }
}

#endif
