/* What the rows of gemm on HIP share: the argument of their kernels, the K splits, and the launch. */
#include "gemm.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "reduce_shape.h"

static int parts_of(const tdm_plan *plan) { return plan->tuning.of[TDM_TUNE_SPLIT] > 1 ? plan->tuning.of[TDM_TUNE_SPLIT] : 1; }
static int64_t units_of(const tdm_gemm_desc *d) { return tdm_hip_units_of(d->k, d->type); }

/* Workgroups of gemm_reduce, which stride over its blocks: two rounds of what the device holds at a time are enough. */
static unsigned reducers(const tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const int64_t fours = (d->n + 3) / 4;
  int64_t most = (int64_t)plan->context->hip->compute_units * 16,
          all = d->batch * reduce_blocks(d->m, fours, reduce_bits(fours));
  return (unsigned)(all < most ? all : most);
}

/* partial: it stores parts for gemm_reduce. */
static int64_t leading_of(const tdm_plan *plan, bool partial) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  int64_t c = gemm_ld_of_rows(d, d->ldc), residual = plan->buffers[4].used ? gemm_ld_of_rows(d, d->ldr) : 0;
  return partial ? (d->n + 3) / 4 * 4 : c > residual ? c : residual;
}

/* Does the last workgroup of each tile add its parts? Else gemm_reduce does. */
static bool last_adds(const tdm_plan *plan, const hip_tile_shape *tile, int parts);
static hip_tile_work work_without_turns(const tdm_plan *plan, const hip_tile_shape *tile);

/* Lines that a step of HIP_STEP_BYTES loads more than those that its bytes would fill, for each line of an operand. Rows begin
 * anywhere, but at multiples of `begin` bytes, so `bytes` of a row are in 1 + (bytes - begin) / HIP_STEP_BYTES lines. Whole
 * rows share the lines in which one ends and the next begins. 169x67x1005 and 169x67x1024 f32 nt by 16x64 in one part take
 * 35,130 and 33,855 clocks on gfx950: 20 KiB on their way delay nothing. */
static double lines_again(const tdm_plan *plan, const hip_stored *x, bool along_k, int tile_lines) {
  const double size = (double)tdm_type_size(plan->desc.gemm.type), line = HIP_STEP_BYTES,
               lines = along_k ? tile_lines : fmin(tile_lines, (double)x->columns);
  const double bytes = along_k ? HIP_PIPE_ROW(plan->context->hip->chip->lds_bytes) : lines * size;
  int begin = HIP_STEP_BYTES;
  while (begin > 4 && !tdm_hip_rows_aligned(x, plan->desc.gemm.type, begin)) begin /= 2;
  const double of_row = fmax(0, fmin(bytes, line) - begin) / line;
  if (along_k) return line / bytes * of_row;
  /* Of `line / size` rows, to each of which a line of the operand belongs. */
  return line / size * fmin(of_row, ((double)x->ld * size - bytes) / line) / lines;
}

static void set_first(gemm_args *args, const tdm_gemm_desc *d, const hip_tile_kernel *kernel) {
  gemm_first *first = &args->first;
  first->lda = (uint32_t)args->lda, first->ldb = (uint32_t)args->ldb, first->k = (uint32_t)args->k;
  if (d->batch > 1) return;
  if (args->lda > INT32_MAX || args->ldb > INT32_MAX || args->k > INT32_MAX / 4) return;
  first->tile = hip_first_tile_of(args->order, args->parts, args->last_adds, tdm_hip_units_of(args->k, d->type), d->m, d->n,
                                  kernel->tile.m, kernel->tile.n);
}

static unsigned make_args(const tdm_plan *plan, const hip_tile_kernel *kernel, void *made) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  int packs = gemm_packs(plan, kernel);
  const int fours = 4 * (int)tdm_type_size(d->out), parts = parts_of(plan), run = kernel->tile.dwords ? 4 : 16;
  const bool last = last_adds(plan, &kernel->tile, parts);
  gemm_args args = {.steps = plan->table,
                    .m = d->m,
                    .n = d->n,
                    .k = d->k,
                    .lda = d->lda,
                    .ldb = d->ldb,
                    .ldc = gemm_ld_of_rows(d, d->ldc),
                    .ldr = gemm_ld_of_rows(d, d->ldr),
                    .stride_a = d->stride_a,
                    .stride_b = d->stride_b,
                    .stride_c = d->stride_c,
                    .stride_r = d->stride_r,
                    .step_count = d->epilogue_steps,
                    .ldp = (d->n + 3) / 4 * 4,
                    .part_units = units_of(d) / parts,
                    .parts = parts,
                    .longer_parts = (int32_t)(units_of(d) % parts),
                    .batch = d->batch,
                    .alpha = d->alpha,
                    .beta = d->beta,
                    .type = d->type,
                    .out = d->out,
                    .aligned_a = tdm_hip_rows_aligned(&a, d->type, run) ? run : 0,
                    .aligned_b = tdm_hip_rows_aligned(&b, d->type, run) ? run : 0,
                    .aligned_fours = gemm_rows_aligned(d, fours),
                    .dwords = gemm_rows_aligned(d, 4),
                    .a_along_k = !gemm_transposed_a(d),
                    .b_along_k = gemm_transposed_b(d)};
  const hip_copies copies = gemm_copies(d, packs);
  if (packs & GEMM_PACKS_A) {
    hip_copy copy = tdm_hip_copy_of(&copies, 0);
    args.lda = copy.ld, args.stride_a = copy.stride, args.aligned_a = 16;
  }
  if (packs & GEMM_PACKS_B) {
    hip_copy copy = tdm_hip_copy_of(&copies, 1);
    args.ldb = copy.ld, args.stride_b = copy.stride, args.aligned_b = 16;
  }
  args.packed = packs;
  args.k = tdm_hip_packed_k(&copies);
  const bool ends_here = parts == 1 || last;
  const bool far = leading_of(plan, !ends_here) > GEMM_MOST_LEADING || (ends_here && d->out == TDM_F32 && gemm_long_steps(d));
  args.end = far ? GEMM_FAR : ends_here ? gemm_end_of(d) : GEMM_DIRECT;
  const hip_tile_output output = gemm_output(plan);
  args.order = last ? tdm_hip_parts_order(plan, &output, &kernel->tile, parts)
                    : tdm_hip_tiles(plan, d->m, d->n, d->batch * parts, kernel->tile.m, kernel->tile.n);
  args.by = hip_order_divisors_of(args.order, parts);
  args.reducers = (uint16_t)reducers(plan);
  args.reduce_bits = (uint16_t)reduce_bits(args.ldp / 4);
  if (kernel->tile.turns || gemm_by_cache_lines(plan, kernel)) {
    hip_tile_shape in_parts = kernel->tile;
    in_parts.split = parts;
    const hip_tile_work work = work_without_turns(plan, &in_parts);
    gemm_set_turns(plan, &in_parts, last ? parts : 1, &work, &args.first);
  }
  args.last_adds = last;
  const tdm_epilogue_step *map = gemm_map_of(d);
  args.map = TDM_BIAS;
  if (map != NULL) args.map = map->op, args.map_value = map->value;
  set_first(&args, d, kernel);
  if (d->epilogue_steps <= GEMM_FEW_STEPS && d->epilogue_steps > 0)
    memcpy(args.few_steps, d->epilogue, (size_t)d->epilogue_steps * sizeof *d->epilogue);
  memcpy(made, &args, sizeof args);
  return args.order.count;
}

static void set_pointers(const tdm_plan *plan, void *const *buffers, void *made) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  gemm_args *args = made;
  int fours = 4 * (int)tdm_type_size(d->out);
  const hip_copies copies = gemm_copies(d, args->packed);
  args->first.a = args->packed & GEMM_PACKS_A ? tdm_hip_copy_at(plan, &copies, 0) : buffers[0];
  args->first.b = args->packed & GEMM_PACKS_B ? tdm_hip_copy_at(plan, &copies, 1) : buffers[1];
  args->c = buffers[2];
  args->partial = args->parts > 1 && !args->last_adds ? plan->workspace : NULL;
  args->tile_parts = args->last_adds ? plan->workspace : NULL;
  args->bias = buffers[3];
  args->residual = buffers[4];
  if (args->aligned_a > 0 && !tdm_hip_at(args->first.a, args->aligned_a)) args->aligned_a = 0;
  if (args->aligned_b > 0 && !tdm_hip_at(args->first.b, args->aligned_b)) args->aligned_b = 0;
  args->aligned_fours = args->aligned_fours && tdm_hip_at(args->c, fours) && tdm_hip_at(args->residual, fours) &&
                        tdm_hip_at(args->bias, 4 * (int)tdm_type_size(d->type));
  args->dwords = args->dwords && tdm_hip_at(args->c, 4) && tdm_hip_at(args->residual, 4);
  if (args->end == GEMM_DIRECT && args->partial == NULL && !args->dwords) args->end = GEMM_NEAR;
  if (args->end == GEMM_ADDS && !args->aligned_fours) args->end = GEMM_NEAR;
}

static const hip_tile_op op = {sizeof(gemm_args), make_args, set_pointers, gemm_borrowed_bytes, gemm_pack_pointers};
_Static_assert(sizeof(gemm_first) == HIP_PRELOADED_BYTES && offsetof(gemm_args, first) == 0, "it is in registers");
_Static_assert(sizeof(gemm_args) <= HIP_TILE_ARGS, "it fits the plan");

/* ---- K splits ---- */

/* The K tail, what is left of k after the last whole step. In the loop of engine/tile.h it is a step like others, if lanes load
 * whole parts of it. Else it is cut off in LDS, after a trip to memory of its own if both operands are stored along k.
 * Predicted for K = 248 and 256 of 256x256 bf16 with rows of 256: nt 1040 for each tile up to 64x128, in f32 too, and 1400 to
 * 2500 for larger ones; nn and tt 150 to 340 with 16 to 64 lines along k, 750 to 830 with 128; tn nothing. 2x335x2824 and
 * 2x335x2826 nt by 16x64 take 16,295 and 17,289 clocks on gfx950. */
static double tail_clocks(const tdm_plan *plan, const hip_tile_shape *tile) {
  enum { BOTH = 1040, OF_LINE = 6, LOAD = 16, NARROW_LOAD = 4 /* bytes of a lane */ };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const hip_copies copies = gemm_copies(d, gemm_packs(plan, plan->kernel->variant));
  const int64_t bytes = tdm_hip_packed_k(&copies) * (int64_t)tdm_type_size(d->type),
                load = tdm_hip_half_lines(plan->context->hip->chip) ? NARROW_LOAD : LOAD;
  if (bytes % HIP_STEP_BYTES == 0 || tile->valu > 0 || (!tile->overlapped && bytes % load == 0)) return 0;
  bool a = !gemm_transposed_a(d), b = gemm_transposed_b(d);
  return a && b ? BOTH : OF_LINE * ((a ? tile->m : 0) + (b ? tile->n : 0));
}

/* What a workgroup takes less than other tiles', because it does not wait for its argument (args/first_tile.h). Of 60 drawn
 * products the estimates of most tiles were 1.05 to 1.13 of what they take in the middle without it, and are 1.01 to 1.09. */
enum { PRELOADED = 900 };
static hip_tile_work work_without_turns(const tdm_plan *plan, const hip_tile_shape *tile) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  double of_rows, chain = gemm_chain(plan, tile, &of_rows);
  /* Tiles of engine/tile.h. By cache lines rows along k load no line again, and those across k as in the others. */
  const bool in_room = !tile->any_address && (tile->turns || gemm_by_cache_lines(plan, plan->kernel->variant));
  const hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  double again_a = gemm_loads_again(plan, GEMM_PACKS_A), again_b = gemm_loads_again(plan, GEMM_PACKS_B);
  if (in_room && again_a > 0) again_a = lines_again(plan, &a, !gemm_transposed_a(d), tile->m);
  if (in_room && again_b > 0) again_b = lines_again(plan, &b, gemm_transposed_b(d), tile->n);
  return (hip_tile_work){.m = d->m,
                         .n = d->n,
                         .k = d->k,
                         .batch = d->batch,
                         .type = d->type,
                         .out = d->out,
                         .across_a = gemm_transposed_a(d),
                         .across_b = !gemm_transposed_b(d),
                         .again_a = again_a,
                         .again_b = again_b,
                         .again_in_room = in_room,
                         .once = tail_clocks(plan, tile) - gemm_prepared_clocks(plan, tile) - PRELOADED,
                         .chain = chain,
                         .store = of_rows,
                         .before_chain = gemm_before_chain(plan, tile)};
}

hip_tile_work gemm_work(const tdm_plan *plan, const hip_tile_shape *tile) {
  hip_tile_work work = work_without_turns(plan, tile);
  gemm_add_turns(plan, tile, last_adds(plan, tile, tile->split) ? tile->split : 1, &work);
  return work;
}

/* The second launch of a split: itself, its beginning and end; a trip to memory and its adds for each 8 parts; what it
 * reads; and the dispatch of its workgroups, one after the other on an XCD, of which the first ones' work hides that of
 * EARLY. Predicted for 32 x 576 bf16 of 2, 8, 16 and 28 parts: 7558, 7474, 8719 and 11,261 clocks on gfx950, 130 more on
 * gfx942; 128 x 4096 of 4 and 8 parts 10,641 and 13,679; 1000 x 1000, 128 x 14336 and 1500 x 1100 of 2 parts 12,901, 17,154
 * and 18,077. Rows that end within a four: 2 x 427 f32 of 8 parts 8213, 3 x 397 f16 7982. */
static double reduce_clocks(const tdm_plan *plan, int parts) {
  enum { LAUNCH = 6150, CUT = 700, AT_ONCE = 8, ADDS = 30, EARLY = 64, DISPATCH = 16 };
  const tdm_gemm_desc *d = &plan->desc.gemm;
  double bytes =
      (double)d->batch * (double)d->m * (double)d->n * (parts * (double)sizeof(float) + (double)tdm_type_size(d->out));
  double trips = ceil(parts / (double)AT_ONCE), late = fmax(0, (double)reducers(plan) / plan->context->hip->xcds - EARLY);
  return LAUNCH + (d->n % 4 != 0 ? CUT : 0) + gemm_before_asked(d) + late * DISPATCH +
         trips * (tdm_hip_cost_numbers.latency + ADDS) + bytes / tdm_hip_hbm(plan->context->hip);
}

/* ---- K splits in one launch (engine/last_part.h) ---- */

static double last_clocks(const tdm_plan *plan, const hip_tile_shape *tile, int parts) {
  const hip_tile_output output = gemm_output(plan);
  return tdm_hip_last_clocks(plan, &output, tile, parts);
}

static bool last_adds(const tdm_plan *plan, const hip_tile_shape *tile, int parts) {
  return tile->last_adds && parts > 1 && parts <= HIP_MOST_PARTS && last_clocks(plan, tile, parts) < reduce_clocks(plan, parts);
}

/* With tile.split, and without what gemm_pack takes. */
static tdm_cost cost_of_split(const tdm_plan *plan, const hip_tile_shape *tile) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  enum { SIMDS = 4, CUT_ENDS = 200 };
  hip_tile_work work = gemm_work(plan, tile);
  tdm_cost cost;
  if (tile->sums_in_lds) work.before_chain = gemm_before_asked(d), work.once = -PRELOADED;
  /* All waves store: 128x2048x64 and 128x2047x64 f32 tn by hip_elements take 9,515 and 10,256 clocks on gfx950, and 64x1024x64
   * and 64x1023x64 8,685 and 9,138. */
  if (tile->sums_in_lds && d->layout != TDM_NT && gemm_f32_chain(d))
    work.chain /= SIMDS, work.store /= SIMDS, work.before_chain += CUT_ENDS;
  /* Lines of a wave's units, which it loads one after another, are loaded once; in tiles of 64 rows they have no room for
   * that. And a load of half a line from rows that begin at halves needs no other line. */
  const bool rows = tile->sums_in_lds && d->layout == TDM_NT, halves = gemm_begin_at(d, HIP_STEP_BYTES / 2);
  if (rows && (halves || (d->type == TDM_F32 && tile->m == tile->n))) work.again_a = work.again_b = 0;
  /* Tiles of 32 and 64 rows below each other find what the first one has loaded in the L2: 271x321 bf16 nt by hip_rows takes
   * 16,234 clocks on gfx950 with K = 2048. Without this it was estimated at 20,900, and 271x1000 at 43,400 for 29,642. */
  static const double BELOW = 0.75;
  if (rows && halves && tile->m > tile->n && d->m > tile->m) work.latency = BELOW;
  const bool last = last_adds(plan, tile, tile->split);
  if (tile->split > 1 && !last) work.chain = work.store = work.before_chain = 0; /* gemm_reduce has them */
  const hip_tile_output output = gemm_output(plan);
  if (last) work.of_cu = tdm_hip_parts_of_cu(plan, &output, tile, tile->split);
  tdm_hip_tile_cost(plan, tile, &work, &cost);
  if (tile->split > 1) cost.clocks += last ? last_clocks(plan, tile, tile->split) : reduce_clocks(plan, tile->split);
  return cost;
}

static tdm_cost cost_with_more(const tdm_plan *plan, const hip_tile_shape *tile, const void *more) {
  gemm_more *const *of = more;
  tdm_cost cost = cost_of_split(plan, tile);
  if (*of != NULL) cost.clocks += (*of)(plan, tile->split);
  return cost;
}

/* The estimate of a run, with the plan's split, or with the best split if the plan has none; then it sets *split. */
tdm_cost gemm_best_split(const tdm_plan *plan, hip_tile_shape tile, gemm_more *more, int *split) {
  const hip_tile_output output = gemm_output(plan);
  tdm_cost best = tdm_hip_best_parts(plan, &output, tile, plan->desc.gemm.k, cost_with_more, &more, split);
  best.clocks += gemm_pack_clocks(plan, plan->kernel->variant);
  return best;
}

void gemm_set_split(tdm_plan *plan, hip_tile_shape tile, gemm_more *more) {
  int split = 1;
  if (!plan->empty) gemm_best_split(plan, tile, more, &split);
  if (split > 1) plan->tuning.of[TDM_TUNE_SPLIT] = split;
}

void gemm_cost_split(const tdm_plan *plan, tdm_cost *cost) {
  const hip_tile_kernel *kernel = plan->kernel->variant;
  int split;
  *cost = gemm_best_split(plan, kernel->tile, NULL, &split);
}

bool gemm_supports_split(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  int parts = parts_of(plan);
  int64_t elements, matrices;
  if (!tdm_hip_parts_have_units(parts, d->k, d->type, reason, size)) return false;
  if (__builtin_mul_overflow(d->batch, (int64_t)parts, &matrices)) {
    snprintf(reason, size, "split = %d: batch = %" PRId64 " times as many parts overflow 63 bits", parts, d->batch);
    return false;
  }
  if (parts > 1 &&
      (__builtin_mul_overflow(d->m, d->n + 3, &elements) || __builtin_mul_overflow(elements, d->batch, &elements) ||
       __builtin_mul_overflow(elements, 4 * (int64_t)parts, &elements))) {
    snprintf(reason, size, "split = %d: the bytes of the partial sums overflow 63 bits", parts);
    return false;
  }
  return tdm_hip_tiles_fit(d->m, d->n, matrices, kernel->tile.m, kernel->tile.n, reason, size);
}

/* Such a row has to support what its fallback, hip_128x128, supports. */
bool gemm_supports_dwords(const tdm_plan *plan, const hip_tile_kernel *kernel, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  hip_stored a = gemm_stored_a(d), b = gemm_stored_b(d);
  int packs = gemm_packs(plan, kernel);
  return (packs & GEMM_PACKS_A || tdm_hip_pipeline_loads(&a, d->type, reason, size)) &&
         (packs & GEMM_PACKS_B || tdm_hip_pipeline_loads(&b, d->type, reason, size)) &&
         gemm_supports_pack(plan, kernel, reason, size) && gemm_supports_split(plan, kernel, reason, size) &&
         gemm_supports_split(plan, plan->kernel->fallback.kernel->variant, reason, size);
}

static const hip_functions reduce = GEMM_REDUCE;

/* general: the plan of runs that fall back, if any do. */
static tdm_status prepare_split(tdm_plan *plan, const hip_tile_kernel *kernel, bool last, const tdm_plan *general) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const hip_tile_output output = gemm_output(plan);
  const int parts = parts_of(plan), of_general = general != NULL ? parts_of(general) : 1,
            most = parts > of_general ? parts : of_general;
  const size_t used = strlen(plan->explain), of_part = (size_t)(d->batch * d->m * ((d->n + 3) / 4 * 4)) * sizeof(float),
               of_tiles = last ? (size_t)tdm_hip_tile_parts_bytes(&output, &kernel->tile, parts) : 0;
  if (most == 1) return TDM_OK;
  const bool by_rows = of_general > 1 || !last; /* gemm_reduce adds some runs' parts */
  plan->workspace_bytes = by_rows && (size_t)most * of_part > of_tiles ? (size_t)most * of_part : of_tiles;
  if (last)
    snprintf(plan->explain + used, sizeof plan->explain - used,
             "split: %d K splits, %zu bytes of partial sums, added by the last workgroup of each tile\n", parts, of_tiles);
  else if (parts > 1)
    snprintf(plan->explain + used, sizeof plan->explain - used,
             "split: %d K splits, %zu bytes of partial sums, added by %u workgroups of gemm_reduce\n", parts,
             (size_t)parts * of_part, reducers(plan));
  const int runs = (parts > 1 && !last ? HIP_TILE_THEN_USUAL : 0) | (of_general > 1 ? HIP_TILE_THEN_GENERAL : 0);
  return runs == 0 ? TDM_OK : tdm_hip_tile_then(plan, &reduce, d->type, reducers(plan), REDUCE_THREADS, runs);
}

/* Uploads the steps of the epilogue. Where the last workgroup of a tile adds its parts, a counter for each tile follows, which
 * is 0. */
static tdm_status make_table(tdm_plan *plan, const hip_tile_kernel *kernel, bool last) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  const size_t steps = (size_t)d->epilogue_steps * sizeof(tdm_epilogue_step);
  if (!last) return tdm_plan_upload(plan, d->epilogue, steps);
  const hip_tile_output output = gemm_output(plan);
  return tdm_hip_upload_counters(plan, d->epilogue, steps, (size_t)tdm_hip_tiles_of(&output, &kernel->tile));
}

double gemm_unaligned_clocks(const tdm_plan *plan, const hip_tile_kernel *general) {
  hip_tile_shape tile = general->tile;
  tile.valu += 2 * GEMM_UNALIGNED_TURNS;
  tile.split = parts_of(plan);
  return cost_of_split(plan, &tile).clocks;
}

tdm_status gemm_prepare(tdm_plan *plan, const hip_tile_kernel *kernel, const char *layout, const gemm_fallback *fallback) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  const bool last = last_adds(plan, &kernel->tile, parts_of(plan));
  hip_tile_general general;
  TDM_TRY(make_table(plan, kernel, last));
  if (fallback != NULL) {
    fallback->plan->table = plan->table;
    general = (hip_tile_general){fallback->plan, fallback->kernel, fallback->layout};
  }
  TDM_TRY(tdm_hip_tile_prepare(plan, &op, kernel, layout, d->type, fallback != NULL ? &general : NULL));
  TDM_TRY(prepare_split(plan, kernel, last, fallback != NULL ? fallback->plan : NULL));
  return gemm_prepare_pack(plan, kernel, fallback != NULL ? fallback->clocks : 0);
}

tdm_status gemm_launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  return tdm_hip_tile_launch(plan, &op, buffers, stream);
}
