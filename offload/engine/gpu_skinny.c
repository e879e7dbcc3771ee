/* How products with few rows are cut on GPUs (gpu_skinny.h), what is not supported, and how long they take. */
#include "gpu_skinny.h"

enum {
  UNITS = 132,       /* multiprocessors of an H200; an MI300X has 304 CUs */
  REGISTERS = 65536, /* of a multiprocessor */
  FEW = UNITS / 2,   /* along n: with fewer groups, a group has half as many columns */
  SHORT = 4,         /* steps of a wave that are enough, where teams are made short */
};

/* Registers of the largest kernel of each way for 1, 2, 4 and 8 rows, as clang 19 and ptxas 12.9 compile those of gemm. */
static const int registers[][4] = {
    [SKINNY_ALONG_K] = {72, 108, 120, 168}, [SKINNY_MATRICES] = {72, 72, 72, 72}, [SKINNY_ALONG_N] = {144, 112, 168, 192}};

/* The kernels are for 1, 2, 4 and 8 rows. */
static int rows_of(int64_t m) { return m <= 1 ? 1 : m <= 2 ? 2 : m <= 4 ? 4 : SKINNY_ROWS; }

/* k of a wave's step. */
static int64_t step_of(const gpu_skinny_cut *cut, int rows, int weights, tdm_type type) {
  switch (cut->way) {
    case SKINNY_ALONG_K: return TDM_WAVE * gpu_piece_elements(type) * gpu_skinny_pieces_k(cut->whole, type);
    case SKINNY_MATRICES: return SKINNY_MMA_STEP;
    case SKINNY_ALONG_N: return TDM_WAVE / cut->across * gpu_skinny_pieces_n(rows, weights, cut->whole, type);
  }
  return 1;
}

static int64_t groups_of(const gpu_skinny_cut *cut, int64_t n, int64_t batch) { return tdm_ceil_div(n, cut->columns) * batch; }
static int threads_of(int parts) { return (int)tdm_max(SKINNY_THREADS, parts * TDM_WAVE); }
static int64_t teams_of(const gpu_skinny_cut *cut, int64_t n, int64_t batch) {
  return tdm_ceil_div(groups_of(cut, n, batch), cut->threads / TDM_WAVE / cut->parts);
}

/* Waves that the device holds at a time, in teams with that many parts. */
static int64_t held(gpu_skinny_way way, int rows, int parts) {
  const int threads = threads_of(parts), size = rows <= 2 ? rows - 1 : rows <= 4 ? 2 : 3;
  return (int64_t)UNITS * (REGISTERS / (registers[way][size] * threads)) * (threads / TDM_WAVE);
}

/* The most parts with which all groups are on the device at a time: no team waits for another one, and none has the device
 * for itself at the end (bf16 4x8192x28672 on an H200: 134 us, and 148 us in teams of 8 parts, of which a third waits). If
 * there are more groups than that, teams are made short. */
static int parts_of(gpu_skinny_way way, int rows, int64_t groups, int64_t steps, int most) {
  const int most_short = (int)tdm_min(most, way == SKINNY_MATRICES ? 8 : 4);
  int parts = 1;
  if (groups <= held(way, rows, 1)) {
    while (2 * parts <= most && steps >= 2 * parts && 2 * parts * groups <= held(way, rows, 2 * parts)) parts *= 2;
  } else {
    while (2 * parts <= most_short && steps >= 2 * SHORT * parts) parts *= 2;
  }
  return parts;
}

gpu_skinny_cut gpu_skinny_cut_for(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, bool along_k,
                                  bool whole, int weights, tdm_type type) {
  const bool matrices = along_k && whole && type != TDM_F32 && SKINNY_HAS_MATRICES;
  const int rows = rows_of(m);
  gpu_skinny_cut cut = {.way = !along_k   ? SKINNY_ALONG_N
                               : matrices ? SKINNY_MATRICES
                                          : SKINNY_ALONG_K,
                        .across = 8,
                        .columns = (matrices ? SKINNY_MATRIX_LINES : SKINNY_LINES) / weights,
                        .whole = whole};
  if (!along_k) {
    int lane = gpu_skinny_lane_columns(rows, weights, type);
    if (tdm_ceil_div(n, cut.across * lane) * batch < FEW) cut.across = 4;
    cut.columns = cut.across * lane;
  }
  const int most = plan->context->threads > 0 ? SKINNY_THREADS : matrices ? SKINNY_MATRIX_THREADS : SKINNY_MOST_THREADS;
  cut.parts =
      parts_of(cut.way, rows, groups_of(&cut, n, batch), tdm_ceil_div(k, step_of(&cut, rows, weights, type)), most / TDM_WAVE);
  cut.threads = threads_of(cut.parts);
  return cut;
}

void gpu_skinny_launch(tdm_plan *plan, const gpu_skinny_cut *cut, int64_t n, int64_t batch) {
  tdm_plan_launch(plan, teams_of(cut, n, batch), cut->threads);
}

/* Clocks of 1755 MHz, fitted to what 27 products of real models and odd sizes took on an H200: the estimates are 0.85 to 1.07
 * of their times. FIXED: a launch and the wait for it, 9 us, and a team's own beginning and end. HBM: bytes. The others are for
 * a multiprocessor: the clocks of a step, bytes that a team loads, and multiply-adds. */
void gpu_skinny_cost(const gpu_skinny_cut *cut, int64_t m, int64_t n, int64_t k, int64_t batch, int weights, tdm_type type,
                     tdm_cost *cost) {
  const double FIXED = 20500, HBM = 2400, STEP = 1200, WHOLE = 38, ODD_K = 12, LINE = 1, MULTIPLIED = 27, MULTIPLIED_ODD = 15;
  const int rows = rows_of(m);
  const double elements = (double)n * (double)k * (double)batch * weights, size = (double)tdm_size(type);
  const double units = __builtin_fmin((double)teams_of(cut, n, batch), UNITS);
  const double loads = cut->whole ? WHOLE : cut->way == SKINNY_ALONG_N ? LINE * cut->across * size : ODD_K * size / 2;
  const double products =
      cut->way == SKINNY_MATRICES ? 0 : elements * rows / units / (cut->whole ? MULTIPLIED : MULTIPLIED_ODD);
  const double memory = __builtin_fmax(elements * size / HBM, elements * size / units / loads);
  const double steps = (double)tdm_ceil_div(k, step_of(cut, rows, weights, type) * cut->parts) * STEP;
  *cost = (tdm_cost){.clocks = FIXED + memory, .floor = "memory"};
  if (products > memory) *cost = (tdm_cost){.clocks = FIXED + products, .floor = "products"};
  if (FIXED + steps > cost->clocks) *cost = (tdm_cost){.clocks = FIXED + steps, .floor = "latency"};
}

bool gpu_skinny_supports(const tdm_plan *plan, int64_t m, int64_t n, int64_t k, int64_t batch, char *reason, size_t size) {
  if (!tdm_threads_fit(plan->context, SKINNY_THREADS, reason, size)) return false;
  if (m > SKINNY_ROWS)
    snprintf(reason, size, "more than %d rows", SKINNY_ROWS);
  else if (k > INT32_MAX / 2 || (batch > 0 && n > INT32_MAX / 2 / batch))
    snprintf(reason, size, "k, or columns of all matrices, above 2^30");
  else
    return true;
  return false;
}
