/* The checker's own test: kernels that read outside of arrays, or at an offset cut to 32 bits. On hosts each must end the
 * process with status 1 and one line with the array and the case. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"
#include "../region.h"
#include "offload/device/device.h"
#include "src/dispatch/dispatch.h"

typedef enum fault {
  NONE,
  CANARIES /* no fault, with arrays as on real devices */,
  AFTER,
  BEFORE,
  FAR_AFTER,
  WRITE_AFTER,
  INT32,
  UINT32,
  BYTES32,
  FAULTS
} fault;

/* add of f32, which reads one element of b too many. */
static tdm_status run(const tdm_plan *plan, void *const *buffers, fault f) {
  const tdm_add_desc *d = &plan->desc.add;
  const float *a = buffers[0];
  const volatile float *b = buffers[1];
  float *c = buffers[2];
  int64_t end = (d->rows - 1) * d->ldb + d->cols;
  if (f == AFTER) (void)b[end];
  if (f == BEFORE) (void)b[-1];
  if (f == FAR_AFTER) (void)b[end + 1000];
  if (f == WRITE_AFTER) c[(d->rows - 1) * d->ldc + d->cols] = 1;
  for (int64_t row = 0; row < d->rows; row++) {
    int64_t at = row * d->ldb;
    if (f == INT32) at = (int32_t)at;
    if (f == UINT32) at = (uint32_t)at;
    if (f == BYTES32) at = (int32_t)(at * 4) / 4;
    for (int64_t i = 0; i < d->cols; i++) c[row * d->ldc + i] = a[row * d->lda + i] + b[at + i];
  }
  return TDM_OK;
}

static tdm_status prepare(tdm_plan *plan) { return (void)plan, TDM_OK; }

#define KERNEL(f)                                                                             \
  static tdm_status run_##f(const tdm_plan *plan, void *const *buffers, tdm_stream *stream) { \
    (void)stream;                                                                             \
    return run(plan, buffers, f);                                                             \
  }                                                                                           \
  static const tdm_kernel kernel_##f = {                                                      \
      .name = "fault-" #f, .op = TDM_OP_ADD, .backend = &tdm_backend_omp, .prepare = prepare, .launch = run_##f};
KERNEL(NONE)
KERNEL(CANARIES)
KERNEL(AFTER)
KERNEL(BEFORE)
KERNEL(FAR_AFTER)
KERNEL(WRITE_AFTER)
KERNEL(INT32)
KERNEL(UINT32)
KERNEL(BYTES32)
static const tdm_kernel *const kernels[FAULTS] = {&kernel_NONE,   &kernel_CANARIES,  &kernel_AFTER,
                                                  &kernel_BEFORE, &kernel_FAR_AFTER, &kernel_WRITE_AFTER,
                                                  &kernel_INT32,  &kernel_UINT32,    &kernel_BYTES32};

typedef struct expectation {
  fault fault;
  const char *settings, *shape, *words; /* "": it does not end */
} expectation;

/* Rows of 2^31 + 8 elements: 2^31 cut to 32 bits is -2^31, and 8 elements of 4 bytes are left of the rest. */
#define FAR "fill=real,lda=2147483656,ldb=2147483656,ldc=2147483656"
static const expectation expectations[] = {
    {NONE, "fill=real", "3x7", ""},
    {NONE, "fill=real,pad=2147483656,shift=3", "5x7", ""},
    {CANARIES, "fill=real,pad=3,shift=1", "5x7", ""},
    {CANARIES, "fill=real,pad=16777216,shift=1", "5x7", ""},
    {AFTER, "fill=real", "3x7", "0 bytes after the end of array b; reproduce: tandem-check add --dtype f32"},
    {AFTER, "fill=real,shift=5", "300x41", "0 bytes after the end of array b; "},
    {AFTER, "fill=real,pad=3", "1x1024", "0 bytes after the end of array b; "},
    {AFTER, FAR, "3x7", "0 bytes after the end of array b; "},
    {BEFORE, "fill=real", "3x7", "4 bytes before array b; "},
    {BEFORE, FAR, "3x7", "4 bytes before array b; "},
    {FAR_AFTER, "fill=real", "1x3096", "4000 bytes after the end of array b; "},
    {WRITE_AFTER, "fill=real", "1x1024", "0 bytes after the end of array c; "},
    {INT32, FAR, "2x7", "8589934560 bytes before array b; "},
    /* These reads land next to row 0, or on it: nothing faults, and the results are wrong. */
    {UINT32, FAR, "3x7", ""},
    {BYTES32, FAR, "2x7", ""},
};

static int child(const expectation *e) {
  char error[512], where[64];
  check_report report = {0};
  tdm_case c = case_default(case_find_op("add"));
  snprintf(where, sizeof where, " --kernel %s", kernels[e->fault]->name);
  check_settings settings = {.where = where, .canaries = e->fault == CANARIES};
  check_catch_crashes();
  if (!case_parse_settings(&c, e->settings, error, sizeof error) || !case_parse_shape(&c, e->shape, error, sizeof error))
    return 4;
  if (tdm_open(&(tdm_options){.device = "host", .kernel = kernels[e->fault]->name}, &settings.context) != TDM_OK) return 4;
  check_outcome outcome = check_case(&settings, &c, &report);
  tdm_close(settings.context);
  return outcome == CHECK_PASSED ? 0 : outcome == CHECK_WRONG ? 3 : 4;
}

static bool caught(const expectation *e) {
  int ends[2], status = 0;
  char text[4096] = "";
  if (pipe(ends) != 0) return false;
  pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    exit(child(e));
  }
  close(ends[1]);
  size_t used = 0;
  for (ssize_t got; (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;) /* what does not fit is lost */
    used = used + (size_t)got < sizeof text - 1 ? used + (size_t)got : used;
  close(ends[0]);
  int wanted = e->words[0] != '\0' ? 1 : e->fault <= CANARIES ? 0 : 3;
  bool right = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == wanted &&
               (wanted != 1 || (strstr(text, "FAULT add: an access ") != NULL && strstr(text, e->words) != NULL));
  if (!right) printf("%s %s %s: status %x, said: %s\n", kernels[e->fault]->name, e->settings, e->shape, (unsigned)status, text);
  return right;
}

int main(void) {
  int passed = 0, failed = 0;
  tdm_kernels_extend(kernels, FAULTS);
  for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++)
    *(caught(&expectations[i]) ? &passed : &failed) += 1;
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
