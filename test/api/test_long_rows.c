/* One row of more than 2^31 elements for each op that works on rows: an offset, an index or a count of 32 bits goes wrong
 * there. Its arrays take address space, but hardly any memory: all their pieces but the last are the same pages. So inputs
 * repeat, and so must outputs; the last piece has values of its own. bf16, on the host. */
#define _GNU_SOURCE
#include "api.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tandem/add.h"
#include "tandem/cross_entropy.h"
#include "tandem/embedding.h"
#include "tandem/rmsnorm.h"
#include "tandem/silu_mul.h"
#include "tandem/softmax.h"

#define PIECE ((int64_t)1 << 20)            /* elements of a piece: 2 MiB */
#define PIECES (((int64_t)1 << 31) / PIECE) /* that are the same; one more has values of its own */
#define COLS ((PIECES + 1) * PIECE)         /* bytes of a row: 2^32 + 2^21 */
#define BYTES ((size_t)COLS * sizeof(bf16))
#define PIECE_BYTES ((size_t)PIECE * sizeof(bf16))

typedef uint16_t bf16;

static bf16 rounded(float x) { /* of values that bf16 has */
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (bf16)(bits >> 16);
}

static float value(bf16 x) {
  uint32_t bits = (uint32_t)x << 16;
  float y;
  memcpy(&y, &bits, sizeof y);
  return y;
}

/* ---- Rows ---- */

static bf16 *map_row(void) {
  int file = memfd_create("row", 0);
  assert_true(file >= 0 && ftruncate(file, 2 * (off_t)PIECE_BYTES) == 0);
  /* Pages that nobody may touch lie around it. */
  char *all = mmap(NULL, BYTES + 2 * PIECE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert_true(all != MAP_FAILED);
  char *row = all + PIECE_BYTES;
  for (int64_t i = 0; i <= PIECES; i++)
    assert_true(mmap(row + (size_t)i * PIECE_BYTES, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                     i < PIECES ? 0 : (off_t)PIECE_BYTES) != MAP_FAILED);
  assert_int_equal(close(file), 0);
  return (bf16 *)(void *)row;
}

static void unmap_row(bf16 *row) { assert_int_equal(munmap((char *)row - PIECE_BYTES, BYTES + 2 * PIECE_BYTES), 0); }

static bf16 *last_piece(bf16 *row) { return row + PIECES * PIECE; }

/* Small integers, which differ from lane to lane, and in the last piece from those of the others. */
static bf16 *integers(int modulus) {
  bf16 *row = map_row();
  for (int i = 0; i < PIECE; i++) {
    row[i] = rounded((float)(i % modulus - modulus / 2));
    last_piece(row)[i] = rounded((float)((i + 3) % modulus - modulus / 2));
  }
  return row;
}

static bf16 *constant(float x) {
  bf16 *row = map_row();
  for (int i = 0; i < PIECE; i++) row[i] = last_piece(row)[i] = rounded(x);
  return row;
}

static bf16 *poisoned(void) { return constant(NAN); }

/* ---- Ops ---- */

static tdm_context *context;

static int open_context(void **state) {
  (void)state;
  clear_environment();
  context = open_host();
  return 0;
}

static int close_context(void **state) {
  (void)state;
  return tdm_close(context) != TDM_OK;
}

static void near(const char *what, int64_t at, bf16 got, double wanted, double relative) {
  if (!(fabs((double)value(got) - wanted) <= relative * fabs(wanted)))
    fail_msg("%s: element %lld: %g instead of %g", what, (long long)at, (double)value(got), wanted);
}

static void adds(void **state) {
  (void)state;
  bf16 *a = integers(63), *b = integers(17), *c = poisoned();
  tdm_plan *plan = NULL;
  tdm_add_desc desc = tdm_add_default(1, COLS, TDM_BF16);
  ACCEPTED(tdm_add_plan(context, &desc, &plan));
  ACCEPTED(tdm_add_run(plan, a, b, c, NULL));
  for (int64_t i = 0; i < COLS; i = i == PIECE - 1 ? PIECES * PIECE : i + 1)
    near("add", i, c[i], (double)(value(a[i]) + value(b[i])), 0);
  ACCEPTED(tdm_plan_free(plan));
  unmap_row(a), unmap_row(b), unmap_row(c);
}

static void multiplies(void **state) {
  (void)state;
  bf16 *gate = integers(15), *up = integers(17), *y = poisoned();
  tdm_plan *plan = NULL;
  tdm_silu_mul_desc desc = tdm_silu_mul_default(1, COLS, TDM_BF16);
  ACCEPTED(tdm_silu_mul_plan(context, &desc, &plan));
  ACCEPTED(tdm_silu_mul_run(plan, gate, up, y, NULL));
  for (int64_t i = 0; i < COLS; i = i == PIECE - 1 ? PIECES * PIECE : i + 1) {
    double g = (double)value(gate[i]);
    near("silu_mul", i, y[i], g / (1 + exp(-g)) * (double)value(up[i]), 0x1p-7);
  }
  ACCEPTED(tdm_plan_free(plan));
  unmap_row(gate), unmap_row(up), unmap_row(y);
}

static void copies_a_row(void **state) {
  (void)state;
  bf16 *table = integers(63), *y = poisoned();
  tdm_plan *plan = NULL;
  tdm_embedding_desc desc = tdm_embedding_default(1, 1, COLS, TDM_BF16);
  ACCEPTED(tdm_embedding_plan(context, &desc, &plan));
  ACCEPTED(tdm_embedding_run(plan, table, &(int32_t){0}, y, NULL));
  for (int64_t i = 0; i < COLS; i = i == PIECE - 1 ? PIECES * PIECE : i + 1)
    near("embedding", i, y[i], (double)value(table[i]), 0);
  ACCEPTED(tdm_plan_free(plan));
  unmap_row(table), unmap_row(y);
}

/* x + residual = 2, so the root of the mean square is 2. */
static void normalizes(void **state) {
  (void)state;
  bf16 *x = constant(1), *weight = integers(63), *sum = poisoned(), *y = poisoned();
  tdm_plan *plan = NULL;
  tdm_rmsnorm_desc desc = tdm_rmsnorm_default(1, COLS, TDM_BF16);
  desc.residual = 1;
  ACCEPTED(tdm_rmsnorm_plan(context, &desc, &plan));
  ACCEPTED(tdm_rmsnorm_run(plan, x, weight, x, sum, y, NULL));
  for (int64_t i = 0; i < COLS; i = i == PIECE - 1 ? PIECES * PIECE : i + 1) {
    near("rmsnorm's sum", i, sum[i], 2, 0);
    near("rmsnorm", i, y[i], (double)value(weight[i]), 0x1p-7);
  }
  ACCEPTED(tdm_plan_free(plan));
  unmap_row(x), unmap_row(weight), unmap_row(sum), unmap_row(y);
}

/* The last element outweighs 2^31 zeros by exp(40) / 2^31 = 1e8. */
static void takes_the_softmax(void **state) {
  (void)state;
  bf16 *x = constant(0), *y = poisoned();
  tdm_plan *plan = NULL;
  x[COLS - 1] = rounded(40);
  tdm_softmax_desc desc = tdm_softmax_default(1, COLS, TDM_BF16);
  ACCEPTED(tdm_softmax_plan(context, &desc, &plan));
  ACCEPTED(tdm_softmax_run(plan, x, y, NULL));
  for (int64_t i = 0; i < COLS; i = i == PIECE - 1 ? PIECES * PIECE : i + 1)
    near("softmax", i, y[i], i == COLS - 1 ? 1 : exp(-40), 0x1p-7);
  x[COLS - 1] = 0;
  ACCEPTED(tdm_softmax_run(plan, x, y, NULL));
  near("softmax of equal elements", 0, y[0], 1 / (double)COLS, 0x1p-7);
  near("softmax of equal elements", COLS - 1, y[COLS - 1], 1 / (double)COLS, 0x1p-7);
  ACCEPTED(tdm_plan_free(plan));
  unmap_row(x), unmap_row(y);
}

/* A target has 32 bits, but the byte where its logit lies has 33. */
static void takes_the_loss(void **state) {
  (void)state;
  bf16 *logits = constant(0);
  float loss = NAN;
  int32_t target = INT32_MAX - 1;
  int64_t vocab = INT32_MAX;
  tdm_plan *plan = NULL;
  logits[target] = rounded(40); /* in the pages of every piece: some 2000 elements have it */
  double sum = (double)vocab / (double)PIECE * exp(40);
  tdm_cross_entropy_desc desc = tdm_cross_entropy_default(1, vocab, TDM_BF16);
  ACCEPTED(tdm_cross_entropy_plan(context, &desc, &plan));
  ACCEPTED(tdm_cross_entropy_run(plan, logits, &target, &loss, NULL));
  if (!(fabs((double)loss - (log(sum) - 40)) < 1e-2)) fail_msg("loss %g instead of %g", (double)loss, log(sum) - 40);
  ACCEPTED(tdm_plan_free(plan));
  unmap_row(logits);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adds),       cmocka_unit_test(multiplies),        cmocka_unit_test(copies_a_row),
      cmocka_unit_test(normalizes), cmocka_unit_test(takes_the_softmax), cmocka_unit_test(takes_the_loss)};
  return cmocka_run_group_tests(tests, open_context, close_context);
}
