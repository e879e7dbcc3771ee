/* What a plan of attention on HIP consists of: tiles, units, columns; and how long its launches take, by which the rows are
 * chosen and the keys split (clocks.c). */
#ifndef TANDEM_HIP_ATTENTION_CLOCKS_H
#define TANDEM_HIP_ATTENTION_CLOCKS_H

#include "args.h"
#include "hip/host/hip.h"

/* What differs between the rows. */
typedef struct attention_variant {
  int head_dim; /* the largest that the kernel supports; 0: it is a general kernel */
  int least;    /* the smallest */
  bool decode;  /* it splits the keys */
  bool f32;     /* it takes f32, and fewer rows (attention_f32.hip) */
} attention_variant;

static inline const attention_variant *variant_of(const tdm_plan *plan) { return plan->kernel->variant; }

/* The rows of a head of keys: the queries of all heads that share it. A unit is a block of them (work.h): of `block` rows, of
 * which its last block may have fewer. In the blocks of flash all rows of a wave are one head's, whose last wave may have rows
 * after the last query. */
static inline int64_t block_of(const attention_variant *v) {
  return v->f32 ? F32_ROWS : v->decode || v->head_dim == 0 ? GENERAL_ROWS : FAST_ROWS;
}
enum { MOST_UNIT_ROWS = (1 << 30) - 1 }; /* of a head of keys */
static inline int64_t head_rows_of(const tdm_attention_desc *d, int64_t block) {
  return block == FAST_ROWS ? (d->sq + WAVE_ROWS - 1) / WAVE_ROWS * WAVE_ROWS : d->sq;
}
static inline int64_t rows_of_head(const tdm_attention_desc *d, int64_t block) {
  return d->heads_q / d->heads_kv * head_rows_of(d, block);
}
static inline int64_t blocks_of_head(const tdm_attention_desc *d, int64_t block) {
  return (rows_of_head(d, block) - 1) / block + 1;
}
static inline int64_t units_of(const tdm_attention_desc *d, int64_t block) {
  return d->batch * d->heads_kv * blocks_of_head(d, block);
}
static inline int64_t rows_of_unit(const tdm_attention_desc *d, int64_t block) {
  return rows_of_head(d, block) < block ? rows_of_head(d, block) : block;
}

static inline int64_t tiles_of_keys(const tdm_attention_desc *d) { return d->skv > 0 ? (d->skv - 1) / FAST_KEYS + 1 : 1; }

/* Functions of the rows hip_flash64 to hip_flash128, and of hip_flash256: the columns of head_dim that each computes. */
enum { WHOLE, UNITS };
enum { WIDE_160, WIDE_192, WIDE_256, UNITS_160, UNITS_192 };
static const int wide_columns[] = {[WIDE_160] = 160, [WIDE_192] = 192, [WIDE_256] = 256};
/* Of the row hip_decode_f32: 1 if a unit has more than 16 rows, and 2 for each doubling of 64 columns. All other rows on matrix
 * units have one. */
enum { F32_64 = 0, F32_128 = 2 };

/* Of a row on matrix units. */
static inline int function_of(const tdm_plan *plan) {
  const attention_variant *v = variant_of(plan);
  int number = 0;
  if (v->f32)
    return (plan->desc.attention.head_dim <= 64 ? F32_64 : F32_128) + (rows_of_unit(&plan->desc.attention, F32_ROWS) > 16);
  if (v->head_dim <= 128 || v->decode) return number;
  while (wide_columns[number] < plan->desc.attention.head_dim) number++;
  return number;
}
static inline int units_function_of(const tdm_plan *plan) {
  return variant_of(plan)->head_dim <= 128 ? UNITS : UNITS_160 + function_of(plan);
}
static inline int columns_of(const tdm_plan *plan) {
  const attention_variant *v = variant_of(plan);
  if (v->f32) return function_of(plan) < F32_128 ? 64 : 128;
  return v->head_dim <= 128 || v->decode ? v->head_dim : wide_columns[function_of(plan)];
}

/* Of a workgroup of a fast row. */
static inline int64_t rows_of(const tdm_plan *plan) { return columns_of(plan) > FAST_COLUMNS ? WIDE_ROWS : FAST_ROWS; }
static inline unsigned threads_of(const tdm_plan *plan) {
  return variant_of(plan)->f32 ? F32_THREADS : columns_of(plan) > FAST_COLUMNS ? WIDE_THREADS : FAST_THREADS;
}

/* Has a workgroup of flash a unit of queries, of all heads that share keys, and a part of the keys (work.h)? Else it has
 * queries of one head, and all keys. */
bool attention_in_units(const tdm_plan *plan);
/* How many parts of a unit pay, at most `most`. */
int64_t attention_choose_parts(const tdm_plan *plan, int64_t most);
/* Does the last workgroup of a unit add its parts, and not a second launch? The general kernel can't. */
bool attention_last_adds(const tdm_plan *plan, int64_t parts);
/* The second launch. Waves share the parts of a row, so that each has them all on their way at once, as far as a workgroup has
 * waves: up to 4, or all 16 of a larger one. The larger one takes longer to begin: 8 rows of 128 parts take 10,171 predicted
 * clocks with 4 waves and 10,810 with 8 on gfx950, of 256 parts 12,825 with 4 and 10,623 with 16. */
enum { MOST_OF_FEW = 128 };
static inline bool attention_many_parts(int64_t parts) { return parts > MOST_OF_FEW; }
static inline uint32_t attention_sharing_log2(int64_t parts, bool many) {
  if (many) return 4;
  return parts <= PARTS_AT_ONCE ? 0 : parts <= 2 * PARTS_AT_ONCE ? 1 : 2;
}
_Static_assert(MANY_PARTS_THREADS == 16 * HIP_LANES && PARTS_THREADS == 4 * HIP_LANES, "these are all waves of a workgroup");
/* Are parts stored as waves have them in registers? Few parts of up to 32 rows would be added by one wave alone, which takes
 * longer than all waves with the other layout. Flash's waves always add their own rows. */
static inline bool attention_stores_few(const tdm_attention_desc *d, int64_t block, int64_t parts) {
  return block == FAST_ROWS || (parts <= FEW_PARTS && rows_of_unit(d, block) > FEW_ROWS);
}

/* The rows' estimate. */
void attention_cost(const tdm_plan *plan, tdm_cost *cost);

#endif
