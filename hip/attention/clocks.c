/* How long the launches of attention take, in clocks: predictions of gfxsim (docs/attention.md), rounded. They need only be
 * right enough to compare the rows, and numbers of parts. */
#include <math.h>

#include "clocks.h"
#include "hip/host/cost.h"

/* How many parts pay, by clocks. A workgroup takes BEGIN clocks before its first tile and after its last one, and a tile at
 * least ALONE clocks, and ALONE_COLUMN for each column, if few others use the memory: 1,300 with 64 columns (12x4x1x1x2048x64
 * on an eighth of gfx950 in 2 parts) and 1,850 with 128 (1x8x1x1x16384x128 in 8 parts); with 256 columns ALONE_256
 * (1x16x4x1x1354x256 in 11 and 22 parts, with 2 tiles and 1: 30,262 and 26,084). A second launch takes SECOND,
 * SHARED if several waves have parts of a row, and MORE_PARTS for each further 16 parts of a wave; a workgroup loads
 * SECOND_BYTES in a clock, if HBM gives so much (1x8x1x1x32768x128 in 16, 32, 64, 128, 256 and 512 parts: 8,069, 8,668, 8,688,
 * 10,171, 10,623 and 14,636; with 16 queries on gfx942 in 64 and 128 parts 10,067 and 12,143), and an XCD begins a workgroup in
 * SECOND_WORKGROUP clocks (1x64x8x512x2048x128 in 2 parts of 256 rows, 16,384 workgroups: 46,102); SECOND_OVERLAP of the
 * shorter of the two counts too (1x32x8x256x2048x128 in 8 parts, 4,096 workgroups: 24,468). A last workgroup, which adds
 * the parts of its unit in the same launch, takes LAST, and LAST_MORE_PARTS more for each further 16 parts. It loads LAST_BYTES
 * in a clock, or LAST_BYTES_FEW of few parts. These are predictions on gfx950. On gfx942, where LDS
 * has room for two tiles, a tile takes TWO_STAGES_ALONE clocks, and TWO_STAGES_COLUMN for each column: 2295, 2930, 3495 and
 * 5902 were predicted for head_dim 64, 96, 128 and 256. The general kernel takes GENERAL_BEGIN clocks more for each column
 * before and after the tiles, and GENERAL_ALONE for a column of a tile: predictions of 8x64x8x1 with 32 to 128 keys in f32,
 * within 11 %. hip_decode_f32 takes F32_BEGIN, a tile F32_ALONE and F32_COLUMN for each column of each 16 rows (1x8x2x512x512
 * with head_dim 64 and 128 on an eighth of both chips), and at most F32_BYTES in a clock come from memory, because its vL1D has
 * no room for more on their way (8x8x1x1x4096 in 16 and 32 parts). Rows take BEGIN_ROWS clocks for each column, and decode256
 * BEGIN_256 more (1x32x32x1x64x64, with 1 to 128 queries and head_dim 64 to 256, on an eighth of both chips), and launches of
 * attention_first KEYS_KNOWN less (1x32x8x1 with 300 and 512 keys, 8x8x8x1x256x128: 590 to 1,610 on both chips). A tile with
 * a causal mask takes MASKED more, and MASKED_COLUMN for each column (causal and full 1x32x8x600x640x128 and
 * 1x16x16x128x512x64 on gfx950: 59,344 and 37,934, 18,722 and 15,604), and with 256 columns MASKED_256 (2x8x2x700x2000x192,
 * of which 11 of 16 tiles have a mask: 158,266 and 84,237). With more than MANY_ROWS rows, three or four waves multiply, and
 * a tile takes MANY_ALONE, and MANY_COLUMN for each column that the kernel computes (1x256x16x128x1024 with head_dim 64, 80
 * and 128 on gfx950: 33,455, 41,625 and 52,590). */
enum { BEGIN = 4200, KEYS_KNOWN = 900, ALONE = 750, ALONE_COLUMN = 9, ALONE_256 = 4200, BEGIN_256 = 8000 };
enum { SECOND = 7600, SHARED = 500, MORE_PARTS = 1300, SECOND_BYTES = 32, SECOND_WORKGROUP = 20 };
enum { LAST = 2400, LAST_BYTES = 40, LAST_MORE_PARTS = 1000, LAST_BYTES_FEW = 130 };
enum { MOST_ROUNDS = 4, TWO_STAGES_ALONE = 1100, TWO_STAGES_COLUMN = 19, GENERAL_BEGIN = 150, GENERAL_ALONE = 220 };
enum { MASKED = 950, MASKED_COLUMN = 9, MASKED_256 = 5500, UNIT_MASKED = 8, MANY_ROWS = 64, MANY_ALONE = 300 };
enum { F32_BEGIN = 9000, F32_ALONE = 500, F32_COLUMN = 17, F32_BYTES = 13 };
#define BEGIN_ROWS 0.35
#define MANY_COLUMN 16.5
#define SHARE 0.8 /* of the peak that HBM gives */
#define SECOND_OVERLAP 0.4

/* Three tiles of keys and values fit into LDS. */
static bool has_three_stages(const tdm_plan *plan) {
  return plan->context->hip->chip->lds_bytes >= 3 * 2 * FAST_KEYS * 128 * 2;
}

/* Of flash: of a workgroup before its first tile and after its last one, and of a tile of FAST_KEYS keys, with so many more for
 * each column. Predicted for 1x32x8x512x512, 1x32x8x1024x1024 and 4x32x8x128x128 with head_dim 128 and a causal mask, and
 * 1x12x12x197x197x64; tiles for 1x4x1x1024x4096 on an eighth of the chips, and gfx950's for 1x8x1x1024 with 2048 and 4096 keys,
 * head_dim 64 to 192. halves: what two tiles of 32 keys take more, with 129 to 192 columns. last: of the last workgroup of a
 * unit, which adds its parts, last_bytes of them in a clock: 1x32x8x256x2048x128 and 1x32x8x128x4096x128 in 8 and 16 parts.
 * wide: of flash256, by 1x16x4x128x512 and 1x4x1x700x1500 (43,281 and 92,579 on gfx950); on gfx942 7 % more than these give,
 * because decode256, whose estimate is so much too high there, takes 2 % less in full rounds. */
typedef struct flash_clocks {
  double begin, begin_rows, tile, column, halves, last, last_bytes, wide_begin, wide_tile;
} flash_clocks;
static const flash_clocks three_stages = {.begin = 6400,
                                          .begin_rows = 0.177,
                                          .tile = 990,
                                          .column = 9.5,
                                          .halves = 740,
                                          .last = 8500,
                                          .last_bytes = 60,
                                          .wide_begin = 13000,
                                          .wide_tile = 3160};
static const flash_clocks two_stages = {.begin = 7000,
                                        .begin_rows = 0.5,
                                        .tile = 1450,
                                        .column = 23,
                                        .last = 3000,
                                        .last_bytes = 54,
                                        .wide_begin = 23500,
                                        .wide_tile = 6200};

static const flash_clocks *flash_of(const tdm_plan *plan) { return has_three_stages(plan) ? &three_stages : &two_stages; }

/* Of the parts of a unit. */
static double bytes_of_parts(const tdm_plan *plan, int64_t parts) {
  const tdm_attention_desc *d = &plan->desc.attention;
  return (double)(rows_of_unit(d, block_of(variant_of(plan))) * parts * (d->head_dim + 2)) * sizeof(float);
}

static double clocks_of_second(const tdm_plan *plan, int64_t parts) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const int64_t block = block_of(variant_of(plan));
  const bool many = attention_many_parts(parts);
  const int64_t sharing = (int64_t)1 << attention_sharing_log2(parts, many), of_wave = (parts - 1) / sharing + 1;
  const unsigned threads = many ? MANY_PARTS_THREADS : PARTS_THREADS;
  const double units = (double)units_of(d, block), of_workgroup = (double)(of_wave * threads) * sizeof(float);
  const double waves = (double)(rows_of_unit(d, block) * PARTS_WAVES(d->head_dim) * sharing);
  const double begins = SECOND_WORKGROUP * units * ceil(waves / (threads / HIP_LANES)) / plan->context->hip->xcds;
  const double loads = fmax(of_workgroup / SECOND_BYTES,
                            units * bytes_of_parts(plan, parts) / (SHARE * tdm_hip_rates(plan->context->hip, d->type).hbm));
  return SECOND + (sharing > 1 ? SHARED : 0) + MORE_PARTS * (double)((of_wave - 1) / PARTS_AT_ONCE) + fmax(begins, loads) +
         SECOND_OVERLAP * fmin(begins, loads);
}

static double clocks_of_last(const tdm_plan *plan, int64_t parts) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (!variant_of(plan)->decode) return flash_of(plan)->last + bytes_of_parts(plan, parts) / flash_of(plan)->last_bytes;
  return LAST + LAST_MORE_PARTS * (double)((parts - 1) / PARTS_AT_ONCE) +
         bytes_of_parts(plan, parts) /
             (attention_stores_few(d, block_of(variant_of(plan)), parts) ? LAST_BYTES_FEW : LAST_BYTES);
}

bool attention_last_adds(const tdm_plan *plan, int64_t parts) {
  return variant_of(plan)->head_dim > 0 && clocks_of_last(plan, parts) < clocks_of_second(plan, parts);
}

/* That the general kernel computes. */
static double general_columns(const tdm_attention_desc *d) { return d->head_dim <= 64 ? 64 : d->head_dim <= 128 ? 128 : 256; }

/* Clocks of a tile of keys, if few others use the memory. */
static double alone(const tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (variant_of(plan)->head_dim == 0) return GENERAL_ALONE * general_columns(d);
  if (variant_of(plan)->f32) {
    const double bytes = 2 * FAST_KEYS * (double)d->head_dim * sizeof(float) / (double)blocks_of_head(d, F32_ROWS);
    return fmax(F32_ALONE + F32_COLUMN * columns_of(plan) * (rows_of_unit(d, F32_ROWS) > 16 ? 2 : 1), bytes / F32_BYTES);
  }
  if (!has_three_stages(plan)) return TWO_STAGES_ALONE + TWO_STAGES_COLUMN * columns_of(plan);
  if (d->head_dim > 128) return ALONE_256;
  const double few = ALONE + ALONE_COLUMN * columns_of(plan);
  return rows_of_unit(d, GENERAL_ROWS) > MANY_ROWS ? fmax(few, MANY_ALONE + MANY_COLUMN * variant_of(plan)->head_dim) : few;
}

/* Of a workgroup before its first tile and after its last one. */
static double decode_begin(const tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  if (variant_of(plan)->head_dim == 0) return BEGIN + GENERAL_BEGIN * general_columns(d);
  if (variant_of(plan)->f32) return F32_BEGIN;
  const bool known = blocks_of_head(d, block_of(variant_of(plan))) == 1;
  return BEGIN + (d->head_dim > 128 ? BEGIN_256 : 0) - (d->head_dim <= 128 && known ? KEYS_KNOWN : 0) +
         BEGIN_ROWS * (double)(rows_of_unit(d, block_of(variant_of(plan))) * d->head_dim);
}

static double flash_begin(const tdm_plan *plan, double rows) {
  const attention_variant *v = variant_of(plan);
  if (v->head_dim == 0) return decode_begin(plan);
  if (columns_of(plan) > FAST_COLUMNS) return flash_of(plan)->wide_begin;
  return flash_of(plan)->begin + flash_of(plan)->begin_rows * rows * columns_of(plan);
}

static double flash_tile(const tdm_plan *plan) {
  const flash_clocks *f = flash_of(plan);
  if (variant_of(plan)->head_dim == 0) return alone(plan);
  const double columns = columns_of(plan);
  if (columns > FAST_COLUMNS) return f->wide_tile;
  return f->tile + f->column * columns + (columns > 128 ? f->halves : 0);
}

/* A workgroup with a unit: before its first tile and after its last one, and a tile. */
static double unit_begin(const tdm_plan *plan) {
  if (variant_of(plan)->decode) return decode_begin(plan);
  return flash_begin(plan, (double)rows_of_unit(&plan->desc.attention, block_of(variant_of(plan))));
}
static double unit_tile(const tdm_plan *plan) { return variant_of(plan)->decode ? alone(plan) : flash_tile(plan); }

/* Blocks of a head of keys that run at the same time. */
static int64_t blocks_together(const tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const int64_t blocks = blocks_of_head(d, block_of(variant_of(plan))), heads = d->batch * d->heads_kv;
  const int64_t most = variant_of(plan)->f32 ? (plan->context->hip->compute_units - 1) / heads + 1 : blocks;
  return blocks < most ? blocks : most;
}

static double clocks_of_parts(const tdm_plan *plan, int64_t tiles, int64_t parts) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const double units = plan->context->hip->compute_units, hbm = SHARE * tdm_hip_rates(plan->context->hip, d->type).hbm;
  const double dim = (double)d->head_dim;
  double tile = 2 * FAST_KEYS * dim * (double)tdm_type_size(d->type) * units / hbm; /* while all units load */
  const double begin = unit_begin(plan), least = unit_tile(plan);
  const int64_t block = block_of(variant_of(plan));
  double of_part = (double)((tiles - 1) / parts + 1), workgroups = (double)units_of(d, block) * (double)parts;
  tile *= (double)tiles / ((double)parts * of_part); /* the last part of a unit may have fewer */
  tile /= (double)blocks_together(plan);             /* they load the same keys, at about the same time */
  double rounds = floor(workgroups / units), rest = workgroups - rounds * units;
  double clocks = rounds * (begin + of_part * fmax(tile, least));
  if (rest > 0) clocks += begin + of_part * fmax(tile * rest / units, least);
  if (parts > 1) clocks += attention_last_adds(plan, parts) ? clocks_of_last(plan, parts) : clocks_of_second(plan, parts);
  return clocks;
}

/* A part has whole tiles, so there may be fewer than asked for: 53 tiles in at most 42 parts are 27. */
static int64_t parts_of_tiles(int64_t tiles, int64_t most) {
  const int64_t of_part = (tiles - 1) / most + 1;
  return (tiles - 1) / of_part + 1;
}

/* At most `most`. Of 1, and the numbers that fill an eighth, a quarter or half of the compute units, or 1 to MOST_ROUNDS
 * rounds of them. */
int64_t attention_choose_parts(const tdm_plan *plan, int64_t most) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const int64_t tiles = tiles_of_keys(d);
  int64_t best = 1, compute_units = plan->context->hip->compute_units, units = units_of(d, block_of(variant_of(plan)));
  double least = clocks_of_parts(plan, tiles, 1);
  if (most > tiles) most = tiles;
  for (int64_t eighths = 1; eighths <= 8 * MOST_ROUNDS; eighths += eighths < 8 ? eighths : 8) {
    int64_t parts = eighths * compute_units / (8 * units) < most ? eighths * compute_units / (8 * units) : most;
    parts = parts > 1 ? parts_of_tiles(tiles, parts) : 1;
    double clocks = parts > 1 ? clocks_of_parts(plan, tiles, parts) : least;
    if (clocks >= least) continue;
    least = clocks;
    best = parts;
  }
  return best;
}

/* Of a launch of flash. Causal workgroups take turns, the longest ones first, so the launch takes as long as their average. */
static double clocks_of_flash(const tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const double rows = variant_of(plan)->head_dim > 0 ? (double)rows_of(plan) : GENERAL_ROWS;
  const double of_head = ceil((double)d->sq / rows), workgroups = of_head * (double)d->heads_q * (double)d->batch;
  const double rounds = workgroups / plan->context->hip->compute_units, tile = flash_tile(plan);
  const double begin = flash_begin(plan, fmin((double)rows_of(plan), (double)d->sq));
  const double longest = begin + tile * ceil((double)d->skv / FAST_KEYS);
  if (!d->causal) return ceil(rounds) * longest;
  const double seen = fmax(0, (double)d->skv - (of_head - 1) * rows / 2); /* keys, on average */
  return fmax(longest, rounds * (begin + tile * ceil(seen / FAST_KEYS)));
}

/* What tiles of keys take more that some rows of a wave don't see whole. Decode looks for NaN and infinities among their
 * values, and its products do not overlap; a wave with rows of two heads sees only the keys before the first query whole.
 * Flash in units takes UNIT_MASKED more for each column of such a tile but one (8x128x8x128x128x128, 2 tiles in 2 rounds:
 * 47,022, and without a mask 43,003 on gfx950; 8x64x8x64x64x128, one tile: 18,399, which this has without more). */
static double clocks_of_masks(const tdm_plan *plan, int64_t parts) {
  const attention_variant *v = variant_of(plan);
  const tdm_attention_desc *d = &plan->desc.attention;
  if (!d->causal || d->sq < 2 || v->head_dim == 0 || v->f32) return 0;
  const int64_t block = block_of(v);
  const double tiles = (double)((tiles_of_keys(d) - 1) / parts + 1);
  const double rounds = ceil((double)(units_of(d, block) * parts) / plan->context->hip->compute_units);
  const bool heads_meet = v->decode && rows_of_head(d, block) > d->sq && d->sq % WAVE_ROWS != 0;
  const double rows = heads_meet ? (double)d->sq : fmin((double)d->sq, (double)block);
  const double masked = fmin(tiles, ceil(rows / FAST_KEYS));
  if (!v->decode) return rounds * (masked - 1) * UNIT_MASKED * columns_of(plan);
  return rounds * masked * (d->head_dim > 128 ? MASKED_256 : MASKED + MASKED_COLUMN * columns_of(plan));
}

/* Of a launch of flash in units. Causal workgroups come in any order, so they count as full ones. */
static double clocks_of_units(const tdm_plan *plan) {
  const int64_t parts = attention_choose_parts(plan, INT64_MAX);
  return clocks_of_parts(plan, tiles_of_keys(&plan->desc.attention), parts) + clocks_of_masks(plan, parts);
}

/* Of the faster of both. */
static double clocks_of_either(const tdm_plan *plan, bool *units) {
  const attention_variant *v = variant_of(plan);
  const double whole = clocks_of_flash(plan);
  *units = false;
  if (v->head_dim == 0 || columns_of(plan) > FAST_COLUMNS || rows_of_head(&plan->desc.attention, FAST_ROWS) > MOST_UNIT_ROWS)
    return whole;
  const double in_units = clocks_of_units(plan);
  *units = in_units < whole;
  return fmin(in_units, whole);
}

bool attention_in_units(const tdm_plan *plan) {
  bool units = false;
  if (!variant_of(plan)->decode && !plan->empty) clocks_of_either(plan, &units);
  return units;
}

/* Of a launch of decode. Without parts it computes what flash does, but causal workgroups come in any order. So only for f32,
 * whose workgroups are many, a part of the keys counts. */
static double clocks_of_decode(const tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const int64_t parts = attention_choose_parts(plan, INT64_MAX);
  if (variant_of(plan)->f32 && d->causal && d->skv > 0 && parts == 1) {
    const double seen = 1 - fmin((double)d->sq, (double)d->skv) / (2 * (double)d->skv); /* of the keys, on average */
    const double tiles = (double)tiles_of_keys(d), longest = decode_begin(plan) + alone(plan) * tiles;
    return fmax(clocks_of_parts(plan, (int64_t)ceil(seen * tiles + 0.5), 1), longest);
  }
  return clocks_of_parts(plan, tiles_of_keys(d), parts) *
             (parts == 1 && blocks_of_head(d, block_of(variant_of(plan))) > 1 ? 1.02 : 1) +
         clocks_of_masks(plan, parts);
}

/* Each byte of memory once, at the rate that HBM gives. */
static double clocks_of_memory(const tdm_plan *plan) {
  const tdm_attention_desc *d = &plan->desc.attention;
  const double rows = (double)d->heads_q * (double)d->sq + (double)d->heads_kv * (double)d->skv;
  return 2 * (double)d->batch * rows * (double)d->head_dim * (double)tdm_type_size(d->type) /
         (SHARE * tdm_hip_rates(plan->context->hip, d->type).hbm);
}

void attention_cost(const tdm_plan *plan, tdm_cost *cost) {
  const attention_variant *v = variant_of(plan);
  bool units;
  const double computed = v->decode ? clocks_of_decode(plan) : clocks_of_either(plan, &units);
  const double memory = clocks_of_memory(plan);
  *cost = (tdm_cost){fmax(computed, memory), computed > 2 * memory ? v->head_dim > 0 ? "mfma" : "valu" : "hbm"};
}
