/* gemm for few rows of C, layout nt: B is most of the traffic, and each of its bytes is needed once. So it goes straight
 * from memory to the registers of the wave that multiplies it, without LDS and barriers.
 *
 * A workgroup has 16 columns of C, and ROWS fragments of 16 rows. Its waves divide K. Lane 16 g + i loads chunk g of line
 * i, which is what the matrix instruction wants. Lines outside of a matrix are its last line: their results are not stored.
 * At the end the waves' sums go through LDS, and are added in the order of the waves. */
#include "hip/engine/masked.h"
#include "k_split.h"
#include "rows_shape.h"
#include "store.h"

enum { UNIT_FRAGMENTS = GEMM_UNIT / 64 /* of a line's 128 bytes, each 4 chunks */ };

/* Where lines begin, as a plan sees it; a run's arrays may begin at any element. Each has its own functions: with all in one,
 * 1x4096x4096 took 1.0 to 3 % more predicted clocks where lines begin at chunks. */
typedef enum begins {
  CHUNKS, /* and K is whole units */
  DWORDS,
  ODD /* 16 bits: between dwords */
} begins;

/* A lane's line of an operand. */
typedef struct line {
  const char *base;
  int64_t first; /* element at which the line begins */
  int chunk;     /* the lane's chunk of a fragment */
  bool aligned;
} line;

DEVICE line make_line(const char *base, int64_t number, int64_t count, int64_t ld, bool aligned) {
  return (line){base, (number < count ? number : count - 1) * ld, lane_index() / 16, aligned};
}

/* The lane's chunk of fragment `f` from element k of the line on, of which `depth` are left. */
DEVICE u32x4 load_masked(const line *x, int64_t k, int f, int64_t depth, tdm_type type) {
  int64_t from = k + (f * 4 + x->chunk) * chunk_elements(type);
  return load_run(x->base, x->first + from, depth - from, x->aligned, type);
}

/* All of the chunk, of a line that begins at a chunk or a dword. */
template <begins AT>
DEVICE u32x4 load_chunk(const line *x, int64_t k, int f, tdm_type type) {
  const char *from = x->base + (x->first + k) * tdm_bytes(type) + (f * 4 + x->chunk) * CHUNK_BYTES;
  if constexpr (AT == CHUNKS)
    return *(const u32x4 *)from;
  else
    return *(const u32x4_at_dword *)from;
}

/* Chunks of a line that may begin between dwords, as dwords, from the one on in which the first chunk begins. */
template <int COUNT>
struct dwords {
  u32x4 of[COUNT];
  uint32_t after;  /* the dword after all lanes' chunks */
  uint32_t offset; /* bits of the first dword before the first chunk */
};

template <int COUNT>
DEVICE dwords<COUNT> load_dwords(const line *x, int64_t k) {
  const char *first = x->base + x->first * 2;
  const uint32_t odd = (uint32_t)(uintptr_t)first & 2;
  const char *from = first - odd + k * 2;
  dwords<COUNT> d;
  d.offset = odd * 8;
#pragma unroll
  for (int f = 0; f < COUNT; f++) d.of[f] = *(const u32x4_at_dword *)(from + (f * 4 + x->chunk) * CHUNK_BYTES);
  d.after = *(const uint32_t *)(from + COUNT * 4 * CHUNK_BYTES - (odd ? 0 : 4));
  return d;
}

/* Chunk `f`: its last element is in the next dword, which the lane with the line's next chunk has. */
template <int COUNT>
DEVICE u32x4 chunk_of(const dwords<COUNT> *d, int f) {
  const int lane = lane_index(), beside = (lane + 16) % WAVE;
  const uint32_t next = f + 1 < COUNT ? d->of[f + 1 < COUNT ? f + 1 : f][0] : d->after;
  const u32x4 x = d->of[f];
  const uint32_t last = (uint32_t)__builtin_amdgcn_ds_bpermute(beside * 4, (int)(lane < 16 ? next : x[0]));
  return (u32x4){__builtin_amdgcn_alignbit(x[1], x[0], d->offset), __builtin_amdgcn_alignbit(x[2], x[1], d->offset),
                 __builtin_amdgcn_alignbit(x[3], x[2], d->offset), __builtin_amdgcn_alignbit(last, x[3], d->offset)};
}

/* Element by element, with all loads on their way: those from `depth` on are its last one, and count as 0. */
typedef struct elements {
  uint32_t of[CHUNK_BYTES / 2];
} elements;

DEVICE elements load_elements(const line *x, int64_t k, int f, int64_t depth, tdm_type type) {
  const int64_t from = k + (f * 4 + x->chunk) * chunk_elements(type);
  elements e;
#pragma unroll
  for (int i = 0; i < chunk_elements(type); i++) {
    const int64_t at = x->first + (from + i < depth ? from + i : depth - 1);
    e.of[i] = tdm_bytes(type) == 4 ? ((const uint32_t *)x->base)[at] : ((const uint16_t *)x->base)[at];
  }
  return e;
}

DEVICE u32x4 cut_elements(const elements *e, const line *x, int64_t k, int f, int64_t depth, tdm_type type) {
  const int64_t left = depth - k - (f * 4 + x->chunk) * chunk_elements(type);
  u32x4 words = 0;
#pragma unroll
  for (int i = 0; i < chunk_elements(type); i++) {
    const uint32_t element = i < left ? e->of[i] : 0;
    if (tdm_bytes(type) == 4)
      words[i] = element;
    else
      words[i / 2] |= element << 16 * (i % 2);
  }
  return words;
}

template <int ROWS, int UNITS, begins AT>
DEVICE void multiply_units(f32x4 *sums, const line *a, const line *b, int64_t k, tdm_type type) {
  u32x4 of_b[UNITS * UNIT_FRAGMENTS], of_a[UNITS * UNIT_FRAGMENTS][ROWS];
#pragma unroll
  for (int f = 0; f < UNITS * UNIT_FRAGMENTS; f++) of_b[f] = load_chunk<AT>(b, k, f, type);
#pragma unroll
  for (int f = 0; f < UNITS * UNIT_FRAGMENTS; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) of_a[f][r] = load_chunk<AT>(a + r, k, f, type);
  keep_order(); /* all loads are on their way */
#pragma unroll
  for (int f = 0; f < UNITS * UNIT_FRAGMENTS; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) sums[r] = mfma(of_b[f], of_a[f][r], sums[r], type);
}

/* Units of lines that may begin between dwords. It reads up to one element after them. */
template <int ROWS, int UNITS>
DEVICE void multiply_shifted(f32x4 *sums, const line *a, const line *b, int64_t k, tdm_type type) {
  enum { COUNT = UNITS * UNIT_FRAGMENTS };
  dwords<COUNT> of_b = load_dwords<COUNT>(b, k), of_a[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) of_a[r] = load_dwords<COUNT>(a + r, k);
  keep_order(); /* all loads are on their way */
#pragma unroll
  for (int f = 0; f < COUNT; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) sums[r] = mfma(chunk_of(&of_b, f), chunk_of(of_a + r, f), sums[r], type);
}

/* One unit at any address, or the part of it that is left. */
template <int ROWS>
DEVICE void multiply_masked(f32x4 *sums, const line *a, const line *b, int64_t k, int64_t depth, tdm_type type) {
  u32x4 of_b[UNIT_FRAGMENTS], of_a[UNIT_FRAGMENTS][ROWS];
#pragma unroll
  for (int f = 0; f < UNIT_FRAGMENTS; f++) of_b[f] = load_masked(b, k, f, depth, type);
#pragma unroll
  for (int f = 0; f < UNIT_FRAGMENTS; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) of_a[f][r] = load_masked(a + r, k, f, depth, type);
#pragma unroll
  for (int f = 0; f < UNIT_FRAGMENTS; f++)
#pragma unroll
    for (int r = 0; r < ROWS; r++) sums[r] = mfma(of_b[f], of_a[f][r], sums[r], type);
}

/* The same with fewer trips to memory. chunks: what is left is whole chunks that begin at dwords. */
template <int ROWS>
DEVICE void multiply_rest(f32x4 *sums, const line *a, const line *b, int64_t k, int64_t depth, bool chunks, tdm_type type) {
  const int values = chunk_elements(type);
#pragma unroll
  for (int f = 0; f < UNIT_FRAGMENTS; f++) {
    if (k + f * 4 * values >= depth) return; /* nothing is left */
    u32x4 y, x[ROWS];
    if (chunks) {
      const int64_t left = (depth - k) / values - f * 4, here = b->chunk < left ? b->chunk : left - 1;
      const int64_t at = k + (here - b->chunk) * values;
      y = load_chunk<DWORDS>(b, at, f, type);
#pragma unroll
      for (int r = 0; r < ROWS; r++) x[r] = load_chunk<DWORDS>(a + r, at, f, type);
      keep_order(); /* all loads are on their way */
      if (b->chunk >= left) y = 0;
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        if (b->chunk >= left) x[r] = 0; /* of what is not a number, 0 times it is not 0 */
    } else {
      elements of_b = load_elements(b, k, f, depth, type), of_a[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) of_a[r] = load_elements(a + r, k, f, depth, type);
      keep_order(); /* all loads are on their way */
      y = cut_elements(&of_b, b, k, f, depth, type);
#pragma unroll
      for (int r = 0; r < ROWS; r++) x[r] = cut_elements(of_a + r, a + r, k, f, depth, type);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) sums[r] = mfma(y, x[r], sums[r], type);
  }
}

template <int ROWS>
DEVICE void make_lines(line *a, line *b, const gemm_args *g, const gemm_part *part, int64_t m0, int64_t n0) {
  const int lane = lane_index();
  *b = make_line(part->b, n0 + lane % 16, g->n, g->ldb, g->aligned_b != 0);
#pragma unroll
  for (int r = 0; r < ROWS; r++) a[r] = make_line(part->a, m0 + 16 * r + lane % 16, g->m, g->lda, g->aligned_a != 0);
}

template <int ROWS, begins AT>
DEVICE void compute(const gemm_args *g, tdm_type type) {
  enum { AT_ONCE = AT != CHUNKS ? 4 / ROWS : ROWS == 4 ? 2 : 4 }; /* units whose loads are on their way, as registers allow */
  SHARED static char memory[GEMM_ROWS_WAVES * ROWS * WAVE * 16] __attribute__((aligned(16)));
  LDS f32x4 *all = (LDS f32x4 *)(LDS char *)memory;
  const int values = GEMM_UNIT / tdm_bytes(type), wave = wave_index(), lane = lane_index();
  tdm_tile at = tdm_order_tile(g->order, (uint32_t)__builtin_amdgcn_workgroup_id_x());
  int64_t m0 = (int64_t)at.m * 16 * ROWS, n0 = (int64_t)at.n * 16;
  gemm_part part = part_of(g, at.matrix, type);
  line b, a[ROWS];
  make_lines<ROWS>(a, &b, g, &part, m0, n0);

  f32x4 sums[ROWS] = {};
  int64_t units = part.depth / values, unit = units * wave / GEMM_ROWS_WAVES, end = units * (wave + 1) / GEMM_ROWS_WAVES;
  if constexpr (AT != CHUNKS) unit = uniform(unit), end = uniform(end);
  if constexpr (AT == CHUNKS) {
    if (g->aligned_a && g->aligned_b) {
#pragma unroll 1
      for (; unit + AT_ONCE <= end; unit += AT_ONCE) multiply_units<ROWS, AT_ONCE, AT>(sums, a, &b, unit * values, type);
#pragma unroll 1
      for (; unit < end; unit++) multiply_units<ROWS, 1, AT>(sums, a, &b, unit * values, type);
    }
#pragma unroll 1
    for (; unit < end; unit++) multiply_masked<ROWS>(sums, a, &b, unit * values, part.depth, type);
  } else {
    const int64_t left =
        wave == GEMM_ROWS_WAVES - 1 ? units + (part.depth % values != 0) : end; /* the last wave has the tail */
    /* A run's arrays may begin between dwords where the plan's rows begin at some. */
    const bool odd = AT == ODD || (tdm_bytes(type) == 2 && !(g->aligned_a && g->aligned_b));
    /* What may read outside of an array is left for later: the first unit of one that begins between dwords, and one that
     * ends with K. */
    bool first = odd && unit == 0 && end > 0 && (((uintptr_t)g->a | (uintptr_t)g->b) & 2) != 0;
    unit += first;
    if (odd && (at.matrix + 1) % (uint32_t)g->parts == 0 && end > (part.depth - 1) / values) end--;
#pragma unroll 1
    for (; (AT == ODD || !odd) && unit + AT_ONCE <= end; unit += AT_ONCE)
      if constexpr (AT == ODD)
        multiply_shifted<ROWS, AT_ONCE>(sums, a, &b, unit * values, type);
      else
        multiply_units<ROWS, AT_ONCE, AT>(sums, a, &b, unit * values, type);
    if (first || unit < left) {
      const gemm_args again = args_again(g); /* the loop above needs the registers */
      make_lines<ROWS>(a, &b, &again, &part, m0, n0);
#pragma unroll 1
      for (; odd && (AT_ONCE > 1 || AT == DWORDS) && unit < end; unit++)
        multiply_shifted<ROWS, 1>(sums, a, &b, unit * values, type);
#pragma unroll 1
      for (; AT == DWORDS && AT_ONCE > 1 && unit < end; unit++) multiply_units<ROWS, 1, AT>(sums, a, &b, unit * values, type);
      const bool chunks = AT == DWORDS && again.aligned_a && again.aligned_b && part.depth % chunk_elements(type) == 0;
      unit -= first;
#pragma unroll 1
      for (; unit < left; unit++) {
        multiply_rest<ROWS>(sums, a, &b, (first ? 0 : unit) * values, part.depth, chunks, type);
        first = false;
      }
    }
  }

#pragma unroll
  for (int r = 0; r < ROWS; r++) all[(wave * ROWS + r) * WAVE + lane] = sums[r];
  sync_lds(); /* all waves' sums are in LDS */
  const gemm_args last = args_again(g);
  for (int t = thread_index(); t < ROWS * WAVE; t += GEMM_ROWS_WAVES * WAVE) {
    f32x4 x = all[t];
    for (int w = 1; w < GEMM_ROWS_WAVES; w++) x += all[w * ROWS * WAVE + t];
    int64_t row = m0 + t / WAVE * 16 + t % 16, column = n0 + t % WAVE / 16 * 4;
    epilogue_four(&last, at.matrix, row, column, x, bias_of(&last, column, type), (tdm_type)last.out, KEPT);
  }
}

#define ROWS_KERNEL(name, ROWS, AT, TYPE) \
  KERNEL WORKGROUP(GEMM_ROWS_WAVES *WAVE, 4) void name(gemm_args g) { compute<ROWS, AT>(&g, TYPE); }
#define ROWS_KERNELS(count)                                            \
  ROWS_KERNEL(gemm_rows##count##_f32, count, CHUNKS, TDM_F32)          \
  ROWS_KERNEL(gemm_rows##count##_f16, count, CHUNKS, TDM_F16)          \
  ROWS_KERNEL(gemm_rows##count##_bf16, count, CHUNKS, TDM_BF16)        \
  ROWS_KERNEL(gemm_rows##count##_dwords_f32, count, DWORDS, TDM_F32)   \
  ROWS_KERNEL(gemm_rows##count##_dwords_f16, count, DWORDS, TDM_F16)   \
  ROWS_KERNEL(gemm_rows##count##_dwords_bf16, count, DWORDS, TDM_BF16) \
  ROWS_KERNEL(gemm_rows##count##_odd_f16, count, ODD, TDM_F16)         \
  ROWS_KERNEL(gemm_rows##count##_odd_bf16, count, ODD, TDM_BF16)
ROWS_KERNELS(1)
ROWS_KERNELS(2)
ROWS_KERNELS(4)
