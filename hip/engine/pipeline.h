/* The K loop of the 256 x 256 tile: 8 waves in two groups that alternate, so that one uses the matrix units and the other
 * memory. docs/gemm.md explains it with pictures.
 *
 * A K step is 128 bytes along k on gfx950 (64 values of f16 or bf16, 32 of f32), and 64 on gfx942, whose LDS is smaller.
 * Its tiles of A and B are four halves of 128 lines, 16 KiB (gfx942: 8) each: A0, A1, B0, B1. LDS has two stages of four
 * halves, 128 KiB (64). Wave (wave_m, wave_n) of 2 x 4 computes 64 x 32 of each of the four quarters of C, in four phases
 * per step:
 *
 *   phase   reads from LDS                        multiplies   starts to load
 *     0     A0                                    A0 B0        A1 of the next step
 *     1     B1, and the first chunks of A1        A0 B1        B0 of the step after next, to the buffer of this step's B0
 *     2     the rest of A1                        A1 B0        A0 of the step after next
 *     3     B0 of step + 1, and some of its A0    A1 B1        B1 of the step after next
 *
 * So a half is read 6 phases after its load was started (its first chunks: 5), and its buffer was read two phases before that.
 * A phase is two slots, each ended by a barrier: memory (reads, loads), then multiplication. Waves 4-7 are one slot later than
 * waves 0-3, and the two groups share the SIMDs: while one group multiplies, the other one uses LDS.
 *
 * At the end of a memory slot a wave waits until only the loads of the last 4 phases are left, 2 of each (gfx942: 4). Then this
 * wave's part of what the next phase reads has arrived, and after the barrier this holds for all waves.
 *
 * A slot has 256 clocks of products. What a group does in its memory slot must not take longer, or the matrix units wait. So
 * the reads come first and in equal numbers, the second half of them is waited for between the products, and scalar
 * instructions stand where the wave would wait anyway. */
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
  LOADS_LEFT = 4 * loads_of(HALF_LINES, PIPE_WAVES) /* those of the 4 phases after the last one whose half is needed */
};
/* Where the halves are in a stage. */
enum { AT_A0 = 0, AT_A1 = HALF_BYTES, AT_B0 = 2 * HALF_BYTES, AT_B1 = 3 * HALF_BYTES };

/* What a wave computes of each quarter of C. */
enum { WAVE_M = HALF_LINES / PIPE_WAVES_M, WAVE_N = HALF_LINES / PIPE_WAVES_N };

/* With matrix instructions of SIDE x SIDE results. */
template <int SIDE>
using quarter = mfma_sums<SIDE>[WAVE_M / SIDE][WAVE_N / SIDE];

/* LDS begins at a multiple of two stages, so one bit tells the stages apart. */
DEVICE void flip_stage(reader *r, form f) {
#pragma unroll
  for (int n = 0; n < addresses_of(f); n++) r->address[n] = in_order(r->address[n] ^ STAGE_BYTES);
}

/* The matrix instructions of a quarter: 256 clocks, 16 of 16 clocks or 8 of 32 (f32: 2048, or 1024 on gfx942). Two products of
 * chunks take turns: an instruction that adds to what the one before it has summed begins 2 clocks later than others. */
template <int SIDE>
DEVICE constexpr int products(tdm_type type) {
  return PIPE_CHUNKS * SIDE / WAVE * (WAVE_M / SIDE) * (WAVE_N / SIDE) * mfma_parts(type);
}
/* Those after the barrier of their slot, 32 clocks or more. */
template <int SIDE>
DEVICE constexpr int last_products(tdm_type type) {
  return type == TDM_F32 ? 4 : SIDE == 16 || mfma_parts(type) == 2 ? 2 : 1;
}

/* The number of the instruction of a part of a product of chunks, and the other way round. */
DEVICE constexpr int instruction_of(int product, int part, tdm_type type) {
  return product / 2 * 2 * mfma_parts(type) + part * 2 + product % 2;
}
DEVICE constexpr int product_of(int instruction, tdm_type type) {
  return instruction / (2 * mfma_parts(type)) * 2 + instruction % 2;
}

template <int SIDE>
DEVICE void multiply_one(quarter<SIDE> sums, const fragments a, const fragments b, tdm_type type, int instruction) {
  enum { A_COUNT = WAVE_M / SIDE, B_COUNT = WAVE_N / SIDE, OF_PART = A_COUNT * B_COUNT };
  const int product = product_of(instruction, type), of_step = product / OF_PART, m = product % OF_PART / B_COUNT,
            n = product % B_COUNT;
  sums[m][n] =
      mfma_part(b[of_step * B_COUNT + n], a[of_step * A_COUNT + m], sums[m][n], type, instruction % (2 * mfma_parts(type)) / 2);
}
template <int SIDE>
DEVICE void keep_sums(quarter<SIDE> sums) {
#pragma unroll
  for (int m = 0; m < WAVE_M / SIDE; m++)
#pragma unroll
    for (int n = 0; n < WAVE_N / SIDE; n++) sums[m][n] = in_order(sums[m][n]);
}

/* Those from `begin` to `end`. */
template <int SIDE>
DEVICE void multiply_quarter(quarter<SIDE> sums, const fragments a, const fragments b, tdm_type type, int begin, int end) {
#pragma unroll
  for (int i = 0; i < products<SIDE>(type); i++)
    if (i >= begin && i < end) multiply_one<SIDE>(sums, a, b, type, i);
  keep_sums<SIDE>(sums);
}

/* ---- Where a wave makes chunks of what it has read (16 bits on gfx942, stored across k), it does so between products ---- */

/* Which operand of a slot's products was read in the memory slot before it; NEITHER: it is for a later slot. */
enum read_for { READ_A, READ_B, NEITHER };

/* The instruction before which half of chunk n is made: one earlier than the first that needs it. So between two of them are no
 * more than a few v_perm_b32, which issue while the matrix unit works. */
template <int SIDE>
DEVICE constexpr int made_before(int n, int half, tdm_type type, read_for which) {
  enum { A_COUNT = WAVE_M / SIDE, B_COUNT = WAVE_N / SIDE, OF_PART = A_COUNT * B_COUNT };
  const int product = which == READ_A   ? n / A_COUNT * OF_PART + n % A_COUNT * B_COUNT
                      : which == READ_B ? n / B_COUNT * OF_PART + n % B_COUNT
                                        : n;
  const int last = products<SIDE>(type) - last_products<SIDE>(type) - 1, at = instruction_of(product, half, type) - 1;
  return at < 0 ? 0 : at < last ? at : last;
}

/* multiply_quarter, and makes `read` of `from`, which LDS returned. */
template <int SIDE>
DEVICE void multiply_and_make(quarter<SIDE> sums, const fragments a, const fragments b, fragments read, const fragments from,
                              form f, read_for which, int begin, int end) {
#pragma unroll
  for (int i = begin; i < end; i++) {
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
      for (int n = 0; n < chunks_of(f); n++) {
        if (made_before<SIDE>(n, half, f.type, which) != i) continue;
        read[n][2 * half] = in_order(make_dword(from, n, 2 * half, f));
        read[n][2 * half + 1] = in_order(make_dword(from, n, 2 * half + 1, f));
      }
    keep_order();
    multiply_one<SIDE>(sums, a, b, f.type, i);
    keep_sums<SIDE>(sums);
    keep_order();
  }
}

template <int SIDE>
DEVICE void clear_sums(quarter<SIDE> sums[4]) {
#pragma unroll
  for (int q = 0; q < 4; q++)
#pragma unroll
    for (int m = 0; m < WAVE_M / SIDE; m++)
#pragma unroll
      for (int n = 0; n < WAVE_N / SIDE; n++) sums[q][m][n] = in_order((mfma_sums<SIDE>)0);
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
  return (form){along_k, type, SIDE, WAVE_M / SIDE, HALF_LINES, PIPE_WAVES, 1};
}
template <int SIDE>
DEVICE form form_of_b(bool along_k, tdm_type type, int spread) {
  return (form){along_k, type, SIDE, WAVE_N / SIDE, HALF_LINES, PIPE_WAVES, spread};
}

/* ---- From the sums to the waves' blocks ---- */

/* The first row of a pass, counted from the tile's first row. */
DEVICE int pass_row(int pass) { return pass * PASS_ROWS / WAVE_M * HALF_LINES + pass * PASS_ROWS % WAVE_M + pipe_wave_m(); }

/* Puts a pass into the wave's block: B0's 32 columns, and then B1's. The pass is a variable of the caller's loop, but
 * registers can't be indexed, so it is compared with constants. Returns pass_row. */
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
  return pass_row(pass);
}

/* The same for a loop over passes that takes the sums from where the first pass has them: next_pass moves those of the next
 * pass there. So only the sums that are left are in registers while a pass is stored, and the epilogue has the others. */
template <int SIDE>
DEVICE bool passes_move(form a) { /* no fragment has rows in two passes */
  return PASS_ROWS % SIDE == 0 && (operand_read_of(a) != PAIRS || PASS_ROWS % (2 * SIDE) == 0);
}
template <int SIDE>
DEVICE void put_first_pass(LDS f32x4 *block, quarter<SIDE> sums[4], const pipeline *at) {
  enum { COUNT = PASS_ROWS / SIDE, OF_HALF = WAVE_M / SIDE, FOURS = SIDE * SIDE / 256 };
  const bool pairs_a = operand_read_of(at->a) == PAIRS, pairs_b = operand_read_of(at->b) == PAIRS;
  int lane = in_order(lane_index()); /* the places are computed in each pass: in registers they would be too many */
  int row = (lane & (SIDE - 1)) << (pairs_a ? 1 : 0), chunk = (lane & (WAVE - 1)) / SIDE << (pairs_b ? 1 : 0);
  const int place = block_place(row, chunk);
#pragma unroll
  for (int m = 0; m < COUNT; m++)
#pragma unroll
    for (int v = 0; v < 2; v++)
#pragma unroll
      for (int n = 0; n < WAVE_N / SIDE; n++)
#pragma unroll
        for (int four = 0; four < FOURS; four++) {
          const mfma_sums<SIDE> *of = sums[2 * (m / OF_HALF) + v][m % OF_HALF];
          const uint32_t row_m = (uint32_t)(m / OF_HALF * WAVE_M + fragment_line(m % OF_HALF, 0, at->a));
          uint32_t to = (uint32_t)(v * WAVE_N / 4 + n * SIDE / 4 + WAVE / SIDE * four);
          const int r = 4 * four, half = r + n % 2 * 2;
          f32x4 here = {of[n][r], of[n][r + 1], of[n][r + 2], of[n][r + 3]};
          if (pairs_b) {
            here = (f32x4){of[n & ~1][half], of[n | 1][half], of[n & ~1][half + 1], of[n | 1][half + 1]};
            to = (uint32_t)(v * WAVE_N / 4 + (n & ~1) * SIDE / 4 + n % 2);
          }
          block[block_place_at(place, row_m, to)] = here;
        }
}
template <int SIDE>
DEVICE void next_pass(quarter<SIDE> sums[4]) {
  enum { COUNT = PASS_ROWS / SIDE, OF_HALF = WAVE_M / SIDE };
#pragma unroll
  for (int m = COUNT; m < 2 * OF_HALF; m++)
#pragma unroll
    for (int v = 0; v < 2; v++)
#pragma unroll
      for (int n = 0; n < WAVE_N / SIDE; n++)
        sums[2 * ((m - COUNT) / OF_HALF) + v][(m - COUNT) % OF_HALF][n] = sums[2 * (m / OF_HALF) + v][m % OF_HALF][n];
}

/* ---- The loop ---- */

/* What a memory slot starts to load. */
typedef struct half_load {
  lines *of;
  uint32_t to; /* where the wave's part begins in LDS */
  int left;    /* whole steps to load, including this one */
  form f;
} half_load;

/* The loads of a memory slot. They come after its reads, and so does all else that the scalar unit does, while the reads are on
 * their way. */
DEVICE void start_loads(half_load l) {
  keep_order();
  load_lines(l.of, at_lds(l.to), step_length(l.of, l.left), l.f);
  keep_order();
}

/* The chunks that the second half of a slot's products needs are waited for between the halves. */
DEVICE int late_chunks(form f) { return parts_of(f) % 2 == 0 && operand_read_of(f) < PAIRS ? chunks_of(f) / 2 : 0; }
DEVICE int reads_of(form f, int chunks) { return operand_read_of(f) == ALONG_K ? chunks : 2 * chunks; }

/* Ends a memory slot, in which the reads of `read` were started, and `after` others after them. */
DEVICE void end_memory_slot(fragments read, form f, int after) {
  keep_order();
  wait_lds_but(reads_of(f, late_chunks(f)) + after);
  if (makes_chunks(f))
    keep_read(read, f, 0, chunks_of(f)); /* multiply makes them */
  else
    take_chunks(read, f, 0, chunks_of(f) - late_chunks(f)); /* now, while the other group multiplies */
  wait_memory<LOADS_LEFT>();                                /* this wave's part of what the next phase reads is in LDS */
  keep_order();
  barrier(); /* the same is true for every wave of the group, and the other group has multiplied */
}

/* A multiplication slot except its last products: those come after the barrier, among the first reads of the wave's memory
 * slot. So the matrix unit has work while one group hands over to the other. Waves in a memory slot issue first, for they
 * have the longer list. `read`: what the wave's last memory slot has read, and which operand it is. */
template <int SIDE>
DEVICE void multiply(quarter<SIDE> sums, const fragments a, const fragments b, tdm_type type, fragments read, form f,
                     read_for which) {
  const int middle = products<SIDE>(type) / 2, end = products<SIDE>(type) - last_products<SIDE>(type);
  fragments from;
#pragma unroll
  for (int n = 0; n < PIPE_CHUNKS; n++) from[n] = read[n];
  keep_order(); /* not before the fragments have arrived */
  if (makes_chunks(f))
    multiply_and_make<SIDE>(sums, a, b, read, from, f, which, 0, middle);
  else
    multiply_quarter<SIDE>(sums, a, b, type, 0, middle);
  keep_order();
  wait_lds(); /* nobody needs their buffer in LDS any more */
  if (!makes_chunks(f)) take_chunks(read, f, chunks_of(f) - late_chunks(f), chunks_of(f));
  keep_order();
  if (makes_chunks(f))
    multiply_and_make<SIDE>(sums, a, b, read, from, f, which, middle, end);
  else
    multiply_quarter<SIDE>(sums, a, b, type, middle, end);
  keep_order();
  set_priority<1>();
  barrier(); /* the other group has ended its memory slot */
  keep_order();
}
template <int SIDE>
DEVICE void multiply_last(quarter<SIDE> sums, const fragments a, const fragments b, tdm_type type) {
  keep_order();
  multiply_quarter<SIDE>(sums, a, b, type, products<SIDE>(type) - last_products<SIDE>(type), products<SIDE>(type));
  keep_order();
}

/* How many chunks of A's half are read one slot earlier, together with B's, so that all slots have as many reads: with slots of
 * 8 and 4, those of 8 take longer than the other group's products. Reads of pairs come in fours: 4 in A's slot and 8 in B's are
 * better than 8 and 4, because B's slot does not wait for those of A. */
DEVICE int early_chunks(form a, form b) {
  const int of_a = reads_of(a, chunks_of(a)), of_b = reads_of(b, chunks_of(b));
  const int count = (of_a - of_b) / 2 * chunks_of(a) / of_a;
  return makes_chunks(a) ? (count + 1) / 2 * 2 : whole_reads(count, a);
}
DEVICE void take_early(fragments a, const fragments early, int count) {
#pragma unroll
  for (int n = 0; n < count; n++) a[n] = early[n];
}
/* Chunks that have arrived: until here their registers are theirs. */
DEVICE void keep_chunks(fragments x, int count) {
#pragma unroll
  for (int n = 0; n < count; n++) x[n] = in_order(x[n]);
}

/* The LDS queue of a pair of SIMDs has 8 places, 4 for each wave. A read that finds it full waits, and so does everything that
 * the wave issues after it. So a slot's reads come in up to three batches: the first one before the last products, the second
 * one, if the slot has more than 8 reads, before the loads from memory, and the rest after these. Where chunks are made between
 * products, slots have clocks to spare, so the last products come first: the matrix unit would wait 12 clocks for 4 reads. */
enum { BATCH_READS = 4 };
typedef struct batches {
  int first, second; /* the chunks at which they end */
} batches;
/* Of the chunks from `begin` to `end`, which come after `before` other reads of a slot that has `all`. */
DEVICE batches batches_of(form f, int begin, int end, int before, int all) {
  const int each = reads_of(f, chunks_of(f)) / chunks_of(f);
  const int first = begin + whole_reads((BATCH_READS - before) / each, f),
            second = begin + whole_reads((2 * BATCH_READS - before) / each, f);
  batches b = {first < begin ? begin : first < end ? first : end, second < begin ? begin : second < end ? second : end};
  if (all <= 2 * BATCH_READS) b.second = b.first;
  if (makes_chunks(f)) b.first = begin;
  return b;
}

/* sums[2 h + v] = A's half h times B's half v, over the whole depth. */
template <int SIDE>
DEVICE void run_pipeline(quarter<SIDE> sums[4], pipeline *p, LDS char *lds) {
  const tdm_type type = p->a.type;
  const int values = PIPE_ROW / tdm_bytes(type);
  const int steps = (int)(p->depth / values), tail = (int)(p->depth % values);
  int group = wave_index() / 4;
  fragments a = {}, b0 = {}, b1, early;

  uint32_t here = lds_address(lds) + (uint32_t)wave_place(p->a), next = here + STAGE_BYTES; /* the wave's parts of the stages */
  load_lines(&p->b0, at_lds(here + AT_B0), step_length(&p->b0, steps), p->b);
  load_lines(&p->a0, at_lds(here + AT_A0), step_length(&p->a0, steps), p->a);
  /* 128 instructions here: each wave's share of the first two halves is asked for before any wave asks for more. */
  keep_order();
  clear_sums<SIDE>(sums);
  keep_order();
  load_lines(&p->b1, at_lds(here + AT_B1), step_length(&p->b1, steps), p->b);
  load_lines(&p->a1, at_lds(here + AT_A1), step_length(&p->a1, steps), p->a);
  load_lines(&p->b0, at_lds(next + AT_B0), step_length(&p->b0, steps - 1), p->b);
  load_lines(&p->a0, at_lds(next + AT_A0), step_length(&p->a0, steps - 1), p->a);
  reader from_a = make_reader(lds, pipe_wave_m(), p->a), from_b = make_reader(lds, pipe_wave_n(), p->b);
  wait_memory<LOADS_LEFT>(); /* this wave's part of the first B0 is in LDS */
  barrier();                 /* and every other wave's part */
  if (group == 1) barrier(); /* one slot later: group 0 makes up for it after the loop */
  const int all_a = chunks_of(p->a), some_a = early_chunks(p->a, p->b), all_b = chunks_of(p->b);
  const int reads_a = reads_of(p->a, all_a - some_a), reads_b = reads_of(p->b, all_b),
            with_early = reads_b + reads_of(p->a, some_a);
  const batches of_a = batches_of(p->a, some_a, all_a, 0, reads_a), of_b = batches_of(p->b, 0, all_b, 0, with_early),
                of_early = batches_of(p->a, 0, some_a, reads_b, with_early);
  read_chunks(b0, &from_b, AT_B0, p->b, 0, all_b);
  read_chunks(early, &from_a, AT_A0, p->a, 0, some_a);
  start_loads((half_load){&p->b1, next + AT_B1, steps - 1, p->b});
  end_memory_slot(b0, p->b, reads_of(p->a, some_a));
  wait_lds();
  keep_chunks(early, some_a);
  take_chunks(b0, p->b, makes_chunks(p->b) ? 0 : all_b - late_chunks(p->b), all_b);
  barrier(); /* in this slot phase -1 would multiply, but there is no phase -1 */

  /* The loop's branch is in the memory slot of phase 0, while its reads are on their way. */
  take_early(a, early, some_a);
  read_chunks(a, &from_a, AT_A0, p->a, some_a, all_a);
  start_loads((half_load){&p->a1, next + AT_A1, steps - 1, p->a});
  for (uint32_t left = (uint32_t)steps; left > 0;) {
    end_memory_slot(a, p->a, 0);
    const int to_load = (int)left - 2;
    multiply<SIDE>(sums[0], a, b0, type, a, p->a, READ_A);
    read_chunks(b1, &from_b, AT_B1, p->b, 0, of_b.first);
    multiply_last<SIDE>(sums[0], a, b0, type);
    read_chunks(b1, &from_b, AT_B1, p->b, of_b.first, of_b.second);
    read_chunks(early, &from_a, AT_A1, p->a, 0, of_early.second);
    start_loads((half_load){&p->b0, here + AT_B0, to_load, p->b});
    read_chunks(b1, &from_b, AT_B1, p->b, of_b.second, all_b);
    read_chunks(early, &from_a, AT_A1, p->a, of_early.second, some_a);
    set_priority<0>();
    end_memory_slot(b1, p->b, reads_of(p->a, some_a));

    multiply<SIDE>(sums[1], a, b1, type, b1, p->b, READ_B);
    keep_chunks(early, some_a);
    fragments a1;
    take_early(a1, early, some_a);
    read_chunks(a1, &from_a, AT_A1, p->a, some_a, of_a.first);
    multiply_last<SIDE>(sums[1], a, b1, type);
    read_chunks(a1, &from_a, AT_A1, p->a, of_a.first, of_a.second);
    start_loads((half_load){&p->a0, here + AT_A0, to_load, p->a});
    read_chunks(a1, &from_a, AT_A1, p->a, of_a.second, all_a);
    set_priority<0>();
    flip_stage(&from_a, p->a);
    flip_stage(&from_b, p->b);
    end_memory_slot(a1, p->a, 0);

    multiply<SIDE>(sums[2], a1, b0, type, a1, p->a, READ_A);
    fragments b0_next;
    read_chunks(b0_next, &from_b, AT_B0, p->b, 0, of_b.first);
    multiply_last<SIDE>(sums[2], a1, b0, type);
    read_chunks(b0_next, &from_b, AT_B0, p->b, of_b.first, of_b.second);
    read_chunks(early, &from_a, AT_A0, p->a, 0, of_early.second);
    start_loads((half_load){&p->b1, here + AT_B1, to_load, p->b});
    read_chunks(b0_next, &from_b, AT_B0, p->b, of_b.second, all_b);
    read_chunks(early, &from_a, AT_A0, p->a, of_early.second, some_a);
    set_priority<0>();
    end_memory_slot(b0_next, p->b, reads_of(p->a, some_a));

    multiply<SIDE>(sums[3], a1, b1, type, b0_next, p->b, NEITHER);
    keep_chunks(early, some_a);
    take_early(a, early, some_a);
    read_chunks(a, &from_a, AT_A0, p->a, some_a, of_a.first);
    multiply_last<SIDE>(sums[3], a1, b1, type);
    read_chunks(a, &from_a, AT_A0, p->a, of_a.first, of_a.second);
    start_loads((half_load){&p->a1, here + AT_A1, to_load, p->a});
    read_chunks(a, &from_a, AT_A0, p->a, of_a.second, all_a);
    set_priority<0>();
    here = xor_here(here, STAGE_BYTES);
    left = add_here(left, -1u);
#pragma unroll
    for (int n = 0; n < PIPE_CHUNKS; n++) b0[n] = b0_next[n];
  }
  wait_lds(); /* A0 of the step after the last one, for nothing */
  keep_chunks(a, chunks_of(p->a));
  wait_memory<0>();          /* the tail, and the zeros after the last step: LDS is about to be used for something else */
  if (group == 0) barrier(); /* both groups are in the same slot again */
  barrier();                 /* nobody reads or fills a stage any more */
  /* At most one round. It is a loop only for the compiler: with a branch it would keep the sums of both paths, and spill. */
  for (int left = tail; left > 0;) {
    LDS char *stage = lds + steps % 2 * STAGE_BYTES;
#pragma unroll
    for (int h = 0; h < 4; h++) cut_tail(stage + h * HALF_BYTES, left, h < 2 ? p->a : p->b);
    sync_lds(); /* the tail is in LDS */
    from_a = make_reader(stage, pipe_wave_m(), p->a);
    from_b = make_reader(stage, pipe_wave_n(), p->b);
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
      multiply_quarter<SIDE>(sums[2 * h], a, b0, type, 0, products<SIDE>(type));
      multiply_quarter<SIDE>(sums[2 * h + 1], a, b1, type, 0, products<SIDE>(type));
      keep_order(); /* the next half's reads come after this */
    }
    sync_lds(); /* every wave has its fragments: LDS is free */
    left = 0;
    asm volatile("" : "+s"(left));
  }
}

#endif
