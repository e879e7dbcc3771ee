/* The dispatcher on a simulated chip: which rows the estimates choose, who decides, and what explain and the log say of it. */
#include "choose.h"

#include <stdbool.h>

#include "tandem/attention.h"
#include "tandem/embedding.h"
#include "tandem/rmsnorm.h"
#include "tandem/softmax.h"

static void kernel_is(tdm_plan *plan, const char *kernel, bool is) {
  if ((strcmp(tdm_plan_kernel(plan), kernel) == 0) != is)
    fail_msg("%s must%s be the kernel:\n%s", kernel, is ? "" : " not", tdm_plan_explain(plan));
  tdm_plan_free(plan);
}

/* ---- The heuristic ---- */

/* 16 x 304 tiles of 256 x 256: whole turns of the 256 CUs of gfx950 and of the 304 of gfx942. (8192 x 8192 are 1024 tiles, 3.4
 * turns of gfx942: there smaller tiles leave fewer CUs idle in the last one.) */
enum { WHOLE_M = 16 * 256, WHOLE_N = 304 * 256 };

/* A tile of 256 x 256 for a corner of it is the wrong one, and for whole turns of them the right one. In f32 the matrix unit
 * takes so long that the smaller tiles lose nothing. */
static void sizes(void **state) {
  (void)state;
  const tdm_type types[] = {TDM_F32, TDM_F16, TDM_BF16};
  open_with(NULL);
  for (int t = 0; t < 3; t++) {
    kernel_is(plan_gemm(16, 16, 256, types[t]), "hip_256x256", false);
    kernel_is(plan_gemm(17, 33, 300, types[t]), "hip_256x256", false);
    kernel_is(plan_gemm(128, 128, 4096, types[t]), "hip_256x256", false);
    kernel_is(plan_gemm(32, 11008, 4096, types[t]), "hip_rows", false);
    if (types[t] != TDM_F32) kernel_is(plan_gemm(WHOLE_M, WHOLE_N, 8192, types[t]), "hip_256x256", true);
    if (types[t] != TDM_F32) kernel_is(plan_gemm(4096, 4096, 64, types[t]), "hip_256x256", true);
    kernel_is(plan_gemm(1, 4096, 14336, types[t]), types[t] == TDM_F32 ? "hip_tile_16x64" : "hip_rows", true);
  }
  kernel_is(plan_swiglu(512, 512, 512), "hip_256x128", false);
  kernel_is(plan_swiglu(8192, 8192, 8192), "hip_256x128", true);
  kernel_is(plan_swiglu(1, 4864, 896), "hip_tile_16x32", true);
  kernel_is(plan_swiglu(64, 8192, 2048), "hip_256x128", false);
  kernel_is(plan_swiglu(512, 2048, 1024), "hip_tile_64x64", true);
  kernel_is(plan_swiglu(1024, 4096, 1024), "hip_tile_128x64", true);
}

/* Rows that are not whole dwords are copied, where that costs less than loading them element by element, and those that do not
 * begin at cache lines, where that saves more than it costs. In f32 all are whole dwords. */
static void odd_rows(void **state) {
  (void)state;
  open_with(NULL);
  tdm_plan *plan = plan_gemm(4096, 4096, 4097, TDM_BF16);
  says(plan, "packed: a and b, whose rows are not whole dwords: 68157440 bytes, copied by ");
  kernel_is(plan, "hip_128x128", false);
  plan = plan_gemm(8192, 8192, 8160, TDM_BF16); /* whole dwords, but not whole cache lines */
  says(plan, "packed: a and b, whose rows do not begin at cache lines: 268435456 bytes, copied by ");
  kernel_is(plan, "hip_256x256", true);
  plan = plan_gemm(1000, 1000, 1000, TDM_BF16); /* a copy would take longer than it saves */
  if (strstr(tdm_plan_explain(plan), "packed: ") != NULL) fail_msg("1000x1000x1000 is packed:\n%s", tdm_plan_explain(plan));
  tdm_plan_free(plan);
  plan = plan_gemm(4096, 4096, 4097, TDM_F32);
  if (strstr(tdm_plan_explain(plan), "packed: ") != NULL) fail_msg("f32 is packed:\n%s", tdm_plan_explain(plan));
  tdm_plan_free(plan);
  kernel_is(plan_gemm(33, 37, 41, TDM_BF16), "hip_rows", true); /* which copies nothing */
  plan = plan_swiglu(23, 3018, 2767);
  says(plan, "packed: x and wg and wu, whose rows are not whole dwords: 34124288 bytes, copied by ");
  kernel_is(plan, "hip_tile_32x64", true);
}

static tdm_plan *plan_layout(int64_t m, int64_t n, int64_t k, tdm_layout layout, int64_t lda, int64_t ldb) {
  tdm_gemm_desc desc = tdm_gemm_default(m, n, k, TDM_BF16);
  tdm_plan *plan = NULL;
  desc.layout = layout;
  desc.lda = lda;
  desc.ldb = ldb;
  ACCEPTED(tdm_gemm_plan(context, &desc, &plan));
  return plan;
}

/* A column without gaps is a row: one row of A that is stored across k is not copied, and gets the kernels of one that is not.
 * The same of one column of B. The leading dimension of an operand of one row has no effect. */
static void vectors(void **state) {
  (void)state;
  open_with(NULL);
  const struct {
    int64_t m, n, lda, ldb;
    tdm_layout layout;
    const char *kernel; /* NULL: any */
  } cases[] = {{1, 4096, 0, 0, TDM_TT, "hip_rows"},    {1, 4096, 4098, 0, TDM_NT, "hip_rows"},
               {1, 4096, 4097, 0, TDM_NT, "hip_rows"}, {1, 4096, 0, 0, TDM_TN, NULL},
               {4096, 1, 0, 0, TDM_NN, NULL},          {4096, 1, 0, 0, TDM_TN, NULL},
               {4096, 1, 0, 4097, TDM_NT, NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tdm_plan *plan = plan_layout(cases[i].m, cases[i].n, 4096, cases[i].layout, cases[i].lda, cases[i].ldb);
    if (strstr(tdm_plan_explain(plan), "packed: ") != NULL) fail_msg("case %zu is packed:\n%s", i, tdm_plan_explain(plan));
    if (cases[i].kernel == NULL)
      tdm_plan_free(plan);
    else
      kernel_is(plan, cases[i].kernel, true);
  }
  tdm_plan *gaps = plan_layout(1, 4096, 4096, TDM_TN, 3, 0);
  says(gaps, " bf16 tn 1x4096x4096\n"); /* the key: with gaps a column stays one */
  tdm_plan_free(gaps);
  tdm_close(context);
  open_with("hip_rows");
  tdm_plan *plan = NULL;
  tdm_gemm_desc desc = tdm_gemm_default(1, 64, 320, TDM_BF16);
  desc.layout = TDM_TT;
  desc.lda = 2;
  REFUSED(tdm_gemm_plan(context, &desc, &plan), TDM_ERROR_UNSUPPORTED, "gemm tt bf16", "kernel = '", "a is stored across k");
  desc.lda = 1;
  ACCEPTED(tdm_gemm_plan(context, &desc, &plan));
  says(plan, "gemm tt bf16"); /* the caller's name for it */
  kernel_is(plan, "hip_rows", true);
  desc.layout = TDM_TN; /* B is across k, and A is not */
  REFUSED(tdm_gemm_plan(context, &desc, &plan), TDM_ERROR_UNSUPPORTED, "gemm tn bf16", "kernel = '", "b is stored across k");
  /* A leading dimension that a kernel takes is not rounded to one that it refuses; columns of an empty batch may be any. */
  tdm_close(context);
  open_with("hip_256x256");
  tdm_plan_free(plan_gemm(1, 64, 2097151, TDM_F32));
  tdm_close(context);
  open_with(NULL);
  desc = tdm_gemm_default(1, INT64_MAX, 1, TDM_F32);
  desc.batch = 0;
  ACCEPTED(tdm_gemm_plan(context, &desc, &plan));
  tdm_plan_free(plan);
}

/* Explain has the estimate of each row that serves, and the refusal of each that does not. */
static void estimates(void **state) {
  (void)state;
  open_with(NULL);
  tdm_plan *plan = plan_gemm(WHOLE_M, WHOLE_N, 8192, TDM_BF16);
  says(plan, "kernel: hip_256x256, the fastest of the ");
  says(plan, "\nhip_256x256: estimate ");
  says(plan, "\nnot hip_128x128: estimate ");
  says(plan, "\nnot hip_small_k: k = 8192: at most 128 of bf16");
  says(plan, "\nnot omp: needs backend omp");
  tdm_plan_free(plan);
  plan = plan_gemm(0, 16, 16, TDM_BF16); /* nothing to estimate */
  says(plan, "kernel: hip_");
  tdm_plan_free(plan);
}

static void attention(void **state) {
  (void)state;
  open_with(NULL);
  tdm_plan *plan = NULL;
  tdm_attention_desc desc = tdm_attention_default(1, 32, 32, 4096, 4096, 64, TDM_BF16);
  ACCEPTED(tdm_attention_plan(context, &desc, &plan));
  says(plan, "fallback: runs with pointers that are not aligned to 16 bytes launch hip_flash\n");
  says(plan, "not hip_flash: estimate ");
  kernel_is(plan, "hip_flash64", true);
  desc.head_dim = 80;
  desc.q = desc.k = desc.v = desc.o = (tdm_attention_strides){0};
  ACCEPTED(tdm_attention_plan(context, &desc, &plan));
  kernel_is(plan, "hip_flash96", true);
  desc.head_dim = 192;
  desc.q = desc.k = desc.v = desc.o = (tdm_attention_strides){0};
  ACCEPTED(tdm_attention_plan(context, &desc, &plan));
  kernel_is(plan, "hip_flash256", true);
  desc.head_dim = 100; /* not a multiple of 8 */
  desc.q = desc.k = desc.v = desc.o = (tdm_attention_strides){0};
  ACCEPTED(tdm_attention_plan(context, &desc, &plan));
  kernel_is(plan, "hip_flash", true);
  desc = tdm_attention_default(1, 32, 8, 8, 8192, 128, TDM_BF16); /* few tiles of queries: the keys are split */
  ACCEPTED(tdm_attention_plan(context, &desc, &plan));
  kernel_is(plan, "hip_decode128", true);
  desc = tdm_attention_default(1, 32, 8, 512, 8192, 128, TDM_BF16); /* more of them */
  ACCEPTED(tdm_attention_plan(context, &desc, &plan));
  says(plan, "units: a workgroup has up to 256 queries, of all heads that share keys, and one of 4 parts of the keys");
  kernel_is(plan, "hip_flash128", true);
  desc = tdm_attention_default(16, 64, 8, 128, 512, 128, TDM_BF16); /* short prompts: heads share workgroups */
  ACCEPTED(tdm_attention_plan(context, &desc, &plan));
  says(plan, "units: a workgroup has up to 256 queries, of all heads that share keys\n");
  kernel_is(plan, "hip_flash128", true);
}

/* ---- What the caller names ---- */

static void parameters(void **state) {
  (void)state;
  open_with("gemm=hip_256x256:window=3:chunk=5");
  tdm_plan *plan = plan_gemm(16, 16, 256, TDM_BF16);
  says(plan, "kernel: hip_256x256:window=3:chunk=5, named by the caller\n");
  tdm_plan_free(plan);
  assert_string_equal(tdm_kernel_parameters("gemm", "hip_256x256"), "window chunk split");
  assert_string_equal(tdm_kernel_parameters("gemm", "hip_tile_64x128"), "window chunk split depth");
  assert_string_equal(tdm_kernel_parameters("attention", "hip_flash"), "");
  assert_null(tdm_kernel_parameters("gemm", "hip_flash"));
  assert_null(tdm_kernel_parameters("gem", "hip_256x256"));
  assert_null(tdm_kernel_parameters(NULL, NULL));
}

/* A split that k has no units for, stages that no kernel has; and what explain says of a split. */
static void splits(void **state) {
  (void)state;
  const struct {
    const char *kernel;
    tdm_layout layout;
    const char *words;
  } bad[] = {{"hip_tile_64x128:split=6", TDM_NT, "split = 6: k = 320 of bf16 has 5 whole units"},
             {"hip_tile_64x128:depth=5", TDM_NT, "depth = 5: must be 2 to 4"},
             {"hip_tile_64x128:depth=4", TDM_TN, "depth = 4 with layout = tn: loads rows along k by cache lines"},
             {"hip_tile_16x64", TDM_TN, "a is stored across k: a tile with 16 lines of it needs it stored along k"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tdm_gemm_desc desc = tdm_gemm_default(64, 64, 320, TDM_BF16);
    tdm_plan *plan = NULL;
    desc.layout = bad[i].layout;
    open_with(bad[i].kernel);
    REFUSED(tdm_gemm_plan(context, &desc, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '", bad[i].words);
    tdm_close(context);
  }
  const struct {
    int64_t k, lda;
    const char *words;
  } rows_a[] = {{1000, 1004, "depth = 4 with lda = 1004: must be a multiple of 8 elements, which are 16 bytes"},
                {0, 8, "depth = 4 with k = 0: loads rows along k by cache lines"}};
  for (size_t i = 0; i < sizeof rows_a / sizeof rows_a[0]; i++) {
    tdm_gemm_desc desc = tdm_gemm_default(64, 64, rows_a[i].k, TDM_BF16);
    tdm_plan *plan = NULL;
    desc.layout = TDM_NT;
    desc.lda = rows_a[i].lda;
    open_with("hip_tile_64x128:depth=4");
    REFUSED(tdm_gemm_plan(context, &desc, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '", rows_a[i].words);
    tdm_close(context);
  }
  /* Rows that are farther apart than a tile's 32-bit offsets reach are not loaded by cache lines, whatever is faster. */
  tdm_gemm_desc far = tdm_gemm_default(2000, 2000, 2000, TDM_BF16);
  tdm_plan *copies = NULL;
  far.layout = TDM_NT;
  far.ldb = 17000008;
  open_with("hip_tile_64x128");
  if (strcmp(device, "sim:gfx950") == 0) {
    ACCEPTED(tdm_gemm_plan(context, &far, &copies));
    assert_non_null(strstr(tdm_plan_explain(copies), "packed: "));
    assert_null(strstr(tdm_plan_explain(copies), "\ncache lines: "));
    tdm_plan_free(copies);
  } else { /* a copy would take longer there */
    REFUSED(tdm_gemm_plan(context, &far, &copies), TDM_ERROR_UNSUPPORTED, "kernel = '", "ld of b = 17000008: at most 4194303");
  }
  tdm_close(context);
  /* Rows of 2000 bytes begin at each place of a cache line: large tiles load them by lines where no depth is named. */
  const struct {
    const char *kernel;
    int64_t k;
    bool by_lines;
  } rows[] = {{"hip_tile_128x128", 1000, true},
              {"hip_tile_32x128:depth=4", 1000, true},
              {"hip_tile_32x128:depth=3", 1000, false},
              {NULL, 1024, false},
              {NULL, 1004, false}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tdm_gemm_desc desc = tdm_gemm_default(1000, 1000, rows[i].k, TDM_BF16);
    tdm_plan *plan = NULL;
    desc.layout = TDM_NT;
    open_with(rows[i].kernel);
    ACCEPTED(tdm_gemm_plan(context, &desc, &plan));
    assert_int_equal(strstr(tdm_plan_explain(plan), "\ncache lines: ") != NULL, rows[i].by_lines);
    tdm_plan_free(plan);
    tdm_close(context);
  }
  open_with("gemm=hip_128x128:split=5");
  tdm_plan *plan = plan_gemm(64, 63, 320, TDM_BF16);
  says(plan, "split: 5 K splits, 81920 bytes of partial sums, added by 4 workgroups of gemm_reduce\n");
  tdm_plan_free(plan);
  tdm_close(context);
  open_with("gemm=hip_tile_64x128:split=2");
  plan = plan_gemm(65, 63, 320, TDM_BF16);
  says(plan, "split: 2 K splits, 131072 bytes of partial sums, added by the last workgroup of each tile\n");
  tdm_plan_free(plan);
  tdm_close(context);
  /* Rows of 12,610 bytes are loaded one after another, at most one unit of 128 bytes for each of the 8 waves of a 16th of K: 8
   * splits save adds in gemm_reduce, but their waves have two units, and take longer. */
  open_with("gemm=hip_rows");
  plan = plan_gemm(10, 19, 6305, TDM_F16);
  says(plan, "split: 16 K splits");
  tdm_plan_free(plan);
}

/* What a row can't do, by the numbers that decide it: just beyond them it refuses, and says what is allowed. */
static void limits(void **state) {
  (void)state;
  tdm_plan *plan = NULL;
  tdm_gemm_desc gemm = tdm_gemm_default(1 << 30, 1 << 30, 320, TDM_BF16);
  open_with("hip_128x128:split=2");
  REFUSED(tdm_gemm_plan(context, &gemm, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '",
          "split = 2: the bytes of the partial sums overflow 63 bits");
  tdm_close(context);
  open_with("hip_tile_256x128:depth=3"); /* 3 x 384 lines of 64 bytes: more than gfx942's 64 KiB */
  gemm = tdm_gemm_default(256, 128, 320, TDM_BF16);
  gemm.layout = TDM_NT;
  if (strcmp(device, "sim:gfx942") == 0)
    REFUSED(tdm_gemm_plan(context, &gemm, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '",
            "depth = 3: 73728 bytes of LDS, a workgroup of gfx942 may have 65536");
  tdm_close(context);
  for (int depth = 2; depth <= (strcmp(device, "sim:gfx950") == 0 ? 3 : 2); depth++) {
    char kernel[32];
    snprintf(kernel, sizeof kernel, "hip_tile_256x128:depth=%d", depth);
    open_with(kernel);
    ACCEPTED(tdm_gemm_plan(context, &gemm, &plan));
    kernel_is(plan, "hip_tile_256x128", true);
    tdm_close(context);
  }
  open_with("hip_256x256");
  gemm.lda = 4194304; /* 256 rows of 2^23 bytes are 2^31 */
  REFUSED(tdm_gemm_plan(context, &gemm, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '", "ld of a = 4194304: at most 4194303");
  tdm_close(context);
  open_with("embedding=hip_blocks");
  tdm_embedding_desc tokens = tdm_embedding_default(1, 1, 1 << 29, TDM_F32);
  REFUSED(tdm_embedding_plan(context, &tokens, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '",
          "d = 536870912: must be at most 536870911");
  tokens.d = tokens.ldt = tokens.ldy = (1 << 29) - 1;
  ACCEPTED(tdm_embedding_plan(context, &tokens, &plan));
  tdm_plan_free(plan);
  tdm_close(context);
  open_with("softmax=hip_loop");
  tdm_softmax_desc wide = tdm_softmax_default(1, INT64_C(1) << 31, TDM_BF16);
  REFUSED(tdm_softmax_plan(context, &wide, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '",
          "cols = 2147483648: must be at most 2147483647");
  tdm_close(context);
  open_with("softmax=hip_parts");
  wide = tdm_softmax_default(700, INT64_C(1) << 33, TDM_BF16); /* two parts */
  REFUSED(tdm_softmax_plan(context, &wide, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '",
          "cols = 8589934592: parts must have at most 2147483647 elements");
  tdm_close(context);
  open_with("rmsnorm=hip_loop");
  tdm_rmsnorm_desc norm = tdm_rmsnorm_default(1, INT64_C(1) << 31, TDM_F32);
  REFUSED(tdm_rmsnorm_plan(context, &norm, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '",
          "cols = 2147483648: must be at most 2147483647");
  tdm_close(context);
  open_with("hip_flash64");
  tdm_attention_desc few = tdm_attention_default(1, 1, 1, 16, 16, 64, TDM_BF16);
  few.scale = 0;
  REFUSED(tdm_attention_plan(context, &few, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '",
          "scale = 0: must not be 0 or overflow");
  few.scale = 3e38f;
  REFUSED(tdm_attention_plan(context, &few, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '", "scale = 3e+38: must not be 0");
  tdm_close(context);
  open_with("hip_flash");
  tdm_attention_desc many = tdm_attention_default(1 << 20, 4096, 4096, 16, 16, 64, TDM_BF16);
  REFUSED(tdm_attention_plan(context, &many, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '", "4294967296 tiles of ");
  tdm_close(context);
  open_with("hip_decode64"); /* 512 work-items for 128 rows: a half of the rows that hip_flash64 takes */
  many = tdm_attention_default(1, 1, 1, (1 << 30) - 1, 16, 64, TDM_BF16);
  REFUSED(tdm_attention_plan(context, &many, &plan), TDM_ERROR_UNSUPPORTED, "kernel = '", "8388608 tiles of 128 query rows");
  tdm_close(context);
  open_with("hip_flash64");
  ACCEPTED(tdm_attention_plan(context, &many, &plan));
}

static void refuses(void **state) {
  (void)state;
  const struct {
    const char *kernel, *words;
  } bad[] = {
      {"hip_256x256:window=0", "'window=0': window must be 1 to 1048576"},
      {"hip_256x256:window=", "'window=': window must be"},
      {"hip_256x256:window=1048577", "window must be 1 to 1048576"},
      {"hip_256x256:window=4:window=4", "window was given before"},
      {"hip_256x256:tile=4", "'tile=4': must be NAME or NAME:PARAMETER=N"},
      {"hip_256x256:", "'': must be NAME"},
      {"gemm=:window=4", "':window=4': must be NAME"},
      {"hip_small_k:split=2", "split = 2: hip_small_k takes window chunk"},
      {"attention=hip_flash:window=4", "window = 4: hip_flash takes no parameters"},
      {"gem=hip_256x256:window=4", "'gem' is not an op"},
      {"add=hip_256x256:window=4", "'hip_256x256' is not a kernel of add"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    REFUSED(tdm_open(&(tdm_options){.device = device, .kernel = bad[i].kernel}, &context), TDM_ERROR_ARGUMENT, "kernel = '",
            bad[i].words);
}

/* ---- The caller, the table, the estimates ---- */

static void open_with_table(const char *kernel, const char *entry) {
  static const char path[] = "hip-choose.tuned"; /* in the test's own folder */
  char name[64];
  snprintf(name, sizeof name, "%s.%s", path, device + 4);
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fprintf(file, "tandem-tuned 1\n%s %s\nend 1\n", device + 4, entry);
  assert_int_equal(fclose(file), 0);
  ACCEPTED(tdm_open(&(tdm_options){.device = device, .kernel = kernel, .tuned = name, .log = log_line}, &context));
  remove(name);
}

static void decision(void **state) {
  (void)state;
  open_with_table(NULL, "gemm bf16 nt 16x16x256 exact hip_256x256:window=3");
  tdm_plan *plan = plan_gemm(16, 16, 256, TDM_BF16);
  says(plan, "kernel: hip_256x256:window=3, from the tuned table\nhip_256x256: estimate ");
  kernel_is(plan, "hip_256x256", true);
  kernel_is(plan_gemm(16, 16, 257, TDM_BF16), "hip_256x256", false); /* another shape: the estimates */
  kernel_is(plan_gemm(16, 16, 256, TDM_F16), "hip_256x256", false);
  tdm_close(context);
  open_with_table("hip_128x128", "gemm bf16 nt 16x16x256 exact hip_256x256");
  kernel_is(plan_gemm(16, 16, 256, TDM_BF16), "hip_128x128", true);
  tdm_close(context);
  open_with_table(NULL, "gemm bf16 nt 16x16x256 exact hip_small_k"); /* which refuses this K */
  plan = plan_gemm(16, 16, 256, TDM_BF16);
  says(plan, "line 2: hip_small_k for ");
  says(plan, ": k = 256: at most 128");
  says(plan, "the fastest of the ");
  kernel_is(plan, "hip_small_k", false);
}

static const struct CMUnitTest tests[] = {TEST(sizes),      TEST(odd_rows), TEST(vectors), TEST(estimates), TEST(attention),
                                          TEST(parameters), TEST(splits),   TEST(limits),  TEST(refuses),   TEST(decision)};
MAIN_OF("hip-choose", tests)
