/* Rows along k that do not begin at cache lines: each line is loaded once.
 *
 * A row may begin p chunks after a line of PIPE_ROW bytes (gfx942: half of a cache line). Then the PIPE_ROW bytes of a K step,
 * its slice, are the end of one line and the first p chunks of the next. Loaded by slices, each line comes twice, and takes
 * twice as much of the vL1D's room. So a stage of LDS gets the next line of each row:
 *
 *   stage t, of a row with p = 3:  the last 3 chunks of slice t - 1 (5, 6, 7: late), and the first 5 of slice t (0 ... 4)
 *
 * A chunk lies where its number in the slice says (place_of), so the banks are those of other rows. A lane that loads a late
 * chunk only begins PIPE_ROW bytes earlier, and a lane that reads one takes the next stage.
 *
 * Workgroups that share a line would all wait for HBM if they asked for it at once. So they take turns (step_order): they begin
 * with different lines. 1000x1000x1000 nt bf16 takes 18,882 predicted clocks on gfx950; it took 20,252 without turns.
 *
 * Rows must be multiples of CHUNK_BYTES apart. Then p is the same for every 8th row, so a lane has one p for all of its
 * fragments. If the first row does not begin at a multiple of CHUNK_BYTES, results are the same, but a chunk of each row is
 * in two lines. */
#ifndef TANDEM_HIP_ENGINE_CACHE_LINES_H
#define TANDEM_HIP_ENGINE_CACHE_LINES_H

#include "hip/device/call.h"
#include "lines.h"

/* A value of each lane and one of all of them, added where it is written: the compiler would add all before the first product,
 * and copy the scalar one. */
DEVICE uint32_t add_to_lane_here(uint32_t lane, uint32_t all) {
  uint32_t sum;
  asm volatile("v_add_u32 %0, %1, %2" : "=v"(sum) : "s"(all), "v"(lane));
  return sum;
}
/* lane + all + (bits & more) */
DEVICE uint32_t add_some_here(uint32_t lane, uint32_t all, uint32_t bits, uint32_t more) {
  uint32_t sum;
  asm volatile("v_and_b32 %0, %2, %3\n\tv_add3_u32 %0, %0, %1, %4" : "=&v"(sum) : "s"(all), "s"(more), "v"(bits), "v"(lane));
  return sum;
}

/* What a lane's n-th load is of, where rows are along k: the row, and the first of the bytes that a step has of it. */
typedef struct loaded {
  int row, byte;
} loaded;
DEVICE loaded loaded_by(int n, form f) {
  const uint32_t at = load_place(n, CHIP_LOAD_TO_LDS_BYTES, f) + (uint32_t)(lane_index() * CHIP_LOAD_TO_LDS_BYTES);
  const lines_chunk c = chunk_at(at, f);
  return (loaded){c.row, c.chunk * CHUNK_BYTES + (int)at % CHUNK_BYTES};
}

/* Is a chunk of a row's slice in the second of the slice's lines? first: where row 0 begins. */
DEVICE bool is_late(const char *first, int pitch, int row, int chunk) {
  const uint32_t begins = ((uint32_t)(uintptr_t)first + (uint32_t)(row * pitch)) / CHUNK_BYTES % PIPE_CHUNKS;
  return begins + (uint32_t)chunk >= (uint32_t)PIPE_CHUNKS;
}

/* The order of lines. A row has as many slices as `count`, the last of which may be the tail. In front of slice 0 and after
 * the last one is the same line, number 0: the first chunks of slice 0, and the late ones of the last slice. So a workgroup may
 * begin anywhere: it loads lines first, first + 1, ..., count - 1, 0, 1, ..., first. Slots count what is loaded. */
typedef struct line_order {
  int count, first, tails; /* tails: 1 if the last one is a tail. Not a bool, which would be in VGPRs */
} line_order;
/* From this line on they are not like those before: the last one if there is a tail, else line 0. */
DEVICE int line_of_end(const line_order *o) { return o->count - o->tails; }

/* Where rows along k end, and where lanes load. */
typedef struct row_ends {
  bool before_end[MOST_LOADS]; /* what the lane loads of the last slice is before its row's end */
  bool in_last, in_0;          /* by cache lines: it loads something of line count - 1, and of line 0 */
  uint32_t offset, offset_0;   /* of load 0, and that of line 0 */
} row_ends;
DEVICE int rows_of_load(form f) { return f.waves * WAVE * CHIP_LOAD_TO_LDS_BYTES / row_bytes(f); }

DEVICE row_ends make_row_ends(int tail, form f) {
  row_ends e = {};
  if (!f.along_k) return e;
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++)
    e.before_end[n] = n > 0 && rows_of_load(f) % SWIZZLE_ROWS == 0 ? e.before_end[0] : loaded_by(n, f).byte < tail;
  return e;
}
DEVICE row_ends make_line_ends(const lines *x, const line_order *o, int tail, form f) {
  row_ends e = make_row_ends(tail, f);
  if (!f.along_k) return e;
  const loaded l = loaded_by(0, f);
  const bool late = is_late(x->base, x->pitch, l.row, l.byte / CHUNK_BYTES);
  e.offset = (uint32_t)(l.row * x->pitch + l.byte) + (late ? 0 : (uint32_t)PIPE_ROW);
  e.offset_0 = e.offset + (late ? (uint32_t)o->count * PIPE_ROW : 0);
  e.in_last = late || e.before_end[0];
  e.in_0 = tail == 0 || e.before_end[0] || (!late && o->count > 1);
  return e;
}

/* Before loads from `begin` to `end` of the K tail: a lane loads nothing after its row's end. */
DEVICE void end_loads(lines *x, const row_ends *e, int begin, int end, form f) {
  if (!f.along_k) return;
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++)
    if (n >= begin && n < end) x->offset[n] = e->before_end[n] ? x->offset[n] : OUTSIDE;
}

/* Lines, and how the slots from one on load them. */
typedef enum line_kind { LINE_0, LINE_OF_END, OTHER_LINES } line_kind;
DEVICE void begin_lines_at(lines *x, const row_ends *e, line_kind kind, form f) {
  if (!f.along_k) return;
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++) {
    const uint32_t after = (uint32_t)(n * rows_of_load(f) * x->pitch);
    x->offset[n] = kind == LINE_0        ? e->in_0 ? e->offset_0 + after : OUTSIDE
                   : kind == LINE_OF_END ? e->in_last ? e->offset + after : OUTSIDE
                                         : e->offset + after;
  }
}
DEVICE uint32_t line_length(const lines *x, const line_order *o, line_kind kind, form f) {
  if (kind == LINE_0 && f.along_k) return x->length > 0 ? x->tail_length + (uint32_t)line_of_end(o) * PIPE_ROW : 0;
  return kind == LINE_OF_END || line_of_end(o) == 0 ? x->tail_length : x->length;
}

/* The lines of rows along k: the base is one before the next line, because late chunks belong to the slice before. */
DEVICE lines make_cache_lines(const void *matrix, int left, int ld, int line, int64_t depth, form f) {
  if (!f.along_k) return make_lines_with_tail(matrix, left, ld, line, depth, f);
  lines x = make_lines(matrix, left, ld, line, f);
  const loaded l = loaded_by(0, f);
  const bool late = is_late(x.base, x.pitch, l.row, l.byte / CHUNK_BYTES);
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++)
    x.offset[n] =
        (uint32_t)(l.row * x.pitch + l.byte) + (late ? 0 : (uint32_t)PIPE_ROW) + (uint32_t)(n * rows_of_load(f) * x.pitch);
  x.base -= PIPE_ROW;
  x.tail_length = x.length > 0 ? x.length + (uint32_t)depth * (uint32_t)tdm_bytes(f.type) % PIPE_ROW : 0;
  x.length = x.length > 0 ? x.length + PIPE_ROW : 0;
  return x;
}

/* Where a lane reads its chunks: `late` has all bits for chunks of the next stage. */
typedef struct slice_reader {
  reader from;
  uint32_t late[ADDRESSES];
} slice_reader;

/* Before the first line is loaded. line: of the tile, the wave's first one. */
DEVICE slice_reader make_slice_reader(LDS const char *lds, int line, const lines *x, form f) {
  slice_reader r = {.from = make_reader(lds, line, f), .late = {}};
  if (!f.along_k) return r;
#pragma unroll
  for (int n = 0; n < addresses_of(f); n++) {
    const int row = line + lane_index() % f.side, chunk = n * (WAVE / f.side) + lane_index() / f.side;
    r.late[n] = is_late(x->base, x->pitch, row, chunk) ? ~0u : 0; /* the base is a multiple of lines away from the row */
  }
  return r;
}

/* The reader of the slice whose lines are in the stages that begin `here` and `next` bytes after the first, with its addresses
 * from `begin` to `end`. */
DEVICE reader at_slice(const slice_reader *first, uint32_t here, uint32_t next, int begin, int end, form f) {
  reader r = first->from;
#pragma unroll
  for (int n = begin; n < end; n++)
    r.address[n] =
        f.along_k ? add_some_here(r.address[n], here, first->late[n], next - here) : add_to_lane_here(r.address[n], here);
  return r;
}

/* Puts zeros after the K tail, the first `bytes` of a slice, in fragments that have arrived. */
DEVICE void cut_fragments(fragments x, int bytes, form f) {
  if (!f.along_k) return; /* rows are values of k: those after the last one were loaded as 0 */
#pragma unroll
  for (int n = 0; n < chunks_of(f); n++) {
    const int begins = (n / f.count * (WAVE / f.side) + lane_index() / f.side) * CHUNK_BYTES;
#pragma unroll
    for (int w = 0; w < 4; w++)
      if (begins + 4 * w >= bytes) x[n][w] = 0;
  }
}

#endif
