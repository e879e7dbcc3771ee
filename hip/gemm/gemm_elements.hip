/* gemm for small products of operands across k, layouts nn, tn and tt, at any address. As in gemm_rows.hip, LDS and a barrier
 * only serve to add the waves' sums. A small product waits for one trip to memory after another, so this kernel makes few.
 *
 * A lane's chunk of an operand across k is in as many rows as it has elements. They are loaded one by one, all of them on their
 * way at once: 16 lanes have neighbours in each row. What k leaves of a last fragment counts as 0. */
#include "k_split.h"
#include "line_loads.h"
#include "wave_sums.h"

enum { MOST_VALUES = CHUNK_BYTES / 2 };

/* A lane's line across k. */
typedef struct across_line {
  const char *base; /* of the workgroup's first line; the same in all lanes */
  uint32_t row;     /* bytes from k to k + 1 */
  uint32_t first;   /* of the lane's line, after base */
  int chunk;        /* the lane's chunk of a fragment */
} across_line;

DEVICE across_line make_across(const char *base, int64_t from, int more, int64_t count, int64_t ld, tdm_type type) {
  const int bytes = tdm_bytes(type);
  const int64_t last = count - 1 - from, here = more + lane_index() % 16;
  return (across_line){base + from * bytes, (uint32_t)ld * bytes, (uint32_t)(here < last ? here : last) * bytes,
                       lane_index() / 16};
}

/* Fragments of an operand across k, as they are loaded. */
template <int COUNT>
struct across_words {
  uint32_t of[COUNT][MOST_VALUES];
};

/* From k on; the operand has `left` rows there. REST: less than a fragment. */
template <int COUNT, bool REST>
DEVICE across_words<COUNT> load_across(const across_line *x, int64_t k, uint32_t left, tdm_type type) {
  const uint32_t values = chunk_elements(type);
  typedef const char __attribute__((address_space(1))) in_memory; /* for clang a pointer out of assembly may also be LDS's */
  in_memory *from = (in_memory *)uniform(x->base + k * x->row);
  uint32_t lane = x->chunk * values * x->row + x->first;
  /* Computed here: else the compiler keeps an address for each load in the lanes' registers, and they spill. */
  asm volatile("" : "+s"(from), "+v"(lane));
  across_words<COUNT> w;
#pragma unroll
  for (int f = 0; f < COUNT; f++)
#pragma unroll
    for (uint32_t e = 0; e < values; e++) {
      const uint32_t row = (f * 4 + x->chunk) * values + e, last = left - 1;
      in_memory *at =
          REST ? from + ((row < last ? row : last) * x->row + x->first) : from + (f * 4 * values + e) * x->row + lane;
      w.of[f][e] = tdm_bytes(type) == 4 ? *(const uint32_t __attribute__((address_space(1))) *)at
                                        : *(const uint16_t __attribute__((address_space(1))) *)at;
    }
  return w;
}

template <int COUNT, bool REST>
DEVICE u32x4 across_chunk(const across_words<COUNT> *w, const across_line *x, int f, uint32_t left, tdm_type type) {
  const uint32_t values = chunk_elements(type);
  u32x4 words = 0;
#pragma unroll
  for (uint32_t e = 0; e < values; e++) {
    const uint32_t row = (f * 4 + x->chunk) * values + e, element = REST && row >= left ? 0 : w->of[f][e];
    if (tdm_bytes(type) == 4)
      words[e] = element;
    else
      words[e / 2] |= element << 16 * (e % 2);
  }
  return words;
}

/* What a step loads of one operand. */
enum step { WHOLE, FIRST /* at the beginning of the array */, REST };

/* An operand's line and its loads: along k or across it. */
template <bool ACROSS>
struct operand_line {
  line along;
};
template <>
struct operand_line<true> {
  across_line across;
};

template <bool ACROSS, int COUNT, step STEP>
struct loaded { /* along k: f32 and REST use chunks or elements, else dwords */
  dwords<COUNT> odd;
  u32x4 chunks[COUNT];
  elements rest[COUNT];
};
template <int COUNT, step STEP>
struct loaded<true, COUNT, STEP> {
  across_words<COUNT> words;
};

template <bool ACROSS, int COUNT, step STEP>
DEVICE loaded<ACROSS, COUNT, STEP> load(const operand_line<ACROSS> *x, int64_t k, int64_t depth, const void *array,
                                        tdm_type type) {
  loaded<ACROSS, COUNT, STEP> l;
  if constexpr (ACROSS) {
    l.words = load_across<COUNT, (STEP == REST)>(&x->across, k, (uint32_t)(depth - k), type);
  } else if constexpr (STEP == REST) {
#pragma unroll
    for (int f = 0; f < COUNT; f++) l.rest[f] = load_elements(&x->along, k, f, depth, type);
  } else if (tdm_bytes(type) == 4) {
#pragma unroll
    for (int f = 0; f < COUNT; f++) l.chunks[f] = load_chunk<DWORDS>(&x->along, k, f, type);
  } else {
    l.odd = load_dwords<COUNT, (STEP == FIRST)>(&x->along, k, array);
  }
  return l;
}

template <bool ACROSS, int COUNT, step STEP>
DEVICE u32x4 chunk_at(const loaded<ACROSS, COUNT, STEP> *l, const operand_line<ACROSS> *x, int f, int64_t k, int64_t depth,
                      tdm_type type) {
  if constexpr (ACROSS)
    return across_chunk<COUNT, (STEP == REST)>(&l->words, &x->across, f, (uint32_t)(depth - k), type);
  else if constexpr (STEP == REST)
    return cut_elements(l->rest + f, &x->along, k, f, depth, type);
  else
    return tdm_bytes(type) == 4 ? l->chunks[f] : chunk_of(&l->odd, f);
}

template <bool A, bool B, int ROWS, int COUNT, step STEP>
DEVICE void multiply(f32x4 *sums, const operand_line<A> *a, const operand_line<B> *b, int64_t k, int64_t depth,
                     const gemm_first *known, tdm_type type) {
  loaded<B, COUNT, STEP> of_b = load<B, COUNT, STEP>(b, k, depth, known->b, type);
  loaded<A, COUNT, STEP> of_a[ROWS];
#pragma unroll
  for (int r = 0; r < ROWS; r++) of_a[r] = load<A, COUNT, STEP>(a + r, k, depth, known->a, type);
  keep_order(); /* all loads are on their way */
  if constexpr (STEP == FIRST) {
    if constexpr (!B) put_head(&of_b.odd);
    if constexpr (!A) put_head(&of_a[0].odd); /* row 0 is in the first fragment */
  }
#pragma unroll
  for (int f = 0; f < COUNT; f++) {
    const u32x4 y = chunk_at<B, COUNT, STEP>(&of_b, b, f, k, depth, type);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      sums[r] = mfma(y, chunk_at<A, COUNT, STEP>(of_a + r, a + r, f, k, depth, type), sums[r], type);
  }
}

template <bool ACROSS>
DEVICE operand_line<ACROSS> make_operand(const char *base, int64_t from, int more, int64_t count, int64_t ld, tdm_type type) {
  if constexpr (ACROSS)
    return {make_across(base, from, more, count, ld, type)};
  else
    return {make_line(base, from + more + lane_index() % 16, count, ld)};
}

template <bool A, bool B, int ROWS>
DEVICE void make_lines(operand_line<A> *a, operand_line<B> *b, const gemm_lines *of, const gemm_part *part, int64_t m0,
                       int64_t n0, tdm_type type) {
  *b = make_operand<B>(part->b, n0, 0, of->n, of->ldb, type);
#pragma unroll
  for (int r = 0; r < ROWS; r++) a[r] = make_operand<A>(part->a, m0, 16 * r, of->m, of->lda, type);
}

/* A, B: it is across k. The waves divide the fragments of k. What few products need comes last: instructions come from
 * memory, too, and a jump over many of them costs 600 clocks. */
template <bool A, bool B, int ROWS>
DEVICE void compute(const gemm_first *known, tdm_type type) {
  const gemm_args *g = whole_argument<gemm_args>();
  enum {
    AT_ONCE = ROWS == 1              ? 4
              : ROWS == 4 && A && !B ? 1
                                     : 2
  }; /* fragments whose loads are on their way, as registers allow */
  const int values = 4 * chunk_elements(type), wave = wave_index();
  const gemm_work work = find_work(known, g, 16 * ROWS, 16, !A, !B, type);
  const tile_part at = work.at;
  const gemm_part part = work.part;
  const int64_t m0 = (int64_t)at.m * 16 * ROWS, n0 = (int64_t)at.n * 16;
  operand_line<B> b;
  operand_line<A> a[ROWS];
  const gemm_lines of = lines_of_work(known, g, &work, 16 * ROWS, 16);
  make_lines<A, B, ROWS>(a, &b, &of, &part, m0, n0, type);

  f32x4 sums[ROWS] = {};
  const int64_t fragments = part.depth / values, first = uniform(fragments * wave / GEMM_ROWS_WAVES),
                end = uniform(fragments * (wave + 1) / GEMM_ROWS_WAVES);
  /* Where an array along k begins between dwords, the first fragment of its first line is loaded with care. */
  const bool care = (!A || !B) && tdm_bytes(type) == 2 && first == 0 && end > 0 && ((!A && m0 == 0) || (!B && n0 == 0)) &&
                    (((A ? 0 : (uintptr_t)known->a) | (B ? 0 : (uintptr_t)known->b)) & 2) != 0;
  int64_t f = first + care;
#pragma unroll 1
  for (; (end - f) % AT_ONCE != 0; f++) multiply<A, B, ROWS, 1, WHOLE>(sums, a, &b, f * values, part.depth, known, type);
#pragma unroll 1
  for (; f < end; f += AT_ONCE) multiply<A, B, ROWS, AT_ONCE, WHOLE>(sums, a, &b, f * values, part.depth, known, type);
  if (care) multiply<A, B, ROWS, 1, FIRST>(sums, a, &b, 0, part.depth, known, type);
  if (wave == 0 && part.depth % values != 0) /* the wave with the fewest fragments has the tail */
    multiply<A, B, ROWS, 1, REST>(sums, a, &b, fragments * values, part.depth, known, type);
  store_wave_sums<ROWS>(g, at.stored, m0, n0, sums, type);
}

#define ELEMENTS_KERNEL(name, A, B, ROWS, TYPE)                               \
  KERNEL WORKGROUP(GEMM_ROWS_WAVES *WAVE, 4) void name(ARGUMENT(gemm_args)) { \
    const gemm_first first = FIRST_OF_ARGUMENT(gemm_first);                   \
    compute<A, B, ROWS>(&first, TYPE);                                        \
  }
#define ELEMENTS_KERNELS(count, layout, A, B)                                  \
  ELEMENTS_KERNEL(gemm_elements##count##_##layout##_f32, A, B, count, TDM_F32) \
  ELEMENTS_KERNEL(gemm_elements##count##_##layout##_f16, A, B, count, TDM_F16) \
  ELEMENTS_KERNEL(gemm_elements##count##_##layout##_bf16, A, B, count, TDM_BF16)
#define ELEMENTS_LAYOUTS(count)            \
  ELEMENTS_KERNELS(count, nn, false, true) \
  ELEMENTS_KERNELS(count, tn, true, true)  \
  ELEMENTS_KERNELS(count, tt, true, false)
ELEMENTS_LAYOUTS(1)
ELEMENTS_LAYOUTS(2)
ELEMENTS_LAYOUTS(4)
