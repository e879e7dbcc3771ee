/* The dispatcher: which kernel serves a plan. */
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "shadow.h"

extern const tdm_kernel tdm_add_omp;
extern const tdm_kernel tdm_attention_omp;
extern const tdm_kernel tdm_cross_entropy_omp;
extern const tdm_kernel tdm_embedding_omp;
extern const tdm_kernel tdm_gemm_omp;
extern const tdm_kernel tdm_rmsnorm_omp;
extern const tdm_kernel tdm_rope_omp;
extern const tdm_kernel tdm_silu_mul_omp;
extern const tdm_kernel tdm_softmax_omp;
extern const tdm_kernel tdm_swiglu_omp;
#ifdef TDM_OFFLOAD
extern const tdm_kernel tdm_gemm_omp_gpu;
extern const tdm_kernel tdm_rmsnorm_omp_gpu;
extern const tdm_kernel tdm_softmax_omp_gpu;
extern const tdm_kernel tdm_swiglu_omp_gpu;
#endif
#ifdef TDM_HIP
extern const tdm_kernel tdm_add_hip_blocks;
extern const tdm_kernel tdm_attention_hip_flash;
extern const tdm_kernel tdm_attention_hip_flash64;
extern const tdm_kernel tdm_attention_hip_flash128;
extern const tdm_kernel tdm_cross_entropy_hip_loop;
extern const tdm_kernel tdm_embedding_hip_blocks;
extern const tdm_kernel tdm_gemm_hip_128x128;
extern const tdm_kernel tdm_gemm_hip_256x256;
extern const tdm_kernel tdm_gemm_hip_small_k;
extern const tdm_kernel tdm_rmsnorm_hip_loop;
extern const tdm_kernel tdm_rmsnorm_hip_registers;
extern const tdm_kernel tdm_rope_hip_blocks;
extern const tdm_kernel tdm_silu_mul_hip_blocks;
extern const tdm_kernel tdm_softmax_hip_loop;
extern const tdm_kernel tdm_softmax_hip_registers;
extern const tdm_kernel tdm_swiglu_hip_128x64;
extern const tdm_kernel tdm_swiglu_hip_256x128;
#endif

/* One row a kernel; of two that serve a plan, the later one is chosen: reference first, then overrides. */
static const tdm_kernel *const built_in[] = {
    &tdm_add_omp,
    &tdm_attention_omp,
    &tdm_cross_entropy_omp,
    &tdm_embedding_omp,
    &tdm_gemm_omp,
    &tdm_rmsnorm_omp,
    &tdm_rope_omp,
    &tdm_silu_mul_omp,
    &tdm_softmax_omp,
    &tdm_swiglu_omp,
#ifdef TDM_OFFLOAD
    &tdm_gemm_omp_gpu,
    &tdm_rmsnorm_omp_gpu,
    &tdm_softmax_omp_gpu,
    &tdm_swiglu_omp_gpu,
#endif
#ifdef TDM_HIP
    &tdm_add_hip_blocks,
    &tdm_attention_hip_flash,
    &tdm_attention_hip_flash64,
    &tdm_attention_hip_flash128,
    &tdm_cross_entropy_hip_loop,
    &tdm_embedding_hip_blocks,
    &tdm_gemm_hip_128x128,
    &tdm_gemm_hip_256x256,
    &tdm_gemm_hip_small_k,
    &tdm_rmsnorm_hip_loop,
    &tdm_rmsnorm_hip_registers,
    &tdm_rope_hip_blocks,
    &tdm_silu_mul_hip_blocks,
    &tdm_softmax_hip_loop,
    &tdm_softmax_hip_registers,
    &tdm_swiglu_hip_128x64,
    &tdm_swiglu_hip_256x128,
#endif
};
enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

static const tdm_kernel *const *extra;
static int extra_count;

void tdm_kernels_extend(const tdm_kernel *const *rows, int count) {
  extra = rows;
  extra_count = count;
}

static int row_count(void) { return BUILT_IN + extra_count; }
static const tdm_kernel *row(int i) { return i < extra_count ? extra[i] : built_in[i - extra_count]; }

const char *tdm_kernels(const char *op) {
  static _Thread_local char text[512];
  size_t used = 0;
  text[0] = '\0';
  for (int o = 0; op != NULL && o < TDM_OP_COUNT; o++) {
    if (strcmp(op, tdm_op_names[o]) != 0) continue;
    for (int i = 0; i < row_count() && used < sizeof text; i++)
      if ((int)row(i)->op == o)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? " " : "", row(i)->name);
    return text;
  }
  return NULL;
}

/* ---- Names given by the caller ---- */

/* Takes "NAME" or "OP=NAME" off the front of a list; false at its end. op is NULL where none is named. */
typedef struct name_item {
  const char *op, *name;
  int op_length, name_length;
} name_item;

static bool next_item(const char **list, name_item *item) {
  if (*list == NULL || **list == '\0') return false;
  int length = (int)strcspn(*list, ",");
  const char *equals = memchr(*list, '=', (size_t)length);
  item->op = equals == NULL ? NULL : *list;
  item->op_length = equals == NULL ? 0 : (int)(equals - *list);
  item->name = equals == NULL ? *list : equals + 1;
  item->name_length = length - (equals == NULL ? 0 : item->op_length + 1);
  *list += length + ((*list)[length] == ',');
  return true;
}

static bool spells(const char *word, const char *text, int length) {
  return strncmp(word, text, (size_t)length) == 0 && word[length] == '\0';
}

tdm_status tdm_check_kernel_names(const char *kernels) {
  name_item item;
  for (const char *list = kernels; next_item(&list, &item);) {
    bool op_known = item.op == NULL, kernel_known = false;
    for (int o = 0; o < TDM_OP_COUNT && item.op != NULL; o++) op_known |= spells(tdm_op_names[o], item.op, item.op_length);
    if (!op_known)
      return tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': '%.*s' is no op: must be NAME or OP=NAME,OP=NAME", kernels,
                      item.op_length, item.op);
    for (int i = 0; i < row_count(); i++)
      kernel_known |= spells(row(i)->name, item.name, item.name_length) &&
                      (item.op == NULL || spells(tdm_op_names[row(i)->op], item.op, item.op_length));
    if (!kernel_known)
      return tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': '%.*s' is no kernel of %.*s: tdm_kernels lists them", kernels,
                      item.name_length, item.name, item.op == NULL ? 6 : item.op_length, item.op == NULL ? "any op" : item.op);
  }
  return TDM_OK;
}

/* The kernel named for an op: the item for the op itself wins over one without an op. false: none is named. */
static bool named_kernel(const char *kernels, tdm_op op, name_item *named) {
  bool found = false;
  name_item item;
  for (const char *list = kernels; next_item(&list, &item);) {
    bool exact = item.op != NULL && spells(tdm_op_names[op], item.op, item.op_length);
    if (exact || (item.op == NULL && !found)) *named = item, found = true;
  }
  return found;
}

/* ---- Choice ---- */

static void explain(tdm_plan *plan, size_t *used, const char *kernel, const char *what) {
  if (*used < sizeof plan->explain)
    *used += (size_t)snprintf(plan->explain + *used, sizeof plan->explain - *used, "%s: %s\n", kernel, what);
}

/* Can a row serve the plan? If not, says why. */
static bool serves(const tdm_plan *plan, const tdm_kernel *kernel, char *reason, size_t size) {
  if (kernel->backend != plan->context->backend) {
    snprintf(reason, size, "needs backend %s, the device is %s", kernel->backend->name, plan->context->device);
    return false;
  }
  return kernel->supports == NULL || kernel->supports(plan, reason, size);
}

tdm_status tdm_plan_choose(tdm_plan *plan) {
  const tdm_context *context = plan->context;
  name_item named = {0};
  bool is_named = named_kernel(context->kernel, plan->op, &named);
  char reason[160] = "", refusal[160] = "is no kernel of this op", refused[1024] = "";
  size_t used = 0, refused_used = 0;
  for (int i = row_count() - 1; i >= 0; i--) {
    const tdm_kernel *kernel = row(i);
    if (kernel->op != plan->op) continue;
    bool wanted = !is_named || spells(kernel->name, named.name, named.name_length);
    if (!wanted) snprintf(reason, sizeof reason, "not the kernel that the caller named");
    bool can = wanted && serves(plan, kernel, reason, sizeof reason);
    if (can && plan->kernel == NULL) {
      plan->kernel = kernel;
      continue;
    }
    if (can) snprintf(reason, sizeof reason, "%s comes first", plan->kernel->name);
    if (wanted && !can) snprintf(refusal, sizeof refusal, "%s", reason);
    if (refused_used < sizeof refused)
      refused_used +=
          (size_t)snprintf(refused + refused_used, sizeof refused - refused_used, "not %s: %s\n", kernel->name, reason);
  }
  if (plan->kernel == NULL)
    return tdm_fail(TDM_ERROR_UNSUPPORTED, "%s: kernel = '%.*s': %s; built in: %s", plan->title,
                    is_named ? named.name_length : 4, is_named ? named.name : "auto", refusal,
                    tdm_kernels(tdm_op_names[plan->op]));
  explain(plan, &used, "plan", plan->title);
  char device[128];
  snprintf(device, sizeof device, "%s, %s", context->device,
           !context->automatic        ? "named by the caller"
           : context->hip != NULL     ? "chosen: the first GPU that HIP finds"
           : context->omp_device >= 0 ? "chosen: the first offload device"
                                      : "chosen: no offload device answers in this build");
  explain(plan, &used, "device", device);
  if (context->automatic && context->hip == NULL) explain(plan, &used, "not device", context->passed_over);
  char choice[128];
  snprintf(choice, sizeof choice, "%s, %s", plan->kernel->name,
           is_named ? "named by the caller" : "chosen: the last row that serves");
  explain(plan, &used, "kernel", choice);
  if (context->verify)
    explain(plan, &used, "verify",
            tdm_shadow_applies(plan) ? "each run is repeated by omp on the host, and compared"
                                     : "nothing to compare: this is the oracle itself");
  if (used < sizeof plan->explain) snprintf(plan->explain + used, sizeof plan->explain - used, "%s", refused);
  return TDM_OK;
}
