/* tandem-check: the command line, the loop over cases, and the count. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "help.h"
#include "options.h"
#include "output.h"
#include "region.h"

typedef struct command {
  case_options options;
  char *teams, *threads, *every, *offset, *always, *chosen;
  int full, huge, cover, trace, list, first_failure;
  const char *op, *shape; /* NULL: all, the standard set */
} command;

enum { MAX_REASONS = 32, SAMPLED_ROWS = 200, COVER_CASES = 8, FEW = 16 };

/* Why cases were not run, or showed nothing. */
typedef struct reasons {
  struct {
    char text[160];
    int64_t cases;
  } of[MAX_REASONS];
  int count;
} reasons;

typedef struct session {
  const command *command;
  check_settings settings;
  const tdm_case *wanted; /* selectors that were given; NULL where the case itself came from the command line */
  int64_t passed, failed, skipped, inconclusive;
  double share; /* of the op under way: the largest error as a share of its bound */
  reasons not_run, nothing_shown;
  uint64_t every, offset, member; /* of a set every so many cases are checked, from this one on; cases met so far */
  uint64_t always, from, met;     /* the same of those that always run */
  char reached[1024];             /* kernels of the op under way that a case ran, each between spaces */
  int cover_left;                 /* passes still wanted of the kernel that is named; -1: no kernel is named */
  int64_t not_here;               /* kernels that --cover could not run, because the device has no place for them */
  bool device_failed;             /* a status other than a refusal has ended the run */
} session;

/* ---- One case ---- */

static void count_reason(reasons *r, const char *text) {
  for (int i = 0; i < r->count; i++)
    if (strncmp(r->of[i].text, text, sizeof r->of[i].text - 1) == 0) {
      r->of[i].cases++;
      return;
    }
  bool last = r->count >= MAX_REASONS - 1;
  int next = last ? MAX_REASONS - 1 : r->count++;
  if (last) r->count = MAX_REASONS;
  snprintf(r->of[next].text, sizeof r->of[next].text, "%.*s", (int)sizeof r->of[next].text - 1, last ? "other reasons" : text);
  r->of[next].cases++;
}

static void print_reasons(const char *what, const reasons *r) {
  for (int i = 0; i < r->count; i++) printf("%s %" PRId64 ": %s\n", what, r->of[i].cases, r->of[i].text);
}

/* The part of the library's messages before the first colon is special to the case. */
static void count_skipped(session *s, const char *reason) {
  s->skipped++;
  count_reason(&s->not_run, strchr(reason, ':') != NULL ? strchr(reason, ':') + 2 : reason);
}

/* A standard case must show something, except with fewer results than FEW: those are there for the sizes. Where a selector
 * replaced a part of every case, or one case was asked for, it is for the user to know. */
static void count_inconclusive(session *s, const tdm_case *c, const check_report *report) {
  const case_options *o = &s->command->options;
  bool standard = s->command->shape == NULL && o->epilogue == NULL && o->settings == NULL && o->seed == NULL;
  char text[1280];
  if (!standard || report->total < FEW) {
    s->inconclusive++;
    count_reason(&s->nothing_shown, report->text);
    return;
  }
  s->failed++;
  check_command(&s->settings, c, text, sizeof text);
  printf("FAILED %s\n  a case of the standard set is inconclusive: %s\n  reproduce: %s\n", c->op->name, report->text, text);
}

static bool was_reached(const session *s, const char *kernel) {
  char word[48];
  snprintf(word, sizeof word, " %s ", kernel);
  return strstr(s->reached, word) != NULL;
}

static void note_reached(session *s, const char *kernel) {
  size_t used = strlen(s->reached);
  if (s->cover_left > 0) s->cover_left--;
  if (!was_reached(s, kernel)) snprintf(s->reached + used, sizeof s->reached - used, "%s%s ", used == 0 ? " " : "", kernel);
}

static void check_pass(session *s, tdm_case c, case_fill fill) {
  check_report report;
  char text[1280];
  c.fill = fill;
  if (s->command->list) {
    check_command(&s->settings, &c, text, sizeof text);
    printf("%s\n", text);
    return;
  }
  check_outcome outcome = check_case(&s->settings, &c, &report);
  if (report.share > s->share) s->share = report.share;
  switch (outcome) {
    case CHECK_PASSED:
      s->passed++;
      note_reached(s, report.kernel);
      return;
    case CHECK_UNSUPPORTED:
      if (s->cover_left < 0) count_skipped(s, report.text); /* while a kernel is covered: not for this kernel, which is well */
      return;
    case CHECK_INCONCLUSIVE:
      note_reached(s, report.kernel);
      count_inconclusive(s, &c, &report);
      return;
    default: break;
  }
  s->failed++;
  check_command(&s->settings, &c, text, sizeof text);
  printf("FAILED %s\n%s\n  reproduce: %s\n", c.op->name, report.text, text);
  fflush(stdout);
}

static bool is_over(const session *s) { return s->command->first_failure && s->failed > 0; }

static void check_passes(session *s, const tdm_case *c) {
  bool exact = c->op->exact != NULL && c->op->exact(c);
  if (exact && !c->fill_given) check_pass(s, *c, CASE_EXACT);
  if (!is_over(s)) check_pass(s, *c, c->fill_given ? c->fill : CASE_REAL);
}

/* Is it the turn of a case of a set? */
static bool is_chosen(session *s, check_kind kind) {
  if (s->cover_left == 0) return false;
  if (kind == CHECK_ALWAYS) return s->met++ % s->always == s->from;
  if (kind == CHECK_STREAMED && strcmp(tdm_context_device(s->settings.context), "host") != 0) return false;
  return s->member++ % s->every == s->offset;
}

/* A case of a standard set, if the selectors leave it in. */
static void check_member(void *user, const tdm_case *member, check_kind kind) {
  session *s = user;
  const case_options *o = &s->command->options;
  tdm_case c = *member;
  char error[512];
  if (o->dtype != NULL && c.type != s->wanted->type) return;
  if (o->layout != NULL && c.layout != s->wanted->layout) return;
  if (is_over(s) || !is_chosen(s, kind)) return;
  case_options rest = *o;
  rest.dtype = rest.layout = NULL;
  if (!case_options_apply(&rest, &c, error, sizeof error)) { /* can't be: run_all applied them to an empty case before */
    s->failed++;
    printf("FAILED %s\n  %s\n", c.op->name, error);
    return;
  }
  check_passes(s, &c);
}

/* ---- Which cases ---- */

static bool usage(const char *message) {
  fprintf(stderr, "tandem-check: %s\n", message);
  return false;
}

static bool open_device(session *s, const char *device, const char *kernel, char *where, size_t size);

/* The library's message. A wrong request is bad usage; a device that fails is a failure. */
static bool refuse(session *s, tdm_status status) {
  s->device_failed = status != TDM_ERROR_ARGUMENT && status != TDM_ERROR_UNSUPPORTED;
  return usage(tdm_last_error());
}

static bool close_device(session *s) {
  tdm_status status = tdm_close(s->settings.context);
  return status == TDM_OK || refuse(s, status);
}

/* Runs the few cases that every kernel gets, by its name; and cases of the set where the kernel takes none of them. A kernel
 * that takes no case of the set either was not checked. */
static bool cover_kernel(session *s, const case_op *op, check_extent extent, const char *kernel) {
  char error[512], where[256];
  check_settings before = s->settings;
  uint64_t every = s->every, offset = s->offset, always = s->always, from = s->from;
  if (!open_device(s, tdm_context_device(before.context), kernel, where, sizeof where)) return false;
  s->every = s->always = 1;
  s->offset = s->from = 0;
  s->cover_left = INT_MAX;
  bool ran = check_set(op, CHECK_KERNEL, check_member, s, error, sizeof error);
  s->cover_left = COVER_CASES;
  if (ran && !s->command->list && !was_reached(s, kernel)) ran = check_set(op, extent, check_member, s, error, sizeof error);
  bool closed = close_device(s);
  s->settings = before;
  s->every = every;
  s->offset = offset;
  s->always = always;
  s->from = from;
  s->cover_left = -1;
  if (!closed) return false;
  if (!ran) return usage(error);
  if (s->command->list || was_reached(s, kernel)) return true;
  s->failed++;
  printf("FAILED %s\n  kernel %s: no case of the set reached it\n", op->name, kernel);
  return true;
}

/* Kernels of the device's backend. One that this device can never run is named. */
static bool cover_kernels(session *s, const case_op *op, check_extent extent) {
  const char *device = tdm_context_device(s->settings.context);
  bool hip = strncmp(device, "hip:", 4) == 0 || strncmp(device, "sim:", 4) == 0;
  char names[1024], *rest = NULL;
  snprintf(names, sizeof names, "%s", tdm_kernels(op->name));
  for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
    tdm_kernel_facts facts;
    if (tdm_kernel_describe(op->name, name, &facts) != TDM_OK) return false;
    if ((strcmp(facts.backend, "hip") == 0) != hip || !check_is_wanted(&s->settings, name) || is_over(s)) continue;
    const char *refused = tdm_kernel_refused(s->settings.context, op->name, name);
    if (refused != NULL && refused[0] != '\0') {
      s->not_here++;
      if (!s->command->list) printf("%-6s %-14s kernel %s can't run here: %s\n", device, op->name, name, refused);
    } else if (!cover_kernel(s, op, extent, name)) {
      return false;
    }
  }
  return true;
}

/* ---- Cases about memory ---- */

typedef struct memory_cases {
  session *s;
  const char *kernel; /* of the context that is open */
  char where[256];
  check_settings before;
  bool well;
} memory_cases;

static void close_named(memory_cases *m) {
  if (m->kernel != NULL && !close_device(m->s)) m->well = false;
  m->s->settings = m->before;
  m->kernel = NULL;
}

static void check_named_case(void *user, const char *kernel, const tdm_case *c) {
  memory_cases *m = user;
  session *s = m->s;
  const char *only = s->command->options.kernel;
  if (!m->well || (only != NULL && kernel != NULL && strcmp(only, kernel) != 0)) return;
  if (only != NULL) kernel = NULL; /* the session's context has it */
  if ((kernel == NULL) != (m->kernel == NULL) || (kernel != NULL && strcmp(kernel, m->kernel) != 0)) {
    close_named(m);
    if (m->well && kernel != NULL)
      m->well = open_device(s, tdm_context_device(m->before.context), kernel, m->where, sizeof m->where);
    if (m->well) m->kernel = kernel;
  }
  if (m->well) check_member(s, c, CHECK_ALWAYS);
}

/* In addition to the set, whatever --every says; --always M takes every M-th. */
static bool run_memory_set(session *s, const case_op *op) {
  char error[512];
  const char *device = tdm_context_device(s->settings.context);
  bool hip = strncmp(device, "hip:", 4) == 0 || strncmp(device, "sim:", 4) == 0;
  memory_cases m = {.s = s, .before = s->settings, .well = true};
  bool made = check_memory_set(op, hip, check_named_case, &m, error, sizeof error);
  close_named(&m);
  return made ? m.well : usage(error);
}

static bool run_set(session *s, const case_op *op) {
  char error[512];
  tdm_case wanted = case_default(op);
  check_extent extent = s->command->huge ? CHECK_HUGE : s->command->full ? CHECK_FULL : CHECK_PAIRS;
  if (!case_options_apply(&s->command->options, &wanted, error, sizeof error)) return usage(error);
  s->wanted = &wanted;
  s->share = 0;
  int64_t before[] = {s->passed, s->failed, s->skipped, s->inconclusive};
  s->reached[0] = '\0';
  s->member = 0;
  if (!check_set(op, extent, check_member, s, error, sizeof error)) return usage(error);
  if (s->command->cover && !cover_kernels(s, op, extent)) return false;
  if (extent != CHECK_HUGE && !run_memory_set(s, op)) return false;
  if (s->command->list) return true;
  printf("%-6s %-14s %6" PRId64 " passed %6" PRId64 " failed %6" PRId64 " skipped", tdm_context_device(s->settings.context),
         op->name, s->passed - before[0], s->failed - before[1], s->skipped - before[2]);
  if (s->inconclusive > before[3]) printf(" %6" PRId64 " inconclusive", s->inconclusive - before[3]);
  printf("   largest f32 error: %.2f of its bound\n", s->share);
  fflush(stdout);
  return true;
}

/* The case of the command line. A description that the library refuses is bad usage, not a failure. */
static bool run_one(session *s, const case_op *op) {
  char error[512];
  tdm_case c = case_default(op);
  tdm_plan *plan;
  if (!case_parse_shape(&c, s->command->shape, error, sizeof error)) return usage(error);
  if (!case_options_apply(&s->command->options, &c, error, sizeof error)) return usage(error);
  tdm_status status = op->plan(s->settings.context, &c, &plan);
  if (status == TDM_ERROR_ARGUMENT) return usage(tdm_last_error());
  if (status == TDM_OK) {
    bool can = case_can_check(&c, error, sizeof error);
    if (can) printf("%s", tdm_plan_explain(plan));
    status = tdm_plan_free(plan);
    if (!can) return usage(error);
  }
  if (status != TDM_OK && status != TDM_ERROR_UNSUPPORTED) return refuse(s, status);
  check_passes(s, &c);
  printf("largest f32 error: %.2f of its bound\n", s->share);
  return true;
}

static bool run_on_device(session *s) {
  const command *k = s->command;
  char error[512];
  const case_op *op = k->op == NULL ? NULL : case_find_op(k->op);
  if (op != NULL) return k->shape != NULL ? run_one(s, op) : run_set(s, op);
  if (!case_options_for_all(&k->options, error, sizeof error)) return usage(error);
  for (int i = 0; case_ops[i] != NULL; i++)
    if (!is_over(s) && !run_set(s, case_ops[i])) return false;
  return true;
}

/* ---- Devices ---- */

static bool open_device(session *s, const char *device, const char *kernel, char *where, size_t size) {
  const command *k = s->command;
  char error[256];
  uint64_t teams = 0, threads = 0;
  if (k->teams != NULL && !case_parse_number("--teams", k->teams, 1, 1 << 20, &teams, error, sizeof error)) return usage(error);
  if (k->threads != NULL && !case_parse_number("--threads", k->threads, 1, 1024, &threads, error, sizeof error))
    return usage(error);
  tdm_options options = {
      .backend = k->options.backend, .device = device, .kernel = kernel, .teams = (int)teams, .threads = (int)threads};
  tdm_status status = tdm_open(&options, &s->settings.context);
  if (status != TDM_OK) return refuse(s, status);
  size_t used = (size_t)snprintf(where, size, " --device %s", tdm_context_device(s->settings.context));
  if (kernel != NULL && used < size) used += (size_t)snprintf(where + used, size - used, " --kernel %s", kernel);
  if (teams > 0 && used < size) used += (size_t)snprintf(where + used, size - used, " --teams %" PRIu64, teams);
  if (threads > 0 && used < size) snprintf(where + used, size - used, " --threads %" PRIu64, threads);
  s->settings.where = where;
  return true;
}

static bool run_devices(session *s) {
  case_devices devices;
  char error[512], where[256];
  if (!case_options_devices(&s->command->options, &devices, error, sizeof error)) return usage(error);
  for (int i = 0; i < devices.count && !is_over(s); i++) {
    if (!open_device(s, devices.name[i], s->command->options.kernel, where, sizeof where)) return false;
    bool ran = run_on_device(s);
    bool closed = close_device(s);
    if (!ran || !closed) return false;
  }
  return true;
}

/* ---- Command line ---- */

static bool check_chosen(const command *k) {
  char names[1024], error[1024], *rest = NULL;
  if (k->op == NULL || k->shape != NULL) return usage("--chosen chooses from an op's set: there must be an OP and no SHAPE");
  check_settings kernels = {.chosen = tdm_kernels(k->op)};
  if ((size_t)snprintf(names, sizeof names, "%s", k->chosen) >= sizeof names) return usage("--chosen: too long");
  for (char *name = strtok_r(names, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
    if (!check_is_wanted(&kernels, name)) {
      snprintf(error, sizeof error, "--chosen: '%s' is not a kernel of %s: must be of %s", name, k->op, kernels.chosen);
      return usage(error);
    }
  return true;
}

static bool check_operands(command *k, const char *const *operands, int count) {
  char error[512];
  k->op = count > 0 ? operands[0] : NULL;
  k->shape = count > 1 ? operands[1] : NULL;
  if (k->op != NULL && case_find_op(k->op) == NULL) {
    snprintf(error, sizeof error, "op = '%s': must be one of %s", k->op, case_op_list());
    return usage(error);
  }
  if (k->cover && (k->shape != NULL || k->options.kernel != NULL))
    return usage("--cover is for a set and all of its kernels: there must be no SHAPE and no --kernel beside it");
  if (k->chosen != NULL && !check_chosen(k)) return false;
  if (k->full && k->huge) return usage("--full with --huge: must be one of them");
  const char *of_set = k->full ? "--full" : k->huge ? "--huge" : k->list ? "--list" : k->every != NULL ? "--every" : NULL;
  if (k->shape != NULL && of_set != NULL) {
    snprintf(error, sizeof error, "%s with SHAPE = '%.200s': is for a set: there must be no SHAPE beside it", of_set, k->shape);
    return usage(error);
  }
  if (k->offset != NULL && k->every == NULL) return usage("--offset counts within --every: there must be one beside it");
  if (k->always != NULL && k->every == NULL) return usage("--always is for a part of a set: there must be --every beside it");
  return true;
}

static int finish(const session *s) {
  if (s->command->list) return EXIT_PASSED;
  print_reasons("skipped", &s->not_run);
  print_reasons("inconclusive", &s->nothing_shown);
  printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped", s->passed, s->failed, s->skipped);
  if (s->inconclusive > 0) printf(", %" PRId64 " inconclusive", s->inconclusive);
  if (s->not_here > 0) printf(", %" PRId64 " kernels not for this device", s->not_here);
  printf("\n");
  if (s->failed > 0) return EXIT_FAILED;
  return s->passed > 0 ? EXIT_PASSED : EXIT_NOTHING_RUN;
}

static void print_help(FILE *out, const char *op) {
  fprintf(out,
          "\nWith OP and SHAPE one case is checked, with OP alone its standard set, without\nboth the standard sets of all "
          "ops.\n");
  help_shapes(out, op);
  help_settings(out, op, false);
  help_devices(out);
  help_exit_status(out);
}

static bool read_command(command *k, poptContext popt, int argc, const char **argv) {
  const char *operands[2];
  char error[512];
  int count;
  const char *trace = getenv("TANDEM_CHECK_TRACE");
  if (trace != NULL && trace[0] != '\0' && strcmp(trace, "0") != 0 && strcmp(trace, "1") != 0) {
    snprintf(error, sizeof error, "TANDEM_CHECK_TRACE = '%s': must be 0 or 1", trace);
    return usage(error);
  }
  k->trace |= trace != NULL && trace[0] == '1';
  poptSetOtherOptionHelp(popt, "[OP] [SHAPE] [OPTION...]");
  if (!case_given_once(argc, argv, error, sizeof error)) return usage(error);
  if (!case_read_command_line(popt, operands, 2, &count, error, sizeof error)) return usage(error);
  return check_operands(k, operands, count);
}

/* A part of a set says which one it is, so that another run can repeat it. */
static bool read_every(session *s) {
  char error[512];
  const command *k = s->command;
  if (k->every == NULL) return true;
  if (!case_parse_number("--every", k->every, 1, 1 << 20, &s->every, error, sizeof error) ||
      (k->always != NULL && !case_parse_number("--always", k->always, 1, 1 << 20, &s->always, error, sizeof error)) ||
      (k->offset != NULL && !case_parse_number("--offset", k->offset, 0, UINT32_MAX, &s->offset, error, sizeof error)))
    return usage(error);
  s->from = s->offset % s->always;
  s->offset %= s->every;
  if (k->list) return true;
  printf("part: --every %" PRIu64 " --offset %" PRIu64, s->every, s->offset);
  if (s->always == 1)
    printf(", and the cases that always run\n");
  else
    printf(", and one of %" PRIu64 " of the cases that always run, from case %" PRIu64 " on\n", s->always, s->from);
  return true;
}

int main(int argc, const char **argv) {
  output_begin("tandem-check");
  command k = {0};
  struct poptOption rows[CASE_OPTION_ROWS], help[HELP_ROWS];
  case_options_table(&k.options, rows);
  help_table(help, print_help);
  const struct poptOption table[] = {
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, rows, 0,
       "Case (without SHAPE --dtype and --layout select cases of the set; the others replace that part of every case):", NULL},
      {"teams", '\0', POPT_ARG_STRING, &k.teams, 0, "OpenMP teams of every launch; default: chosen by the kernel", "N"},
      {"threads", '\0', POPT_ARG_STRING, &k.threads, 0, "OpenMP threads of every team; default: chosen by the kernel", "N"},
      {"full", '\0', POPT_ARG_NONE, &k.full, 0, "All combinations instead of all pairs: hours", NULL},
      {"huge", '\0', POPT_ARG_NONE, &k.huge, 0, "Arrays of more than 2^31 elements: minutes, and 18 GiB of memory or more",
       NULL},
      {"cover", '\0', POPT_ARG_NONE, &k.cover, 0,
       "Also check, by name, each kernel of the device that no case of the set chose", NULL},
      {"every", '\0', POPT_ARG_STRING, &k.every, 0, "Check every N-th case of a set, and the few that always run; default 1",
       "N"},
      {"always", '\0', POPT_ARG_STRING, &k.always, 0, "With --every: of the cases that always run check every M-th; default 1",
       "M"},
      {"offset", '\0', POPT_ARG_STRING, &k.offset, 0,
       "Begin --every with case K modulo N, and --always with case K modulo M; default 0", "K"},
      {"list", '\0', POPT_ARG_NONE, &k.list, 0, "Print the command of each case, and run none", NULL},
      {"chosen", '\0', POPT_ARG_STRING, &k.chosen, 0,
       "Run only cases for which the dispatcher chooses one of these kernels; others are skipped", "NAME,NAME"},
      {"first-failure", '\0', POPT_ARG_NONE, &k.first_failure, 0, "Stop at the first case that fails", NULL},
      {"trace", '\0', POPT_ARG_NONE, &k.trace, 0, "Print each case before its launch (TANDEM_CHECK_TRACE=1 does the same)",
       NULL},
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, help, 0, "Help:", NULL},
      POPT_TABLEEND};
  poptContext popt = poptGetContext("tandem-check", argc, argv, table, 0);
  session s = {.command = &k, .every = 1, .always = 1, .cover_left = -1};
  int code = EXIT_USAGE;
  check_catch_crashes();
  if (popt != NULL && read_command(&k, popt, argc, argv)) {
    s.settings.trace = k.trace;
    s.settings.chosen = k.chosen;
    s.settings.sampled_rows = k.huge ? SAMPLED_ROWS : 0;
    if (read_every(&s) && run_devices(&s))
      code = finish(&s);
    else if (s.device_failed)
      code = EXIT_FAILED;
  }
  poptFreeContext(popt);
  case_options_free(&k.options);
  free(k.teams);
  free(k.threads);
  free(k.every);
  free(k.offset);
  free(k.always);
  free(k.chosen);
  return code;
}
