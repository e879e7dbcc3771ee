/* Checks one case: two runs into poisoned outputs, every element against the f64 reference. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "check.h"

typedef struct checking {
  const check_settings *settings;
  const tdm_case *c;
  check_report *report;
  check_buffers buffers;
  tdm_plan *plan;
  char command[1280]; /* that repeats the case */
} checking;

static check_outcome say(check_report *r, check_outcome outcome, const char *format, ...) __attribute__((format(printf, 3, 4)));
static check_outcome say(check_report *r, check_outcome outcome, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(r->text, sizeof r->text, format, args);
  va_end(args);
  return r->outcome = outcome;
}

void check_command(const check_settings *settings, const tdm_case *c, char *text, size_t size) {
  char arguments[1024];
  case_print(c, arguments, sizeof arguments);
  snprintf(text, size, "tandem-check %s%s", arguments, settings->where);
}

static void announce(checking *k) {
  check_command(k->settings, k->c, k->command, sizeof k->command);
  if (k->settings->trace) fprintf(stderr, "%s\n", k->command);
}

/* ---- Comparison ---- */

/* "[2, 3, 17]": the index of an element in each dimension. */
static void index_text(const case_array *a, int64_t row, int64_t column, char *text, size_t size) {
  int64_t index[4] = {0};
  for (int i = a->rank - 2; i >= 0 && row > 0; i--) {
    index[i] = row % a->dim[i];
    row /= a->dim[i];
  }
  index[a->rank - 1] = column;
  size_t used = (size_t)snprintf(text, size, "[");
  for (int i = 0; i < a->rank && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%" PRId64 "%s", index[i], i < a->rank - 1 ? ", " : "]");
}

static void locate(check_report *r, const case_array *a, int64_t row, int64_t column) {
  snprintf(r->array, sizeof r->array, "%s", a->name);
  r->row = row;
  r->column = column;
}

/* The row that an offset (in elements) belongs to: the last one that begins in front of it. */
static int64_t row_at(const case_array *a, int64_t offset) {
  int64_t found = 0;
  for (int64_t row = 0; row < case_rows(a); row++) {
    int64_t begin = case_row_offset(a, row);
    if (begin <= offset && begin >= case_row_offset(a, found)) found = row;
  }
  return found;
}

/* The first wrong element of an output. */
typedef struct first_wrong {
  int64_t row, column;
  double got, value, bound;
  bool untouched;
} first_wrong;

typedef struct tally {
  int64_t rows, total, wrong, zero, nan;
  double share;
} tally;

static void compare_row(const check_buffer *b, int64_t row, const double *value, const double *bound, tally *t,
                        first_wrong *first) {
  const case_array *a = &b->array;
  int64_t start = case_row_offset(a, row);
  t->rows++;
  for (int64_t i = 0; i < a->dim[a->rank - 1]; i++) {
    double got = case_get(b->after + b->begin, start + i, a->element);
    bool untouched = !b->shared && !a->input && check_is_poison(b, b->after, start + i);
    t->total++;
    t->zero += value[i] == 0;
    t->nan += isnan(value[i]);
    double allowed = bound[i] + fabs(value[i]) * 0x1p-24;
    if (a->element == CASE_F32 && isfinite(got - value[i]) && allowed > 0)
      t->share = fmax(t->share, fabs(got - value[i]) / allowed);
    if (!untouched && case_accepts(got, value[i], bound[i], a->element)) continue;
    if (t->wrong++ == 0) *first = (first_wrong){row, i, got, value[i], bound[i], untouched};
  }
}

static check_outcome compare_output(const checking *k, int output, tally *seen) {
  const check_buffer *b = &k->buffers.buffer[output];
  const case_array *a = &b->array;
  if (case_array_bytes(a) == 0) return CHECK_PASSED;
  int64_t rows = case_rows(a), length = a->dim[a->rank - 1], wanted = k->settings->sampled_rows;
  int64_t step = wanted > 0 && rows > wanted ? rows / wanted : 1;
  case_array arrays[CASE_MAX_ARRAYS];
  const void *inputs[CASE_MAX_ARRAYS];
  for (int i = 0; i < k->buffers.count; i++) arrays[i] = k->buffers.buffer[i].array;
  check_host_inputs(&k->buffers, inputs);
  double *value = calloc((size_t)length, 2 * sizeof *value);
  if (value == NULL) return say(k->report, CHECK_REFUSED, "no host memory for a row of %" PRId64 " reference values", length);
  tally t = {0};
  first_wrong first;
  for (int64_t at = 0; at < rows; at += step) {
    int64_t row = at + step < rows ? at : rows - 1; /* the last one is always among them */
    k->c->op->reference(k->c, arrays, inputs, output, row, value, value + length);
    compare_row(b, row, value, value + length, &t, &first);
  }
  free(value);
  k->report->share = fmax(k->report->share, t.share);
  seen->rows += t.rows;
  seen->total += t.total;
  seen->zero += t.zero;
  seen->nan += t.nan;
  if (t.wrong == 0) return CHECK_PASSED;
  char index[96];
  index_text(a, first.row, first.column, index, sizeof index);
  locate(k->report, a, first.row, first.column);
  k->report->wrong = t.wrong;
  k->report->total = t.total;
  return say(k->report, CHECK_WRONG,
             "  %s%s = %.9g%s\n  expected %.9g, allowed difference %.3g before its rounding\n"
             "  %" PRId64 " of %" PRId64 " compared elements are wrong, this is the first",
             a->name, index, first.got, first.untouched ? " (never written)" : "", first.value, first.bound, t.wrong, t.total);
}

/* What makes a product's results 0 whatever the kernel does; "" where the data alone did. */
static const char *why_zero(const tdm_case *c) {
  if (c->alpha == 0) return ", because alpha is 0";
  for (int i = 0; i < c->epilogue_steps; i++)
    if (c->epilogue[i].op == TDM_SCALE && c->epilogue[i].value == 0) return ", because the epilogue scales by 0";
  return "";
}

static check_outcome compare_outputs(const checking *k, tally *seen) {
  for (int i = 0; i < k->buffers.count; i++) {
    const case_array *a = &k->buffers.buffer[i].array;
    if (!a->used || !a->output) continue;
    check_outcome outcome = compare_output(k, i, seen);
    if (outcome != CHECK_PASSED) return outcome;
  }
  return CHECK_PASSED;
}

/* Everything was right, but would a wrong kernel have been noticed? Not where nearly all expected values are 0,
 * or NaN. Without inputs (K = 0, no keys) zeros are what the op promises. */
static check_outcome judge(const checking *k, const tally *seen) {
  for (int i = 0; i < k->buffers.count; i++) {
    const case_array *a = &k->buffers.buffer[i].array;
    if (a->used && a->input && case_array_bytes(a) == 0) return CHECK_PASSED;
  }
  bool zeros = seen->zero >= seen->nan;
  int64_t same = zeros ? seen->zero : seen->nan, others = seen->total - same;
  k->report->total = seen->total;
  if (seen->total == 0 || others * 1000 >= seen->total || others >= seen->rows) return CHECK_PASSED;
  return say(k->report, CHECK_INCONCLUSIVE,
             "%" PRId64 " of %" PRId64 " expected values are %s%s: a wrong kernel may give them too", same, seen->total,
             zeros ? "0" : "NaN", zeros ? why_zero(k->c) : "");
}

/* ---- Memory ---- */

static check_outcome check_untouched(const checking *k) {
  char index[96];
  int64_t offset;
  for (int i = 0; i < k->buffers.count; i++) {
    const check_buffer *b = &k->buffers.buffer[i];
    bool replaced = false;
    for (int j = 0; j < k->buffers.count; j++)
      replaced |= k->buffers.buffer[j].shared && k->buffers.buffer[j].array.same_as == i;
    if (!b->array.used || replaced) continue;
    bool is_input = !b->array.output;
    if (is_input ? !check_find_difference(b, b->before, b->after, &offset) : !check_find_outside(b, &offset)) continue;
    int64_t row = row_at(&b->array, offset), column = offset - case_row_offset(&b->array, row);
    locate(k->report, &b->array, row, column);
    index_text(&b->array, row, column, index, sizeof index);
    return is_input ? say(k->report, CHECK_INPUT, "  input %s%s was changed", b->array.name, index)
                    : say(k->report, CHECK_OUTSIDE, "  memory outside of %s was written: %s%s, rows have %" PRId64 " elements",
                          b->array.name, b->array.name, index, b->array.dim[b->array.rank - 1]);
  }
  return CHECK_PASSED;
}

/* ---- Runs ---- */

/* In both places every case runs once. */
static check_outcome run(checking *k, check_place place) {
  void *pointers[CASE_MAX_ARRAYS];
  if (!check_buffers_place(&k->buffers, place))
    return say(k->report, CHECK_REFUSED, "  no host memory for the places of the arrays");
  if (!check_buffers_upload(&k->buffers)) return say(k->report, CHECK_REFUSED, "  %s", tdm_last_error());
  check_device_pointers(&k->buffers, pointers);
  check_crash_command(k->c->op->name, k->command);
  check_buffers_enter(&k->buffers);
  tdm_status status = case_run(k->c, k->plan, pointers, NULL);
  if (status == TDM_OK) status = tdm_stream_sync(k->settings->context, NULL);
  check_buffers_leave(&k->buffers);
  check_crash_command(NULL, NULL);
  if (status == TDM_OK) return CHECK_PASSED;
  return say(k->report, status == TDM_ERROR_UNSUPPORTED ? CHECK_UNSUPPORTED : CHECK_REFUSED, "  %s", tdm_last_error());
}

/* After the second run: what is in buffer i must be what was there after the first one. */
static check_outcome compare_second_run(const checking *k, int i) {
  const check_buffer *b = &k->buffers.buffer[i];
  const case_array *named = &b->array;
  int64_t offset;
  for (int j = 0; j < k->buffers.count; j++) /* it holds the output that took an input's place */
    if (k->buffers.buffer[j].shared && k->buffers.buffer[j].array.same_as == i) named = &k->buffers.buffer[j].array;
  if (!check_buffer_download(&k->buffers, b, b->before)) return say(k->report, CHECK_REFUSED, "  %s", tdm_last_error());
  if (!check_find_difference(b, b->after, b->before, &offset)) return CHECK_PASSED;
  char index[96];
  int64_t row = row_at(named, offset), column = offset - case_row_offset(named, row);
  locate(k->report, named, row, column);
  index_text(named, row, column, index, sizeof index);
  return named->output ? say(k->report, CHECK_UNSTABLE, "  a second run gave other bits, first at %s%s", named->name, index)
                       : say(k->report, CHECK_INPUT, "  input %s%s was changed by a second run", named->name, index);
}

static check_outcome run_twice(checking *k) {
  tally seen = {0};
  check_outcome outcome = run(k, CHECK_FRONT);
  for (int i = 0; i < k->buffers.count && outcome == CHECK_PASSED; i++) {
    const check_buffer *b = &k->buffers.buffer[i];
    if (b->array.used && !b->shared && !check_buffer_download(&k->buffers, b, b->after))
      outcome = say(k->report, CHECK_REFUSED, "  %s", tdm_last_error());
  }
  if (outcome == CHECK_PASSED) outcome = compare_outputs(k, &seen);
  if (outcome == CHECK_PASSED) outcome = check_untouched(k);
  if (outcome == CHECK_PASSED) outcome = run(k, CHECK_BACK);
  for (int i = 0; i < k->buffers.count && outcome == CHECK_PASSED; i++)
    if (k->buffers.buffer[i].array.used && !k->buffers.buffer[i].shared) outcome = compare_second_run(k, i);
  return outcome == CHECK_PASSED ? judge(k, &seen) : outcome;
}

/* Bytes that the host can give without swapping; infinite where it does not say. */
static double available_memory(void) {
  char line[128];
  double kilobytes = (double)INFINITY;
  FILE *file = fopen("/proc/meminfo", "r");
  if (file == NULL) return kilobytes;
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "MemAvailable: %lf kB", &kilobytes) == 1) break;
  fclose(file);
  return kilobytes * 1024;
}

/* A host that lacks the memory would end the process, not refuse it: of each array the device's and two host images. Only
 * --huge has cases that large. */
static bool fits(const check_settings *settings, const tdm_case *c, check_report *report) {
  case_array arrays[CASE_MAX_ARRAYS];
  double needed = 0, available = available_memory();
  for (int count = c->op->arrays(c, arrays), i = 0; i < count; i++)
    needed += arrays[i].used && arrays[i].same_as < 0 ? 3 * check_image_memory(&arrays[i]) : 0;
  if (settings->sampled_rows == 0 || needed <= available) return true;
  say(report, CHECK_UNSUPPORTED, "memory: a case of --huge needs %.0f GiB, %.0f are available", ceil(needed / 0x1p30),
      floor(available / 0x1p30));
  return false;
}

/* Runs that are verified copy whole arrays, the gaps of sparse ones too. */
static bool verified_sparse(const tdm_case *c) {
  case_array arrays[CASE_MAX_ARRAYS];
  const char *verify = getenv("TANDEM_VERIFY");
  if (verify == NULL || strcmp(verify, "1") != 0) return false;
  for (int count = c->op->arrays(c, arrays), i = 0; i < count; i++)
    if (arrays[i].used && check_is_sparse(&arrays[i])) return true;
  return false;
}

static check_outcome check_planned(checking *k) {
  char text[512];
  if (!fits(k->settings, k->c, k->report)) return CHECK_UNSUPPORTED;
  check_bounds bounds = check_bounds_of(k->settings->context, k->settings->canaries);
  switch (check_buffers_open(&k->buffers, k->settings->context, bounds, k->c, text, sizeof text)) {
    case CHECK_OPENED: return run_twice(k);
    case CHECK_NO_MEMORY:
      return say(k->report, CHECK_UNSUPPORTED, "memory: the device has none for an array of rows far apart, gaps included");
    case CHECK_NOT_OPENED: break;
  }
  return say(k->report, CHECK_REFUSED, "  no memory for the arrays: %s", text);
}

bool check_is_wanted(const check_settings *settings, const char *kernel) {
  size_t length = strlen(kernel);
  if (settings->chosen == NULL) return true;
  for (const char *at = settings->chosen; *at != '\0'; at += strcspn(at, " ,"), at += *at != '\0')
    if (strcspn(at, " ,") == length && strncmp(at, kernel, length) == 0) return true;
  return false;
}

check_outcome check_case(const check_settings *settings, const tdm_case *c, check_report *report) {
  *report = (check_report){0};
  tdm_case own = *c;
  checking k = {.settings = settings, .c = &own, .report = report};
  announce(&k);
  check_crash_command(c->op->name, k.command);
  tdm_status status = verified_sparse(c) ? TDM_OK : c->op->plan(settings->context, c, &k.plan);
  check_crash_command(NULL, NULL);
  if (status != TDM_OK)
    return say(report, status == TDM_ERROR_UNSUPPORTED ? CHECK_UNSUPPORTED : CHECK_REFUSED, "  %s", tdm_last_error());
  if (k.plan == NULL)
    return say(report, CHECK_UNSUPPORTED, "memory: TANDEM_VERIFY copies arrays of rows far apart with their gaps");
  own.kernel = tdm_plan_kernel(k.plan);
  snprintf(report->kernel, sizeof report->kernel, "%s", tdm_plan_kernel(k.plan));
  char text[256];
  check_outcome outcome = !case_can_check(c, text, sizeof text) ? say(report, CHECK_UNSUPPORTED, "%s", text)
                          : check_is_wanted(settings, report->kernel)
                              ? check_planned(&k)
                              : say(report, CHECK_UNSUPPORTED, "  --chosen: another kernel is chosen");
  bool freed = check_buffers_close(&k.buffers);
  if (tdm_plan_free(k.plan) != TDM_OK || !freed) outcome = say(report, CHECK_REFUSED, "  %s", tdm_last_error());
  return outcome;
}
