/* Descriptions with extents at and near the limits of their types, drawn at random: a plan of each op is made, or refused with
 * a status and a message that names the op. No product on the way may overflow, which the sanitizer build sees; nor may a plan
 * be made whose arrays do not fit. Empty plans are run too. Use: api-extreme DEVICE [SEED [ROUNDS]] */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/dispatch/dispatch.h"

/* A plan's tables may be large: what the host would have to fill is refused, through --wrap. */
enum { MOST_BYTES = 1 << 20 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
int __real_posix_memalign(void **pointer, size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
int __wrap_posix_memalign(void **pointer, size_t alignment, size_t size);

void *__wrap_malloc(size_t size) { return size > MOST_BYTES ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
  return size != 0 && count > MOST_BYTES / size ? NULL : __real_calloc(count, size);
}
int __wrap_posix_memalign(void **pointer, size_t alignment, size_t size) {
  return size > MOST_BYTES ? ENOMEM : __real_posix_memalign(pointer, alignment, size);
}

/* ---- Values ---- */

static uint64_t state;

static uint64_t draw(void) { /* splitmix64 */
  uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
static uint64_t below(uint64_t n) { return draw() % n; }

/* An extent: often a small one, so that the others are looked at; else one at a limit, or of any number of bits. */
static int64_t extent(void) {
  static const int64_t limits[] = {0,
                                   1,
                                   INT16_MAX,
                                   INT32_MAX,
                                   INT64_C(1) << 31,
                                   UINT32_MAX,
                                   INT64_C(1) << 32,
                                   INT64_C(1) << 40,
                                   INT64_C(1) << 53,
                                   INT64_C(1) << 62,
                                   INT64_MAX - 1,
                                   INT64_MAX,
                                   -1,
                                   INT64_MIN};
  switch (below(5)) {
    case 0: return (int64_t)below(4);
    case 1: return (int64_t)below(600);
    case 2: return limits[below(sizeof limits / sizeof limits[0])];
    case 3: return limits[below(sizeof limits / sizeof limits[0] - 2)]; /* none below 0 */
    default: return (int64_t)(draw() >> (1 + below(63)));
  }
}

/* A leading dimension or stride: mostly packed. */
static int64_t stride(void) { return below(4) != 0 ? 0 : extent(); }
static int flag(void) { return below(4) == 0; }
static tdm_type type(void) { return (tdm_type)below(3); }

/* ---- Each op: its description, its plan, and a run without any array ---- */

static tdm_status plan_gemm(tdm_context *context, tdm_plan **plan) {
  tdm_epilogue_step steps[] = {{(tdm_epilogue_op)below(TDM_DIVIDE + 1), 2}, {TDM_RESIDUAL, 0}};
  tdm_gemm_desc d = tdm_gemm_default(extent(), extent(), extent(), type());
  d.layout = (tdm_layout)below(4);
  d.out = type();
  d.batch = below(3) == 0 ? 1 : extent();
  d.lda = stride(), d.ldb = stride(), d.ldc = stride(), d.ldr = stride();
  d.stride_a = stride(), d.stride_b = stride(), d.stride_c = stride(), d.stride_r = stride();
  d.broadcast_a = flag(), d.broadcast_b = flag();
  d.beta = (float)flag();
  d.epilogue = steps;
  d.epilogue_steps = (int64_t)below(3);
  return tdm_gemm_plan(context, &d, plan);
}
static tdm_status run_gemm(const tdm_plan *p) { return tdm_gemm_run(p, NULL, NULL, NULL, NULL, NULL, NULL); }

static tdm_status plan_swiglu(tdm_context *context, tdm_plan **plan) {
  tdm_swiglu_desc d = tdm_swiglu_default(extent(), extent(), extent(), type());
  d.layout = flag() ? TDM_NT : TDM_NN;
  d.out = type();
  d.ldx = stride(), d.ldg = stride(), d.ldu = stride(), d.ldy = stride();
  return tdm_swiglu_plan(context, &d, plan);
}
static tdm_status run_swiglu(const tdm_plan *p) { return tdm_swiglu_run(p, NULL, NULL, NULL, NULL, NULL); }

static tdm_status plan_rmsnorm(tdm_context *context, tdm_plan **plan) {
  tdm_rmsnorm_desc d = tdm_rmsnorm_default(extent(), extent(), type());
  d.residual = flag();
  d.ldx = stride(), d.ldr = stride(), d.lds = stride(), d.ldy = stride();
  return tdm_rmsnorm_plan(context, &d, plan);
}
static tdm_status run_rmsnorm(const tdm_plan *p) { return tdm_rmsnorm_run(p, NULL, NULL, NULL, NULL, NULL, NULL); }

static tdm_attention_strides attention_strides(void) {
  return below(4) != 0 ? (tdm_attention_strides){0} : (tdm_attention_strides){extent(), extent(), extent()};
}
static tdm_status plan_attention(tdm_context *context, tdm_plan **plan) {
  static const int64_t dims[] = {16, 64, 96, 128, 256};
  int64_t heads_kv = below(2) == 0 ? 1 : extent(), group = (int64_t)below(9), heads_q;
  if (below(4) == 0 || __builtin_mul_overflow(heads_kv, group, &heads_q)) heads_q = extent();
  int64_t head_dim = below(8) == 0 ? extent() : dims[below(5)];
  tdm_attention_desc d = tdm_attention_default(extent(), heads_q, heads_kv, extent(), extent(), head_dim, type());
  d.causal = flag(), d.lse = flag();
  d.q = attention_strides(), d.k = attention_strides(), d.v = attention_strides(), d.o = attention_strides();
  return tdm_attention_plan(context, &d, plan);
}
static tdm_status run_attention(const tdm_plan *p) { return tdm_attention_run(p, NULL, NULL, NULL, NULL, NULL, NULL); }

static tdm_rope_strides rope_strides(void) {
  return below(4) != 0 ? (tdm_rope_strides){0} : (tdm_rope_strides){extent(), extent(), extent()};
}
static tdm_status plan_rope(tdm_context *context, tdm_plan **plan) {
  tdm_rope_desc d = tdm_rope_default(extent(), extent(), extent(), below(2) == 0 ? 64 : extent(), type());
  d.style = flag() ? TDM_ROPE_HALF : TDM_ROPE_INTERLEAVED;
  d.positions = stride(), d.offset = stride();
  d.scaling.trained = stride();
  d.x = rope_strides(), d.y = rope_strides();
  return tdm_rope_plan(context, &d, plan);
}
static tdm_status run_rope(const tdm_plan *p) { return tdm_rope_run(p, NULL, NULL, NULL); }

static tdm_status plan_softmax(tdm_context *context, tdm_plan **plan) {
  tdm_softmax_desc d = tdm_softmax_default(extent(), extent(), type());
  d.causal_rows = stride();
  d.ldx = stride(), d.ldy = stride();
  return tdm_softmax_plan(context, &d, plan);
}
static tdm_status run_softmax(const tdm_plan *p) { return tdm_softmax_run(p, NULL, NULL, NULL); }

static tdm_status plan_embedding(tdm_context *context, tdm_plan **plan) {
  tdm_embedding_desc d = tdm_embedding_default(extent(), extent(), extent(), type());
  d.ldt = stride(), d.ldy = stride();
  return tdm_embedding_plan(context, &d, plan);
}
static tdm_status run_embedding(const tdm_plan *p) { return tdm_embedding_run(p, NULL, NULL, NULL, NULL); }

static tdm_status plan_silu_mul(tdm_context *context, tdm_plan **plan) {
  tdm_silu_mul_desc d = tdm_silu_mul_default(extent(), extent(), type());
  d.ldg = stride(), d.ldu = stride(), d.ldy = stride();
  return tdm_silu_mul_plan(context, &d, plan);
}
static tdm_status run_silu_mul(const tdm_plan *p) { return tdm_silu_mul_run(p, NULL, NULL, NULL, NULL); }

static tdm_status plan_add(tdm_context *context, tdm_plan **plan) {
  tdm_add_desc d = tdm_add_default(extent(), extent(), type());
  d.lda = stride(), d.ldb = stride(), d.ldc = stride();
  return tdm_add_plan(context, &d, plan);
}
static tdm_status run_add(const tdm_plan *p) { return tdm_add_run(p, NULL, NULL, NULL, NULL); }

static tdm_status plan_cross_entropy(tdm_context *context, tdm_plan **plan) {
  tdm_cross_entropy_desc d = tdm_cross_entropy_default(extent(), extent(), type());
  d.ldl = stride();
  return tdm_cross_entropy_plan(context, &d, plan);
}
static tdm_status run_cross_entropy(const tdm_plan *p) { return tdm_cross_entropy_run(p, NULL, NULL, NULL, NULL); }

static const struct {
  tdm_status (*plan)(tdm_context *context, tdm_plan **plan);
  tdm_status (*run)(const tdm_plan *plan);
} ops[TDM_OP_COUNT] = {
    [TDM_OP_GEMM] = {plan_gemm, run_gemm},
    [TDM_OP_SWIGLU] = {plan_swiglu, run_swiglu},
    [TDM_OP_RMSNORM] = {plan_rmsnorm, run_rmsnorm},
    [TDM_OP_ATTENTION] = {plan_attention, run_attention},
    [TDM_OP_ROPE] = {plan_rope, run_rope},
    [TDM_OP_SOFTMAX] = {plan_softmax, run_softmax},
    [TDM_OP_EMBEDDING] = {plan_embedding, run_embedding},
    [TDM_OP_SILU_MUL] = {plan_silu_mul, run_silu_mul},
    [TDM_OP_ADD] = {plan_add, run_add},
    [TDM_OP_CROSS_ENTROPY] = {plan_cross_entropy, run_cross_entropy},
};

/* ---- The contexts that an op is planned in: the dispatcher's choice, with a shadow, and each kernel by its name ---- */

enum { MOST_CONTEXTS = 40 };

typedef struct contexts {
  int count;
  tdm_context *of[MOST_CONTEXTS];
} contexts;

static void add_context(contexts *all, const tdm_options *options) {
  if (all->count == MOST_CONTEXTS || tdm_open(options, &all->of[all->count]) != TDM_OK) {
    fprintf(stderr, "api-extreme: %s\n", all->count == MOST_CONTEXTS ? "too many kernels" : tdm_last_error());
    exit(2);
  }
  all->count++;
}

static void open_contexts(contexts *all, const char *device, const char *op) {
  char names[1024], choice[128];
  *all = (contexts){0};
  add_context(all, &(tdm_options){.device = device});
  add_context(all, &(tdm_options){.device = device, .verify = 1});
  snprintf(names, sizeof names, "%s", tdm_kernels(op));
  for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " ")) {
    if ((strncmp(name, "hip", 3) == 0) != (strncmp(device, "hip", 3) == 0)) continue;
    snprintf(choice, sizeof choice, "%s=%s", op, name);
    add_context(all, &(tdm_options){.device = device, .kernel = choice});
    const char *parameters = tdm_kernel_parameters(op, name);
    if (parameters == NULL || strstr(parameters, "split") == NULL) continue;
    snprintf(choice, sizeof choice, "%s=%s:split=3", op, name);
    add_context(all, &(tdm_options){.device = device, .kernel = choice});
  }
}

/* ---- What must hold ---- */

static int failures;

static void complain(tdm_op op, uint64_t round, const char *what) {
  failures++;
  printf("FAILED: %s, round %" PRIu64 ": %s: %s\n", tdm_op_names[op], round, what, tdm_last_error());
}

static void check_refusal(tdm_op op, uint64_t round, tdm_status status) {
  size_t length = strlen(tdm_op_names[op]);
  bool named = strncmp(tdm_last_error(), tdm_op_names[op], length) == 0;
  if (status == TDM_ERROR_MEMORY) named |= strstr(tdm_last_error(), "bytes = ") != NULL;
  if (status != TDM_ERROR_ARGUMENT && status != TDM_ERROR_UNSUPPORTED && status != TDM_ERROR_MEMORY)
    complain(op, round, tdm_status_name(status));
  else if (!named)
    complain(op, round, "the message names neither op nor bytes");
  else if (strpbrk(tdm_last_error() + (named ? 0 : length), "=:") == NULL)
    complain(op, round, "the message names no value");
}

/* Arrays fit in 63 bits, and an empty plan runs with no array at all. */
static void check_plan(tdm_op op, uint64_t round, const tdm_plan *plan) {
  bool any = false;
  for (int i = 0; i < plan->buffer_count; i++) {
    any |= plan->buffers[i].bytes > 0;
    if (plan->buffers[i].bytes > INT64_MAX) complain(op, round, "an array of more than 63 bits");
  }
  if (!plan->empty && !any) complain(op, round, "is not empty, and has no array");
  if (plan->empty && !any && ops[op].run(plan) != TDM_OK) complain(op, round, "an empty plan does not run");
}

static void try_one(tdm_context *context, tdm_op op, uint64_t round, int count[2]) {
  tdm_plan *plan = NULL;
  tdm_status status = ops[op].plan(context, &plan);
  count[status == TDM_OK]++;
  if (status == TDM_OK)
    check_plan(op, round, plan);
  else
    check_refusal(op, round, status);
  if (tdm_plan_free(plan) != TDM_OK) complain(op, round, "can't be freed");
}

/* batch = m = 2^40 with n = k = 0: no array has an element, and the product of all extents does not fit. */
static void found_before(const char *device) {
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  tdm_gemm_desc d = tdm_gemm_default(INT64_C(1) << 40, 0, 0, TDM_F32);
  d.batch = INT64_C(1) << 40;
  if (tdm_open(&(tdm_options){.device = device}, &context) != TDM_OK) complain(TDM_OP_GEMM, 0, "no context");
  tdm_status status = tdm_gemm_plan(context, &d, &plan);
  if (status != TDM_OK && status != TDM_ERROR_ARGUMENT) complain(TDM_OP_GEMM, 0, "batch = m = 2^40");
  if (status == TDM_OK && run_gemm(plan) != TDM_OK) complain(TDM_OP_GEMM, 0, "batch = m = 2^40 does not run");
  tdm_plan_free(plan);
  tdm_close(context);
}

static void try_op(const char *device, tdm_op op, uint64_t seed, uint64_t rounds) {
  int count[2] = {0};
  contexts all;
  open_contexts(&all, device, tdm_op_names[op]);
  for (uint64_t round = 0; round < rounds; round++) {
    state = seed << 40 ^ (uint64_t)op << 32 ^ round; /* each round can be repeated alone */
    try_one(all.of[round % (uint64_t)all.count], op, round, count);
  }
  printf("%-14s %2d contexts, %6d planned, %6d refused\n", tdm_op_names[op], all.count, count[1], count[0]);
  if (count[0] == 0 || count[1] == 0) complain(op, rounds, "one of the two never happened");
  while (all.count > 0) tdm_close(all.of[--all.count]);
}

int main(int argc, char **argv) {
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, rounds = argc > 3 ? strtoull(argv[3], NULL, 10) : 4000;
  if (argc < 2) {
    fprintf(stderr, "api-extreme: use: api-extreme DEVICE [SEED [ROUNDS]]\n");
    return 2;
  }
  found_before(argv[1]);
  for (int op = 0; op < TDM_OP_COUNT; op++) try_op(argv[1], (tdm_op)op, seed, rounds);
  printf("%s, seed %" PRIu64 ": %d failures\n", argv[1], seed, failures);
  return failures != 0;
}
