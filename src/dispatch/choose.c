/* The dispatcher: which kernel a plan uses, and with which parameters. What the caller named comes first, then the tuned
 * table, then the heuristic: the row with the smallest estimate, or the last of several that are equally good. Steps of
 * ladders run only by name. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dispatch.h"
#include "shadow.h"
#include "src/base/types.h"
#include "tuned.h"

enum { MOST_REASON = 192 };

/* One row of the op, with the parameters that it chooses itself. */
typedef struct candidate {
  const tdm_kernel *kernel;
  bool supported, estimated;
  tdm_cost cost;
  char reason[MOST_REASON]; /* why not, if it does not support the plan */
} candidate;

typedef struct candidates {
  int count;
  candidate of[TDM_MOST_KERNELS];
} candidates;

/* Why a kernel was chosen, for the explanation. */
typedef struct choice {
  bool ranked;    /* by the heuristic: `text` of the `supporting` kernels */
  int supporting; /* kernels that support the plan */
  const char *text, *note;
} choice;

/* Is the kernel written for the plan's types? */
static bool supports_types(const tdm_plan *plan, const tdm_kernel *kernel, char *reason, size_t size) {
  unsigned types = kernel->types != 0 ? kernel->types : TDM_USUAL_TYPES, outs = types | TDM_USUAL_TYPES;
  bool good = (types >> plan->type & 1) != 0;
  if (good && (outs >> plan->out & 1) != 0) return true;
  size_t used =
      (size_t)snprintf(reason, size, "%s = %s: must be", good ? "out" : "type", tdm_type_name(good ? plan->out : plan->type));
  for (int t = 0, listed = 0; t < TDM_TYPES && used < size; t++)
    if (((good ? outs : types) >> t & 1) != 0)
      used += (size_t)snprintf(reason + used, size - used, "%s%s", listed++ > 0 ? " or " : " ", tdm_type_name((tdm_type)t));
  return false;
}

/* Does a row support the plan with plan->tuning? If not, writes the reason. The row's functions find it in plan->kernel. */
static bool supports(tdm_plan *plan, const tdm_kernel *kernel, char *reason, size_t size) {
  plan->kernel = kernel;
  return tdm_kernel_runs_on(kernel, plan->context, reason, size) && supports_types(plan, kernel, reason, size) &&
         tdm_tuning_taken(&plan->tuning, kernel->name, kernel->takes, reason, size) &&
         (kernel->supports == NULL || kernel->supports(plan, reason, size));
}

/* The estimate of plan->kernel. false: it has none for this plan. */
static bool estimate(const tdm_plan *plan, tdm_cost *cost) {
  *cost = (tdm_cost){.floor = "nothing"};
  if (plan->kernel->cost == NULL) return false;
  if (!plan->empty) plan->kernel->cost(plan, cost);
  return cost->clocks >= 0;
}

/* Collects all rows of the op, the last one first. */
static void gather(tdm_plan *plan, candidates *all) {
  tdm_op_kernels kernels;
  tdm_kernels_of(plan->op, &kernels);
  plan->tuning = (tdm_tuning){0};
  all->count = 0;
  for (int i = kernels.count - 1; i >= 0; i--) {
    if (kernels.row[i]->by_name) continue;
    candidate *c = &all->of[all->count++];
    *c = (candidate){.kernel = kernels.row[i]};
    c->supported = supports(plan, c->kernel, c->reason, sizeof c->reason);
    c->estimated = c->supported && estimate(plan, &c->cost);
  }
}

/* The best row among those that support the plan. Estimates within ALIKE (1 %) of the smallest count as a tie. In a tie,
 * and if rows have no estimate, the later row wins. NULL: none supports the plan. */
static const candidate *least(const candidates *all, double *clocks) {
  const double ALIKE = 1.01;
  const candidate *last = NULL;
  *clocks = INFINITY;
  for (int i = 0; i < all->count; i++) { /* the last row of the table is the first here */
    const candidate *c = &all->of[i];
    if (c->supported && last == NULL) last = c;
    if (c->estimated && c->cost.clocks < *clocks) *clocks = c->cost.clocks;
  }
  if (last == NULL || !last->estimated) return last;
  for (int i = 0; i < all->count; i++)
    if (all->of[i].estimated && all->of[i].cost.clocks <= ALIKE * *clocks) return &all->of[i];
  return last;
}

/* ---- Explain ---- */

__attribute__((format(printf, 2, 3))) static void say(tdm_plan *plan, const char *format, ...) {
  size_t used = strlen(plan->explain);
  va_list args;
  va_start(args, format);
  vsnprintf(plan->explain + used, sizeof plan->explain - used, format, args);
  va_end(args);
}

static void say_device(tdm_plan *plan) {
  const tdm_context *context = plan->context;
  say(plan, "plan: %s\n", plan->title);
  say(plan, "device: %s, %s\n", context->device,
      !context->automatic        ? "named by the caller"
      : context->hip != NULL     ? "the first GPU that HIP finds"
      : context->omp_device >= 0 ? "the first offload device"
                                 : "because no GPU was found");
  if (context->automatic && context->hip == NULL) say(plan, "not %s\n", context->passed_over);
  if (context->no_wait[0] != '\0') say(plan, "wait: as the runtime sets it: %s %s\n", context->device, context->no_wait);
}

/* What an entry of a tuned table for this plan begins with. */
static void say_key(tdm_plan *plan) {
  tdm_tuned_key key;
  char text[160];
  if (plan->empty || !tdm_tuned_key_of(plan, &key)) return;
  tdm_tuned_print(&key, text, sizeof text);
  say(plan, "key: %s\n", text);
}

static void say_estimate(tdm_plan *plan, const char *what, const tdm_cost *cost) {
  say(plan, "%s: estimate %.0f clocks, mostly %s", what, cost->clocks, cost->floor);
}

static bool has_estimate(const candidates *all, const tdm_kernel *kernel) {
  for (int i = 0; i < all->count; i++)
    if (all->of[i].kernel == kernel) return all->of[i].estimated;
  return false;
}

/* Rows without an estimate are chosen by their place in the table, whatever the estimates of the others. */
static void say_candidates(tdm_plan *plan, const candidates *all) {
  const tdm_kernel *chosen = plan->kernel;
  const bool by_place = plan->source == TDM_HEURISTIC && !has_estimate(all, chosen);
  for (int i = 0; i < all->count; i++) {
    const candidate *c = &all->of[i];
    char name[64];
    snprintf(name, sizeof name, "not %s", c->kernel->name);
    if (c->kernel == chosen) continue;
    if (c->estimated && !by_place) {
      say_estimate(plan, name, &c->cost);
      say(plan, "\n");
    } else if (!c->supported) {
      say(plan, "%s: %s\n", name, c->reason);
    } else {
      say(plan, "%s: %s%s\n", name, chosen->name, plan->source == TDM_HEURISTIC ? " is more specialized" : " is used instead");
    }
  }
}

void tdm_plan_say_fallback(tdm_plan *plan) {
  const tdm_fallback *fallback = &plan->fallback;
  bool can = false; /* arrays whose elements are as wide as the alignment are always aligned */
  for (int i = 0; i < plan->buffer_count; i++)
    can |= ((fallback->buffers & ~plan->any_address) >> i & 1) && plan->buffers[i].align < (size_t)fallback->align;
  if (can)
    say(plan, "fallback: runs with pointers that are not aligned to %d bytes launch %s\n", fallback->align,
        fallback->kernel->name);
}

static void explain(tdm_plan *plan, const candidates *all, const choice *why) {
  char parameters[96];
  tdm_tuning_print(&plan->tuning, parameters, sizeof parameters);
  say(plan, "kernel: %s%s, ", plan->kernel->name, parameters);
  if (why->ranked && why->supporting == 1)
    say(plan, "the only kernel that supports this plan\n");
  else if (why->ranked)
    say(plan, "%s of the %d kernels that support this plan%s\n", why->text, why->supporting, why->note);
  else
    say(plan, "%s\n", why->text);
  tdm_cost cost;
  if (!plan->empty && estimate(plan, &cost)) {
    say_estimate(plan, plan->kernel->name, &cost);
    say(plan, "\n");
  }
  if (plan->context->verify)
    say(plan, "verify: %s\n",
        tdm_shadow_applies(plan) ? "each run is repeated on the host by omp, and the results are compared"
                                 : "nothing to compare: this kernel is the oracle");
  say_candidates(plan, all);
}

/* ---- Choice ---- */

static tdm_status take_named(tdm_plan *plan, const tdm_choice *named) {
  char reason[MOST_REASON] = "is not a kernel of this op";
  const tdm_kernel *kernel = tdm_kernel_find(plan->op, named->name, named->name_length);
  plan->tuning = named->tuning;
  plan->source = TDM_NAMED;
  if (kernel == NULL || !supports(plan, kernel, reason, sizeof reason))
    return tdm_fail(TDM_ERROR_UNSUPPORTED, "%s: kernel = '%.*s': %s; built in: %s", plan->title, named->name_length,
                    named->name, reason, tdm_kernels(tdm_op_names[plan->op]));
  plan->kernel = kernel;
  return TDM_OK;
}

/* false: one table has no entry, or the entry's kernel does not support this plan; the explanation says which. */
static bool take_entry(tdm_plan *plan, const tdm_tuned *table, const tdm_tuned_key *key) {
  char text[160], reason[MOST_REASON];
  const tdm_tuned_entry *entry = tdm_tuned_find(table, key);
  if (entry == NULL) {
    say(plan, "not tuned: %s: no entry\n", table->name);
    return false;
  }
  tdm_tuned_print(&entry->key, text, sizeof text);
  plan->tuning = entry->tuning;
  if (!supports(plan, entry->kernel, reason, sizeof reason)) {
    say(plan, "not tuned: %s: line %d: %s for %s: %s\n", table->name, entry->line, entry->kernel->name, text, reason);
    return false;
  }
  plan->kernel = entry->kernel;
  plan->source = TDM_TUNED;
  say(plan, "tuned: %s: line %d: %s\n", table->name, entry->line, text);
  return true;
}

static bool take_tuned(tdm_plan *plan) {
  tdm_tuned_key key;
  if (plan->empty || !tdm_tuned_key_of(plan, &key)) return false;
  if (key.less_aligned != NULL) {
    say(plan, "not tuned: rows of %s begin less aligned than packed ones, for which tables are made\n", key.less_aligned);
    return false;
  }
  for (int i = 0; i < 2; i++)
    if (plan->context->tuned[i] != NULL && take_entry(plan, plan->context->tuned[i], &key)) return true;
  return false;
}

/* Why the most general row of the device's backend, its first, does not support the plan. */
static const char *refusal(const tdm_plan *plan, const candidates *all) {
  for (int i = all->count - 1; i >= 0; i--)
    if (all->of[i].kernel->backend == plan->context->backend) return all->of[i].reason;
  return "this build has no kernel of this op for the device";
}

static tdm_status take_least(tdm_plan *plan, const candidates *all, choice *why) {
  double clocks;
  const candidate *best = least(all, &clocks);
  plan->source = TDM_HEURISTIC;
  plan->tuning = (tdm_tuning){0};
  if (best == NULL)
    return tdm_fail(TDM_ERROR_UNSUPPORTED, "%s: kernel = 'auto': %s; built in: %s", plan->title, refusal(plan, all),
                    tdm_kernels(tdm_op_names[plan->op]));
  plan->kernel = best->kernel;
  *why = (choice){.ranked = true, .text = "the most specialized", .note = ""};
  for (int i = 0; i < all->count; i++) why->supporting += all->of[i].supported;
  if (best->estimated) {
    why->text = "the fastest";
    why->note = best->cost.clocks > clocks ? " (estimated; another is up to 1 % faster)" : " (estimated)";
  }
  return TDM_OK;
}

tdm_status tdm_plan_choose(tdm_plan *plan) {
  candidates all;
  tdm_choice named;
  choice why = {.text = "named by the caller"};
  gather(plan, &all);
  say_device(plan);
  say_key(plan);
  if (tdm_named_kernel(plan->context->kernel, plan->op, &named))
    TDM_TRY(take_named(plan, &named));
  else if (take_tuned(plan))
    why.text = "from the tuned table";
  else
    TDM_TRY(take_least(plan, &all, &why));
  explain(plan, &all, &why);
  return TDM_OK;
}
