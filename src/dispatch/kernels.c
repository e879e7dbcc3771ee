/* The table of kernels, and kernels named by callers. */
#include <stdio.h>
#include <string.h>

#include "dispatch.h"
#include "op.h"

/* ---- Rows of an op: those that a test has added, omp, hip, and the steps of ladders ---- */

static const tdm_kernel *const *extra;
static int extra_count;

void tdm_kernels_extend(const tdm_kernel *const *rows, int count) {
  extra = rows;
  extra_count = count;
}

/* Adds those rows of a list that are the op's. */
static void add_rows(tdm_op_kernels *all, tdm_op op, const tdm_kernel *const *rows) {
  for (; rows != NULL && *rows != NULL; rows++) {
    if ((*rows)->op != op) continue;
    if (all->count < TDM_MOST_KERNELS) all->row[all->count++] = *rows;
  }
}

void tdm_kernels_of(tdm_op op, tdm_op_kernels *all) {
  all->count = 0;
  for (int i = 0; i < extra_count; i++) add_rows(all, op, (const tdm_kernel *const[]){extra[i], NULL});
  add_rows(all, op, tdm_built_in_ops[op].omp);
  add_rows(all, op, tdm_built_in_ops[op].hip);
  add_rows(all, op, tdm_built_in_steps);
}

/* Has the host the instruction sets of the kernel, and may it use them? */
static bool has_sets(const tdm_kernel *kernel, const tdm_context *context, char *reason, size_t size) {
  char text[96];
  unsigned missing = kernel->cpu & ~context->cpu, lacking = kernel->cpu & ~tdm_cpu_sets();
  if (kernel->cpu == 0) return true;
  if (!tdm_hosts_only(context, reason, size)) return false;
  if (missing == 0) return true;
  if (lacking != 0)
    snprintf(reason, size, "needs%s, which this processor or system lacks", tdm_cpu_text(lacking, text, sizeof text));
  else
    snprintf(reason, size, "needs%s, which TANDEM_CPU leaves out", tdm_cpu_text(missing, text, sizeof text));
  return false;
}

bool tdm_kernel_runs_on(const tdm_kernel *kernel, const tdm_context *context, char *reason, size_t size) {
  if (kernel->backend == context->backend)
    return has_sets(kernel, context, reason, size) && (kernel->runs_on == NULL || kernel->runs_on(context, reason, size));
  snprintf(reason, size, "needs backend %s, but the device is %s", kernel->backend->name, context->device);
  return false;
}

static bool spells(const char *word, const char *text, int length) {
  return strncmp(word, text, (size_t)length) == 0 && word[length] == '\0';
}

const tdm_kernel *tdm_kernel_find(tdm_op op, const char *name, int length) {
  tdm_op_kernels all;
  tdm_kernels_of(op, &all);
  for (int i = 0; i < all.count; i++)
    if (spells(all.row[i]->name, name, length)) return all.row[i];
  return NULL;
}

/* TDM_OP_COUNT if no op has this name. */
static tdm_op find_op(const char *name, int length) {
  int op = 0;
  while (op < TDM_OP_COUNT && !spells(tdm_op_names[op], name, length)) op++;
  return (tdm_op)op;
}

static bool has_earlier(tdm_op op, const char *name) {
  for (int o = 0; o < (int)op; o++)
    if (tdm_kernel_find((tdm_op)o, name, (int)strlen(name)) != NULL) return true;
  return false;
}

/* Appends the names of an op's kernels, except the steps of ladders; if `new_only`, except those that an earlier op has too. */
static size_t add_names(tdm_op op, bool new_only, char *text, size_t used, size_t size) {
  tdm_op_kernels all;
  tdm_kernels_of(op, &all);
  for (int i = 0; i < all.count && used < size; i++)
    if (!all.row[i]->by_name && !(new_only && has_earlier(op, all.row[i]->name)))
      used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "", all.row[i]->name);
  return used;
}

const char *tdm_kernels(const char *op) {
  static _Thread_local char text[2048];
  tdm_op of = op == NULL ? TDM_OP_COUNT : find_op(op, (int)strlen(op));
  if (of == TDM_OP_COUNT) return NULL;
  text[0] = '\0';
  add_names(of, false, text, 0, sizeof text);
  return text;
}

/* NULL if either name is unknown. */
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
  void *before = NULL;
  if (tdm_context_lost(context)) {
    snprintf(text, sizeof text, "runs only in the process that opened the device");
    return text;
  }
  bool entered = tdm_enter(context, "kernel_refused", &before) == TDM_OK;
  tdm_kernel_runs_on(row, context, text, sizeof text);
  if (entered) tdm_leave(context, "kernel_refused", before, TDM_OK);
  return text;
}

/* ---- Names given by the caller ---- */

/* "" has no items. */
static const char *first_item(const char *kernels) { return kernels != NULL && *kernels != '\0' ? kernels : NULL; }

/* Takes "CHOICE" or "OP=CHOICE" from the front of a list, which becomes NULL with its last one: after a comma at the end there
 * is one more, an empty one. false: no more. op is NULL if none is named. */
typedef struct name_item {
  const char *op, *choice;
  int op_length, choice_length;
} name_item;

static bool next_item(const char **list, name_item *item) {
  if (*list == NULL) return false;
  int length = (int)strcspn(*list, ","), name = (int)strcspn(*list, ",=:"); /* the '=' of a parameter has a ':' before it */
  bool has_op = (*list)[name] == '=';
  item->op = has_op ? *list : NULL;
  item->op_length = has_op ? name : 0;
  item->choice = has_op ? *list + name + 1 : *list;
  item->choice_length = length - (has_op ? name + 1 : 0);
  *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
  return true;
}

/* The item of one op, or of every op if it names none: at least one row must have its name and take its parameters. */
static tdm_status check_item(const char *kernels, const name_item *item) {
  char reason[224] = "";
  tdm_choice choice;
  bool known = false, taken = false;
  tdm_op op = item->op == NULL ? TDM_OP_COUNT : find_op(item->op, item->op_length);
  if (item->op != NULL && op == TDM_OP_COUNT)
    return tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': '%.*s' is not an op: must be NAME or OP=NAME,OP=NAME", kernels,
                    item->op_length, item->op);
  if (!tdm_choice_parse(item->choice, item->choice_length, &choice, reason, sizeof reason))
    return tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': %s", kernels, reason);
  for (int o = 0; o < TDM_OP_COUNT; o++) {
    const tdm_kernel *row = tdm_kernel_find((tdm_op)o, choice.name, choice.name_length);
    if ((op != TDM_OP_COUNT && o != (int)op) || row == NULL) continue;
    known = true;
    taken = taken || tdm_tuning_taken(&choice.tuning, row->name, row->takes, reason, sizeof reason);
  }
  if (!known) {
    char names[1024] = "";
    size_t used = op == TDM_OP_COUNT ? 0 : add_names(op, false, names, 0, sizeof names);
    for (int o = 0; op == TDM_OP_COUNT && o < TDM_OP_COUNT; o++) used = add_names((tdm_op)o, true, names, used, sizeof names);
    return tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': '%.*s' is not a kernel of %s: must be one of %s", kernels,
                    choice.name_length, choice.name, op == TDM_OP_COUNT ? "any op" : tdm_op_names[op], names);
  }
  return taken ? TDM_OK : tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': %s", kernels, reason);
}

tdm_status tdm_check_kernel_names(const char *kernels) {
  name_item item;
  for (const char *list = first_item(kernels); next_item(&list, &item);) {
    name_item before;
    TDM_TRY(check_item(kernels, &item));
    for (const char *again = first_item(kernels); next_item(&again, &before) && before.choice != item.choice;)
      if (before.op_length == item.op_length && (item.op == NULL || strncmp(before.op, item.op, (size_t)item.op_length) == 0))
        return tdm_fail(TDM_ERROR_ARGUMENT, "kernel = '%s': must be NAME, or OP=NAME,OP=NAME with each op once", kernels);
  }
  return TDM_OK;
}

/* An item for the op itself wins over an item without an op. */
bool tdm_named_kernel(const char *kernels, tdm_op op, tdm_choice *named) {
  bool found = false;
  char reason[8];
  name_item item;
  for (const char *list = first_item(kernels); next_item(&list, &item);) {
    bool exact = item.op != NULL && spells(tdm_op_names[op], item.op, item.op_length);
    if (exact || (item.op == NULL && !found))
      found = tdm_choice_parse(item.choice, item.choice_length, named, reason, sizeof reason);
  }
  return found;
}
