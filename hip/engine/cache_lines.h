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
 * Rows must be multiples of CHUNK_BYTES apart. Then p is the same for every 8th row, so a lane has one p for all of its
 * fragments. If the first row does not begin at a multiple of CHUNK_BYTES, results are the same, but a chunk of each row is
 * in two lines. */
#ifndef TANDEM_HIP_ENGINE_CACHE_LINES_H
#define TANDEM_HIP_ENGINE_CACHE_LINES_H

#include "lines.h"

/* Is a chunk of a row's slice in the second of the slice's lines? first: where row 0 begins. */
DEVICE bool is_late(const char *first, int pitch, int row, int chunk) {
  const uint32_t begins = ((uint32_t)(uintptr_t)first + (uint32_t)(row * pitch)) / CHUNK_BYTES % PIPE_CHUNKS;
  return begins + (uint32_t)chunk >= (uint32_t)PIPE_CHUNKS;
}

typedef struct cache_lines {
  lines lines;           /* length: of all rows, from the next line's beginning on */
  bool last[MOST_LOADS]; /* what the lane loads of the last line is of the last slice, and before its row's end */
} cache_lines;

/* load_cache_line brings `depth` values of each row, in as many lines as cache_lines and one more. */
DEVICE cache_lines make_cache_lines(const void *matrix, int64_t count, int64_t ld, int64_t line, int64_t depth, form f) {
  const int rows_of_load = f.waves * WAVE * CHIP_LOAD_TO_LDS_BYTES / row_bytes(f);
  const int tail = (int)((uint32_t)depth * (uint32_t)tdm_bytes(f.type) % PIPE_ROW), end = tail == 0 ? (int)PIPE_ROW : tail;
  cache_lines x = {.lines = make_lines(matrix, count, ld, line, depth, f), .last = {}};
  if (!f.along_k) return x;
  if (x.lines.length > 0) x.lines.length += (uint32_t)(depth * tdm_bytes(f.type)) - PIPE_ROW;
  bool late = false;
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++) {
    x.last[n] = x.last[0];
    if (n == 0 ||
        rows_of_load % SWIZZLE_ROWS != 0) { /* others are at the same chunks of rows that begin like the first one's */
      const uint32_t at = load_place(n, CHIP_LOAD_TO_LDS_BYTES, f) + (uint32_t)(lane_index() * CHIP_LOAD_TO_LDS_BYTES);
      const lines_chunk c = chunk_at(at, f);
      late = is_late(x.lines.base, x.lines.pitch, c.row, c.chunk);
      x.last[n] = late && c.chunk * CHUNK_BYTES < end;
    }
    if (late) x.lines.offset[n] -= PIPE_ROW; /* before row 0 this is outside of every buffer */
  }
  return x;
}

/* After line 0, whose late chunks are before the rows. */
DEVICE void after_first_line(cache_lines *x, form f) {
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++) x->lines.offset[n] += PIPE_ROW;
  x->lines.base -= PIPE_ROW;
  x->lines.length += PIPE_ROW;
}

/* Before the last line: without this, rows that end with the line before would load one more. */
DEVICE void only_last(cache_lines *x, form f) {
#pragma unroll
  for (int n = 0; n < loads_of(f.lines, f.waves); n++)
    if (!x->last[n]) x->lines.offset[n] = OUTSIDE;
}

/* Starts the loads of the next line. left: how many lines come after it; below 0 there is none to load. */
DEVICE void load_cache_line(cache_lines *x, LDS char *place, int left, form f) {
  if (left == 0) only_last(x, f);
  load_lines(&x->lines, place, left >= 0 ? x->lines.length : 0, f);
  x->lines.length -= PIPE_ROW;
}

/* Where a lane reads its chunks: `later` is 1 for chunks of the next stage. */
typedef struct slice_reader {
  reader from;
  bool late[ADDRESSES];
} slice_reader;

/* Before the first load_cache_line. line: of the tile, the wave's first one. */
DEVICE slice_reader make_slice_reader(LDS const char *lds, int line, const lines *x, form f) {
  slice_reader r = {.from = make_reader(lds, line, f), .late = {}};
  if (!f.along_k) return r;
#pragma unroll
  for (int n = 0; n < addresses_of(f); n++)
    r.late[n] = is_late(x->base, x->pitch, line + lane_index() % f.side, n * (WAVE / f.side) + lane_index() / f.side);
  return r;
}

/* The reader of the slice whose lines are in the stages that begin `here` and `next` bytes after the first. */
DEVICE reader at_slice(const slice_reader *first, int here, int next, form f) {
  reader r = first->from;
#pragma unroll
  for (int n = 0; n < addresses_of(f); n++) r.address[n] += (uint32_t)(first->late[n] ? next : here);
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
