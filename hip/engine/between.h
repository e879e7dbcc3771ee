/* What a wave of the tile loop (tile.h) does between the products of a part of a K step: it reads the next part, makes what
 * the next products need, and starts loads. T is a tile. */
#ifndef TANDEM_HIP_ENGINE_BETWEEN_H
#define TANDEM_HIP_ENGINE_BETWEEN_H

#include "cache_lines.h"

/* Sums of a wave: in each row those of the first product, then those of the second. */
template <typename T>
using tile_sums = f32x4[T::ROWS][T::COLUMNS];

/* The lines of all B, and what a wave has of them. */
template <typename T>
struct b_lines {
  lines of[T::PRODUCTS];
};
template <typename T>
using b_fragments = fragments[T::PRODUCTS];

/* Stages of a step: where they begin, counted from the first one. A step of cache lines is in two of them. */
typedef struct stages {
  uint32_t here, next;
} stages;

/* The reader of a step, with its addresses from `begin` to `end`. */
template <typename T>
DEVICE reader at_step(const slice_reader *first, stages s, int begin, int end, form f) {
  if (T::CACHE_LINES) return at_slice(first, s.here, s.next, begin, end, f);
  reader r = first->from;
#pragma unroll
  for (int n = begin; n < end; n++) r.address[n] = add_to_lane_here(r.address[n], s.here);
  return r;
}
/* Of a part. Along k each has an address of its own: the other one's would take the issue of two instructions. */
template <typename T>
DEVICE reader at_part(const slice_reader *first, stages s, int part, form f) {
  const bool own = operand_read_of(f) == ALONG_K;
  return at_step<T>(first, s, own ? part : 0, own ? part + 1 : addresses_of(f), f);
}

/* What a wave has of a part of a step, and what LDS returned for the next one. */
template <typename T>
struct operands {
  fragments a;
  b_fragments<T> b;
};
/* Where it reads its lines of the first stage. */
typedef struct stage_reader {
  slice_reader a, b;
} stage_reader;
typedef struct step_reader {
  reader a, b;
} step_reader;

/* Loads of a step to start. */
template <typename T>
struct step_loads {
  line_loads a, b[T::PRODUCTS];
};
/* How long the buffers of a step are. */
template <typename T>
struct step_lengths {
  uint32_t a, b[T::PRODUCTS];
};
template <typename T>
DEVICE step_lengths<T> lengths_of(const lines *a, const b_lines<T> *b, int left) {
  step_lengths<T> l = {step_length(a, left), {}};
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) l.b[p] = step_length(b->of + p, left);
  return l;
}
/* Where a step has two parts, half of its loads starts with the next step, because all at once would arrive in LDS at once. */
template <typename T>
DEVICE constexpr bool loads_in_halves(void) {
  return T::PARTS > 1;
}
/* The number of loads in the first half. By cache lines A's are there and B's in the other half, because its lines may begin
 * otherwise then. */
template <typename T>
DEVICE constexpr int first_loads(void) {
  return !loads_in_halves<T>() ? T::LOADS : T::CACHE_LINES ? loads_of(T::TILE_M, T::WAVES) : T::LOADS / 2;
}
/* Do B's loads begin with the second half? */
template <typename T>
DEVICE constexpr bool loads_b_later(void) {
  return loads_in_halves<T>() && T::CACHE_LINES;
}
/* Has an operand loads in the second half of a step that began with the first one? Then the base that comes after them has
 * registers of its own. */
template <typename T>
DEVICE constexpr bool keeps_loads(bool of_a) {
  return loads_in_halves<T>() && !T::CACHE_LINES && (!of_a || loads_of(T::TILE_M, T::WAVES) > first_loads<T>());
}
template <typename T>
DEVICE void begin_loads_of(line_loads *l, lines *x, LDS char *stage, uint32_t length, bool of_a) {
  begin_loads(l, x, stage, length);
  if (!keeps_loads<T>(of_a)) return;
  keep_loads(l);
  x->base = advance_here(x->base, x->step);
}
template <typename T>
DEVICE void begin_a_loads(step_loads<T> *l, lines *a, LDS char *stage, const step_lengths<T> *length) {
  begin_loads_of<T>(&l->a, a, stage, length->a, true);
}
template <typename T>
DEVICE void begin_b_loads(step_loads<T> *l, b_lines<T> *b, LDS char *stage, const step_lengths<T> *length) {
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++)
    begin_loads_of<T>(l->b + p, b->of + p, stage + T::A_BYTES + p * T::B_BYTES, length->b[p], false);
}
template <typename T>
DEVICE void make_formats(step_loads<T> *l) {
  l->a.format = format_here();
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) l->b[p].format = format_here();
}
/* Load n of a step, A's first: sets its place, or starts it after that. */
template <typename T, int n>
DEVICE void place_step_load(const step_loads<T> *l, form of_a, form of_b) {
  constexpr int all_a = loads_of(T::TILE_M, T::WAVES), all_b = loads_of(T::TILE_N, T::WAVES);
  if constexpr (n < all_a)
    place_load(&l->a, n, of_a);
  else
    place_load(l->b + (n - all_a) / all_b, (n - all_a) % all_b, of_b);
}
template <typename T, int n>
DEVICE void start_step_load(const step_loads<T> *l, lines *a, b_lines<T> *b) {
  constexpr int all_a = loads_of(T::TILE_M, T::WAVES), all_b = loads_of(T::TILE_N, T::WAVES);
  constexpr bool is_a = n < all_a;
  constexpr int p = is_a ? 0 : (n - all_a) / all_b, of_lines = is_a ? n : (n - all_a) % all_b;
  lines *x = is_a ? a : b->of + p;
  start_load(is_a ? &l->a : l->b + p, x, of_lines);
  if (!keeps_loads<T>(is_a) && of_lines == (is_a ? all_a : all_b) - 1) x->base = advance_here(x->base, x->step);
}

/* Are a part's addresses others than those of the part before? Across k its rows are a constant further. */
DEVICE constexpr bool moves_at(int part, form f) { return part == 0 || operand_read_of(f) == ALONG_K; }

/* Chunk c of a part: A's fragments come first. */
template <typename T, int c>
struct chunk_of {
  static constexpr bool IS_A = c < T::ROWS;
  static constexpr int PRODUCT = IS_A ? 0 : (c - T::ROWS) / T::OF_B, N = IS_A ? c : (c - T::ROWS) % T::OF_B;
};

/* Finds where chunk c of a part is read, if no chunk before it was there. The compiler would put all additions before the first
 * product. stage: where it begins. at: the addresses so far. */
template <typename T, int c>
DEVICE void find_chunk(const stage_reader *first, step_reader *at, stages stage, int part, form of_a, form of_b) {
  typedef chunk_of<T, c> chunk;
  const form f = chunk::IS_A ? of_a : of_b;
  const slice_reader *from = chunk::IS_A ? &first->a : &first->b;
  reader *to = chunk::IS_A ? &at->a : &at->b;
  if (chunk::PRODUCT > 0 || !moves_at(part, f)) return;
  if (T::PARTS == 1 || operand_read_of(f) == ALONG_K) {
    if (chunk::N == 0) *to = at_part<T>(from, stage, part, f);
    return;
  }
  const int n = operand_read_of(f) == PAIRS ? chunk::N / 2 : chunk::N;
  if (operand_read_of(f) != PAIRS || chunk::N % 2 == 0) to->address[n] = at_step<T>(from, stage, n, n + 1, f).address[n];
}

/* Reads it. half: 0 or 1, of a chunk whose two instructions come apart; the first one reads other chunks whole. */
template <typename T, int c, int half>
DEVICE void read_half(operands<T> *to, const step_reader *at, int part, form of_a, form of_b) {
  typedef chunk_of<T, c> chunk;
  if (chunk::IS_A)
    read_chunk_half(to->a, &at->a, 0, of_a, part * T::ROWS + chunk::N, half);
  else
    read_chunk_half(to->b[chunk::PRODUCT], &at->b, chunk::PRODUCT * T::B_BYTES, of_b, part * T::OF_B + chunk::N, half);
}
/* How many instructions that is: chunk n of an operand's fragments. */
DEVICE constexpr int reads_of_half(operand_read how, int n, int half) {
  switch (how) {
    case ALONG_K: return half == 0;
    case LDS_TRANSPOSE: return 1;
    case PAIRS: return half == 0 && n % 2 == 0 ? 4 : 0;
    case ONE_OF_TWO: return half == 0 ? 4 : 0;
  }
  return 0;
}

/* A's fragments that the first row of products needs, with all of B's: the others may come later. */
template <typename T>
DEVICE int first_rows(form of_a) {
  return operand_read_of(of_a) != PAIRS ? 1 : T::PARTS > 1 || T::ROWS < 2 ? T::ROWS : 2;
}
/* The reads of A's fragments from `first` on, and from the first that may come later: how many instructions. */
template <typename T>
DEVICE int reads_of_rows(int first, form of_a) {
  const int rows = T::ROWS - first;
  switch (operand_read_of(of_a)) {
    case ALONG_K: return rows;
    case LDS_TRANSPOSE: return 2 * rows;
    case PAIRS: return rows / 2 * 4;
    case ONE_OF_TWO: return 0;
  }
  return 0;
}
template <typename T>
DEVICE int late_reads(form of_a) {
  return reads_of_rows<T>(first_rows<T>(of_a), of_a);
}

/* B's fragments that the first product waits for: one, or two that are read together; the next product waits for the others.
 * 1024x1024x1024 nn, with A along k and B across k, took 17,355 clocks when the first one waited for all, and takes 16,766. */
template <typename T>
DEVICE constexpr int first_columns(form of_b) {
  if (T::PARTS == 1) return T::COLUMNS; /* A's first one comes after them */
  return operand_read_of(of_b) < PAIRS ? 1 : operand_read_of(of_b) == PAIRS && T::OF_B % 2 == 0 ? 2 : T::COLUMNS;
}
/* The reads of B's others. */
template <typename T>
DEVICE int late_columns(form of_b) {
  return (T::COLUMNS - first_columns<T>(of_b)) * (operand_read_of(of_b) == ALONG_K ? 1 : 2);
}

/* What was read of a part has arrived: A's fragments from `begin` to `end`, or B's. */
template <typename T>
DEVICE void take_rows(operands<T> *x, int part, int begin, int end, form of_a) {
  if (T::PARTS == 1)
    keep_read(x->a, of_a, begin, end);
  else
    take_chunks(x->a, of_a, part * T::ROWS + begin, part * T::ROWS + end);
}
template <typename T>
DEVICE void take_columns(operands<T> *x, int part, int begin, int end, form of_b) {
#pragma unroll
  for (int p = 0; p < T::PRODUCTS; p++) {
    const int from = begin - p * T::OF_B < 0 ? 0 : begin - p * T::OF_B, to = end - p * T::OF_B;
    if (T::PARTS == 1)
      keep_read(x->b[p], of_b, from, to < T::OF_B ? to : T::OF_B);
    else
      take_chunks(x->b[p], of_b, part * T::OF_B + from, part * T::OF_B + (to < T::OF_B ? to : T::OF_B));
  }
}

/* A copy in another register, made here. A plain one clang may leave out, or make at the end of a loop. */
DEVICE uint32_t copy_here(uint32_t x) {
  uint32_t y;
  asm volatile("v_mov_b32 %0, %1" : "=v"(y) : "v"(x));
  return y;
}

/* Makes what the i-th instructions of products need of chunk c, where a step has one part: in other registers, so that the next
 * step's reads may have those of `read`. */
template <typename T, int c, int i>
DEVICE void make_chunk(operands<T> *made, const operands<T> *read, form of_a, form of_b) {
  typedef chunk_of<T, c> chunk;
  const bool is_a = chunk::IS_A;
  const form f = is_a ? of_a : of_b;
  const int p = chunk::PRODUCT, n = chunk::N;
  const int each = 4 / mfma_parts(f.type); /* dwords */
#pragma unroll
  for (int w = i * each; w < (i + 1) * each; w++) {
    const u32x4 *from = is_a ? read->a : read->b[p];
    uint32_t x = operand_read_of(f) >= PAIRS ? make_dword(from, n, w, f) : from[n][w];
    x = makes_chunks(f) ? in_order(x) : copy_here(x);
    if (is_a)
      made->a[n][w] = x;
    else
      made->b[p][n][w] = x;
  }
}

/* What comes after which instruction of a part's products. Chunks come in the order in which products need them: A's first
 * one, all of B, and the rest of A. All of it is known to clang's front end: a loop over instructions with all that may come
 * between them is more than clang unrolls, and where it asked at each instruction which of them come there, 128x128 took 30
 * times as long to compile as without. */
template <typename T, tdm_type TYPE>
struct between {
  static constexpr int CHUNKS = T::ROWS + T::COLUMNS, OF_PART = T::ROWS * T::COLUMNS;
  static constexpr int COUNT = mfma_parts(TYPE) * OF_PART; /* instructions */
  static constexpr int SHARES = mfma_parts(TYPE) * CHUNKS; /* what instructions need of chunks */
  /* Before this product all of the part has arrived, and so have, after the barrier, the next step's bytes. */
  static constexpr int LATE = T::COLUMNS - 1;
  /* Before this product of the last part waves meet: the next step has arrived, and all have read this one, or, with a spare
   * stage, the one before. */
  static constexpr int BARRIER = T::SPARE ? 0 : LATE;
  static constexpr int order(int c) { return c == 0 ? 0 : c < T::ROWS ? T::COLUMNS + c : c - T::ROWS + 1; }
  static constexpr int chunk_at(int n) { return n == 0 ? 0 : n <= T::COLUMNS ? T::ROWS + n - 1 : n - T::COLUMNS; }
  /* Before which instruction share i of chunk c is made: one share before each, so that its v_perm_b32 issue while the
   * matrix unit works. */
  static constexpr int make_at(int c, int i) {
    const int at = i * CHUNKS + order(c) - 1, needed = i * OF_PART + (c < T::ROWS ? c * T::COLUMNS : c - T::ROWS);
    return at < 0 ? 0 : at < needed ? at : needed;
  }
  /* After which instruction of part `part` half a chunk of the next part is read: of all halves in their order, `half`. The LDS
   * queue has 4 places for a wave, and a read that finds it full holds up the products after it. So reads are as far apart as
   * they can be; in the last part they come after the barrier. Where a step has one part, whole chunks are read when the chunk
   * and its neighbour, which is read with it, are made. */
  static constexpr int HALVES = 2 * CHUNKS;
  static constexpr int read_at(int part, int half) {
    const int begin = part == T::PARTS - 1 ? BARRIER : 0;
    if (T::PARTS > 1) return begin + half * (COUNT - begin) / HALVES;
    return half % 2 == 0 ? read_whole_at(chunk_at(half / 2)) : -1;
  }
  static constexpr int read_whole_at(int c) {
    const int before = c < T::ROWS ? 0 : T::ROWS, first = before + (c - before) / 2 * 2, end = c < T::ROWS ? T::ROWS : CHUNKS;
    int at = LATE;
    for (int d = first; d < first + 2 && d < end; d++)
      if (make_at(d, mfma_parts(TYPE) - 1) > at) at = make_at(d, mfma_parts(TYPE) - 1);
    return at;
  }
  /* Where a step's loads begin, A's and B's: what they need is computed. */
  static constexpr int A_LOADS = T::PARTS > 1 && LATE > 1 ? 1 : 0;
  static constexpr int B_LOADS = loads_in_halves<T>() && loads_of(T::TILE_M, T::WAVES) >= first_loads<T>() ? COUNT - 2
                                 : LATE > 0                                                                ? 1
                                                                                                           : 0;
  static constexpr int load_at(int n, int loads) { return LATE + n * (COUNT - LATE) / loads; }

  /* What comes at instruction `at`: the first share, read or load from n on, or their number. */
  static constexpr int next_share(int at, int n) {
    while (n < SHARES && make_at(n % CHUNKS, n / CHUNKS) != at) n++;
    return n;
  }
  static constexpr int next_read(int part, int at, int n) {
    while (n < HALVES && read_at(part, n) != at) n++;
    return n;
  }
  /* How many reads of A's chunks, or of B's, were issued before instruction `at`. */
  static constexpr int issued(int part, int at, bool a, operand_read how) {
    int count = 0;
    for (int half = 0; half < HALVES; half++) {
      const int c = chunk_at(half / 2);
      if (read_at(part, half) < at && (c < T::ROWS) == a)
        count += reads_of_half(how, a ? c : (c - T::ROWS) % T::OF_B, half % 2);
    }
    return count;
  }
  static constexpr int next_load(int at, int n, int loads) {
    while (n < loads && load_at(n, loads) != at) n++;
    return n;
  }
};

/* While part PART of a step is multiplied, these loads of a step start. */
template <typename T, int PART>
struct loads_with {
  static constexpr bool BEGINS = PART == T::PARTS - 1; /* a step of loads, after the barrier */
  static constexpr int HALF = first_loads<T>();
  static constexpr int FIRST = BEGINS ? 0 : HALF, COUNT = BEGINS ? HALF : T::LOADS - HALF;
};

/* What a wave needs between products. */
template <typename T>
struct to_start {
  const stage_reader *readers;
  step_reader *reader; /* of the last part that was read */
  stages stage;        /* the next part's */
  step_loads<T> *loads;
  lines *a;
  b_lines<T> *b;
  LDS char *place; /* where new loads go */
  const step_lengths<T> *lengths;
};

/* 0, 1, ..., count - 1 */
template <int... N>
struct numbers {};
template <typename integer, integer... N>
using numbers_of = numbers<N...>;
template <int count>
using up_to = __make_integer_seq<numbers_of, int, count>;

template <typename T, tdm_type TYPE, int I, int N>
DEVICE void make_shares(operands<T> *made, const operands<T> *read, form of_a, form of_b) {
  typedef between<T, TYPE> at;
  if constexpr (N < at::SHARES) {
    make_chunk<T, N % at::CHUNKS, N / at::CHUNKS>(made, read, of_a, of_b);
    make_shares<T, TYPE, I, at::next_share(I, N + 1)>(made, read, of_a, of_b);
  }
}
template <typename T, tdm_type TYPE, int PART, int I, int N>
DEVICE void start_reads(operands<T> *x, const to_start<T> *s, form of_a, form of_b) {
  typedef between<T, TYPE> at;
  if constexpr (N < at::HALVES) {
    constexpr int part = (PART + 1) % T::PARTS, next = T::PARTS > 1 && N + 1 < at::HALVES ? N + 1 : N;
    if constexpr (N == 0 || (T::PARTS == 1 && N % 2 == 0))
      find_chunk<T, at::chunk_at(N / 2)>(s->readers, s->reader, s->stage, part, of_a, of_b);
    read_half<T, at::chunk_at(N / 2), N % 2>(x, s->reader, part, of_a, of_b);
    if constexpr (next > N && next % 2 == 0) /* where other instructions come between this and the read */
      find_chunk<T, at::chunk_at(next / 2)>(s->readers, s->reader, s->stage, part, of_a, of_b);
    start_reads<T, TYPE, PART, I, at::next_read(PART, I, N + 1)>(x, s, of_a, of_b);
  }
}
/* How many of these reads were issued before instruction I. */
template <typename T, tdm_type TYPE, int PART, int I, bool a>
DEVICE int issued_of(operand_read how) {
  typedef between<T, TYPE> at;
  constexpr int along_k = at::issued(PART, I, a, ALONG_K), transpose = at::issued(PART, I, a, LDS_TRANSPOSE);
  constexpr int pairs = at::issued(PART, I, a, PAIRS), one = at::issued(PART, I, a, ONE_OF_TWO);
  return how == ALONG_K ? along_k : how == LDS_TRANSPOSE ? transpose : how == PAIRS ? pairs : one;
}
template <typename T, tdm_type TYPE, int PART, int I>
DEVICE int issued_before(form of_a, form of_b) {
  return issued_of<T, TYPE, PART, I, true>(operand_read_of(of_a)) + issued_of<T, TYPE, PART, I, false>(operand_read_of(of_b));
}
template <typename T, int n>
DEVICE void load_one(const to_start<T> *s, form of_a, form of_b) {
  place_step_load<T, n>(s->loads, of_a, of_b);
  asm volatile("s_nop 0");
  start_step_load<T, n>(s->loads, s->a, s->b);
}
/* The first one has had its place since before the product. */
template <typename T, tdm_type TYPE, int PART, int I, int N, bool placed = true>
DEVICE void start_loads(const to_start<T> *s, form of_a, form of_b) {
  typedef loads_with<T, PART> with;
  if constexpr (N < with::COUNT) {
    if constexpr (placed)
      start_step_load<T, with::FIRST + N>(s->loads, s->a, s->b);
    else
      load_one<T, with::FIRST + N>(s, of_a, of_b);
    start_loads<T, TYPE, PART, I, between<T, TYPE>::next_load(I, N + 1, with::COUNT), false>(s, of_a, of_b);
  }
}

/* Before the loop: reads the first part of step 0, and starts the loads of a step that come before its other products. */
template <typename T, tdm_type TYPE, int... N>
DEVICE void read_all(numbers<N...>, operands<T> *x, const to_start<T> *s, form of_a, form of_b) {
  typedef between<T, TYPE> at;
  ((N % 2 == 0 ? find_chunk<T, at::chunk_at(N / 2)>(s->readers, s->reader, s->stage, 0, of_a, of_b) : (void)0,
    read_half<T, at::chunk_at(N / 2), N % 2>(x, s->reader, 0, of_a, of_b)),
   ...);
}
template <typename T, int... N>
DEVICE void load_all(numbers<N...>, const to_start<T> *s, form of_a, form of_b) {
  (load_one<T, N>(s, of_a, of_b), ...);
}
template <typename T, tdm_type TYPE>
DEVICE void start_first_part(operands<T> *x, to_start<T> *s, form of_a, form of_b) {
  keep_order();
  read_all<T, TYPE>(up_to<between<T, TYPE>::HALVES>(), x, s, of_a, of_b);
  keep_order();
  make_formats<T>(s->loads);
  begin_a_loads<T>(s->loads, s->a, s->place, s->lengths);
  if (!loads_b_later<T>()) begin_b_loads<T>(s->loads, s->b, s->place, s->lengths);
  load_all<T>(up_to<loads_with<T, T::PARTS - 1>::COUNT>(), s, of_a, of_b);
}

/* Instruction I of a part's products, and what comes before and after it. */
template <typename T, tdm_type TYPE, int PART, int I>
DEVICE void multiply_one_between(tile_sums<T> sums, operands<T> *x, operands<T> *made, to_start<T> *s, form of_a, form of_b) {
  typedef between<T, TYPE> at;
  typedef loads_with<T, PART> with;
  constexpr bool reads_all = with::BEGINS && !T::SPARE; /* this part before the barrier */
  if constexpr (reads_all && I == at::LATE) {
    wait_lds();
    take_rows<T>(x, PART, first_rows<T>(of_a), T::ROWS, of_a);
    if (first_columns<T>(of_b) == I) take_columns<T>(x, PART, I, T::COLUMNS, of_b);
  }
  if constexpr (with::BEGINS && I == at::BARRIER) {
    wait_memory<T::LEFT>(); /* this wave's part of the next step is in LDS */
    barrier();              /* and every other wave's part */
    keep_order();
  }
  if (I == first_columns<T>(of_b) && I < (reads_all ? at::LATE : T::COLUMNS)) {
    wait_lds_but(late_reads<T>(of_a) + issued_before<T, TYPE, PART, I>(of_a, of_b));
    take_columns<T>(x, PART, I, T::COLUMNS, of_b);
    keep_order();
  }
  if constexpr (!reads_all && I > 0 && I % T::COLUMNS == 0 && I < at::OF_PART) {
    constexpr int m = I / T::COLUMNS;
    if (m >= first_rows<T>(of_a)) {
      wait_lds_but(reads_of_rows<T>(m + 1, of_a) + issued_before<T, TYPE, PART, I>(of_a, of_b));
      take_rows<T>(x, PART, m, m + 1, of_a);
      keep_order();
    }
  }
  if constexpr (T::PARTS == 1) make_shares<T, TYPE, I, at::next_share(I, 0)>(made, x, of_a, of_b);
  const operands<T> *now = T::PARTS == 1 ? made : x;
  constexpr int m = I % at::OF_PART / T::COLUMNS, n = I % T::COLUMNS, load = at::next_load(I, 0, with::COUNT);
  if constexpr (with::BEGINS && I == at::A_LOADS) begin_a_loads<T>(s->loads, s->a, s->place, s->lengths);
  if constexpr (load < with::COUNT) {
    place_step_load<T, with::FIRST + load>(s->loads, of_a, of_b);
    keep_order();
  }
  sums[m][n] = in_order(mfma_part(now->b[n / T::OF_B][PART * T::OF_B + n % T::OF_B], now->a[PART * T::ROWS + m], sums[m][n],
                                  TYPE, I / at::OF_PART));
  start_reads<T, TYPE, PART, I, at::next_read(PART, I, 0)>(x, s, of_a, of_b);
  if constexpr (loads_b_later<T>() ? PART == 0 && I == 0 : with::BEGINS && I == at::B_LOADS)
    begin_b_loads<T>(s->loads, s->b, s->place, s->lengths);
  start_loads<T, TYPE, PART, I, load>(s, of_a, of_b);
  keep_order();
}
template <typename T, tdm_type TYPE, int PART, int... I>
DEVICE void multiply_all_between(numbers<I...>, tile_sums<T> sums, operands<T> *x, operands<T> *made, to_start<T> *s, form of_a,
                                 form of_b) {
  (multiply_one_between<T, TYPE, PART, I>(sums, x, made, s, of_a, of_b), ...);
}

/* Multiplies a part. Between its products it starts the reads and loads of `s`. Left to itself, clang moves them before the
 * first product or after the last one, and the matrix unit idles meanwhile. So keep_order() holds each one in its place. */
template <typename T, tdm_type TYPE, int PART>
DEVICE void multiply_between(tile_sums<T> sums, operands<T> *x, to_start<T> s, form of_a, form of_b) {
  operands<T> made;
  keep_order();
  wait_lds_but(late_columns<T>(of_b) + late_reads<T>(of_a));
  take_rows<T>(x, PART, 0, first_rows<T>(of_a), of_a);
  take_columns<T>(x, PART, 0, first_columns<T>(of_b), of_b);
  keep_order();
  multiply_all_between<T, TYPE, PART>(up_to<between<T, TYPE>::COUNT>(), sums, x, &made, &s, of_a, of_b);
}

#endif
