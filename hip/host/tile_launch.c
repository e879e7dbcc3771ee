/* Host side of the tile kernels. */
#include "tile_launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* HIP counts the work-items of a grid in 32 bits: below 2^32 / 512. So a tile's first line is below 2^31 (engine/lines.h). */
enum { MOST_TILES = (1 << 23) - 1 };
/* Tile rows of a band. With 8 rows of 256 lines and 32 columns, which is one XCD's share of an MI350X, each operand is read
 * about 8 times less often than row by row. */
enum { WINDOW = 8 };

bool tdm_hip_tiles_fit(int64_t m, int64_t n, int64_t batch, int tile_m, int tile_n, char *reason, size_t size) {
  int64_t tiles;
  bool fits = !__builtin_mul_overflow(hip_ceil_div(m, tile_m), hip_ceil_div(n, tile_n), &tiles) &&
              !__builtin_mul_overflow(tiles, batch, &tiles) && tiles <= MOST_TILES;
  if (!fits) snprintf(reason, size, "more than %d tiles of %d x %d", MOST_TILES, tile_m, tile_n);
  return fits;
}

tdm_order tdm_hip_tiles(const tdm_plan *plan, int64_t m, int64_t n, int64_t batch, int tile_m, int tile_n) {
  int window = plan->tuning.of[TDM_TUNE_WINDOW], chunk = plan->tuning.of[TDM_TUNE_CHUNK];
  return tdm_order_make((unsigned)hip_ceil_div(m, tile_m), (unsigned)hip_ceil_div(n, tile_n), (unsigned)batch,
                        (unsigned)plan->context->hip->xcds, window == 0 ? WINDOW : (unsigned)window, (unsigned)chunk);
}

bool tdm_hip_rows_aligned(const hip_stored *x, tdm_type type, int bytes) {
  int64_t elements = bytes / (int64_t)tdm_type_size(type);
  return x->ld % elements == 0 && x->stride % elements == 0;
}

bool tdm_hip_dword_rows(const hip_stored *x, tdm_type type) {
  return tdm_hip_rows_aligned(x, type, 4) && tdm_hip_whole_dwords(x->columns, type);
}

bool tdm_hip_pipeline_loads(const hip_stored *x, tdm_type type, char *reason, size_t size) {
  enum { LINES = 256 };
  int64_t bytes = (int64_t)tdm_type_size(type);
  if (!tdm_hip_dword_rows(x, type)) {
    snprintf(reason, size,
             "rows of %s, %" PRId64 " %s at ld = %" PRId64 " and batch stride = %" PRId64 ": all must be whole dwords", x->name,
             x->columns, tdm_type_name(type), x->ld, x->stride);
    return false;
  }
  if (x->ld > INT32_MAX / LINES / bytes) {
    snprintf(reason, size, "ld of %s = %" PRId64 ": at most %" PRId64, x->name, x->ld, INT32_MAX / LINES / bytes);
    return false;
  }
  return true;
}

/* ---- Plans and launches ---- */

/* What a plan keeps in its args, in addition to the kernel in plan->hip. */
typedef struct tile_work {
  unsigned char args[HIP_TILE_ARGS];
  unsigned char general_args[HIP_TILE_ARGS];
  tdm_hip_kernel general; /* of plans with a fallback */
  tdm_hip_kernel then;    /* no function: there is no second launch */
  int then_runs;
  tdm_hip_kernel first; /* the same for a launch before them */
  unsigned char first_args[HIP_TILE_FIRST_ARGS];
  size_t first_bytes;
} tile_work;
_Static_assert(sizeof(tile_work) <= TDM_PLAN_ARGS, "it fits the plan");

/* as: the plan of which the argument is made. */
static tdm_status load(tdm_plan *plan, const tdm_plan *as, const hip_tile_op *op, const hip_tile_kernel *kernel,
                       const char *layout, tdm_type type, unsigned char *args, tdm_hip_kernel *launch) {
  unsigned workgroups = op->make(as, kernel, args);
  *launch = (tdm_hip_kernel){.grid = {workgroups, 1, 1},
                             .block = (unsigned)(HIP_LANES * kernel->tile.waves_m * kernel->tile.waves_n)};
  return tdm_hip_function(plan, kernel->functions, layout, tdm_type_name(type), &launch->function);
}

tdm_status tdm_hip_tile_prepare(tdm_plan *plan, const hip_tile_op *op, const hip_tile_kernel *kernel, const char *layout,
                                tdm_type type, const hip_tile_general *general) {
  if (plan->empty) return TDM_OK; /* a run launches nothing */
  tile_work work = {0};
  TDM_TRY(load(plan, plan, op, kernel, layout, type, work.args, &plan->hip));
  if (general != NULL)
    TDM_TRY(load(plan, general->plan, op, general->kernel, general->layout, type, work.general_args, &work.general));
  memcpy(plan->args, &work, sizeof work);
  return TDM_OK;
}

/* The kernels of a run, in their order. copies: memory for what it has copied because of its address, or NULL. */
static tdm_status launch_all(const tdm_plan *plan, const hip_tile_op *op, tile_work *work, void *const *buffers, char *copies,
                             tdm_stream *stream) {
  bool general = tdm_plan_falls_back(plan, buffers);
  unsigned char *args = general ? work->general_args : work->args;
  op->set_pointers(plan, buffers, args);
  bool copied =
      !general && work->first.function != NULL && op->set_first_pointers(plan, buffers, copies, work->first_args, args);
  if (copied) TDM_TRY(tdm_hip_launch(plan, &work->first, work->first_args, work->first_bytes, stream));
  tdm_status status = tdm_hip_launch(plan, general ? &work->general : &plan->hip, args, op->bytes, stream);
  TDM_TRY(copied ? tdm_may_have_written(status) : status); /* by the rule: a kernel of the run was launched */
  if (work->then.function == NULL || (work->then_runs & (general ? HIP_TILE_THEN_GENERAL : HIP_TILE_THEN_USUAL)) == 0)
    return TDM_OK;
  return tdm_may_have_written(tdm_hip_launch(plan, &work->then, args, op->bytes, stream));
}

tdm_status tdm_hip_tile_launch(const tdm_plan *plan, const hip_tile_op *op, void *const *buffers, tdm_stream *stream) {
  tile_work work;
  void *copies = NULL;
  memcpy(&work, plan->args, sizeof work);
  size_t bytes = work.first.function != NULL ? op->bytes_of_copies(plan, buffers) : 0;
  if (bytes > 0) TDM_TRY(tdm_hip_borrow(plan, bytes, stream, &copies));
  tdm_status status = launch_all(plan, op, &work, buffers, copies, stream);
  if (bytes > 0) TDM_FIRST(status, tdm_may_have_written(tdm_hip_return(plan, copies, stream)));
  return status;
}

tdm_status tdm_hip_tile_then(tdm_plan *plan, const hip_functions *functions, tdm_type type, unsigned workgroups,
                             unsigned threads, int runs) {
  tile_work work;
  memcpy(&work, plan->args, sizeof work);
  work.then_runs = runs;
  work.then = (tdm_hip_kernel){.grid = {workgroups, 1, 1}, .block = threads};
  TDM_TRY(tdm_hip_function(plan, functions, NULL, tdm_type_name(type), &work.then.function));
  memcpy(plan->args, &work, sizeof work);
  return TDM_OK;
}

tdm_status tdm_hip_tile_first(tdm_plan *plan, const hip_functions *functions, tdm_type type, unsigned workgroups,
                              unsigned threads, const void *args, size_t bytes) {
  tile_work work;
  memcpy(&work, plan->args, sizeof work);
  work.first = (tdm_hip_kernel){.grid = {workgroups, 1, 1}, .block = threads};
  TDM_TRY(tdm_hip_function(plan, functions, NULL, tdm_type_name(type), &work.first.function));
  memcpy(work.first_args, args, bytes);
  work.first_bytes = bytes;
  memcpy(plan->args, &work, sizeof work);
  return TDM_OK;
}
