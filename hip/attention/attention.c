/* The rows of attention on HIP.
 *
 *   hip_flash64, hip_flash96, hip_flash128, hip_flash256    head_dim up to 64, 96, 128 or 256, in multiples of 8, in f16 or
 *                                bf16, on matrix units, with loads of 16 bytes. Up to 192, where that is faster, they split
 *                                the keys, and a workgroup has queries of several heads that share keys
 *   hip_flash                    everything, in f32 arithmetic
 *   hip_decode64, hip_decode96, hip_decode128, hip_decode256, hip_decode    the same five for few queries and many keys: they
 *                                split the keys, so that all compute units have work. The workgroup that stores the last
 *                                part of a unit adds all of them, or a second pass does where that is faster
 *   hip_decode_f32               the same for f32, with head_dim up to 128 in multiples of 4
 *
 * If a pointer of a run is not a multiple of 16 bytes, a kernel with such loads falls back to hip_flash or hip_decode. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clocks.h"
#include "hip/args/preloaded.h"
#include "src/base/order.h"

extern const hip_code tdm_code_attention_fast[], tdm_code_attention_wide[], tdm_code_attention_general[];
extern const hip_code tdm_code_attention_parts[], tdm_code_attention_f32[];

extern const tdm_kernel tdm_attention_hip_decode; /* has the second pass */

/* What prepare writes to plan->args. fast.function is NULL for the general rows, and parts.function without parts. */
typedef struct attention_launches {
  tdm_hip_kernel fast, general, parts;
  attention_args fast_args, general_args;
} attention_launches;
_Static_assert(sizeof(attention_launches) <= TDM_PLAN_ARGS, "fits the plan");
_Static_assert(sizeof(attention_first) == HIP_PRELOADED_BYTES && offsetof(attention_args, first) == 0, "it is in registers");

/* ---- What the rows support ---- */

static bool refuse(char *reason, size_t size, const char *name, int64_t value, const char *allowed) {
  snprintf(reason, size, "%s = %" PRId64 ": must be %s", name, value, allowed);
  return false;
}

/* A launch has fewer than 2^32 work-items; within a workgroup keys and rows are counted in 32 bits. */
static bool supports_tiles(const tdm_plan *plan, int64_t rows, int64_t threads, char *reason, size_t size) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (plan->empty) return true;
  if (d->skv >= INT32_MAX - FAST_KEYS) return refuse(reason, size, "skv", d->skv, "below 2^31 - 65");
  double tiles = ceil((double)d->sq / (double)rows) * (double)d->batch * (double)d->heads_q;
  if (tiles * (double)threads < 0x1p32) return true;
  snprintf(reason, size, "%.0f tiles of %" PRId64 " query rows: must be below %.0f", tiles, rows, 0x1p32 / (double)threads);
  return false;
}

static bool supports_general(const tdm_plan *plan, char *reason, size_t size) {
  return supports_tiles(plan, GENERAL_ROWS, GENERAL_THREADS, reason, size);
}

static int64_t elements_of_load(const tdm_attention_desc *d) { return 16 / (int64_t)tdm_type_size(d->type); }

/* Loads are 16 bytes, and offsets within a tile of keys are 31 bits. Strides of dimensions with one index don't matter. */
static bool supports_strides(const tdm_attention_desc *d, const tdm_attention_strides *s, const char *name, int64_t heads,
                             int64_t rows, char *reason, size_t size) {
  int64_t of[] = {d->batch, heads, rows}, stride[] = {s->batch, s->head, s->row};
  const int64_t each = elements_of_load(d);
  for (int i = 0; i < 3; i++)
    if (of[i] > 1 && stride[i] % each != 0)
      return refuse(reason, size, name, stride[i], each == 4 ? "a multiple of 4 elements" : "a multiple of 8 elements");
  return s->row < 1 << 23 || refuse(reason, size, name, s->row, "below 2^23 elements from row to row");
}

/* The rows of queries of a workgroup, or fewer. */
static int64_t rows_at_once(const tdm_plan *plan) {
  return variant_of(plan)->decode ? block_of(variant_of(plan)) : rows_of(plan);
}

static bool supports_fast(const tdm_plan *plan, const attention_variant *v, char *reason, size_t size) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const int64_t each = elements_of_load(d);
  if (d->head_dim < v->least || d->head_dim > v->head_dim || d->head_dim % each != 0) {
    snprintf(reason, size, "head_dim = %" PRId64 ": must be a multiple of %" PRId64 " from %d to %d", d->head_dim, each,
             v->least, v->head_dim);
    return false;
  }
  if (d->scale == 0 || !isfinite(d->scale * 0x1.715476p+0f)) { /* masked scores are -infinity times |scale| */
    snprintf(reason, size, "scale = %g: must not be 0 or overflow", (double)d->scale);
    return false;
  }
  return tdm_hip_lds_fits(plan, reason, size) && supports_strides(d, &d->q, "stride of q", d->heads_q, d->sq, reason, size) &&
         supports_strides(d, &d->k, "stride of k", d->heads_kv, d->skv, reason, size) &&
         supports_strides(d, &d->v, "stride of v", d->heads_kv, d->skv, reason, size) &&
         supports_strides(d, &d->o, "stride of o", d->heads_q, d->sq, reason, size) &&
         supports_tiles(plan, rows_at_once(plan), threads_of(plan), reason, size) && supports_general(plan, reason, size);
}

/* The rows of a head of keys are counted in 30 bits. */
static bool supports_decode(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (plan->empty) return true;
  const int64_t group = d->heads_q / d->heads_kv, most = MOST_UNIT_ROWS;
  if (group > most || d->sq > most / group) {
    snprintf(reason, size, "sq = %" PRId64 ", of %" PRId64 " heads that share keys: must be at most 2^30 - 1 in total", d->sq,
             group);
    return false;
  }
  return supports_general(plan, reason, size);
}

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const attention_variant *v = variant_of(plan);
  if (v->decode && !supports_decode(plan, reason, size)) return false;
  return v->head_dim > 0 ? supports_fast(plan, v, reason, size) : supports_general(plan, reason, size);
}

/* ---- Launches ---- */

/* A stride that no row uses may be anything, also 0. But buffers end by it, and what a kernel does not have must lie after
 * their end. */
static tdm_attention_strides with_rows_apart(tdm_attention_strides s, int64_t rows, int64_t head_dim) {
  if (rows <= 1) s.row = head_dim;
  return s;
}

/* How many heads of keys of an XCD take turns (work.h): their keys and values fill at most half of its L2. Only causal ones:
 * other workgroups do equal work. And only in launches of few rounds of workgroups: equally long ones of a band begin at the
 * same time, all ask HBM for their queries then, and compute afterwards. In more rounds, long and short ones in turn take up
 * to 7 % less (1x96x6x512x512x128 and 1x128x8x512x512x128 on an eighth of gfx950: 175,204 and 233,799 clocks, with bands
 * 188,550 and 248,552; at worst 0.6 % more). In four rounds they would take up to 6 % more. */
enum { BANDED_ROUNDS = 6 };
static int64_t band_of(const tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const tdm_hip_device *device = plan->context->hip;
  const double bytes = 2 * (double)d->skv * (double)d->head_dim * (double)tdm_type_size(d->type);
  const double fit = (double)device->chip->l2_bytes / 2 / fmax(bytes, 1);
  int64_t each = d->batch * d->heads_kv / device->xcds;
  const double rounds = ceil((double)d->sq / (double)rows_of(plan)) * (double)(d->batch * d->heads_q) / device->compute_units;
  if (!d->causal || fit < 2 || each < 2 || rounds >= BANDED_ROUNDS) return 1;
  return fit < (double)each ? (int64_t)fit : each;
}

/* All query tiles of the heads that share keys are one chunk, so that they are in one XCD's L2; or those of a band of them. */
static void cut(const tdm_plan *plan, int64_t rows, unsigned threads, attention_args *args, tdm_hip_kernel *kernel) {
  const tdm_attention_desc *d = &plan->desc.attention;
  int64_t group = d->heads_q / d->heads_kv, tiles = (d->sq - 1) / rows + 1, band = band_of(plan);
  int64_t of_round = band * plan->context->hip->xcds, whole = d->batch * d->heads_kv / of_round * of_round;
  tdm_order order = tdm_order_make((unsigned)tiles, 1, (unsigned)(d->batch * d->heads_q), (unsigned)plan->context->hip->xcds, 1,
                                   (unsigned)(band * group * tiles));
  *args = (attention_args){.heads_q = d->heads_q,
                           .heads_kv = d->heads_kv,
                           .group = group,
                           .sq = d->sq,
                           .skv = d->skv,
                           .head_dim = d->head_dim,
                           .q_stride = with_rows_apart(d->q, d->sq, d->head_dim),
                           .k_stride = with_rows_apart(d->k, d->skv, d->head_dim),
                           .v_stride = with_rows_apart(d->v, d->skv, d->head_dim),
                           .o_stride = with_rows_apart(d->o, d->sq, d->head_dim),
                           .scale = d->scale,
                           .causal = d->causal,
                           .tiles = (uint32_t)tiles,
                           .count = order.count,
                           .xcds = order.xcds,
                           .chunk = order.chunk,
                           .band = (uint32_t)band,
                           .banded = (uint32_t)(whole * group * tiles),
                           .of_turn = hip_divisor_of(band * group),
                           .of_group = hip_divisor_of(group),
                           .of_tiles = hip_divisor_of(tiles),
                           .of_heads_kv = hip_divisor_of(d->heads_kv)};
  kernel->grid[0] = order.count;
  kernel->grid[1] = kernel->grid[2] = 1;
  kernel->block = threads;
}

static void cut_fast(const tdm_plan *plan, attention_launches *l) {
  const tdm_attention_desc *d = &plan->desc.attention;
  cut(plan, rows_of(plan), threads_of(plan), &l->fast_args, &l->fast);
  l->fast_args.scale = fabsf(d->scale) * 0x1.715476p+0f; /* log2(e) */
  l->fast_args.sign = d->scale < 0 ? 0x80008000u : 0;
}

static tdm_status find(tdm_plan *plan, const tdm_kernel *row, int number, tdm_hip_kernel *kernel) {
  return tdm_hip_function(plan, &row->functions[number], NULL, tdm_type_name(plan->desc.attention.type), &kernel->function);
}

/* The row of the general kernel: a fast row falls back to it. */
static const tdm_kernel *general_row(const tdm_plan *plan) {
  return variant_of(plan)->head_dim > 0 ? plan->kernel->fallback.kernel : plan->kernel;
}

/* Functions of the rows hip_flash and hip_decode: by head_dim rounded up, then the second pass. A fast row has one. */
enum { HEADS_64, HEADS_128, HEADS_256, PARTS, MANY_PARTS };

static tdm_status find_general(tdm_plan *plan, tdm_hip_kernel *kernel) {
  int64_t head_dim = plan->desc.attention.head_dim;
  return find(plan, general_row(plan), head_dim <= 64 ? HEADS_64 : head_dim <= 128 ? HEADS_128 : HEADS_256, kernel);
}

/* One workgroup for each key split of each unit; a part has whole tiles. most: of splits; block: rows of a unit. */
static void cut_keys(const tdm_plan *plan, int64_t most, int64_t block, attention_args *args, tdm_hip_kernel *kernel) {
  const tdm_attention_desc *d = &plan->desc.attention;
  int64_t heads = d->batch * d->heads_kv, tiles = tiles_of_keys(d);
  int64_t of_part = (tiles - 1) / attention_choose_parts(plan, most) + 1;
  args->splits = (uint32_t)((tiles - 1) / of_part + 1);
  args->split_keys = of_part * FAST_KEYS;
  args->count = (uint32_t)units_of(d, block) * args->splits;
  args->block_rows = (uint32_t)block;
  args->heads = (uint32_t)heads;
  args->head_rows = (uint32_t)head_rows_of(d, block);
  args->group_rows = (uint32_t)rows_of_head(d, block);
  args->of_heads = hip_divisor_of(heads);
  args->of_splits = hip_divisor_of(args->splits);
  args->of_head_rows = hip_divisor_of(head_rows_of(d, block));
  args->of_xcds = hip_divisor_of(plan->context->hip->xcds);
  args->of_round = hip_divisor_of((int64_t)plan->context->hip->xcds * args->splits);
  kernel->grid[0] = args->count;
}

/* Floats of a part's results. few: as key_splits.h has few parts. */
static int64_t floats_of_part(const tdm_plan *plan, int64_t block, bool few) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const int64_t rows = rows_of_unit(d, block);
  return few ? ((rows - 1) / 32 + 1) * 32 * columns_of(plan) : rows * d->head_dim;
}

/* How the parts of a launch are stored. counters: NULL for a second launch. */
static void place_parts(const tdm_plan *plan, uint32_t *counters, attention_args *args) {
  args->counters = counters;
  args->few_parts = counters != NULL && attention_stores_few(&plan->desc.attention, args->block_rows, args->splits);
  args->part_floats = (uint32_t)floats_of_part(plan, args->block_rows, args->few_parts);
}

/* The launch that adds the parts; its block is set. */
static void cut_parts(const tdm_plan *plan, attention_args *args, tdm_hip_kernel *kernel) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const unsigned waves = kernel->block / HIP_LANES;
  args->sharing_log2 = attention_sharing_log2(args->splits, kernel->block == MANY_PARTS_THREADS);
  const int64_t all = rows_of_unit(d, args->block_rows) * PARTS_WAVES(d->head_dim) << args->sharing_log2; /* of a unit */
  kernel->grid[0] = (unsigned)((all - 1) / waves + 1);
  kernel->grid[1] = (unsigned)units_of(d, args->block_rows);
  kernel->grid[2] = 1;
}

/* Of the parts of a launch with units of `block` rows. few: as key_splits.h has few parts. */
static int64_t floats_of_parts(const tdm_plan *plan, int64_t block, int64_t splits, bool few) {
  const tdm_attention_desc *d = &plan->desc.attention;
  return units_of(d, block) * splits * (floats_of_part(plan, block, few) + 2 * rows_of_unit(d, block));
}

/* Where the parts are until they are added, and how: a run of decode whose pointers fall back needs the second pass. */
static tdm_status add_parts(tdm_plan *plan, int64_t splits, tdm_hip_kernel *kernel) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const int64_t block = block_of(variant_of(plan));
  const bool last = attention_last_adds(plan, splits);
  if (last) TDM_TRY(tdm_hip_upload_counters(plan, NULL, 0, (size_t)units_of(&plan->desc.attention, block)));
  int64_t floats = floats_of_parts(plan, block, splits, false);
  const int64_t general_floats = variant_of(plan)->decode ? floats_of_parts(plan, GENERAL_ROWS, splits, false) : 0,
                few = floats_of_parts(plan, block, block == FAST_ROWS ? splits : FEW_PARTS, true); /* of a shorter run, too */
  if (general_floats > floats) floats = general_floats;
  if (last && attention_stores_few(d, block, FEW_PARTS) && few > floats) floats = few;
  plan->workspace_bytes = (size_t)floats * sizeof(float);
  const bool many = attention_many_parts(splits);
  kernel->block = many ? MANY_PARTS_THREADS : PARTS_THREADS;
  return find(plan, &tdm_attention_hip_decode, many ? MANY_PARTS : PARTS, kernel);
}

static void explain_units(tdm_plan *plan, uint32_t splits) {
  const char *by = attention_last_adds(plan, splits) ? "the last workgroup" : "a second launch";
  const size_t used = strlen(plan->explain);
  snprintf(plan->explain + used, sizeof plan->explain - used,
           splits == 1 ? "units: a workgroup has up to %d queries, of all heads that share keys\n"
                       : "units: a workgroup has up to %d queries, of all heads that share keys, and one of %" PRIu32
                         " parts of the keys, which %s adds\n",
           FAST_ROWS, splits, by);
}

static tdm_status prepare(tdm_plan *plan) {
  const attention_variant *v = variant_of(plan);
  attention_launches l = {0};
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  const bool units = attention_in_units(plan);
  if (v->head_dim > 0) {
    cut_fast(plan, &l);
    if (v->decode || units) cut_keys(plan, INT64_MAX, block_of(v), &l.fast_args, &l.fast);
    TDM_TRY(find(plan, plan->kernel, units ? units_function_of(plan) : function_of(plan), &l.fast));
  }
  cut(plan, GENERAL_ROWS, GENERAL_THREADS, &l.general_args, &l.general);
  if (v->decode) cut_keys(plan, INT64_MAX, GENERAL_ROWS, &l.general_args, &l.general);
  TDM_TRY(find_general(plan, &l.general));
  const uint32_t splits = units ? l.fast_args.splits : l.general_args.splits;
  if (splits > 1) TDM_TRY(add_parts(plan, splits, &l.parts));
  if (units) explain_units(plan, splits);
  memcpy(plan->args, &l, sizeof l);
  return TDM_OK;
}

/* A stride in chunks of 16 bytes; false if 32 bits can't hold it. */
static bool set_chunks(uint32_t *chunks, int64_t stride, int64_t each) {
  *chunks = (uint32_t)(stride / each);
  return stride >= 0 && stride % each == 0 && stride / each <= UINT32_MAX;
}

/* What is preloaded: known for a decode whose units are whole heads of keys, if its numbers fit. */
static attention_first first_of(const tdm_plan *plan, const attention_args *a) {
  const int64_t each = elements_of_load(&plan->desc.attention), units = a->splits > 0 ? a->count / a->splits : 0;
  attention_first f = {.k = a->k,
                       .skv = (uint32_t)a->skv,
                       .split_keys = (uint32_t)a->split_keys,
                       .units = (uint32_t)units,
                       .heads_kv = (uint16_t)a->heads_kv,
                       .splits = (uint16_t)a->splits,
                       .of_splits = a->of_splits.factor,
                       .of_heads_kv = a->of_heads_kv.factor,
                       .of_round = a->of_round.factor,
                       .of_xcds = a->of_xcds.factor,
                       .splits_shift = a->of_splits.shift & 31,
                       .heads_kv_shift = a->of_heads_kv.shift & 31,
                       .round_shift = a->of_round.shift & 31,
                       .xcds_shift = a->of_xcds.shift & 31,
                       .xcds = a->xcds & 31,
                       .chunks = (uint32_t)(a->head_dim / each) & 63};
  const int64_t batch = plan->desc.attention.batch > 1 ? a->k_stride.batch : 0, head = a->heads_kv > 1 ? a->k_stride.head : 0;
  const bool strides =
      set_chunks(&f.k_batch, batch, each) && set_chunks(&f.k_head, head, each) && set_chunks(&f.k_row, a->k_stride.row, each);
  f.known = strides && units > 0 && units == a->heads && a->heads_kv <= UINT16_MAX && a->splits <= UINT16_MAX &&
            a->split_keys <= UINT32_MAX && a->xcds == f.xcds && a->head_dim == (int64_t)f.chunks * each;
  return f;
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  attention_launches l;
  memcpy(&l, plan->args, sizeof l);
  bool fast = l.fast.function != NULL && !tdm_plan_falls_back(plan, buffers);
  attention_args *args = fast ? &l.fast_args : &l.general_args;
  args->q = buffers[0];
  args->k = buffers[1];
  args->v = buffers[2];
  args->o = buffers[3];
  args->lse = buffers[4];
  args->parts = plan->workspace;
  if (plan != plan->made) {
    args->skv = plan->desc.attention.skv;
    if (args->splits > 0) /* as many as the workspace holds */
      cut_keys(plan, args->splits, args->block_rows, args, fast ? &l.fast : &l.general);
  }
  place_parts(plan, fast && args->splits > 1 ? plan->table : NULL, args);
  args->first = first_of(plan, args);
  TDM_TRY(tdm_hip_launch(plan, fast ? &l.fast : &l.general, args, sizeof *args, stream));
  if (args->splits <= 1 || args->counters != NULL) return TDM_OK;
  cut_parts(plan, args, &l.parts);
  return tdm_may_have_written(tdm_hip_launch(plan, &l.parts, args, sizeof *args, stream));
}

/* ---- Rows ---- */

static const attention_variant general = {.decode = false}, decode = {.decode = true};
static const attention_variant flash64 = {.head_dim = 64, .least = 16}, flash96 = {.head_dim = 96, .least = 72};
static const attention_variant flash128 = {.head_dim = 128, .least = 104}, flash256 = {.head_dim = 256, .least = 136};
static const attention_variant decode64 = {.head_dim = 64, .least = 16, .decode = true};
static const attention_variant decode96 = {.head_dim = 96, .least = 72, .decode = true};
static const attention_variant decode128 = {.head_dim = 128, .least = 104, .decode = true};
static const attention_variant decode256 = {.head_dim = 256, .least = 136, .decode = true};
static const attention_variant decode_f32 = {.head_dim = 128, .least = 16, .decode = true, .f32 = true};

/* A row on matrix units, for head_dim up to its number, if it has one; `row` is the general one that it falls back to. In 16
 * bits it rounds the probabilities. */
#define FAST_ROW(row, number, takes, ...)              \
  const tdm_kernel tdm_attention_hip_##row##number = { \
      .name = "hip_" #row #number,                     \
      .op = TDM_OP_ATTENTION,                          \
      .backend = &tdm_backend_hip,                     \
      .variant = &row##number,                         \
      .functions = HIP_FUNCTIONS(__VA_ARGS__),         \
      .supports = supports,                            \
      .prepare = prepare,                              \
      .launch = launch,                                \
      .cost = attention_cost,                          \
      .fallback = {16, 15, &tdm_attention_hip_##row},  \
      .rebindable = true,                              \
      .types = (takes),                                \
      .matrix_units = true,                            \
      .rounds_weights = (takes) == TDM_16_BIT_TYPES,   \
  }

const tdm_kernel tdm_attention_hip_decode = {
    .name = "hip_decode",
    .op = TDM_OP_ATTENTION,
    .backend = &tdm_backend_hip,
    .variant = &decode,
    .functions = HIP_FUNCTIONS([HEADS_64] = {.code = tdm_code_attention_general, .stem = "general_decode64", .waves = 2},
                               [HEADS_128] = {.code = tdm_code_attention_general, .stem = "general_decode128", .waves = 1},
                               [HEADS_256] = {.code = tdm_code_attention_general, .stem = "general_decode256", .waves = 1},
                               [PARTS] = {.code = tdm_code_attention_parts, .stem = "parts", .waves = 8},
                               [MANY_PARTS] = {.code = tdm_code_attention_parts, .stem = "many_parts", .waves = 8}),
    .supports = supports,
    .prepare = prepare,
    .launch = launch,
    .cost = attention_cost,
    .rebindable = true};
FAST_ROW(decode, 64, TDM_16_BIT_TYPES, {.code = tdm_code_attention_fast, .stem = "decode64", .waves = 2});
FAST_ROW(decode, 96, TDM_16_BIT_TYPES, {.code = tdm_code_attention_fast, .stem = "decode96", .waves = 2, .lds = 96 << 10});
FAST_ROW(decode, 128, TDM_16_BIT_TYPES, {.code = tdm_code_attention_fast, .stem = "decode128", .waves = 2, .lds = 96 << 10});
FAST_ROW(decode, 256, TDM_16_BIT_TYPES, {.code = tdm_code_attention_wide, .stem = "decode256", .waves = 1, .lds = 128 << 10});
FAST_ROW(decode, _f32, 1 << TDM_F32, [F32_64] = {.code = tdm_code_attention_f32, .stem = "decode64x16", .waves = 2},
         [F32_64 + 1] = {.code = tdm_code_attention_f32, .stem = "decode64x32", .waves = 2},
         [F32_128] = {.code = tdm_code_attention_f32, .stem = "decode128x16", .waves = 2},
         [F32_128 + 1] = {.code = tdm_code_attention_f32, .stem = "decode128x32", .waves = 1});
const tdm_kernel tdm_attention_hip_flash = {
    .name = "hip_flash",
    .op = TDM_OP_ATTENTION,
    .backend = &tdm_backend_hip,
    .variant = &general,
    .functions = HIP_FUNCTIONS([HEADS_64] = {.code = tdm_code_attention_general, .stem = "general64", .waves = 2},
                               [HEADS_128] = {.code = tdm_code_attention_general, .stem = "general128", .waves = 1},
                               [HEADS_256] = {.code = tdm_code_attention_general, .stem = "general256", .waves = 1}),
    .supports = supports,
    .prepare = prepare,
    .launch = launch,
    .cost = attention_cost,
    .rebindable = true};
#define FLASH_FUNCTION(name, bytes) {.code = tdm_code_attention_fast, .stem = (name), .waves = 2, .lds = (bytes)}
FAST_ROW(flash, 64,
         TDM_16_BIT_TYPES, [WHOLE] = FLASH_FUNCTION("flash64", 80 << 10), [UNITS] = FLASH_FUNCTION("flash_units64", 80 << 10));
FAST_ROW(flash, 96, TDM_16_BIT_TYPES, [WHOLE] = FLASH_FUNCTION("flash96", HIP_WIDE_LDS),
         [UNITS] = FLASH_FUNCTION("flash_units96", HIP_WIDE_LDS));
FAST_ROW(flash, 128, TDM_16_BIT_TYPES, [WHOLE] = FLASH_FUNCTION("flash128", HIP_WIDE_LDS),
         [UNITS] = FLASH_FUNCTION("flash_units128", HIP_WIDE_LDS));
FAST_ROW(
    flash, 256, TDM_16_BIT_TYPES, [WIDE_160] = FLASH_FUNCTION("flash160", HIP_WIDE_LDS),
    [WIDE_192] = FLASH_FUNCTION("flash192", HIP_WIDE_LDS),
    [WIDE_256] = {.code = tdm_code_attention_wide, .stem = "flash256", .waves = 1, .lds = 128 << 10},
    [UNITS_160] = FLASH_FUNCTION("flash_units160", HIP_WIDE_LDS), [UNITS_192] = FLASH_FUNCTION("flash_units192", HIP_WIDE_LDS));
