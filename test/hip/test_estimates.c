/* What the dispatcher plans for a list of cases on a simulated chip: each row's estimate or refusal, the chosen row, and its
 * launch. expected.sh compares the output with a committed file, so that no estimate changes unnoticed. */
#include <string.h>

#include "../plan/plans.h"
#include "hip/host/hip.h"
#include "src/dispatch/dispatch.h"

/* Sizes at the limits of tiles, of rounds of the CUs and of splits; each layout; sizes that rows refuse. */
static const plans_case products[] = {
    {"gemm", "bf16", "nt", NULL, NULL, "4096x4096x4096"},
    {"gemm", "f16", "nn", NULL, NULL, "4864x77824x8192"},
    {"gemm", "f32", "tn", NULL, NULL, "2048x1024x512"},
    {"gemm", "bf16", "tt", NULL, "beta=1", "1024x3072x8192"},
    {"gemm", "bf16", "nt", NULL, NULL, "1x4096x14336"},
    {"gemm", "bf16", "nt", NULL, NULL, "16x64x4096"},
    {"gemm", "f16", "nt", NULL, NULL, "32x11008x4096"},
    {"gemm", "bf16", "nt", NULL, NULL, "64x4096x4096"},
    {"gemm", "bf16", "tt", NULL, NULL, "96x3456x7104"},
    {"gemm", "f16", "tn", NULL, NULL, "64x16x8190"},
    {"gemm", "bf16", "nn", NULL, "out=f32", "300x500x1000"},
    {"gemm", "f32", "nt", NULL, NULL, "129x257x1025"},
    {"gemm", "f32", "nn", NULL, NULL, "65x66x67"},
    {"gemm", "bf16", "nt", NULL, NULL, "33x37x41"},
    {"gemm", "bf16", "nt", NULL, "batch=32", "512x512x64"},
    {"gemm", "f32", "nn", NULL, "batch=3,stride_a=70001", "1000x1000x65"},
    {"gemm", "f32", "tn", NULL, NULL, "4096x4096x64"},
    {"gemm", "f32", "tn", NULL, NULL, "4096x4096x128"},
    {"gemm", "f16", "nt", NULL, "batch=7", "777x888x129"},
    {"gemm", "bf16", "nt", NULL, "lda=5000000", "64x64x256"},
    {"gemm", "bf16", "nt", NULL, "ldb=4194302", "64x64x256"},
    {"gemm", "bf16", "nt", NULL, NULL, "16777216x65536x64"},
    {"gemm", "bf16", "tn", NULL, NULL, "5x194x20900"},
    {"gemm", "f16", "nn", NULL, NULL, "16x16x256"},
    {"gemm", "f16", "nn", NULL, NULL, "0x16x256"},
    {"gemm", "bf16", "nn", "bias+residual", NULL, "1x768x768"},
    {"gemm", "bf16", "tn", "gelu", "beta=1", "64x768x256"},
    {"swiglu", "bf16", "nt", NULL, NULL, "8192x8192x8192"},
    {"swiglu", "f16", "nn", NULL, NULL, "16x16x256"},
    {"swiglu", "f32", "nt", NULL, NULL, "257x515x1001"},
    {"swiglu", "bf16", "nt", NULL, "pad=1", "300x200x100"},
};

static const plans_case others[] = {
    {"attention", "bf16", NULL, NULL, NULL, "1x2x1x100x100x64"},
    {"attention", "bf16", NULL, NULL, "causal=1", "4x32x8x4096x4096x128"},
    {"attention", "f16", NULL, NULL, "causal=1", "8x32x8x1x8192x128"},
    {"attention", "f16", NULL, NULL, NULL, "1x4x4x1x512x64"},
    {"attention", "f16", NULL, NULL, NULL, "1x64x8x4x1000x80"},
    {"attention", "bf16", NULL, NULL, "pad=3", "1x4x4x300x300x128"},
    {"attention", "f32", NULL, NULL, "causal=1", "2x16x16x2048x2048x256"},
    {"attention", "bf16", NULL, NULL, "swap=1", "2x16x2x16x3000x64"},
    {"rmsnorm", "bf16", NULL, NULL, NULL, "4096x4096"},
    {"rmsnorm", "f32", NULL, NULL, NULL, "3x16385"},
    {"rmsnorm", "f16", NULL, NULL, NULL, "100000x64"},
    {"softmax", "bf16", NULL, NULL, NULL, "4096x4096"},
    {"softmax", "f32", NULL, NULL, "causal_rows=64", "640x1000"},
    {"softmax", "f16", NULL, NULL, NULL, "2x100000"},
    {"cross_entropy", "bf16", NULL, NULL, NULL, "2048x128256"},
    {"cross_entropy", "f32", NULL, NULL, NULL, "7x65"},
    {"rope", "bf16", NULL, NULL, NULL, "1x4096x32x128"},
    {"rope", "f32", NULL, NULL, "rope=half", "3x17x5x20"},
    {"embedding", "bf16", NULL, NULL, NULL, "4096x128256x4096"},
    {"embedding", "f32", NULL, NULL, "pad=1", "7x5x3"},
    {"add", "bf16", NULL, NULL, NULL, "8192x8192"},
    {"add", "f32", NULL, NULL, "pad=5", "33x257"},
    {"add", "bf16", NULL, NULL, "pad=8", "1000x8"},
    {"add", "bf16", NULL, NULL, "pad=8", "1000x9"},
    {"add", "bf16", NULL, NULL, "pad=8", "1000x64"},
    {"add", "bf16", NULL, NULL, "pad=8", "1000x128"},
    {"add", "f32", NULL, NULL, "pad=8", "1000x256"},
    {"add", "f32", NULL, NULL, "pad=8", "1000x260"},
    {"rmsnorm", "bf16", NULL, NULL, NULL, "1000x8"},
    {"rmsnorm", "bf16", NULL, NULL, NULL, "1000x512"},
    {"rmsnorm", "bf16", NULL, NULL, NULL, "1000x2048"},
    {"rmsnorm", "f32", NULL, NULL, NULL, "10x32768"},
    {"rmsnorm", "f32", NULL, NULL, NULL, "10x32769"},
    {"silu_mul", "f16", NULL, NULL, NULL, "4096x14336"},
};

/* Prints the HIP rows only: host rows differ by processor, and all rows of the OpenMP backend are refused alike. */
static void print_plan(const tdm_plan *plan) {
  static const char *const lines[] = {
      "not hip_", "hip_", "kernel: ", "fallback: ", "unaligned: ", "packed: ", "split: ", "parts: ", "tuned: ", NULL};
  const tdm_hip_kernel *hip = &plan->hip;
  plans_print_lines(plan, lines);
  if (hip->grid[0] > 0) /* attention keeps its launches in its arguments */
    printf("  launch: %u x %u x %u workgroups of %u\n", hip->grid[0], hip->grid[1], hip->grid[2], hip->block);
  if (plan->workspace_bytes > 0) printf("  workspace: %zu bytes\n", plan->workspace_bytes);
}

static bool print_case(tdm_context *context, const plans_case *texts) {
  tdm_case c;
  tdm_plan *plan;
  if (!plans_begin("estimates", texts, &c)) return false;
  tdm_status status = c.op->plan(context, &c, &plan);
  if (status == TDM_OK) {
    print_plan(plan);
    tdm_plan_free(plan);
  } else {
    const char *message = tdm_last_error();
    printf("  refused: %.*s\n", plans_refusal_length(message), message);
  }
  return status == TDM_OK || status == TDM_ERROR_UNSUPPORTED;
}

/* The XCDs that tiles are ordered for: the device's, or what the caller asks for. */
static bool print_xcds(const char *device, int asked) {
  tdm_context *context;
  if (tdm_open(&(tdm_options){.device = device, .tuned = "none", .xcds = asked}, &context) != TDM_OK)
    return fprintf(stderr, "estimates: %s\n", tdm_last_error()), false;
  printf("xcds = %d: %d\n", asked, context->hip->xcds);
  tdm_close(context);
  return true;
}

int main(int argc, char **argv) {
  tdm_context *context;
  bool first = argc == 3 && strcmp(argv[2], "products") == 0;
  if (argc != 3 || (!first && strcmp(argv[2], "others") != 0) ||
      tdm_open(&(tdm_options){.device = argv[1], .tuned = "none"}, &context) != TDM_OK) {
    fprintf(stderr, "estimates: use: estimates DEVICE products|others: %s\n", tdm_last_error());
    return 2;
  }
  const plans_case *list = first ? products : others;
  size_t count = first ? sizeof products / sizeof products[0] : sizeof others / sizeof others[0];
  for (size_t i = 0; i < count; i++)
    if (!print_case(context, &list[i])) return 1;
  tdm_close(context);
  return first || (print_xcds(argv[1], 0) && print_xcds(argv[1], 3)) ? 0 : 1;
}
