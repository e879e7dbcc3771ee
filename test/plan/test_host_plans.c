/* How the host's rows plan: how they cut an output into tiles, and their estimates, launches and workspaces. A bad plan gives
 * right results slowly, so no comparison of results notices it. The committed files are of a library for x86-64-v3, whose
 * vectors have 8 lanes, with the instruction sets up to a name: the argument, as in TANDEM_CPU. With other lanes, and on a
 * machine without these sets, the test is skipped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "offload/engine/tile.h"
#include "plans.h"

static tile_grid grid_for(int64_t m, int64_t n, int64_t batch, int weights, int threads) {
  static tdm_context context;
  static tdm_plan plan;
  context = (tdm_context){.omp_device = -1, .host_threads = threads};
  plan = (tdm_plan){.context = &context};
  return tile_grid_for(&plan, m, n, batch, weights);
}

/* Sizes are in micro tiles: these depend on the processor's vectors, the cuts do not. */
static bool print_grids(void) {
  static const int64_t sizes[] = {1, 2, 3, 5, 8, 13, 40, 100};
  static const int threads[] = {1, 2, 3, 8, 64}, batches[] = {1, 3};
  enum { SIZES = sizeof sizes / sizeof sizes[0] };
  printf("lanes %d, micro tile %d x %d, largest tile %d x %d\n", TDM_LANES, MICRO_M, MICRO_N, TILE_MICROS_M, TILE_MICROS_N);
  for (int t = 0; t < 5; t++)
    for (int b = 0; b < 2; b++)
      for (int weights = 1; weights <= 2; weights++) {
        printf("threads %d batch %d weights %d:", threads[t], batches[b], weights);
        for (int i = 0; i < SIZES * SIZES; i++) {
          int64_t micros_m = sizes[i / SIZES], micros_n = sizes[i % SIZES];
          tile_grid g = grid_for(micros_m * MICRO_M - i % 2, micros_n * MICRO_N - i / 2 % 2, batches[b], weights, threads[t]);
          printf(" %dx%d", (int)g.tiles_m, (int)g.tiles_n);
          if (g.tiles != batches[b] * g.tiles_m * g.tiles_n || g.micros_m != micros_m || g.micros_n != micros_n ||
              g.tile_micros_m > TILE_MICROS_M || g.tile_micros_n > TILE_MICROS_N / weights || g.weights != weights)
            return fprintf(stderr, "host-plans: %d x %d micro tiles: a wrong grid\n", (int)micros_m, (int)micros_n), false;
        }
        printf("\n");
      }
  return true;
}

/* ---- Estimates ---- */

/* On both sides of the sizes where the rows cross, in each layout and type; few columns, a batch, one A for all of it. */
static const plans_case list[] = {
    {"gemm", "f32", "nt", NULL, NULL, "1x4096x4096"},
    {"gemm", "f32", "nn", NULL, NULL, "6x4096x4096"},
    {"gemm", "bf16", "nt", NULL, NULL, "14x4096x1000"},
    {"gemm", "f16", "tn", NULL, NULL, "15x300x4096"},
    {"gemm", "f32", "tt", NULL, NULL, "28x1000x1000"},
    {"gemm", "f32", "nt", NULL, NULL, "32x4096x4096"},
    {"gemm", "f32", "nt", NULL, NULL, "33x4096x4096"},
    {"gemm", "f32", "nt", NULL, NULL, "1000x2000x3000"},
    {"gemm", "bf16", "nn", NULL, NULL, "2000x1000x70"},
    {"gemm", "f32", "tn", NULL, NULL, "8x16x8192"},
    {"gemm", "f32", "nt", NULL, "batch=3", "5x70x900"},
    {"gemm", "f16", "tn", NULL, "batch=40,broadcast_a=1", "9x64x512"},
    {"gemm", "f16", "tn", NULL, "batch=40", "9x64x512"},
    {"swiglu", "bf16", "nt", NULL, NULL, "1x14336x4096"},
    {"swiglu", "f32", "nn", NULL, NULL, "20x1000x500"},
    {"swiglu", "f16", "nt", NULL, NULL, "500x1000x500"},
    {"attention", "bf16", NULL, NULL, "causal=1", "1x8x2x1x8192x128"},
    {"attention", "f32", NULL, NULL, NULL, "2x4x4x300x700x64"},
    {"attention", "f16", NULL, NULL, NULL, "1x4x1x3x2000x80"},
    {"cross_entropy", "f32", NULL, NULL, NULL, "3x20"},
    {"cross_entropy", "bf16", NULL, NULL, NULL, "5x128256"},
    {"cross_entropy", "f32", NULL, NULL, NULL, "3000x3"},
    {"cross_entropy", "f32", NULL, NULL, NULL, "4194303x1"}, /* one element below 16 MiB, where streaming begins */
    {"cross_entropy", "f32", NULL, NULL, NULL, "4194304x1"},
    {"add", "bf16", NULL, NULL, NULL, "4096x2047"},
    {"add", "bf16", NULL, NULL, NULL, "4096x2048"},
    {"softmax", "f32", NULL, NULL, NULL, "4096x1024"},
    {"embedding", "f32", NULL, NULL, NULL, "4096x5x1024"},
    {"rope", "f32", NULL, NULL, NULL, "1x4096x8x128"},
    {"rmsnorm", "f16", NULL, NULL, NULL, "4096x2048"},
    {"softmax", "f32", NULL, NULL, NULL, "3x20"},
    {"softmax", "f16", NULL, NULL, NULL, "5x100000"},
    {"rmsnorm", "f32", NULL, NULL, "residual=1", "3x20"},
    {"rmsnorm", "bf16", NULL, NULL, NULL, "7x50000"},
    {"add", "f32", NULL, NULL, NULL, "3x20"},
    {"add", "bf16", NULL, NULL, NULL, "1x200000"},
    {"silu_mul", "f32", NULL, NULL, NULL, "3x7000"},
    {"embedding", "f32", NULL, NULL, NULL, "3x10x20"},
    {"embedding", "f16", NULL, NULL, NULL, "100x10x4096"},
    {"rope", "f32", NULL, NULL, NULL, "1x3x2x8"},
    {"rope", "bf16", NULL, NULL, NULL, "2x100x32x128"},
};

/* The explanation's lines about kernels, except those that can't run here: that depends on compiler and machine. */
static void print_plan(const tdm_plan *plan) {
  for (const char *line = tdm_plan_explain(plan); *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
    bool about = strncmp(text, "omp", 3) == 0 || strncmp(text, "not omp", 7) == 0 || strncmp(text, "kernel: ", 8) == 0;
    if (about && strstr(text, ": needs ") == NULL) printf("  %s\n", text);
  }
  printf("  %d teams of %d, %zu bytes of workspace%s\n", plan->launch.teams, plan->launch.threads, plan->workspace_bytes,
         plan->launch.stream ? ", streamed" : "");
}

static bool print_case(tdm_context *context, const plans_case *texts) {
  tdm_case c;
  tdm_plan *plan;
  if (!plans_begin("host-plans", texts, &c)) return false;
  if (c.op->plan(context, &c, &plan) != TDM_OK) return fprintf(stderr, "host-plans: %s\n", tdm_last_error()), false;
  print_plan(plan);
  tdm_plan_free(plan);
  return true;
}

static bool print_cases(const char *kernel) {
  tdm_context *context;
  bool printed = true;
  if (tdm_open(&(tdm_options){.device = "host", .kernel = kernel, .tuned = "none"}, &context) != TDM_OK)
    return fprintf(stderr, "host-plans: %s\n", tdm_last_error()), false;
  context->host_threads = 8;
  for (size_t i = 0; i < sizeof list / sizeof list[0] && printed; i++) printed = print_case(context, &list[i]);
  tdm_close(context);
  return printed;
}

int main(int count, char **arguments) {
  tdm_context *context;
  if (count != 2) return fprintf(stderr, "host-plans: needs a name as in TANDEM_CPU\n"), 2;
  if (TDM_LANES != 8) return fprintf(stderr, "host-plans: skipped: vectors of %d lanes, the file is for 8\n", TDM_LANES), 77;
  setenv("TANDEM_CPU", arguments[1], 1);
  tdm_status status = tdm_open(&(tdm_options){.device = "host"}, &context);
  if (status != TDM_OK) return fprintf(stderr, "host-plans: skipped: %s\n", tdm_last_error()), 77;
  tdm_close(context);
  bool plain = strcmp(arguments[1], "avx2") == 0; /* the grids are those of the library's own lanes */
  return (!plain || print_grids()) && print_cases(NULL) && print_cases("gemm=omp,swiglu=omp") ? 0 : 1;
}
