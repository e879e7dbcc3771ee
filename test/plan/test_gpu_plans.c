/* What the OpenMP rows plan for a list of cases on an offload device: their refusals and launches. The device is a stand-in
 * with the host's memory, on which nothing runs. With clang, the rows for GPUs only are there too. expected.sh compares the
 * output with a committed file. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "plans.h"
#include "src/dispatch/dispatch.h"

/* ---- The stand-in, which replaces offload/device/device.c ---- */

static int one_device(void) { return 1; }

static tdm_status alloc_memory(const tdm_context *context, size_t bytes, void **pointer) {
  (void)context;
  *pointer = bytes < 1 << 30 ? malloc(bytes) : NULL;
  return *pointer != NULL ? TDM_OK : tdm_fail(TDM_ERROR_MEMORY, "bytes = %zu: more than the stand-in has", bytes);
}

static tdm_status free_memory(const tdm_context *context, void *pointer) {
  (void)context;
  free(pointer);
  return TDM_OK;
}

static tdm_status copy_memory(const tdm_context *context, void *to, const void *from, size_t bytes, tdm_direction direction,
                              void *stream) {
  (void)context, (void)direction, (void)stream;
  memcpy(to, from, bytes);
  return TDM_OK;
}

static tdm_status sync(const tdm_context *context, void *stream) {
  (void)context, (void)stream;
  return TDM_OK;
}

static tdm_status no_wait(const tdm_context *context, const char *wait, char *reason, size_t size) {
  (void)context, (void)wait;
  snprintf(reason, size, "is a stand-in");
  return TDM_ERROR_UNSUPPORTED;
}

const tdm_backend tdm_backend_omp = {.name = "omp",
                                     .count = one_device,
                                     .wait = no_wait,
                                     .alloc = alloc_memory,
                                     .free = free_memory,
                                     .copy = copy_memory,
                                     .sync = sync};

/* ---- Rows that only GPUs run ---- */

/* WITH_GPU_ROWS: all of them, as built for NVIDIA's GPUs. WITH_PRODUCT_ROWS: those of gemm, swiglu and attention, whose
 * launches differ on gfx942; other rows and ops are not printed. */
#ifdef WITH_PRODUCT_ROWS
#define WITH_GPU_ROWS
enum { PRODUCTS_ONLY = 1 };
#else
enum { PRODUCTS_ONLY = 0 };
#endif

#ifdef WITH_GPU_ROWS
extern const tdm_kernel tdm_attention_omp_gpu, tdm_attention_omp_gpu_decode, tdm_attention_omp_gpu_mma, tdm_gemm_omp_gpu,
    tdm_gemm_omp_gpu_mma, tdm_gemm_omp_gpu_skinny, tdm_gemm_omp_gpu_small_k, tdm_swiglu_omp_gpu, tdm_swiglu_omp_gpu_mma,
    tdm_swiglu_omp_gpu_skinny;
#ifndef WITH_PRODUCT_ROWS
extern const tdm_kernel tdm_attention_omp_gpu_decode_mma, tdm_add_omp_gpu, tdm_cross_entropy_omp_gpu, tdm_embedding_omp_gpu,
    tdm_rmsnorm_omp_gpu, tdm_rope_omp_gpu, tdm_silu_mul_omp_gpu, tdm_softmax_omp_gpu;
#endif
static const tdm_kernel *gpu_rows[] = {
    &tdm_attention_omp_gpu,
    &tdm_attention_omp_gpu_decode,
    &tdm_attention_omp_gpu_mma,
    &tdm_gemm_omp_gpu,
    &tdm_gemm_omp_gpu_mma,
    &tdm_gemm_omp_gpu_skinny,
    &tdm_gemm_omp_gpu_small_k,
    &tdm_swiglu_omp_gpu,
    &tdm_swiglu_omp_gpu_mma,
    &tdm_swiglu_omp_gpu_skinny,
#ifndef WITH_PRODUCT_ROWS
    &tdm_attention_omp_gpu_decode_mma,
    &tdm_add_omp_gpu,
    &tdm_cross_entropy_omp_gpu,
    &tdm_embedding_omp_gpu,
    &tdm_rmsnorm_omp_gpu,
    &tdm_rope_omp_gpu,
    &tdm_silu_mul_omp_gpu,
    &tdm_softmax_omp_gpu,
#endif
};
static void add_gpu_rows(void) { tdm_kernels_extend(gpu_rows, sizeof gpu_rows / sizeof gpu_rows[0]); }
#else
static void add_gpu_rows(void) {}
#endif

/* Is the row printed? Those that need instruction sets of a host depend on the compiler, and run on no GPU. */
static bool is_shown(const char *op, const char *name) {
  int number = 0;
  while (strcmp(tdm_op_names[number], op) != 0) number++;
  const char *first = PRODUCTS_ONLY ? "omp_gpu" : "omp";
  return strncmp(name, first, strlen(first)) == 0 && tdm_kernel_find((tdm_op)number, name, (int)strlen(name))->cpu == 0;
}

static bool has_shown_rows(const char *op) {
  return !PRODUCTS_ONLY || strcmp(op, "gemm") == 0 || strcmp(op, "swiglu") == 0 || strcmp(op, "attention") == 0;
}

/* ---- Cases ---- */

/* Whole tiles and odd sizes, few rows and few k, each alignment that a row asks for, and what is too large. */
static const plans_case list[] = {
    {"gemm", "f32", "nn", NULL, NULL, "4096x4096x4096"},
    {"gemm", "bf16", "nt", NULL, NULL, "4096x4096x4096"},
    {"gemm", "f16", "nn", NULL, NULL, "256x384x96"},
    {"gemm", "f16", "nn", NULL, NULL, "256x384x97"},
    {"gemm", "f16", "nn", NULL, NULL, "255x384x96"},
    {"gemm", "bf16", "nt", "bias+gelu+residual", "batch=2,pad=8", "128x256x64"},
    {"gemm", "bf16", "nt", NULL, "pad=1", "128x256x64"},
    {"gemm", "bf16", "tn", "relu", "alpha=0.5,beta=0.5,out=f32", "384x256x160"},
    {"gemm", "f16", "nt", NULL, "ldc=133", "128x128x256"},
    {"gemm", "f32", "tt", NULL, "batch=3", "128x640x32"},
    {"gemm", "f32", "nn", NULL, NULL, "256x640x64"},
    {"gemm", "f32", "nn", NULL, NULL, "256x640x65"},
    {"gemm", "f32", "nn", NULL, NULL, "256x640x0"},
    {"gemm", "f32", "nt", "bias", NULL, "256x640x64"},
    {"gemm", "f32", "nt", NULL, NULL, "16x4096x4096"},
    {"gemm", "f32", "nt", "residual", NULL, "64x1024x4096"},
    {"gemm", "f32", "nn", NULL, "shift=1", "123x75x7108"},
    {"gemm", "f32", "nn", NULL, NULL, "512x512x512"},
    {"gemm", "f32", "nn", NULL, NULL, "1774x5141x350"},
    {"gemm", "f32", "tt", NULL, "pad=536870920", "7x9x5"},
    {"gemm", "bf16", "nt", NULL, NULL, "1x4096x4096"},
    {"gemm", "bf16", "nt", NULL, NULL, "8x4096x4096"},
    {"gemm", "bf16", "nt", NULL, NULL, "9x4096x4096"},
    {"gemm", "bf16", "nn", NULL, NULL, "4x4096x4096"},
    {"gemm", "f16", "nt", NULL, "batch=2", "3x100x50"},
    {"gemm", "f16", "nt", NULL, NULL, "2x1024x16384"},
    {"gemm", "f32", "nt", NULL, NULL, "1x128256x4096"},
    {"gemm", "f32", "tn", NULL, "batch=2", "3x1131x267"},
    {"gemm", "f32", "nn", NULL, "batch=70000", "65x66x67"},
    {"gemm", "f32", "nn", NULL, NULL, "1073741824x1073741824x1"},
    {"gemm", "f32", "nn", NULL, NULL, "1x1x4294967296"},
    {"swiglu", "f32", "nt", NULL, NULL, "4096x4096x4096"},
    {"swiglu", "f32", "nt", NULL, "ldg=100,ldu=128", "256x192x96"},
    {"swiglu", "f32", "nt", NULL, "ldg=4000000000,ldu=4000000001", "256x192x96"},
    {"swiglu", "f16", "nt", NULL, NULL, "256x192x96"},
    {"swiglu", "bf16", "nn", NULL, "pad=8", "128x320x64"},
    {"swiglu", "bf16", "nt", NULL, "ldy=197,out=f32", "256x192x160"},
    {"swiglu", "bf16", "nt", NULL, NULL, "8x14336x4096"},
    {"swiglu", "bf16", "nn", NULL, NULL, "8x14336x4096"},
    {"attention", "bf16", NULL, NULL, "causal=1", "4x32x8x4096x4096x128"},
    {"attention", "f16", NULL, NULL, NULL, "1x2x1x100x100x64"},
    {"attention", "f16", NULL, NULL, "pad=1", "1x2x1x100x100x64"},
    {"attention", "f32", NULL, NULL, NULL, "1x2x1x100x100x80"},
    {"attention", "f32", NULL, NULL, NULL, "1x2x1x100x100x256"},
    {"attention", "bf16", NULL, NULL, "causal=1,lse=1", "8x32x8x1x8192x128"},
    {"attention", "bf16", NULL, NULL, NULL, "1x32x8x1x8192x128"},
    {"attention", "bf16", NULL, NULL, NULL, "1x4x2x4x600x64"},
    {"attention", "bf16", NULL, NULL, NULL, "1x4x2x4x600x33"},
    {"attention", "bf16", NULL, NULL, NULL, "1x64x1x4x600x64"},
    {"rmsnorm", "bf16", NULL, NULL, NULL, "4096x4096"},
    {"rmsnorm", "f32", NULL, NULL, "residual=1,pad=1", "300x4097"},
    {"rmsnorm", "f16", NULL, NULL, NULL, "3x100000"},
    {"softmax", "bf16", NULL, NULL, NULL, "4096x4096"},
    {"softmax", "f32", NULL, NULL, "causal_rows=64", "640x1000"},
    {"softmax", "f16", NULL, NULL, NULL, "4294967296x2"},
    {"softmax", "bf16", NULL, NULL, NULL, "262144x128"},
    {"softmax", "f32", NULL, NULL, NULL, "64x128256"},
    {"softmax", "f32", NULL, NULL, NULL, "2162x19237"},
    {"softmax", "f32", NULL, NULL, "ldx=71,ldy=72", "5x70"},
    {"cross_entropy", "bf16", NULL, NULL, NULL, "2048x128256"},
    {"cross_entropy", "f32", NULL, NULL, "pad=1", "7x65"},
    {"cross_entropy", "f16", NULL, NULL, NULL, "64x128256"},
    {"rope", "bf16", NULL, NULL, NULL, "1x4096x32x128"},
    {"rope", "f32", NULL, NULL, "rope=half,pad=1", "3x17x5x20"},
    {"rope", "f16", NULL, NULL, NULL, "1x7x3x6"},
    {"embedding", "bf16", NULL, NULL, NULL, "4096x128256x4096"},
    {"embedding", "f32", NULL, NULL, "pad=1", "7x5x3"},
    {"add", "bf16", NULL, NULL, NULL, "8192x8192"},
    {"add", "f32", NULL, NULL, "pad=5", "33x257"},
    {"add", "f32", NULL, NULL, "lda=258", "33x257"},
    {"silu_mul", "f16", NULL, NULL, NULL, "4096x14336"},
};

/* ---- Plans ---- */

/* Without the op, its types and sizes, which the case's line has. */
static void print_refusal(const char *message) {
  const char *list = message + plans_refusal_length(message), *reason = strstr(message, "': ");
  if (reason != NULL && *list != '\0' && reason < list) message = reason + 3;
  printf("refused: %.*s\n", (int)(list - message), message);
}

static bool print_row(const tdm_case *c, const char *name, int teams, int threads) {
  tdm_context *context;
  tdm_plan *plan;
  if (tdm_open(&(tdm_options){.device = "omp:0", .kernel = name, .teams = teams, .threads = threads, .tuned = "none"},
               &context) != TDM_OK)
    return fprintf(stderr, "gpu-plans: %s\n", tdm_last_error()), false;
  printf("  %s%s: ", name, teams > 0 ? " of 3 teams of 64" : "");
  if (c->op->plan(context, c, &plan) == TDM_OK) {
    printf("%d teams of %d", plan->launch.teams, plan->launch.threads);
    if (plan->workspace_bytes > 0) printf(", %zu bytes of workspace", plan->workspace_bytes);
    if (plan->kernel->fallback.align > 0)
      printf(", falls back to %s below %d bytes", plan->kernel->fallback.kernel->name, plan->kernel->fallback.align);
    tdm_cost cost = {.clocks = -1};
    if (plan->kernel->cost != NULL && !plan->empty) plan->kernel->cost(plan, &cost);
    if (cost.clocks >= 0) printf(", estimate %.0f clocks", cost.clocks);
    printf("\n");
    tdm_plan_free(plan);
  } else {
    print_refusal(tdm_last_error());
  }
  tdm_close(context);
  return true;
}

static bool print_case(const plans_case *texts) {
  char names[1024], *rest = NULL;
  tdm_case c;
  if (!plans_begin("gpu-plans", texts, &c)) return false;
  snprintf(names, sizeof names, "%s", tdm_kernels(texts->op));
  for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest))
    if (is_shown(texts->op, name) && (!print_row(&c, name, 0, 0) || !print_row(&c, name, 3, 64))) return false;
  return true;
}

/* Rows of the omp backend that a GPU can't run at all: tandem-check --cover does not ask for them. */
static bool print_refused(void) {
  char names[1024], *rest = NULL;
  tdm_context *context;
  if (tdm_open(&(tdm_options){.device = "omp:0", .tuned = "none"}, &context) != TDM_OK)
    return fprintf(stderr, "gpu-plans: %s\n", tdm_last_error()), false;
  for (int op = 0; op < TDM_OP_COUNT; op++) {
    snprintf(names, sizeof names, "%s", tdm_kernels(tdm_op_names[op]));
    for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
      const char *reason = tdm_kernel_refused(context, tdm_op_names[op], name);
      if (is_shown(tdm_op_names[op], name) && reason[0] != '\0') printf("%s %s: %s\n", tdm_op_names[op], name, reason);
    }
  }
  return tdm_close(context) == TDM_OK;
}

int main(void) {
  omp_set_num_threads(4); /* so that plans do not depend on the machine */
  add_gpu_rows();
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
    if (has_shown_rows(list[i].op) && !print_case(&list[i])) return 1;
  if (PRODUCTS_ONLY) return 0;
  printf("rows that can't run on a GPU\n");
  return print_refused() ? 0 : 1;
}
