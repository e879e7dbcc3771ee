/* Runs on a simulated chip that another row's kernel does, because of their pointers; and runs with fewer keys than planned. */
#include "choose.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tandem/attention.h"

static void fallbacks(void **state) {
  (void)state;
  setenv("TANDEM_VERBOSE", "1", 1);
  /* On one XCD: on a whole chip a smaller product takes less by hip_shifted_64x128, and a larger one takes the simulator
   * long. */
  char one_xcd[64];
  snprintf(one_xcd, sizeof one_xcd, "%s,xcds=1", device);
  open_on(one_xcd, "gemm=hip_tile_128x128");
  enum { SIDE = 2048, DEPTH = 512, APART = SIDE * DEPTH * 2 + 2048, OF_C = SIDE * SIDE * 2 + 2048 };
  tdm_plan *plan = plan_gemm_of(TDM_NN, SIDE, SIDE, DEPTH, TDM_BF16);
  static char zeros[2 * APART + OF_C];
  char *memory = NULL;
  says(plan, "unaligned: a run copies each of a and b that does not begin at 4 bytes, by gemm_pack, to at most ");
  assert_null(strstr(tdm_plan_explain(plan), "fallback"));
  ACCEPTED(tdm_alloc(context, sizeof zeros, (void **)&memory));
  ACCEPTED(tdm_copy(context, memory, zeros, sizeof zeros, TDM_TO_DEVICE, NULL));
  ACCEPTED(tdm_gemm_run(plan, memory, memory + APART, memory + 2 * APART, NULL, NULL, NULL));
  assert_non_null(strstr(logged, " (named) on sim:"));
  ACCEPTED(tdm_gemm_run(plan, memory + 2, memory + APART, memory + 2 * APART, NULL, NULL, NULL));
  assert_non_null(strstr(logged, " (named), with a copy of a, on sim:"));
  ACCEPTED(tdm_gemm_run(plan, memory + 2, memory + APART + 2, memory + 2 * APART, NULL, NULL, NULL));
  assert_non_null(strstr(logged, " (named), with a copy of a and b, on sim:"));
  ACCEPTED(tdm_gemm_run(plan, memory, memory + APART, memory + 2 * APART + 2, NULL, NULL, NULL)); /* c may begin anywhere */
  assert_non_null(strstr(logged, " (named) on sim:"));
  tdm_plan_free(plan);
  plan = plan_gemm(16, 16, 16, TDM_F32); /* f32 always begins at a multiple of 4 */
  assert_null(strstr(tdm_plan_explain(plan), "fallback"));
  tdm_plan_free(plan);
  /* Of small products hip_rows and hip_elements take less than a copy and the tile. */
  const struct {
    tdm_layout layout;
    const char *says, *logs;
  } small[] = {{TDM_NT, "fallback: runs with pointers that are not aligned to 4 bytes launch hip_rows\n",
                " (named), by hip_rows as pointers are not aligned to 4 bytes, on sim:"},
               {TDM_TN, "fallback: runs with pointers that are not aligned to 4 bytes launch hip_elements\n",
                " (named), by hip_elements as pointers are not aligned to 4 bytes, on sim:"}};
  for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
    plan = plan_gemm_of(small[i].layout, 16, 16, 256, TDM_BF16);
    says(plan, small[i].says);
    assert_null(strstr(tdm_plan_explain(plan), "unaligned"));
    ACCEPTED(tdm_gemm_run(plan, memory, memory + APART + 2, memory + 2 * APART, NULL, NULL, NULL));
    assert_non_null(strstr(logged, small[i].logs));
    tdm_plan_free(plan);
  }
  ACCEPTED(tdm_free(context, memory));
}

/* hip_rows has kernels for rows at 16 bytes, at dwords and anywhere. */
static void fallbacks_of_hip_rows(void **state) {
  (void)state;
  open_with("gemm=hip_rows");
  tdm_plan *plan = plan_gemm(16, 16, 256, TDM_BF16);
  says(plan, "fallback: runs with pointers that are not aligned to 16 bytes launch hip_rows\n");
  tdm_plan_free(plan);
  plan = plan_gemm(16, 16, 250, TDM_BF16);
  says(plan, "fallback: runs with pointers that are not aligned to 4 bytes launch hip_rows\n");
  tdm_plan_free(plan);
  plan = plan_gemm(16, 16, 251, TDM_BF16);
  assert_null(strstr(tdm_plan_explain(plan), "fallback"));
  tdm_plan_free(plan);
  plan = plan_gemm(16, 16, 250, TDM_F32);
  assert_null(strstr(tdm_plan_explain(plan), "fallback"));
  tdm_plan_free(plan);
}

/* hip_shifted's kernel of rows at dwords finds rows of k by offsets of 32 bits. An operand of 4 GiB has the one for any
 * address, which needs no fallback. */
static void rows_of_k_of_4_gib(void **state) {
  (void)state;
  enum { DEPTH = 65536, FURTHEST = 32766 /* elements: with two more it is 4 GiB */ };
  open_with("gemm=hip_shifted_64x64");
  for (int i = 0; i < 4; i++) {
    const bool of_a = i % 2 == 0, far = i / 2 != 0;
    tdm_gemm_desc desc = tdm_gemm_default(32, 32, DEPTH, TDM_BF16);
    tdm_plan *plan = NULL;
    desc.layout = of_a ? TDM_TT : TDM_NN;
    *(of_a ? &desc.lda : &desc.ldb) = FURTHEST + (far ? 2 : 0);
    ACCEPTED(tdm_gemm_plan(context, &desc, &plan));
    if ((strstr(tdm_plan_explain(plan), "fallback: runs with pointers that are not aligned to 4 bytes") == NULL) != far)
      fail_msg("%s, far = %d:\n%s", of_a ? "a" : "b", far, tdm_plan_explain(plan));
    tdm_plan_free(plan);
  }
}

/* Rows of attention and swiglu that need aligned arrays: each array in turn begins in the middle of an aligned piece. */
enum { AT = 4096, HEAD = 2 }; /* bytes between two arrays, and that one of them is moved by */

typedef tdm_status run_of_op(const tdm_plan *plan, char *const *at);

static void run_moved(const tdm_plan *plan, run_of_op *run, char *memory, int arrays, unsigned aligned, const char *other) {
  for (int moved = -1; moved < arrays; moved++) {
    char *at[4], words[96];
    for (int i = 0; i < arrays; i++) at[i] = memory + (ptrdiff_t)i * AT + (i == moved ? HEAD : 0);
    ACCEPTED(run(plan, at));
    bool falls_back = moved >= 0 && (aligned >> moved & 1);
    snprintf(words, sizeof words, ", by %s as pointers are not ", other);
    if ((strstr(logged, words) != NULL) != falls_back) fail_msg("array %d moved by %d bytes: %s", moved, HEAD, logged);
  }
}

static tdm_status run_attention(const tdm_plan *plan, char *const *at) {
  return tdm_attention_run(plan, at[0], at[1], at[2], at[3], NULL, NULL);
}

static tdm_status run_swiglu(const tdm_plan *plan, char *const *at) {
  return tdm_swiglu_run(plan, at[0], at[1], at[2], at[3], NULL);
}

static void fallbacks_of_rows(void **state) {
  (void)state;
  static const struct {
    const char *kernel;
    int sq, head_dim; /* of attention; 0: swiglu */
    unsigned aligned; /* the arrays that have to be, bits 1 << number */
    const char *other;
  } rows[] = {{"attention=hip_flash64", 16, 64, 15, "hip_flash"},   {"attention=hip_flash96", 16, 96, 15, "hip_flash"},
              {"attention=hip_flash128", 16, 128, 15, "hip_flash"}, {"attention=hip_decode64", 1, 64, 15, "hip_decode"},
              {"attention=hip_decode96", 1, 80, 15, "hip_decode"},  {"attention=hip_decode128", 1, 128, 15, "hip_decode"},
              {"attention=hip_flash256", 8, 136, 15, "hip_flash"},  {"attention=hip_decode256", 1, 192, 15, "hip_decode"},
              {"swiglu=hip_256x128", 0, 0, 7, "hip_128x64"},        {"swiglu=hip_tile_16x32", 0, 0, 7, "hip_128x64"},
              {"swiglu=hip_tile_32x64", 0, 0, 7, "hip_128x64"},     {"swiglu=hip_tile_64x64", 0, 0, 7, "hip_128x64"},
              {"swiglu=hip_tile_128x64", 0, 0, 7, "hip_128x64"}};
  setenv("TANDEM_VERBOSE", "1", 1);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    static char zeros[5 * AT];
    char *memory = NULL;
    tdm_plan *plan = NULL;
    open_with(rows[i].kernel);
    tdm_attention_desc desc = tdm_attention_default(1, 1, 1, rows[i].sq, 8, rows[i].head_dim, TDM_BF16);
    if (rows[i].head_dim > 0)
      ACCEPTED(tdm_attention_plan(context, &desc, &plan));
    else
      plan = plan_swiglu(16, 16, 16);
    ACCEPTED(tdm_alloc(context, sizeof zeros, (void **)&memory));
    ACCEPTED(tdm_copy(context, memory, zeros, sizeof zeros, TDM_TO_DEVICE, NULL));
    run_moved(plan, rows[i].head_dim > 0 ? run_attention : run_swiglu, memory, 4, rows[i].aligned, rows[i].other);
    ACCEPTED(tdm_plan_free(plan));
    ACCEPTED(tdm_free(context, memory));
    ACCEPTED(tdm_close(context));
  }
  context = NULL;
}

/* Every row of attention runs fewer keys than its plan has. */
static void fewer_keys(void **state) {
  (void)state;
  static const struct {
    const char *kernel;
    int sq, head_dim;
  } rows[] = {{"hip_flash", 16, 40},     {"hip_flash64", 16, 64},   {"hip_flash96", 16, 96},  {"hip_flash128", 16, 128},
              {"hip_decode", 1, 40},     {"hip_decode64", 1, 64},   {"hip_decode96", 1, 80},  {"hip_decode128", 1, 128},
              {"hip_flash256", 16, 192}, {"hip_decode256", 1, 136}, {"hip_decode_f32", 1, 64}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const bool f32 = strcmp(rows[i].kernel, "hip_decode_f32") == 0; /* others bf16, the upper half of f32 */
    const int halves = f32 ? 2 : 1;
    static uint16_t values[4][AT], got[256];
    char *memory = NULL;
    tdm_plan *plan = NULL;
    open_with(rows[i].kernel);
    tdm_attention_desc desc = tdm_attention_default(1, 1, 1, rows[i].sq, 8, rows[i].head_dim, f32 ? TDM_F32 : TDM_BF16);
    ACCEPTED(tdm_attention_plan(context, &desc, &plan));
    ACCEPTED(tdm_alloc(context, sizeof values, (void **)&memory));
    /* Three keys with values of 1.0; those after them, which may not count, have NaN. */
    for (int j = 0; j < AT; j++) values[2][j] = j >= 3 * rows[i].head_dim * halves ? 0x7fc0 : f32 && j % 2 == 0 ? 0 : 0x3f80;
    ACCEPTED(tdm_copy(context, memory, values, sizeof values, TDM_TO_DEVICE, NULL));
    char *at[4];
    for (int j = 0; j < 4; j++) at[j] = memory + (size_t)j * sizeof values[0];
    ACCEPTED(tdm_attention_run_keys(plan, at[0], at[1], at[2], at[3], NULL, 3, NULL));
    ACCEPTED(tdm_copy(context, got, at[3], (size_t)(rows[i].head_dim * 2 * halves), TDM_TO_HOST, NULL));
    for (int j = 0; j < rows[i].head_dim * halves; j++) assert_int_equal(got[j], f32 && j % 2 == 0 ? 0 : 0x3f80);
    ACCEPTED(tdm_plan_free(plan));
    ACCEPTED(tdm_free(context, memory));
    ACCEPTED(tdm_close(context));
  }
  context = NULL;
}

static const struct CMUnitTest tests[] = {TEST(fallbacks), TEST(fallbacks_of_hip_rows), TEST(rows_of_k_of_4_gib),
                                          TEST(fallbacks_of_rows), TEST(fewer_keys)};
MAIN_OF("hip-choose-runs", tests)
