/* tandem-check: the command line, the loop over cases, and the count. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "options.h"

typedef struct command {
  case_options options;
  char *teams, *threads;
  int full, huge, trace;
  const char *op, *shape; /* NULL: all, the standard set */
} command;

/* One reason for which cases were not run. */
typedef struct skip_reason {
  char text[160];
  int64_t count;
} skip_reason;

enum { MAX_REASONS = 32, SAMPLED_ROWS = 200 };

typedef struct session {
  const command *command;
  check_settings settings;
  const tdm_case *wanted; /* selectors that were given; NULL where the case itself came from the command line */
  int64_t passed, failed, skipped;
  double share; /* of the op under way: the largest error as a share of its bound */
  skip_reason reasons[MAX_REASONS];
  int reason_count;
} session;

/* ---- One case ---- */

static void count_skipped(session *s, const char *reason) {
  s->skipped++;
  /* What is special to a case stands in front of the first colon of the library's messages. */
  const char *text = strchr(reason, ':') != NULL ? strchr(reason, ':') + 2 : reason;
  for (int i = 0; i < s->reason_count; i++)
    if (strncmp(s->reasons[i].text, text, sizeof s->reasons[i].text - 1) == 0) {
      s->reasons[i].count++;
      return;
    }
  skip_reason *next = &s->reasons[s->reason_count < MAX_REASONS ? s->reason_count++ : MAX_REASONS - 1];
  snprintf(next->text, sizeof next->text, "%.*s", (int)sizeof next->text - 1, text);
  next->count++;
}

static void check_pass(session *s, tdm_case c, case_fill fill) {
  check_report report;
  c.fill = fill;
  check_outcome outcome = check_case(&s->settings, &c, &report);
  if (report.share > s->share) s->share = report.share;
  switch (outcome) {
    case CHECK_PASSED: s->passed++; return;
    case CHECK_UNSUPPORTED: count_skipped(s, report.text); return;
    default: break;
  }
  char text[1280];
  s->failed++;
  check_command(&s->settings, &c, text, sizeof text);
  printf("FAILED %s\n%s\n  reproduce: %s\n", c.op->name, report.text, text);
  fflush(stdout);
}

static void check_passes(session *s, const tdm_case *c) {
  bool exact = c->op->exact != NULL && c->op->exact(c);
  if (exact && !c->fill_given) check_pass(s, *c, CASE_EXACT);
  check_pass(s, *c, c->fill_given ? c->fill : CASE_REAL);
}

/* A case of a standard set, if the selectors leave it in. */
static void check_member(void *user, const tdm_case *member) {
  session *s = user;
  const case_options *o = &s->command->options;
  tdm_case c = *member;
  char error[512];
  if (o->dtype != NULL && c.type != s->wanted->type) return;
  if (o->layout != NULL && c.layout != s->wanted->layout) return;
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

static bool run_set(session *s, const case_op *op) {
  char error[512];
  tdm_case wanted = case_default(op);
  check_extent extent = s->command->huge ? CHECK_HUGE : s->command->full ? CHECK_FULL : CHECK_PAIRS;
  if (!case_options_apply(&s->command->options, &wanted, error, sizeof error)) return usage(error);
  s->wanted = &wanted;
  s->share = 0;
  int64_t before[] = {s->passed, s->failed, s->skipped};
  if (!check_set(op, extent, check_member, s, error, sizeof error)) return usage(error);
  printf("%-6s %-14s %6" PRId64 " passed %6" PRId64 " failed %6" PRId64 " skipped   largest f32 error: %.2f of its bound\n",
         tdm_context_device(s->settings.context), op->name, s->passed - before[0], s->failed - before[1],
         s->skipped - before[2], s->share);
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
    printf("%s", tdm_plan_explain(plan));
    tdm_plan_free(plan);
  }
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
    if (!run_set(s, case_ops[i])) return false;
  return true;
}

/* ---- Devices ---- */

static bool open_device(session *s, const char *device, char *where, size_t size) {
  const command *k = s->command;
  char error[256];
  uint64_t teams = 0, threads = 0;
  if (k->teams != NULL && !case_parse_number("--teams", k->teams, 1, 1 << 20, &teams, error, sizeof error)) return usage(error);
  if (k->threads != NULL && !case_parse_number("--threads", k->threads, 1, 1024, &threads, error, sizeof error))
    return usage(error);
  tdm_options options = {.backend = k->options.backend,
                         .device = device,
                         .kernel = k->options.kernel,
                         .teams = (int)teams,
                         .threads = (int)threads};
  if (tdm_open(&options, &s->settings.context) != TDM_OK) return usage(tdm_last_error());
  size_t used = (size_t)snprintf(where, size, " --device %s", tdm_context_device(s->settings.context));
  if (k->options.kernel != NULL && used < size)
    used += (size_t)snprintf(where + used, size - used, " --kernel %s", k->options.kernel);
  if (teams > 0 && used < size) used += (size_t)snprintf(where + used, size - used, " --teams %" PRIu64, teams);
  if (threads > 0 && used < size) snprintf(where + used, size - used, " --threads %" PRIu64, threads);
  s->settings.where = where;
  return true;
}

static bool run_devices(session *s) {
  case_devices devices;
  char error[512], where[256];
  if (!case_options_devices(&s->command->options, &devices, error, sizeof error)) return usage(error);
  for (int i = 0; i < devices.count; i++) {
    if (!open_device(s, devices.name[i], where, sizeof where)) return false;
    bool ran = run_on_device(s);
    tdm_close(s->settings.context);
    if (!ran) return false;
  }
  return true;
}

/* ---- Command line ---- */

static bool check_operands(command *k, const char *const *operands, int count) {
  char error[512];
  k->op = count > 0 ? operands[0] : NULL;
  k->shape = count > 1 ? operands[1] : NULL;
  if (k->op != NULL && case_find_op(k->op) == NULL) {
    snprintf(error, sizeof error, "op = '%s': must be one of %s", k->op, case_op_list());
    return usage(error);
  }
  if (k->full && k->huge) return usage("--full with --huge: must be one of them");
  if (k->shape != NULL && (k->full || k->huge))
    return usage("--full and --huge choose a set: there must be no SHAPE beside them");
  return true;
}

static int finish(const session *s) {
  for (int i = 0; i < s->reason_count; i++) printf("skipped %" PRId64 ": %s\n", s->reasons[i].count, s->reasons[i].text);
  printf("%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", s->passed, s->failed, s->skipped);
  if (s->failed > 0) return EXIT_FAILED;
  return s->passed > 0 ? EXIT_PASSED : EXIT_NOTHING_RUN;
}

static bool read_command(command *k, poptContext popt) {
  const char *operands[2];
  char error[512];
  int count;
  const char *trace = getenv("TANDEM_CHECK_TRACE");
  if (trace != NULL && trace[0] != '\0' && strcmp(trace, "0") != 0 && strcmp(trace, "1") != 0) {
    snprintf(error, sizeof error, "TANDEM_CHECK_TRACE = '%s': must be 0 or 1", trace);
    return usage(error);
  }
  k->trace |= trace != NULL && trace[0] == '1';
  poptSetOtherOptionHelp(popt, "[OPTION...] [OP] [SHAPE]\nno SHAPE: the op's standard set; no OP: all ops");
  if (!case_read_command_line(popt, operands, 2, &count, error, sizeof error)) return usage(error);
  return check_operands(k, operands, count);
}

int main(int argc, const char **argv) {
  command k = {0};
  struct poptOption rows[CASE_OPTION_ROWS];
  case_options_table(&k.options, rows);
  const struct poptOption table[] = {
      {NULL, '\0', POPT_ARG_INCLUDE_TABLE, rows, 0,
       "Case; without SHAPE, --dtype and --layout leave in what has them, the others replace that part of every case:", NULL},
      {"teams", '\0', POPT_ARG_STRING, &k.teams, 0, "OpenMP teams of every launch", "N"},
      {"threads", '\0', POPT_ARG_STRING, &k.threads, 0, "OpenMP threads of every team", "N"},
      {"full", '\0', POPT_ARG_NONE, &k.full, 0, "All combinations instead of all pairs: hours", NULL},
      {"huge", '\0', POPT_ARG_NONE, &k.huge, 0, "Arrays of more than 2^31 elements: minutes, and 18 GiB of memory or more",
       NULL},
      {"trace", '\0', POPT_ARG_NONE, &k.trace, 0, "Say each case before its launch (TANDEM_CHECK_TRACE=1 does the same)", NULL},
      POPT_AUTOHELP POPT_TABLEEND};
  poptContext popt = poptGetContext("tandem-check", argc, argv, table, 0);
  session s = {.command = &k};
  int code = EXIT_USAGE;
  check_catch_crashes();
  if (popt != NULL && read_command(&k, popt)) {
    s.settings.trace = k.trace;
    s.settings.sampled_rows = k.huge ? SAMPLED_ROWS : 0;
    if (run_devices(&s)) code = finish(&s);
  }
  poptFreeContext(popt);
  case_options_free(&k.options);
  free(k.teams);
  free(k.threads);
  return code;
}
