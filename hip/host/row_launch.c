/* Grids of the kernels over rows. */
#include "row_launch.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cost.h"

enum { WAVE = 64, SIMDS = 4 };

int64_t tdm_hip_chunk(tdm_type type) { return 16 / (int64_t)tdm_type_size(type); }

/* A grid that does not divide its work evenly has up to so many workgroups for each that the device holds at a time: a
 * compute unit that has ended its own takes the next one. But where a work-item has a row at a time, there are no more than the
 * device holds: most of these kernels load a row while they compute the one before, and with a single row would load nothing
 * ahead. The same holds for rope. Kernels with several turns of rows begin them together anyway. */
enum { ROUNDS = 8, ROUNDS_AHEAD = 1 };

/* Long rows that are read twice, by a workgroup each, are enough work to wait for their first elements. Of the workgroups of a
 * compute unit the first one gets ahead of the others, and if all have as many rows, the last ones end alone. So from so many
 * rows on for each workgroup that the device holds, each row has a workgroup: rmsnorm of 38074 bf16 gets 0.91 of the rate of
 * memory instead of 0.87, predicted. With fewer the rounds themselves are uneven, and what is loaded ahead counts: 100000 bf16,
 * of which there are 2.6 in 1 GiB, would take 3 % more. But rows that twice as many work-items share (long_group) have a
 * workgroup each from one round on. */
enum { ROWS_ALONE = 3, ROWS_ALONE_MOST = 1 << 20 };

/* Workgroups that a compute unit holds. waves: that a SIMD holds. */
static int64_t workgroups_of_cu(int64_t threads, int64_t waves) {
  const int64_t held = waves * SIMDS * WAVE / threads;
  return held > 1 ? held : 1;
}

/* Sets the plan's grid for `wanted` equal parts of work, and returns the number of workgroups. waves: that a SIMD holds.
 * Workgroups that stay save the others' beginning. So there are as many as the device holds, or somewhat fewer, if that many
 * have the same work to 1 / 16; else up to `most` times as many. */
static int64_t set_grid(tdm_plan *plan, int64_t wanted, int64_t threads, int64_t waves, int64_t most) {
  int64_t units = plan->context->hip->compute_units, of_cu = workgroups_of_cu(threads, waves);
  int64_t workgroups = wanted < most * of_cu * units ? wanted : most * of_cu * units;
  if (wanted > of_cu * units)
    for (int64_t k = of_cu; 4 * k >= 3 * of_cu; k--) {
      int64_t rounds = hip_ceil_div(wanted, k * units);
      if (rounds * k * units * 16 > wanted * 17) continue;
      workgroups = k * units;
      break;
    }
  plan->hip = (tdm_hip_kernel){.grid = {(unsigned)workgroups, 1, 1}, .block = (unsigned)threads};
  return workgroups;
}

tdm_status tdm_hip_row_function(tdm_plan *plan, int number, tdm_type type, void **function) {
  return tdm_hip_function(plan, &plan->kernel->functions[number], NULL, tdm_type_name(type), function);
}

bool tdm_hip_at_dwords(const tdm_plan *plan, void *const *buffers) {
  for (int i = 0; i < plan->buffer_count; i++)
    if ((uintptr_t)buffers[i] % 4 != 0) return false;
  return true;
}

/* Do the arrays begin alike, at dwords or all between two? Those of `dwords` must begin at one. */
static bool begin_alike(const tdm_plan *plan, void *const *buffers, unsigned dwords) {
  uintptr_t first = 1;
  for (int i = 0; i < plan->buffer_count; i++) {
    const uintptr_t place = (uintptr_t)buffers[i] % 4;
    if (buffers[i] == NULL) continue;
    if ((dwords >> i & 1) != 0) {
      if (place != 0) return false;
    } else if (first == 1) {
      first = place;
    } else if (place != first) {
      return false;
    }
  }
  return true;
}

/* ---- Rows that are reduced ---- */

/* The smallest power of two work-items, of which each has `each` chunks of a row at most. */
static int64_t group_for(int64_t chunks, int64_t each) {
  int64_t size = 1;
  while (size * each < chunks) size *= 2;
  return size;
}

static int64_t items_wanted(const tdm_hip_device *device) { return (int64_t)device->compute_units * 2 * SIMDS * WAVE; }

int64_t tdm_hip_items_wanted(const tdm_plan *plan) { return items_wanted(plan->context->hip); }

/* May so many work-items, more than the usual ones, share a row to keep it? If a compute unit has one row at most, or if there
 * are rows for four waves on each SIMD. Not for kernels that keep no row. */
static bool is_shared_by(const tdm_hip_device *device, const hip_rows *r, int64_t size) {
  return !r->any && (r->rows <= device->compute_units || r->rows * size >= 2 * items_wanted(device));
}

/* A wave without barriers if it holds the row, or two waves, where the op says so; else 256 work-items. Where that leaves a
 * quarter of the places of two chunks empty, two rows may share a wave, and what a turn costs. Longer rows get 512 or 1024
 * work-items rather than being read twice, if there are few of them or enough: of 12343 bf16 rmsnorm gets 0.97 of the rate of
 * memory and softmax 0.96 (in the loop 0.86 and 0.89), of 16937 rmsnorm 0.95 (0.85); softmax of 64x32000 takes 12,950 clocks on
 * gfx950 (16,814), predicted. Fewer chunks for each if there are too few rows for the device. */
int tdm_hip_kept(const tdm_hip_device *device, const hip_rows *r) {
  static const int64_t groups[] = {WAVE, 2 * WAVE, HIP_ROWS_WORKGROUP, 2 * HIP_ROWS_WORKGROUP, HIP_ROW_GROUP_MOST};
  int64_t chunks = hip_ceil_div(r->cols, tdm_hip_chunk(r->type));
  for (int g = 0; g < (int)(sizeof groups / sizeof *groups); g++) {
    if ((groups[g] == 2 * WAVE && !r->pairs) || group_for(chunks, r->most) > groups[g]) continue;
    if (groups[g] > HIP_ROWS_WORKGROUP && !is_shared_by(device, r, groups[g])) continue;
    int kept = 1;
    while (group_for(chunks, kept) > groups[g]) kept *= 2;
    if (r->packs && kept == 2 && groups[g] == WAVE && 4 * chunks <= 3 * 2 * WAVE) kept *= 2;
    while (kept > 1 && group_for(chunks, kept / 2) <= HIP_ROW_GROUP_MOST &&
           r->rows * group_for(chunks, kept) < items_wanted(device))
      kept /= 2;
    return kept;
  }
  return 0;
}

bool tdm_hip_fits_registers(const tdm_plan *plan, char *reason, size_t size) {
  const hip_row_variant *variant = plan->kernel->variant;
  const hip_rows rows = variant->rows(plan);
  if (tdm_hip_kept(plan->context->hip, &rows) > 0) return true;
  snprintf(reason, size, "keeps a row in registers: must be at most %" PRId64 " elements",
           rows.most * tdm_hip_chunk(rows.type) *
               (is_shared_by(plan->context->hip, &rows, HIP_ROW_GROUP_MOST) ? HIP_ROW_GROUP_MOST : HIP_ROWS_WORKGROUP));
  return false;
}

/* The size of a row group with the least estimate, for loops that compute four chunks at once. The VALUs work for all places of
 * a wave: fewer work-items leave fewer of them empty, and more rows share what a turn costs. But a piece of a row that does not
 * begin at a cache line is loaded with a line more than it fills. Both clocks are joined as those of a tile's pipes are
 * (cost.c). 1537 bf16 of cross_entropy get 0.74, 0.91 and 0.87 of the rate of memory with 64, 32 and 16 work-items, 3101 f32
 * 0.96 and 0.92 with 64 and 32, and 9001 bf16 0.96, 0.95 and 0.91, predicted. */
static int64_t best_group(const tdm_hip_device *device, const hip_rows *r, int64_t least) {
  enum { AT_ONCE = 4, LINE_CHUNKS = 8 };
  static const double PARTLY = 0.2; /* of the cost of a whole line: most of these are in the vL1D or the L2 */
  const hip_wave_cost *c = &r->wave;
  const double degree = tdm_hip_cost_numbers.overlap, /* bytes of a SIMD's share of the memory in a clock: */
      rate = tdm_hip_hbm(device) / device->compute_units / SIMDS;
  const int64_t chunks = hip_ceil_div(r->cols, tdm_hip_chunk(r->type));
  int64_t best = 0;
  double best_clocks = 0;
  for (int64_t size = WAVE; size >= least; size /= 2) {
    const int64_t steps = hip_ceil_div(chunks, size), batches = hip_ceil_div(steps, AT_ONCE);
    const double valu = (c->row + c->batch * (double)batches + c->step * (double)steps) * (double)size / WAVE,
                 memory = 16 * (double)chunks / rate * (1 + PARTLY * LINE_CHUNKS / (double)size),
                 clocks = pow(valu, degree) + pow(memory, degree);
    if (best == 0 || clocks < best_clocks) best = size, best_clocks = clocks;
  }
  return best;
}

/* The workgroup of a long row that is read twice. In the last round a compute unit may have one row alone, and one workgroup
 * can't load as fast as all that a compute unit holds. So twice as many work-items share each row where the launch has more
 * than one round and the last one is not full: of rmsnorm 100000 f32, of which an XCD has 168 rows of 1 GiB for 128 places,
 * get 0.90 of the rate of memory so, and 0.87 with 256 work-items, and 50000 f32 (336 rows) 0.92 and 0.91. In 16-bit types,
 * whose VALUs have more work, only from 2.75 rounds on: 91389 bf16 (367 rows) get 0.89 and 0.87, but 100000 (336) take 1.9 %
 * more. From ROWS_ALONE rounds on 256 are better: 85000 bf16 (395 rows) get 0.91, and 0.90 with 512. Else where the launch is
 * estimated to end earlier by more than 2 %. All of it is predicted. */
static int64_t long_group(const tdm_hip_device *device, const hip_rows *r) {
  enum { SIZE = HIP_ROWS_WORKGROUP, HELD = HIP_ROW_GROUP_MOST / SIZE };
  const int64_t round = (int64_t)device->compute_units * HELD;
  if (r->alone > 0 && r->rows >= ROWS_ALONE * round) return SIZE;
  if (r->alone > 0 && 4 * r->rows > (r->type == TDM_F32 ? 4 : 11) * round && r->rows % round != 0) return 2 * SIZE;
  const double units = device->compute_units, rate = tdm_hip_hbm(device) / units;
  double clocks[2]; /* for a byte of each row */
  for (int i = 0; i < 2; i++) {
    const double of_unit = (double)r->rows / units, held = HELD >> i, full = floor(of_unit / held) * held,
                 rest = of_unit - full, share = 2 / rate; /* a read and a write */
    clocks[i] = full * share + (rest > 0 ? fmax(rest * share, r->alone / (1 << i)) : 0);
  }
  return clocks[1] * 1.02 < clocks[0] ? 2 * SIZE : SIZE;
}

/* The work-items of a row group in a loop kernel, which computes up to four chunks at once. What a row costs besides its
 * elements is the same for each wave. So a work-item gets eight chunks, or as many as an estimate says, and a wave may have
 * several rows. A group has at least sixteen work-items, or as many as have four chunks each if these are fewer: a piece of a
 * row that does not begin at a cache line takes room in the vL1D for a line more than it fills, which for eight work-items is
 * twice its size. It grows until the device has four waves for each SIMD, because a loop waits for memory often, or until its
 * work-items have four chunks each.
 *
 * Long rows that are read twice get a workgroup: the device then has fewer of them at a time, and its last round is less of the
 * launch. 50257 bf16 of softmax get 0.93 of the rate of memory, and 0.88 with a wave for each row; rmsnorm of 131072 gets 0.97
 * and 0.93, predicted. */
int64_t tdm_hip_loop_group(const tdm_hip_device *device, const hip_rows *r) {
  enum { AT_ONCE = 4, EACH = 8, LINE = 16 };
  int64_t chunks = hip_ceil_div(r->cols, tdm_hip_chunk(r->type)), size = group_for(chunks, EACH),
          least = group_for(chunks, AT_ONCE);
  if (least > LINE) least = LINE; /* 1 at least */
  if (size < least) size = least;
  if (size > WAVE) size = r->twice && chunks >= EACH * HIP_ROWS_WORKGROUP ? long_group(device, r) : WAVE;
  if (r->wave.step > 0) size = best_group(device, r, least);
  while (size < HIP_ROW_GROUP_MOST && size < hip_ceil_div(chunks, AT_ONCE) &&
         r->rows < hip_ceil_div(2 * items_wanted(device), size))
    size *= 2;
  return size;
}

static int waves_of(const tdm_plan *plan, const hip_functions *f, tdm_type type) {
  const hip_fewer_waves *fewer = &f->fewer;
  bool is_fewer = fewer->waves > 0 && (fewer->types == 0 || (fewer->types >> type & 1) != 0) &&
                  (fewer->lds_below == 0 || plan->context->hip->chip->lds_bytes < fewer->lds_below);
  return is_fewer ? fewer->waves : f->waves;
}

/* Do all rows begin alike in all arrays, if the first ones do? */
static bool rows_alike(const hip_rows *r, const int64_t *leading, int arrays) {
  for (int i = 1; i < arrays; i++)
    if (r->rows > 1 && tdm_hip_whole_dwords(leading[i], r->type) != tdm_hip_whole_dwords(leading[0], r->type)) return false;
  return true;
}

void tdm_hip_row_groups(tdm_plan *plan, hip_row_groups *groups, const hip_rows *r, int64_t size, int64_t turns, int number) {
  const int waves = r->waves > 0 ? r->waves : waves_of(plan, &plan->kernel->functions[r->functions + number], r->type);
  *groups = (hip_row_groups){.rows = r->rows, .cols = r->cols};
  while (1 << groups->group_log2 < size) groups->group_log2++;
  groups->threads = size < HIP_ROWS_WORKGROUP ? HIP_ROWS_WORKGROUP : (int32_t)size;
  const int64_t at_once = groups->threads / size;
  const int64_t most = turns > 1 ? ROUNDS : ROUNDS_AHEAD,
                held = plan->context->hip->compute_units * workgroups_of_cu(groups->threads, waves);
  const bool shared = r->alone > 0 && groups->threads == 2 * HIP_ROWS_WORKGROUP, /* by more work-items than usual */
      alone = r->twice && at_once * turns == 1 && r->rows >= (shared ? 1 : ROWS_ALONE) * held && r->rows <= ROWS_ALONE_MOST;
  groups->workgroups = (int32_t)set_grid(plan, hip_ceil_div(r->rows, at_once * turns), groups->threads, waves, most);
  if (alone) groups->workgroups = (int32_t)r->rows;
  /* An even number of rows in a round: a work-item's rows then begin alike, at dwords or between two. */
  if (at_once % 2 != 0 && groups->workgroups % 2 != 0) groups->workgroups++;
  plan->hip.grid[0] = (unsigned)groups->workgroups;
}

tdm_status tdm_hip_rows_prepare(tdm_plan *plan, hip_row_groups *groups, hip_any_rows *any, const hip_rows *r,
                                const int64_t *leading, int arrays) {
  const hip_row_variant *variant = plan->kernel->variant;
  const tdm_hip_device *device = plan->context->hip;
  int kept = variant->in_registers ? tdm_hip_kept(device, r) : 0;
  int number = kept > 0 ? HIP_ROWS_KEPT : HIP_ROWS_WHOLE;
  for (int k = kept; k > 1; k /= 2) number += 2;
  int64_t chunk = tdm_hip_chunk(r->type),
          size = kept > 0 ? group_for(hip_ceil_div(r->cols, chunk), kept) : tdm_hip_loop_group(device, r);
  any->always = r->any || r->cols % chunk != 0;
  for (int i = 0; i < arrays; i++) any->always = any->always || !tdm_hip_whole_dwords(leading[i], r->type);
  int ragged = r->any || !rows_alike(r, leading, arrays) ? HIP_ROWS_ANY : kept > 0 ? number + 1 : r->ragged;
  if (any->always && ragged != HIP_ROWS_ANY && size < HIP_RAGGED_GROUP) size = HIP_RAGGED_GROUP;
  if (size < HIP_RAGGED_GROUP) ragged = HIP_ROWS_ANY;
  if (any->always) number = ragged;
  any->dwords = r->dwords;
  hip_rows launched = *r;
  if (kept > 0) launched.twice = false;
  if (kept > 0) launched.waves = size > HIP_ROWS_WORKGROUP ? 4 : 0; /* two such workgroups on a compute unit, or one of 1024 */
  tdm_hip_row_groups(plan, groups, &launched, size, 1, number);
  const int first = r->functions;
  TDM_TRY(tdm_hip_row_function(plan, first + HIP_ROWS_ANY, r->type, &any->function));
  if (ragged != HIP_ROWS_ANY) TDM_TRY(tdm_hip_row_function(plan, first + ragged, r->type, &any->ragged));
  return tdm_hip_row_function(plan, first + number, r->type, &plan->hip.function);
}

tdm_status tdm_hip_rows_launch(const tdm_plan *plan, const hip_any_rows *any, const void *args, size_t bytes,
                               void *const *buffers, tdm_stream *stream) {
  tdm_hip_kernel kernel = plan->hip;
  if (any->always || !tdm_hip_at_dwords(plan, buffers))
    kernel.function = any->ragged != NULL && begin_alike(plan, buffers, any->dwords) ? any->ragged : any->function;
  return tdm_hip_launch(plan, &kernel, args, bytes, stream);
}

/* ---- Short rows without gaps between them ---- */

/* As few work-items share a row as load at most 2 KiB with their wave, because each wave pays for a row's beginning and end.
 * There are 4 to 16 of them, or 32 or 64 if a wave of fewer would load more than 4 KiB. Only if there are enough rows for the
 * device: else more work-items must share each.
 *
 * SIMDs get as many waves as load 42 KiB on a compute unit, or three: what has no room in the vL1D waits in its queue, and when
 * that is full, waves wait that could compute. 780 bf16 of cross_entropy get 0.83 of the rate of memory with four waves, and
 * 0.96 with three; 1024 get 0.71 and 0.98, predicted. */
bool tdm_hip_near_group(const tdm_plan *plan, hip_near_group *group, const hip_rows *r, bool gaps, int64_t of_four) {
  enum { LEAST = 4, MOST = 64, WAVES = HIP_ROWS_WORKGROUP / WAVE, ROOM = 42 << 10, SIMD_LEAST = 3 };
  const int64_t bytes = r->cols * (int64_t)tdm_type_size(r->type);
  if (bytes == 0 || r->cols > HIP_NEAR_BYTES || (gaps && r->rows > 1)) return false;
  int64_t size = LEAST;
  while (size < MOST && WAVE / size * bytes > (size == 4 ? of_four : size == 8 ? HIP_NEAR_BYTES / 2 : HIP_NEAR_BYTES))
    size *= 2;
  const int64_t rows = WAVE / size, fit = ROOM / (WAVES * rows * bytes);
  *group = (hip_near_group){size, rows, rows * bytes, fit > SIMD_LEAST ? fit : SIMD_LEAST};
  return rows * bytes <= HIP_NEAR_BYTES && r->rows >= hip_ceil_div(tdm_hip_items_wanted(plan), size);
}

/* Rows short enough for a wave to load two of them at once or more, or one if all rows begin at dwords. Of whole chunks only
 * those that leave more than a sixth of the places of a wave empty that keeps its lanes' chunks: 416 bf16 of softmax, 52
 * chunks in 64 places, get 0.92 of the rate of memory with such waves, and 0.97 as a range; 856 of rmsnorm, 107 in 128, get
 * 0.97 and 0.93; and single rows of a wave don't gain: 1192 bf16 of softmax get 0.95 and 0.92, predicted. */
tdm_status tdm_hip_near_prepare(tdm_plan *plan, hip_near_rows *near, const hip_rows *r, bool gaps, int number) {
  hip_near_group group;
  if (!tdm_hip_near_group(plan, &group, r, gaps, HIP_NEAR_BYTES / 2)) return TDM_OK;
  const int64_t bytes = group.bytes / group.rows, chunks = hip_ceil_div(bytes, 16), kept = tdm_hip_kept(plan->context->hip, r);
  if (group.rows == 1 && bytes % 4 != 0) return TDM_OK;
  if (bytes % 16 == 0 && (group.rows == 1 || 6 * chunks > 5 * kept * group_for(chunks, kept))) return TDM_OK;
  if (group.bytes > HIP_NEAR_BYTES / 2) number++;
  const int64_t held = waves_of(plan, &plan->kernel->functions[number], r->type);
  hip_rows launched = *r;
  launched.waves = (int)(group.waves < held ? group.waves : held);
  const tdm_hip_kernel usual = plan->hip;
  tdm_hip_row_groups(plan, &near->groups, &launched, group.size, 1, number);
  plan->hip = usual;
  return tdm_hip_row_function(plan, number, r->type, &near->function);
}

tdm_status tdm_hip_near_launch(const tdm_plan *plan, const hip_near_rows *near, const hip_any_rows *any, hip_row_groups *groups,
                               const void *args, size_t bytes, void *const *buffers, tdm_stream *stream) {
  if (near->function == NULL || !tdm_hip_at_dwords(plan, buffers))
    return tdm_hip_rows_launch(plan, any, args, bytes, buffers, stream);
  *groups = near->groups;
  const tdm_hip_kernel kernel = {
      .function = near->function, .grid = {(unsigned)near->groups.workgroups, 1, 1}, .block = (unsigned)near->groups.threads};
  return tdm_hip_launch(plan, &kernel, args, bytes, stream);
}

/* ---- Elementwise ops ---- */

/* Of kernels that load much a row of the table says fewer waves than a SIMD could hold: the vL1D has no room for the loads of
 * more. */
static void set_units(tdm_plan *plan, hip_blocks_way *way, int64_t rows, int64_t cols, int64_t items, int64_t waves,
                      int64_t rounds) {
  const int64_t units = hip_ceil_div(rows * items, HIP_BLOCK_THREADS),
                workgroups = set_grid(plan, units, HIP_BLOCK_THREADS, waves, rounds), step = workgroups * HIP_BLOCK_THREADS;
  way->blocks = (hip_blocks){.rows = rows,
                             .cols = cols,
                             .items = items,
                             .units = units,
                             .workgroups = workgroups,
                             .rows_step = step / items,
                             .items_step = step % items,
                             .by_items = hip_divisor_below(items, (units + 1) * HIP_BLOCK_THREADS + items)};
}

tdm_status tdm_hip_blocks_prepare(tdm_plan *plan, hip_blocks_plan *b, int number, int64_t rows, int64_t cols, tdm_type type,
                                  const int64_t *leading, int count) {
  int64_t chunk = tdm_hip_chunk(type);
  b->always = b->always || cols % chunk != 0;
  for (int i = 0; i < count; i++) b->always = b->always || !tdm_hip_whole_dwords(leading[i], type);
  const int whole_number = b->instead > 0 ? b->instead : 2 * number + 1;
  const hip_functions *any = &plan->kernel->functions[2 * number], *whole = &plan->kernel->functions[whole_number];
  const int64_t rounds = b->ahead ? ROUNDS_AHEAD : ROUNDS;
  const int64_t waves = b->waves > 0 ? b->waves : waves_of(plan, whole, type);
  set_units(plan, &b->whole, b->whole_rows > 0 ? b->whole_rows : rows, cols, hip_ceil_div(cols, chunk), waves, rounds);
  const int64_t items = b->any_items > 0 ? b->any_items : hip_ceil_div(cols + (type != TDM_F32), chunk);
  set_units(plan, &b->any, rows, cols, items, waves_of(plan, any, type), rounds);
  TDM_TRY(tdm_hip_row_function(plan, 2 * number, type, &b->any.function));
  TDM_TRY(tdm_hip_row_function(plan, whole_number, type, &b->whole.function));
  const hip_blocks_way *usual = b->always ? &b->any : &b->whole;
  plan->hip.function = usual->function;
  plan->hip.grid[0] = (unsigned)usual->blocks.workgroups;
  return TDM_OK;
}

const hip_blocks_way *tdm_hip_blocks_choose(const tdm_plan *plan, const hip_blocks_plan *b, void *const *buffers,
                                            tdm_hip_kernel *kernel) {
  const hip_blocks_way *way = b->always || !tdm_hip_at_dwords(plan, buffers) ? &b->any : &b->whole;
  *kernel = plan->hip;
  kernel->function = way->function;
  kernel->grid[0] = (unsigned)way->blocks.workgroups;
  return way;
}

/* ---- Of two arrays ---- */

typedef struct binary_plan {
  binary_args args;
  hip_blocks_plan blocks;
} binary_plan;
_Static_assert(sizeof(binary_plan) <= TDM_PLAN_ARGS, "fits the plan");

tdm_status tdm_hip_binary_prepare(tdm_plan *plan, binary_args args, int64_t rows, int64_t cols, tdm_type type) {
  binary_plan own = {.args = args};
  if (plan->empty) return TDM_OK;                                 /* a run launches nothing */
  if (args.lda == cols && args.ldb == cols && args.ldc == cols) { /* one long row */
    cols *= rows;
    rows = 1;
    own.args.lda = own.args.ldb = own.args.ldc = cols;
  }
  TDM_TRY(tdm_hip_blocks_prepare(plan, &own.blocks, 0, rows, cols, type, (int64_t[]){own.args.lda, own.args.ldb, own.args.ldc},
                                 rows > 1 ? 3 : 0));
  own.args.blocks = own.blocks.always ? own.blocks.any.blocks : own.blocks.whole.blocks;
  memcpy(plan->args, &own, sizeof own);
  return TDM_OK;
}

tdm_status tdm_hip_binary_launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  binary_plan own;
  tdm_hip_kernel kernel;
  memcpy(&own, plan->args, sizeof own);
  own.args.a = buffers[0];
  own.args.b = buffers[1];
  own.args.c = buffers[2];
  own.args.blocks = tdm_hip_blocks_choose(plan, &own.blocks, buffers, &kernel)->blocks;
  return tdm_hip_launch(plan, &kernel, &own.args, sizeof own.args, stream);
}
