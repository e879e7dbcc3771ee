/* The table of kernels, and their names as callers give them. */
#include <stdio.h>
#include <string.h>

#include "dispatch.h"

extern const tdm_kernel tdm_add_omp;
extern const tdm_kernel tdm_attention_omp;
extern const tdm_kernel tdm_attention_omp_decode;
extern const tdm_kernel tdm_cross_entropy_omp;
extern const tdm_kernel tdm_embedding_omp;
extern const tdm_kernel tdm_gemm_omp;
extern const tdm_kernel tdm_gemm_omp_skinny;
extern const tdm_kernel tdm_rmsnorm_omp;
extern const tdm_kernel tdm_rope_omp;
extern const tdm_kernel tdm_silu_mul_omp;
extern const tdm_kernel tdm_softmax_omp;
extern const tdm_kernel tdm_swiglu_omp;
extern const tdm_kernel tdm_swiglu_omp_skinny;
#ifdef TDM_OFFLOAD
extern const tdm_kernel tdm_add_omp_gpu;
extern const tdm_kernel tdm_attention_omp_gpu;
extern const tdm_kernel tdm_attention_omp_gpu_decode;
extern const tdm_kernel tdm_attention_omp_gpu_mma;
extern const tdm_kernel tdm_cross_entropy_omp_gpu;
extern const tdm_kernel tdm_embedding_omp_gpu;
extern const tdm_kernel tdm_gemm_omp_gpu;
extern const tdm_kernel tdm_gemm_omp_gpu_mma;
extern const tdm_kernel tdm_gemm_omp_gpu_small_k;
extern const tdm_kernel tdm_gemm_omp_gpu_skinny;
extern const tdm_kernel tdm_rmsnorm_omp_gpu;
extern const tdm_kernel tdm_rope_omp_gpu;
extern const tdm_kernel tdm_silu_mul_omp_gpu;
extern const tdm_kernel tdm_softmax_omp_gpu;
extern const tdm_kernel tdm_swiglu_omp_gpu;
extern const tdm_kernel tdm_swiglu_omp_gpu_mma;
extern const tdm_kernel tdm_swiglu_omp_gpu_skinny;
#endif
#ifdef TDM_HIP
extern const tdm_kernel tdm_add_hip_blocks;
extern const tdm_kernel tdm_attention_hip_decode;
extern const tdm_kernel tdm_attention_hip_decode64;
extern const tdm_kernel tdm_attention_hip_decode128;
extern const tdm_kernel tdm_attention_hip_flash;
extern const tdm_kernel tdm_attention_hip_flash64;
extern const tdm_kernel tdm_attention_hip_flash128;
extern const tdm_kernel tdm_cross_entropy_hip_loop;
extern const tdm_kernel tdm_embedding_hip_blocks;
extern const tdm_kernel tdm_gemm_hip_128x128;
extern const tdm_kernel tdm_gemm_hip_256x256;
extern const tdm_kernel tdm_gemm_hip_256x256_mfma32;
extern const tdm_kernel tdm_gemm_hip_small_k;
#define GEMM_TILE(m, n, ...) extern const tdm_kernel tdm_gemm_hip_tile_##m##x##n;
#include "hip/gemm/tiles.def"
#undef GEMM_TILE
extern const tdm_kernel tdm_rmsnorm_hip_loop;
extern const tdm_kernel tdm_rmsnorm_hip_registers;
extern const tdm_kernel tdm_rope_hip_blocks;
extern const tdm_kernel tdm_silu_mul_hip_blocks;
extern const tdm_kernel tdm_softmax_hip_loop;
extern const tdm_kernel tdm_softmax_hip_registers;
extern const tdm_kernel tdm_swiglu_hip_128x64;
extern const tdm_kernel tdm_swiglu_hip_256x128;
#endif

#ifdef TDM_LADDER
#define LADDER_ROW(row) extern const tdm_kernel row;
#include "ladder.def"
#endif

/* One row a kernel: reference first, then overrides. Of two with the same estimate, or none, the later one is chosen. */
static const tdm_kernel *const built_in[] = {
    &tdm_add_omp,
    &tdm_attention_omp,
    &tdm_attention_omp_decode,
    &tdm_cross_entropy_omp,
    &tdm_embedding_omp,
    &tdm_gemm_omp,
    &tdm_gemm_omp_skinny,
    &tdm_rmsnorm_omp,
    &tdm_rope_omp,
    &tdm_silu_mul_omp,
    &tdm_softmax_omp,
    &tdm_swiglu_omp,
    &tdm_swiglu_omp_skinny,
#ifdef TDM_OFFLOAD
    &tdm_add_omp_gpu,
    &tdm_attention_omp_gpu,
    &tdm_attention_omp_gpu_mma,
    &tdm_attention_omp_gpu_decode,
    &tdm_cross_entropy_omp_gpu,
    &tdm_embedding_omp_gpu,
    &tdm_gemm_omp_gpu,
    &tdm_gemm_omp_gpu_mma,
    &tdm_gemm_omp_gpu_small_k,
    &tdm_gemm_omp_gpu_skinny,
    &tdm_rmsnorm_omp_gpu,
    &tdm_rope_omp_gpu,
    &tdm_silu_mul_omp_gpu,
    &tdm_softmax_omp_gpu,
    &tdm_swiglu_omp_gpu,
    &tdm_swiglu_omp_gpu_mma,
    &tdm_swiglu_omp_gpu_skinny,
#endif
#ifdef TDM_HIP
    &tdm_add_hip_blocks,
    &tdm_attention_hip_flash,
    &tdm_attention_hip_flash64,
    &tdm_attention_hip_flash128,
    &tdm_attention_hip_decode,
    &tdm_attention_hip_decode64,
    &tdm_attention_hip_decode128,
    &tdm_cross_entropy_hip_loop,
    &tdm_embedding_hip_blocks,
    &tdm_gemm_hip_128x128,
    &tdm_gemm_hip_256x256_mfma32,
#define GEMM_TILE(m, n, ...) &tdm_gemm_hip_tile_##m##x##n,
#include "hip/gemm/tiles.def"
#undef GEMM_TILE
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
#ifdef TDM_LADDER
#define LADDER_ROW(row) &row,
#include "ladder.def"
#endif
};
enum { BUILT_IN = sizeof built_in / sizeof built_in[0] };

static const tdm_kernel *const *extra;
static int extra_count;

void tdm_kernels_extend(const tdm_kernel *const *rows, int count) {
  extra = rows;
  extra_count = count;
}

int tdm_kernel_count(void) { return BUILT_IN + extra_count; }
const tdm_kernel *tdm_kernel_row(int i) { return i < extra_count ? extra[i] : built_in[i - extra_count]; }

bool tdm_kernel_runs_on(const tdm_kernel *kernel, const tdm_context *context, char *reason, size_t size) {
  if (kernel->backend == context->backend) return kernel->runs_on == NULL || kernel->runs_on(context, reason, size);
  snprintf(reason, size, "needs backend %s, the device is %s", kernel->backend->name, context->device);
  return false;
}

static bool spells(const char *word, const char *text, int length) {
  return strncmp(word, text, (size_t)length) == 0 && word[length] == '\0';
}

const tdm_kernel *tdm_kernel_find(tdm_op op, const char *name, int length) {
  for (int i = 0; i < tdm_kernel_count(); i++)
    if (tdm_kernel_row(i)->op == op && spells(tdm_kernel_row(i)->name, name, length)) return tdm_kernel_row(i);
  return NULL;
}

/* TDM_OP_COUNT where none has this name. */
static tdm_op find_op(const char *name, int length) {
  int op = 0;
  while (op < TDM_OP_COUNT && !spells(tdm_op_names[op], name, length)) op++;
  return (tdm_op)op;
}

const char *tdm_kernels(const char *op) {
  static _Thread_local char text[1024];
  size_t used = 0;
  tdm_op of = op == NULL ? TDM_OP_COUNT : find_op(op, (int)strlen(op));
  if (of == TDM_OP_COUNT) return NULL;
  text[0] = '\0';
  for (int i = 0; i < tdm_kernel_count() && used < sizeof text; i++)
    if (tdm_kernel_row(i)->op == of && !tdm_kernel_row(i)->by_name)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used > 0 ? " " : "", tdm_kernel_row(i)->name);
  return text;
}

/* NULL when either name is unknown. */
static const tdm_kernel *find_row(const char *op, const char *kernel) {
  tdm_op of = op == NULL ? TDM_OP_COUNT : find_op(op, (int)strlen(op));
  return of == TDM_OP_COUNT || kernel == NULL ? NULL : tdm_kernel_find(of, kernel, (int)strlen(kernel));
}

const char *tdm_kernel_parameters(const char *op, const char *kernel) {
  static _Thread_local char text[64];
  const tdm_kernel *row = find_row(op, kernel);
  if (row == NULL) return NULL;
  tdm_parameter_names(row->takes, text, sizeof text);
  return text;
}

tdm_status tdm_kernel_describe(const char *op, const char *kernel, tdm_kernel_facts *facts) {
  const tdm_kernel *row = find_row(op, kernel);
  if (row == NULL)
    return tdm_fail(TDM_ERROR_ARGUMENT, "kernel_describe: kernel = '%s' of op = '%s': must be one that tdm_kernels lists",
                    kernel == NULL ? "NULL" : kernel, op == NULL ? "NULL" : op);
  if (facts == NULL) return tdm_fail(TDM_ERROR_ARGUMENT, "kernel_describe: facts = NULL: must point to a tdm_kernel_facts");
  *facts = (tdm_kernel_facts){row->backend->name, row->matrix_units, row->rounds_weights};
  return TDM_OK;
}

const char *tdm_kernel_refused(const tdm_context *context, const char *op, const char *kernel) {
  static _Thread_local char text[192];
  const tdm_kernel *row = find_row(op, kernel);
  if (row == NULL || context == NULL) return NULL;
  text[0] = '\0';
  tdm_kernel_runs_on(row, context, text, sizeof text);
  return text;
}

/* ---- Names given by the caller ---- */

/* "CHOICE" or "OP=CHOICE" off the front of a list; false at its end. op is NULL where none is named. */
typedef struct name_item {
  const char *op, *choice;
  int op_length, choice_length;
} name_item;

static bool next_item(const char **list, name_item *item) {
  if (*list == NULL || **list == '\0') return false;
  int length = (int)strcspn(*list, ","), name = (int)strcspn(*list, ",=:"); /* the '=' of a parameter has a ':' before it */
  bool has_op = (*list)[name] == '=';
  item->op = has_op ? *list : NULL;
  item->op_length = has_op ? name : 0;
  item->choice = has_op ? *list + name + 1 : *list;
  item->choice_length = length - (has_op ? name + 1 : 0);
  *list += length + ((*list)[length] == ',');
  return true;
}

/* The item of one op, or of every op where it names none: at least one row must have its name and take its parameters. */
static tdm_status check_item(const char *kernels, const name_item *item) {
  char reason[224] = "";
  tdm_choice choice;
  bool known = false, taken = false;
  tdm_op op = item->op == NULL ? TDM_OP_COUNT : find_op(item->op, item->op_length);
  if (item->op != NULL && op == TDM_OP_COUNT)
    return tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': '%.*s' is no op: must be NAME or OP=NAME,OP=NAME", kernels,
                    item->op_length, item->op);
  if (!tdm_choice_parse(item->choice, item->choice_length, &choice, reason, sizeof reason))
    return tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': %s", kernels, reason);
  for (int i = 0; i < tdm_kernel_count() && !taken; i++) {
    const tdm_kernel *row = tdm_kernel_row(i);
    if ((op != TDM_OP_COUNT && row->op != op) || !spells(row->name, choice.name, choice.name_length)) continue;
    known = true;
    taken = tdm_tuning_taken(&choice.tuning, row->name, row->takes, reason, sizeof reason);
  }
  if (!known)
    return tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': '%.*s' is no kernel of %s: tdm_kernels lists them", kernels,
                    choice.name_length, choice.name, op == TDM_OP_COUNT ? "any op" : tdm_op_names[op]);
  return taken ? TDM_OK : tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': %s", kernels, reason);
}

tdm_status tdm_check_kernel_names(const char *kernels) {
  name_item item;
  for (const char *list = kernels; next_item(&list, &item);) {
    name_item before;
    TDM_TRY(check_item(kernels, &item));
    for (const char *again = kernels; next_item(&again, &before) && before.choice != item.choice;)
      if (before.op_length == item.op_length && (item.op == NULL || strncmp(before.op, item.op, (size_t)item.op_length) == 0))
        return tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': must be NAME, or OP=NAME,OP=NAME with each op once", kernels);
  }
  return TDM_OK;
}

/* The item for the op itself wins over one without an op. */
bool tdm_named_kernel(const char *kernels, tdm_op op, tdm_choice *named) {
  bool found = false;
  char reason[8];
  name_item item;
  for (const char *list = kernels; next_item(&list, &item);) {
    bool exact = item.op != NULL && spells(tdm_op_names[op], item.op, item.op_length);
    if (exact || (item.op == NULL && !found))
      found = tdm_choice_parse(item.choice, item.choice_length, named, reason, sizeof reason);
  }
  return found;
}
