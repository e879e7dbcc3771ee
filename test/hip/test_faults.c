/* The checker's own test on a simulated device: kernels with planted faults (faults.hip). Wrong numbers are named by the
 * comparison and by a shadow run, at the right element; a missing wait or barrier by gfxsim. Use: hip-faults DEVICE, as in
 * sim:gfx950 */
#include "faults.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "hip/host/hip.h"
#include "src/dispatch/dispatch.h"

extern const hip_code tdm_code_faults[];

/* ---- The rows: hip_fault_0 .. ---- */

static bool supports(const tdm_plan *plan, char *reason, size_t size) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  bool plain = d->batch == 1 && d->epilogue_steps == 0 && d->alpha == 1 && d->beta == 0;
  if (plain && d->type == TDM_F16 && d->out == TDM_F32 && d->layout == TDM_NT) return true;
  snprintf(reason, size, "f16 nt to f32 alone, without batch, factors and epilogue");
  return false;
}

static tdm_status prepare(tdm_plan *plan) {
  const tdm_gemm_desc *d = &plan->desc.gemm;
  uint32_t down = (uint32_t)((d->m + FAULT_ROWS - 1) / FAULT_ROWS),
           across = (uint32_t)((d->n + FAULT_COLUMNS - 1) / FAULT_COLUMNS);
  fault_args args = {.m = d->m, .n = d->n, .k = d->k, .lda = d->lda, .ldb = d->ldb, .ldc = d->ldc, .across = across};
  memcpy(plan->args, &args, sizeof args);
  plan->hip = (tdm_hip_kernel){.grid = {down * across, 1, 1}, .block = FAULT_THREADS};
  return tdm_hip_function(plan, &plan->kernel->functions[0], NULL, NULL, &plan->hip.function);
}

static tdm_status launch(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) {
  fault_args args;
  memcpy(&args, plan->args, sizeof args);
  args.a = buffers[0], args.b = buffers[1], args.c = buffers[2];
  return tdm_hip_launch(plan, &plan->hip, &args, sizeof args, stream);
}

#define ROW(text, function)                                                 \
  {.name = text,                                                            \
   .functions = HIP_FUNCTIONS({.code = tdm_code_faults, .stem = function}), \
   .op = TDM_OP_GEMM,                                                       \
   .backend = &tdm_backend_hip,                                             \
   .supports = supports,                                                    \
   .prepare = prepare,                                                      \
   .launch = launch}
static const tdm_kernel rows[FAULT_COUNT] = {ROW("hip_fault_0", "fault_0"), ROW("hip_fault_1", "fault_1"),
                                             ROW("hip_fault_2", "fault_2"), ROW("hip_fault_3", "fault_3"),
                                             ROW("hip_fault_4", "fault_4"), ROW("hip_fault_5", "fault_5")};

/* ---- What must be said ---- */

typedef struct expectation {
  fault fault;
  check_outcome outcome;
  int64_t row, column; /* WRONG */
  const char *words;   /* REFUSED */
} expectation;

static const expectation expectations[] = {
    {FAULT_NONE, CHECK_PASSED, 0, 0, ""},
    {FAULT_LANES, CHECK_WRONG, 0, 0, ""},
    {FAULT_TILE, CHECK_WRONG, 0, FAULT_COLUMNS, ""},
    {FAULT_K_TAIL, CHECK_WRONG, 0, 0, ""},
    {FAULT_K_TAIL, CHECK_REFUSED, 0, 0, "after the end of array b"}, /* of the last row */
    {FAULT_WAIT, CHECK_REFUSED, 0, 0, "wait"},
    {FAULT_BARRIER, CHECK_REFUSED, 0, 0, "barrier"},
};

static void ignore_line(void *user, const char *line) { (void)user, (void)line; }

static check_outcome check_with(const char *device, const expectation *e, int verify, check_report *report) {
  char error[512];
  /* With canaries a run goes on after it read outside of an array, to results that are wrong. */
  check_settings settings = {.where = "", .canaries = e->outcome == CHECK_WRONG};
  tdm_case c = case_default(case_find_op("gemm"));
  c.type = TDM_F16;
  c.out = TDM_F32;
  c.layout = TDM_NT;
  c.fill = CASE_REAL;
  c.seed = 7;
  *report = (check_report){.outcome = CHECK_REFUSED};
  tdm_options options = {.device = device, .kernel = rows[e->fault].name, .verify = verify, .log = ignore_line};
  if (!case_parse_shape(&c, "40x70x44", error, sizeof error) || tdm_open(&options, &settings.context) != TDM_OK) {
    snprintf(report->text, sizeof report->text, "%s", tdm_last_error());
    return CHECK_REFUSED;
  }
  check_outcome outcome = check_case(&settings, &c, report);
  tdm_close(settings.context);
  return outcome;
}

static bool caught(const char *device, const expectation *e) {
  check_report report;
  check_outcome outcome = check_with(device, e, 0, &report);
  bool wrong = e->outcome == CHECK_WRONG;
  bool right = outcome == e->outcome && strstr(report.text, e->words) != NULL &&
               (!wrong || (report.row == e->row && report.column == e->column));
  if (!right)
    printf("fault %d on %s: outcome %d, must be %d\n%s\n", (int)e->fault, device, (int)outcome, (int)e->outcome, report.text);
  if (!right || e->outcome == CHECK_REFUSED) return right;
  char words[96] = "";
  if (wrong)
    snprintf(words, sizeof words, "verify: %s on %s: c[%" PRId64 ", %" PRId64 "] = ", rows[e->fault].name, device, e->row,
             e->column);
  outcome = check_with(device, e, 1, &report);
  right = outcome == (wrong ? CHECK_REFUSED : CHECK_PASSED) && strstr(report.text, words) != NULL;
  if (!right) printf("fault %d in a shadow run: should say '%s', said\n%s\n", (int)e->fault, words, report.text);
  return right;
}

int main(int argc, char **argv) {
  const tdm_kernel *table[FAULT_COUNT];
  int passed = 0, failed = 0;
  if (argc != 2) {
    fprintf(stderr, "hip-faults: use: hip-faults DEVICE, as in sim:gfx950\n");
    return 2;
  }
  for (int i = 0; i < FAULT_COUNT; i++) table[i] = &rows[i];
  tdm_kernels_extend(table, FAULT_COUNT);
  for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++)
    *(caught(argv[1], &expectations[i]) ? &passed : &failed) += 1;
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed > 0;
}
