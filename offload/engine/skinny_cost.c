/* Estimates of products on hosts: with few rows (skinny.h), and with tiles (tile.h). */
#include "skinny.h"

/* ---- Estimates. Clocks of one core, fitted to 4096 columns of k = 2048 in f32 and bf16, [k, n] and [n, k], with m = 1 to
 * 32 on the machine of bench/results/host.md. They agree with the times within a fifth, and the two kernels are
 * equally fast at m = 28. ---- */

static const double READ_BYTE = 0.11; /* from memory, while the other cores read too */
/* Of an operand: converted and copied to a panel, and read from there. Pairs are copied as they are. */
static const double PACK_ELEMENT = TILE_GROUP == 1 ? 0.75 : 0.4;
static const double TILE_LOSS = 1.1; /* time of the tiles' multiply-adds, relative to the units' own rate */
/* An element of A, copied by each thread that needs it, if rows are along k, and if they are not; fitted to 16 columns of k
 * = 8192 with m = 1 to 32. */
static const double COPY_ALONG = 0.4, COPY_ACROSS = 1.2;

static double times(int64_t a, int64_t b) { return (double)a * (double)b; }

/* The work is shared by at most as many threads as there are micro tiles. */
static void finish_cost(const tdm_plan *plan, double micros, double memory, double products, tdm_cost *cost) {
  bool host = plan->context->omp_device < 0;
  double threads = __builtin_fmin(plan->context->host_threads, micros);
  *cost = (tdm_cost){host ? (memory + products) / threads : -1, memory > products ? "memory" : "multiply-adds"};
}

void skinny_cost(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, int64_t matrices, bool a_by_k,
                 tdm_type type, tdm_cost *cost) {
  double b = times(n, k) * (double)batch, each = __builtin_fmax(1, (double)matrices / plan->context->host_threads);
  finish_cost(plan, times(tdm_ceil_div(n, MICRO_N), batch), READ_BYTE * (double)tdm_size(type) * b,
              b * (double)skinny_padded_rows(m) / (TILE_GROUP * TDM_LANES), cost);
  if (cost->clocks >= 0) cost->clocks += (a_by_k ? COPY_ALONG : COPY_ACROSS) * times(m, k) * each;
}

void skinny_tile_cost(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, tdm_type type, tdm_cost *cost) {
  int64_t micros_m = tdm_ceil_div(m, MICRO_M), micros_n = tdm_ceil_div(n, MICRO_N);
  /* Each operand is packed once for each tile that uses it. */
  double packed =
      times(n, k) * (double)tdm_ceil_div(micros_m, TILE_MICROS_M) + times(m, k) * (double)tdm_ceil_div(micros_n, TILE_MICROS_N);
  double products = times(micros_m * MICRO_M, micros_n * MICRO_N) * (double)k / TILE_RATE;
  finish_cost(plan, times(micros_m, micros_n) * (double)batch,
              (READ_BYTE * (double)tdm_size(type) + PACK_ELEMENT) * packed * (double)batch,
              TILE_LOSS * products * (double)batch, cost);
}
