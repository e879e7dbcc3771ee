/* Tuned tables: what the reader takes and refuses, which entry serves, and who decides: the caller, the table, the estimates.
 */
#include "../api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/dispatch/tuned.h"
#include "tandem/gemm.h"
#include "tandem/softmax.h"
#include "tandem/swiglu.h"

#define HEAD "tandem-tuned 1\n"

static tdm_tuned *read_table(const char *text) {
  tdm_tuned *table = NULL;
  ACCEPTED(tdm_tuned_parse("table", text, strlen(text), &table));
  return table;
}

static void takes(void **state) {
  (void)state;
  tdm_tuned_free(read_table(HEAD "end 0\n"));
  tdm_tuned *table = read_table(HEAD
                                "# a comment\n\n host\tgemm bf16:f32 nt 1x2x3x4 near omp # after it\r\n"
                                "omp attention f16 causal 1x2x1x4x5x64 exact omp\nend 2\n");
  assert_int_equal(table->count, 2);
  assert_int_equal(table->entries[0].line, 4);
  assert_true(table->entries[0].near && !table->entries[1].near);
  char text[160];
  tdm_tuned_print(&table->entries[0].key, text, sizeof text);
  assert_string_equal(text, "host gemm bf16:f32 nt 1x2x3x4");
  tdm_tuned_print(&table->entries[1].key, text, sizeof text);
  assert_string_equal(text, "omp attention f16 causal 1x2x1x4x5x64");
  tdm_tuned_free(table);
}

static void refuses(void **state) {
  (void)state;
  const struct {
    const char *text, *words;
  } bad[] = {
      {"", "line 0: must be 'tandem-tuned 1'"},
      {"end 0\n", "line 1: must be 'tandem-tuned 1'"},
      {"tandem-tuned 2\nend 0\n", "line 1: must be 'tandem-tuned 1'"},
      {HEAD, "line 1: must be 'end 0': the file is truncated"},
      {HEAD "end 0", "line 2: has no newline: the file is truncated"},
      {HEAD "end 1\n", "line 2: end 1: must be 'end 0'"},
      {HEAD "end\n", "line 2: end : must be 'end 0'"},
      {HEAD "end 0\nhost\n", "line 3: 'host': nothing may follow the end"},
      {HEAD "host gemm f32 nn 1x2x3 near\nend 1\n", "line 2: must be CHIP OP TYPES LAYOUT SHAPE"},
      {HEAD "host gemm f32 nn 1x2x3 near omp more\nend 1\n", "line 2: must be CHIP OP"},
      {HEAD "gfx90a gemm f32 nn 1x2x3 near omp\nend 1\n", "chip = 'gfx90a': must be gfx942, gfx950, host or omp"},
      {HEAD "host add f32 - 1x2 near omp\nend 1\n", "op = 'add': must be gemm"},
      {HEAD "host gemm f64 nn 1x2x3 near omp\nend 1\n", "types = 'f64': must be f32, f16, bf16"},
      {HEAD "host gemm f32: nn 1x2x3 near omp\nend 1\n", "types = 'f32:': must be"},
      {HEAD "host swiglu f32 tn 1x2x3 near omp\nend 1\n", "layout = 'tn': must be one of: nn nt"},
      {HEAD "host gemm f32 nn 1x2 near omp\nend 1\n", "shape = '1x2': must be MxNxK"},
      {HEAD "host gemm f32 nn 1x2x0 near omp\nend 1\n", "shape = '1x2x0': must be MxNxK"},
      {HEAD "host gemm f32 nn 1x2x3x4x5 near omp\nend 1\n", "shape = '1x2x3x4x5': must be"},
      {HEAD "host gemm f32 nn 1x2x99999999999999999999 near omp\nend 1\n", "must be MxNxK"},
      {HEAD "host gemm f32 nn 1x2x3 about omp\nend 1\n", "'about': must be exact or near"},
      {HEAD "host gemm f32 nn 1x2x3 near fast\nend 1\n", "kernel = 'fast': must be one of omp"},
      {HEAD "host gemm f32 nn 1x2x3 near omp:window=4\nend 1\n", "window = 4: omp takes no parameters"},
      {HEAD "host gemm f32 nn 1x2x3 near omp:window=x\nend 1\n", "window must be 1 to"},
      {HEAD "host gemm f32 nn 1x2x3 near omp\nhost gemm f32 nn 1x2x3x1 exact omp\nend 2\n",
       "line 3: is for the same plans as line 2"},
      {HEAD "host gemm f32 nn 1x2x3 near \x01\nend 1\n", "byte 1: must be printable ASCII"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    tdm_tuned *table = UNTOUCHED;
    REFUSED(tdm_tuned_parse("FILE", bad[i].text, strlen(bad[i].text), &table), TDM_ERROR_ARGUMENT, "tuned = 'FILE': line",
            bad[i].words);
    assert_ptr_equal(table, UNTOUCHED);
  }
}

static int line_of(const tdm_tuned *table, int64_t m, int64_t n) {
  tdm_tuned_key key = {.chip = "host", .op = TDM_OP_SOFTMAX, .layout = "-", .rank = 2, .shape = {m, n}};
  const tdm_tuned_entry *entry = tdm_tuned_find(table, &key);
  return entry == NULL ? 0 : entry->line;
}

static void nearest(void **state) {
  (void)state;
  tdm_tuned *table = read_table(HEAD
                                "host softmax f32 - 100x100 near omp\nhost softmax f32 - 120x100 near omp\n"
                                "host softmax f32 - 110x100 exact omp\nhost softmax f16 - 400x100 near omp\nend 4\n");
  assert_int_equal(line_of(table, 100, 100), 2);
  assert_int_equal(line_of(table, 104, 100), 2);
  assert_int_equal(line_of(table, 111, 100), 3);
  assert_int_equal(line_of(table, 110, 100), 4); /* just its shape wins over near ones */
  assert_int_equal(line_of(table, 150, 125), 3); /* a quarter more, and no further */
  assert_int_equal(line_of(table, 151, 100), 0);
  assert_int_equal(line_of(table, 80, 80), 2);
  assert_int_equal(line_of(table, 79, 80), 0);
  assert_int_equal(line_of(table, 400, 100), 0); /* of another type */
  tdm_tuned_free(table);
}

/* ---- Who decides ---- */

static char path[] = "/tmp/tandem-tuned-XXXXXX";

static void make_file(void) {
  snprintf(path, sizeof path, "/tmp/tandem-tuned-XXXXXX");
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
}

static void write_file(const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* No kernel beside omp, on any machine. */
static void plain_kernels(void) {
  static const char *const names[] = {"avx2", "avx512", "avx512_bf16",
                                      "avx512_fp16"}; /* a build may need more than the first */
  tdm_context *context = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && context == NULL; i++) {
    setenv("TANDEM_CPU", names[i], 1);
    if (tdm_open(&(tdm_options){.device = "host"}, &context) != TDM_OK) context = NULL;
  }
  tdm_close(context);
}

/* Frees both. */
static void explains(tdm_context *context, tdm_plan *plan, const char *words) {
  if (strstr(tdm_plan_explain(plan), words) == NULL) fail_msg("explain lacks '%s':\n%s", words, tdm_plan_explain(plan));
  tdm_plan_free(plan);
  tdm_close(context);
}

static void says(const char *kernel, const char *tuned, const char *words) {
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  tdm_softmax_desc desc = tdm_softmax_default(100, 100, TDM_F32);
  plain_kernels();
  ACCEPTED(tdm_open(&(tdm_options){.device = "host", .kernel = kernel, .tuned = tuned}, &context));
  ACCEPTED(tdm_softmax_plan(context, &desc, &plan));
  explains(context, plan, words);
}

static void order(void **state) {
  (void)state;
  clear_environment();
  make_file();
  write_file(HEAD "host softmax f32 - 101x101 near omp\nend 1\n");
  says("omp", path, "kernel: omp, named by the caller\n");
  says(NULL, path, "line 2: host softmax f32 - 101x101\nkernel: omp, from the tuned table\n");
  says(NULL, "none", "kernel: omp, the only kernel that supports this plan\n");
  says(NULL, NULL, "key: host softmax f32 - 100x100\nkernel: omp, the only kernel");
  setenv("TANDEM_TUNED", path, 1);
  says(NULL, NULL, "kernel: omp, from the tuned table\n");
  clear_environment();
  write_file(HEAD "host softmax f32 - 300x101 near omp\nend 1\n");
  says(NULL, path, "no entry\nkernel: omp, the only kernel that supports this plan\n");
  tdm_context *context = UNTOUCHED;
  write_file(HEAD "end 1\n");
  REFUSED(tdm_open(&(tdm_options){.device = "host", .tuned = path}, &context), TDM_ERROR_ARGUMENT, "tuned = '",
          "line 2: end 1");
  FILE *large = fopen(path, "w");
  assert_non_null(large);
  for (int i = 0; i <= TDM_TUNED_MOST_BYTES; i++) fputc('#', large);
  assert_int_equal(fclose(large), 0);
  REFUSED(tdm_open(&(tdm_options){.device = "host", .tuned = path}, &context), TDM_ERROR_ARGUMENT, "tuned = '",
          "bytes at most");
  unlink(path);
  REFUSED(tdm_open(&(tdm_options){.device = "host", .tuned = path}, &context), TDM_ERROR_ARGUMENT, "can't be read");
  assert_int_equal(mkfifo(path, 0600), 0); /* refused, not waited for */
  REFUSED(tdm_open(&(tdm_options){.device = "host", .tuned = path}, &context), TDM_ERROR_ARGUMENT, "can't be read",
          "regular file");
  unlink(path);
  assert_ptr_equal(context, UNTOUCHED);
}

/* A plan of gemm or swiglu with its first two operands' rows lda and ldb elements apart. */
static void rows_say(bool swiglu, int64_t lda, int64_t ldb, const char *words) {
  tdm_context *context = NULL;
  tdm_plan *plan = NULL;
  tdm_gemm_desc g = tdm_gemm_default(32, 40, 64, TDM_F32);
  tdm_swiglu_desc s = tdm_swiglu_default(32, 40, 64, TDM_F32);
  g.layout = s.layout = TDM_NT;
  g.lda = s.ldx = lda;
  g.ldb = s.ldg = ldb;
  s.ldu = 64;
  ACCEPTED(tdm_open(&(tdm_options){.device = "host", .tuned = path}, &context));
  ACCEPTED(swiglu ? tdm_swiglu_plan(context, &s, &plan) : tdm_gemm_plan(context, &g, &plan));
  explains(context, plan, words);
}

/* Tables are made for packed rows: an entry serves only rows that begin as aligned as these, here at 16 bytes. */
static void rows(void **state) {
  (void)state;
  clear_environment();
  make_file();
  write_file(HEAD "host gemm f32 nt 32x40x64 exact omp\nhost swiglu f32 nt 32x40x64 exact omp\nend 2\n");
  for (int swiglu = 0; swiglu <= 1; swiglu++) {
    rows_say(swiglu, 64, 64, "kernel: omp, from the tuned table\n");
    rows_say(swiglu, 68, 80, "kernel: omp, from the tuned table\n");
    rows_say(swiglu, 65, 64, swiglu ? "not tuned: rows of x begin less aligned" : "not tuned: rows of a begin less aligned");
    rows_say(swiglu, 64, 66, swiglu ? "not tuned: rows of gate begin less" : "not tuned: rows of b begin less");
  }
  unlink(path);
}

/* A list of an op's rows has a fixed length (TDM_MOST_KERNELS): no built-in row may fall off its end. */
static void tables_fit(void **state) {
  (void)state;
  for (int op = 0; op < TDM_OP_COUNT; op++) {
    int count = 0;
    const tdm_kernel *const *const tables[] = {tdm_built_in_ops[op].omp, tdm_built_in_ops[op].hip, tdm_built_in_steps};
    for (int t = 0; t < 3; t++)
      for (const tdm_kernel *const *row = tables[t]; row != NULL && *row != NULL; row++) {
        if (t < 2) assert_int_equal((*row)->op, op);
        count += (*row)->op == (tdm_op)op;
      }
    assert_true(count > 0 && count <= TDM_MOST_KERNELS);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(takes), cmocka_unit_test(refuses), cmocka_unit_test(nearest),
                                     cmocka_unit_test(order), cmocka_unit_test(rows),    cmocka_unit_test(tables_fit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
