/* The checker's own test: plain kernels pass, and with each planted bug the report names the kind and the first wrong element.
 */
#include "planted.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"
#include "../region.h"

typedef struct expectation {
  planted_bug bug;
  const char *op, *dtype, *layout, *epilogue, *settings, *shape;
  check_outcome outcome;
  const char *array;
  int64_t row, column; /* rows are all dimensions but the last, flattened */
} expectation;

/* fill=exact where no rounding may hide the bug, fill=real where the bounds must be tight enough. */
static const expectation expectations[] = {
    /* 5 x 7 tiles over 8 XCDs: tiles 32, 33, 34 are never computed. 32 is tile row 4, tile column 4. */
    {PLANTED_DROPPED_TILE, "gemm", "f32", "nn", NULL, "fill=real", "80x112x5", CHECK_WRONG, "c", 64, 64},
    {PLANTED_SWAPPED_PAIR, "gemm", "f16", "nn", NULL, "fill=real", "9x20x5", CHECK_WRONG, "c", 5, 6},
    {PLANTED_K_TAIL, "gemm", "bf16", "nt", NULL, "fill=real,out=f32", "20x20x67", CHECK_WRONG, "c", 16, 0},
    {PLANTED_DROPPED_TERM, "gemm", "f32", "nn", NULL, "fill=real", "20x20x1000", CHECK_WRONG, "c", 11, 5},
    {PLANTED_LDA_IGNORED, "gemm", "f32", "nn", NULL, "fill=exact,pad=3", "9x8x7", CHECK_WRONG, "c", 1, 0},
    {PLANTED_LAYOUT_IGNORED, "gemm", "f32", "nt", NULL, "fill=real", "9x16x16", CHECK_WRONG, "c", 0, 0},
    {PLANTED_PAST_ROW_END, "gemm", "f32", "nn", NULL, "fill=real,pad=2", "9x8x7", CHECK_OUTSIDE, "c", 3, 8},
    {PLANTED_UNMASKED_TAIL, "gemm", "f16", "nn", NULL, "fill=real", "1x21x7", CHECK_OUTSIDE, "c", 0, 21},
    {PLANTED_BEFORE_BEGIN, "gemm", "bf16", "nn", NULL, "fill=real,shift=1", "9x8x7", CHECK_OUTSIDE, "c", 0, -1},
    {PLANTED_INPUT_CHANGED, "gemm", "f32", "nn", NULL, "fill=real", "9x8x7", CHECK_INPUT, "a", 2, 5},
    {PLANTED_OLD_C_READ, "gemm", "f32", "nn", NULL, "fill=real", "9x8x7", CHECK_WRONG, "c", 4, 3},
    {PLANTED_STALE_BUFFER, "gemm", "f32", "nn", NULL, "fill=real", "9x8x7", CHECK_UNSTABLE, "c", 6, 2},
    {PLANTED_OTHER_LAST_BIT, "gemm", "f32", "nn", NULL, "fill=real", "9x8x7", CHECK_UNSTABLE, "c", 6, 2},
    {PLANTED_NAN_TO_ZERO, "gemm", "f32", "nn", "relu", "fill=special", "40x40x40", CHECK_WRONG, "c", -1, -1},
    {PLANTED_BF16_MIDDLE, "gemm", "f16", "nn", "bias", "fill=real,out=f32", "9x20x1000", CHECK_WRONG, "c", 3, 9},
    {PLANTED_STEPS_SWAPPED, "gemm", "f32", "nn", "bias+scale:0.5", "fill=real", "9x20x7", CHECK_WRONG, "c", 8, 0},
    {PLANTED_BATCH_IGNORED, "gemm", "f32", "nn", NULL, "fill=real,batch=3", "9x8x7", CHECK_WRONG, "c", 9, 0},
    {PLANTED_TRUNCATED_STORE, "gemm", "f16", "nn", NULL, "fill=real", "9x20x7", CHECK_WRONG, "c", 0, 0},
    {PLANTED_ROW_NOT_WRITTEN, "gemm", "f32", "nn", NULL, "fill=exact", "20x20x7", CHECK_WRONG, "c", 16, 0},
    {PLANTED_NO_MAX, "softmax", "f32", NULL, NULL, "fill=big", "5x7", CHECK_WRONG, "y", 3, 0},
    {PLANTED_PADDED_SUM, "softmax", "f16", NULL, NULL, "fill=real", "5x17", CHECK_WRONG, "y", 0, 0},
    /* Causal bugs are in head 1 of 12 queries; there the first row sees 1 key of 12, or 4 of 15. */
    {PLANTED_CAUSAL_LESS, "attention", "f32", NULL, NULL, "fill=real,causal=1", "1x2x1x12x12x16", CHECK_WRONG, "o", 12, 0},
    {PLANTED_CAUSAL_MORE, "attention", "bf16", NULL, NULL, "fill=real,causal=1", "1x2x2x12x15x16", CHECK_WRONG, "o", 12, 0},
    {PLANTED_CAUSAL_AT_START, "attention", "f32", NULL, NULL, "fill=real,causal=1", "1x1x1x12x15x16", CHECK_WRONG, "o", 0, 0},
    {PLANTED_TILE_SCALE, "attention", "f16", NULL, NULL, "fill=real", "1x1x1x5x70x16", CHECK_WRONG, "o", 0, 0},
    {PLANTED_KEYS_NOT_MASKED, "attention", "f32", NULL, NULL, "fill=real", "1x1x1x5x33x16", CHECK_WRONG, "o", 0, 0},
    /* Heads 0 and 1 read key head 0; h % 2 sends head 1 to key head 1. */
    {PLANTED_WRONG_GROUP, "attention", "f32", NULL, NULL, "fill=real", "1x4x2x5x33x16", CHECK_WRONG, "o", 5, 0},
    {PLANTED_LSE_NO_MAX, "attention", "f32", NULL, NULL, "fill=real,lse=1", "1x1x1x5x33x16", CHECK_WRONG, "lse", 0, 0},
    {PLANTED_SUM_OFF, "add", "f32", NULL, NULL, "fill=real", "5x7", CHECK_WRONG, "c", 2, 1},
    {PLANTED_SUM_OFF, "add", "bf16", NULL, NULL, "fill=real", "5x7", CHECK_WRONG, "c", 2, 1},
    {PLANTED_SUM_OFF, "rmsnorm", "f16", NULL, NULL, "fill=real,residual=1", "5x70", CHECK_WRONG, "sum", 2, 1},
    {PLANTED_TARGET_OFF, "cross_entropy", "f32", NULL, NULL, "fill=real", "9x50", CHECK_WRONG, "loss", 0, 3},
    /* No bug, but nothing that could show one. */
    {PLANTED_NONE, "gemm", "f32", "nn", "scale:0", "fill=real", "20x20x7", CHECK_INCONCLUSIVE, "", 0, 0},
};

static bool make_case(const expectation *e, tdm_case *c) {
  char error[512] = "unknown op";
  *c = case_default(case_find_op(e->op));
  bool made = case_parse_type(&c->type, e->dtype, error, sizeof error);
  c->out = c->type;
  c->seed = 7;
  made = made && (e->layout == NULL || case_parse_layout(&c->layout, e->layout, error, sizeof error)) &&
         (e->epilogue == NULL || case_parse_epilogue(c, e->epilogue, error, sizeof error)) &&
         case_parse_settings(c, e->settings, error, sizeof error) && case_parse_shape(c, e->shape, error, sizeof error);
  if (!made) printf("planted: %s %s: %s\n", e->op, e->shape, error);
  return made;
}

static char logged[640]; /* the last line */
static void keep_line(void *user, const char *line) {
  (void)user;
  snprintf(logged, sizeof logged, "%s", line);
}

static check_outcome check_with(planted_bug bug, const tdm_case *c, int verify, check_report *report) {
  char kernel[16], where[32];
  snprintf(kernel, sizeof kernel, "bug-%d", (int)bug);
  snprintf(where, sizeof where, " --kernel %s", kernel);
  check_settings settings = {.where = where, .canaries = true};
  *report = (check_report){.outcome = CHECK_REFUSED};
  if (tdm_open(&(tdm_options){.device = "host", .kernel = kernel, .verify = verify, .log = keep_line}, &settings.context) !=
      TDM_OK) {
    snprintf(report->text, sizeof report->text, "%s", tdm_last_error());
    return CHECK_REFUSED;
  }
  check_outcome outcome = check_case(&settings, c, report);
  tdm_close(settings.context);
  return outcome;
}

/* The first NaN that the reference expects, for the bug that loses them: gemm of 40 rows, computed here from the inputs. */
static bool first_nan(const tdm_case *c, int64_t *row, int64_t *column) {
  case_array arrays[CASE_MAX_ARRAYS];
  int count = c->op->arrays(c, arrays), output = 2;
  void *base[CASE_MAX_ARRAYS] = {NULL};
  const void *inputs[CASE_MAX_ARRAYS] = {NULL};
  bool found = false;
  int64_t length = arrays[output].dim[1];
  double *value = calloc((size_t)length, 2 * sizeof *value);
  for (int i = 0; i < count; i++) {
    inputs[i] = base[i] = calloc(1, case_array_bytes(&arrays[i]) + 1);
    if (arrays[i].used && arrays[i].input && base[i] != NULL) case_fill_array(c, i, &arrays[i], base[i]);
  }
  for (int64_t i = 0; value != NULL && i < case_rows(&arrays[output]) && !found; i++) {
    c->op->reference(c, arrays, inputs, output, i, value, value + length);
    for (int64_t j = 0; j < length && !found; j++) {
      found = isnan(value[j]);
      *row = i;
      *column = j;
    }
  }
  for (int i = 0; i < count; i++) free(base[i]);
  free(value);
  return found;
}

static bool caught(const expectation *e) {
  tdm_case c;
  check_report report, plain;
  expectation want = *e;
  if (!make_case(e, &c)) return false;
  if (want.row == -1 && !first_nan(&c, &want.row, &want.column)) printf("  the case has no NaN\n");
  check_with(e->bug, &c, 0, &report);
  bool right = report.outcome == want.outcome && strcmp(report.array, want.array) == 0 && report.row == want.row &&
               report.column == want.column;
  if (!right)
    printf("bug %d: outcome %d at %s row %" PRId64 " column %" PRId64 ", should be %d at %s row %" PRId64 " column %" PRId64
           "\n%s\n",
           (int)e->bug, (int)report.outcome, report.array, report.row, report.column, (int)want.outcome, want.array, want.row,
           want.column, report.text);
  if (e->bug == PLANTED_NONE) return right;
  if (check_with(PLANTED_NONE, &c, 0, &plain) == CHECK_PASSED) return right;
  printf("bug %d: the same case without the bug fails too\n%s\n", (int)e->bug, plain.text);
  return false;
}

/* "verify: bug-3 on host: c[1, 64, 64] = ": what a shadow run says of an element. */
static void shadow_words(const expectation *e, const tdm_case *c, int64_t row, int64_t column, char *text, size_t size) {
  case_array arrays[CASE_MAX_ARRAYS];
  int count = c->op->arrays(c, arrays), output = 0;
  for (int i = 0; i < count; i++)
    if (strcmp(arrays[i].name, e->array) == 0) output = i;
  const case_array *a = &arrays[output];
  int64_t index[4] = {0};
  for (int i = a->rank - 2; i >= 0; i--) {
    index[i] = row % a->dim[i];
    row /= a->dim[i];
  }
  index[a->rank - 1] = column;
  size_t used = (size_t)snprintf(text, size, "verify: bug-%d on host: %s[", (int)e->bug, a->name);
  for (int i = 0; i < a->rank; i++)
    used += (size_t)snprintf(text + used, size - used, "%" PRId64 "%s", index[i], i < a->rank - 1 ? ", " : "] = ");
}

/* What a comparison with the oracle can find: not the last unit of a result, which the rounding of both explains. */
static bool seen_in_shadow(const expectation *e) { return e->outcome == CHECK_WRONG && e->bug != PLANTED_TRUNCATED_STORE; }

/* A run that the oracle repeats names the same element, in the run's error and in the log; without the bug it passes. */
static bool caught_in_shadow(const expectation *e) {
  tdm_case c;
  check_report report, plain;
  int64_t row = e->row, column = e->column;
  char words[160];
  if (!make_case(e, &c)) return false;
  if (row == -1) first_nan(&c, &row, &column);
  shadow_words(e, &c, row, column, words, sizeof words);
  logged[0] = '\0';
  bool right = check_with(e->bug, &c, 1, &report) == CHECK_REFUSED && strstr(report.text, words) != NULL &&
               strstr(logged, words) != NULL;
  if (!right) printf("bug %d in a shadow run: should say '%s', said:\n%s\n%s\n", (int)e->bug, words, report.text, logged);
  if (check_with(PLANTED_NONE, &c, 1, &plain) == CHECK_PASSED) return right;
  printf("bug %d: the same case without the bug fails in a shadow run too\n%s\n", (int)e->bug, plain.text);
  return false;
}

/* A crash must name its case. It happens in a child, whose stderr is read here. */
static bool crash_is_named(void) {
  const expectation e = {PLANTED_CRASH, "gemm", "f32", "nn", NULL, "fill=real", "9x8x7", CHECK_PASSED, "", 0, 0};
  tdm_case c;
  check_report report;
  int ends[2];
  char text[2048] = "";
  if (!make_case(&e, &c) || pipe(ends) != 0) return false;
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    check_catch_crashes();
    check_with(PLANTED_CRASH, &c, 0, &report);
    _exit(0);
  }
  close(ends[1]);
  size_t used = 0;
  for (ssize_t got; (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;) used += (size_t)got;
  close(ends[0]);
  int status = 0;
  bool named =
      child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
      strstr(text, "reproduce: tandem-check gemm --dtype f32 --layout nn --set fill=real --seed 7 9x8x7 --kernel bug-") != NULL;
  if (!named) printf("crash: status %d, said: %s\n", status, text);
  return named;
}

int main(void) {
  int passed = 0, failed = 0;
  planted_add();
  *(crash_is_named() ? &passed : &failed) += 1;
  for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++)
    *(caught(&expectations[i]) ? &passed : &failed) += 1;
  for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++)
    if (seen_in_shadow(&expectations[i])) *(caught_in_shadow(&expectations[i]) ? &passed : &failed) += 1;
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
