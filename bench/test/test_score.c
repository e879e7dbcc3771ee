/* Scores of results that were written down, with a case of each state and round ratios: argv[1] is bench/test/score.json, of a
 * run beside a peer; argv[2] is bench/test/choice.json, of a run with --all-kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/score/score.h"

static const char *path, *choices;
static score all;

static int open_path(const char *name) {
  char error[1024];
  if (!score_read(&all, name, error, sizeof error)) fail_msg("%s", error);
  return 0;
}

static int open_file(void **state) {
  (void)state;
  return open_path(path);
}

static int open_choices(void **state) {
  (void)state;
  return open_path(choices);
}

static int close_file(void **state) {
  (void)state;
  score_free(&all);
  return 0;
}

static score_figures figures(const char *wanted) {
  char title[64];
  for (int kind = 0; kind < score_kinds(); kind++) {
    score_kind_title(kind, title, sizeof title);
    if (strcmp(title, wanted) == 0) return score_of(&all, kind);
  }
  fail_msg("no kind '%s'", wanted);
  return (score_figures){0};
}

static void assert_near(double is, double must) {
  if (!(fabs(is - must) <= 1e-9 * must)) fail_msg("%.12g, must be %.12g", is, must);
}

static void test_kinds(void **state) {
  (void)state;
  score_figures few = figures("gemm 16-bit, m 1-8"), some = figures("gemm 16-bit, m 9-128");
  assert_int_equal(few.scored, 1);
  assert_near(few.mean, 0.8);
  assert_true(few.good == 1 && few.bad == 0);
  assert_int_equal(some.scored, 3); /* f16 and bf16 together */
  assert_near(some.mean, cbrt(0.03 * 0.25 * 2));
  assert_near(some.worst, 0.03);
  assert_true(some.good == 1 && some.bad == 2);
  assert_near(figures("gemm 16-bit, odd sizes").worst, 0.23);
  assert_near(figures("gemm f32, m above 128").mean, sqrt(0.63 * 0.85));
  assert_near(figures("swiglu 16-bit, m 9-128").mean, 1);
  assert_near(figures("attention bf16").mean, 0.68);
  assert_near(figures("attention f16").mean, 0.02);
  assert_near(figures("decode bf16").mean, 0.13);
  assert_int_equal(figures("decode f16").scored, 0);
  assert_near(figures("softmax f32").mean, 0.57);
}

/* A case is short if both sides are: 19 us beside 21 us count. Failed cases are bad ones, on either side. */
static void test_states(void **state) {
  (void)state;
  score_figures add = figures("add f32"), rope = figures("rope 16-bit"), embedding = figures("embedding f32"),
                every = score_of(&all, -1);
  assert_true(add.scored == 1 && add.shorts == 1);
  assert_true(rope.failed == 1 && rope.bad == 1 && rope.not_short == 1 && rope.scored == 0);
  assert_true(embedding.failed == 1 && embedding.bad == 1);
  assert_int_equal(figures("cross_entropy f32").unsupported, 1);
  assert_int_equal(figures("silu_mul f32").unsupported, 1);
  assert_int_equal(figures("rmsnorm f32").unsupported, 1); /* no peer measured it */
  assert_int_equal(every.scored, 13);
  assert_int_equal(every.scored + every.shorts + every.failed + every.unsupported, all.count);
  assert_near(every.worst, 0.02);
}

/* What a function prints. */
static char *printed(int worst, table_style style, bool drawn) {
  static char *text; /* static: gcc 12 takes the stream's pointer to a local one for dangling */
  static size_t bytes;
  FILE *out = open_memstream(&text, &bytes);
  assert_non_null(out);
  if (drawn)
    assert_true(score_draw(out, &all));
  else
    score_print(out, &all, NULL, worst, style, 120);
  fclose(out);
  return text;
}

static void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL) fail_msg("no '%s' in:\n%s", part, text);
}

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
  return count;
}

static void test_tables(void **state) {
  (void)state;
  char *text = printed(2, TABLE_MARKDOWN, false);
  assert_has(text, "19 cases on omp:0 beside PyTorch 2 on a GPU");
  assert_has(text, "| gemm 16-bit, m 9-128 | 3 | 0.25 | 0.030 | 33 % | 67 % |");
  assert_has(text, "The worst 2:");
  assert_has(text, "| attention f16 causal=1 1x16x16x1024x1024x256 | 0.020 | 1000.0 | 20.0 | omp_gpu_mma | sdpa |");
  assert_has(text, "| gemm bf16 nt 64x8192x8192 | 0.030 | 1000.0 | 30.0 | omp_gpu | mm |");
  assert_has(text, "| add f32 64x64 | 0.26 | 19.0 | 5.0 |");
  assert_has(text, "- `rope bf16 rope=half 1x2048x32x128`: wrong: y: element 5");
  assert_has(text, "- `embedding f32 2048x128256x4096`: y[7]: PyTorch has 1, tandem 2");
  assert_has(text, "- `rmsnorm f32 2048x4096`: no peer measured it");
  assert_true(strstr(text, "| gemm 16-bit, m 9-128 |") < strstr(text, "| attention f16 |"));
  free(text);
  text = printed(0, TABLE_FIT, false);
  assert_null(strstr(text, "The worst"));
  free(text);
}

/* A cell for each case: coloured where it is scored, with a cross where it failed. */
static void test_picture(void **state) {
  (void)state;
  char *text = printed(0, TABLE_FIT, true);
  int cells = count_of(text, "height=\"12.0\"");
  assert_int_equal(cells, all.count);
  assert_int_equal(count_of(text, "height=\"12.0\" fill=\"none\""), all.count - score_of(&all, -1).scored);
  assert_int_equal(count_of(text, "<line"), 2 * score_of(&all, -1).failed);
  assert_has(text, ">Speed on a GPU (omp:0) over that of PyTorch 2</text>");
  assert_has(text, ">nt Mx8192x8192</text>");
  assert_has(text, ">odd sizes, bf16</text>");
  assert_has(text, ">8x32x8x1xSx128</text>");
  assert_has(text, ">causal=1 4x32x32xSxSx64</text>");
  assert_has(text, ">decode</text>");
  assert_has(text, "fill=\"#67001f\""); /* 0.03 */
  assert_has(text, "</svg>");
  free(text);
}

static void assert_refused(const char *content, const char *message) {
  char name[] = "/tmp/tandem-score-XXXXXX", error[2048] = "";
  score s;
  int file = mkstemp(name);
  assert_true(file >= 0 && write(file, content, strlen(content)) == (ssize_t)strlen(content) && close(file) == 0);
  bool taken = score_read(&s, name, error, sizeof error);
  unlink(name);
  if (taken || strstr(error, message) == NULL) fail_msg("%s: said '%s', not '%s'", content, error, message);
}

static void test_refused(void **state) {
  (void)state;
  char error[2048];
  score s;
  assert_false(score_read(&s, "/nowhere/x.json", error, sizeof error));
  assert_string_equal(error, "'/nowhere/x.json': has no cases, or is not there");
  assert_refused("{\"rows\": []}", "has no cases");
  assert_refused("[]", "must be what tandem-bench --shapes --json wrote: it has no rows");
  assert_refused("{\"rows\": [{\"case\": \"add 8x8\"}]}", "a row has no case or no outcome");
  assert_refused("{\"rows\": [{\"case\": \"gem 8x8x8\", \"outcome\": \"ok\"}]}",
                 "case 'gem 8x8x8': OP = 'gem': must be one of");
  assert_refused("{\"rows\": ", "must be what tandem-bench --shapes --json wrote: ");
}

/* A table of a host names its processor; one of a GPU does not. */
static void test_machine(void **state) {
  (void)state;
  for (int on_host = 0; on_host < 2; on_host++) {
    char name[] = "/tmp/tandem-score-XXXXXX", error[2048] = "", text[1024];
    score s;
    int length =
        snprintf(text, sizeof text,
                 "{\"machine\": {\"cpu\": \"EPYC 9\", \"threads\": 2, \"compiler\": \"gcc 12\", \"instructions\": "
                 "\"-march=x86-64-v3\"}, \"rows\": [{\"case\": \"add 8x8\", \"device\": \"%s\", \"outcome\": \"ok\"}]}",
                 on_host ? "host" : "omp:0");
    int file = mkstemp(name);
    assert_true(file >= 0 && write(file, text, (size_t)length) == length && close(file) == 0);
    bool read = score_read(&s, name, error, sizeof error);
    unlink(name);
    if (!read) fail_msg("%s", error);
    assert_string_equal(s.machine, on_host ? "EPYC 9, 2 threads; built by gcc 12, -march=x86-64-v3" : "");
    score_free(&s);
  }
}

/* ---- --all-kernels ---- */

/* 109 us beside 100 us is a good choice, 112 us is not. */
static void test_choices(void **state) {
  (void)state;
  score_figures few = figures("gemm 16-bit, m 9-128"), every = score_of(&all, -1);
  assert_true(all.of_kernels);
  assert_int_equal(few.scored, 3);
  assert_near(few.mean, cbrt(0.25 * (100.0 / 109)));
  assert_near(few.worst, 0.25);
  assert_true(few.good == 2 && few.bad == 1);
  assert_int_equal(figures("gemm f32, m above 128").good, 0);
  assert_int_equal(figures("add f32").alone, 1);
  assert_int_equal(figures("rope 16-bit").failed, 1); /* not the chosen kernel */
  assert_int_equal(figures("softmax f32").failed, 1);
  assert_int_equal(figures("rmsnorm f32").unsupported, 1);
  assert_int_equal(every.scored, 4);
  assert_int_equal(every.scored + every.alone + every.failed + every.unsupported, all.count);
  assert_true(score_misses_goal(&all));
}

static void test_tables_of_choices(void **state) {
  (void)state;
  char *text = printed(20, TABLE_MARKDOWN, false);
  assert_has(text, "8 cases on omp:0, each with every kernel that supports it");
  assert_has(text, "| gemm 16-bit, m 9-128 | 3 | 0.61 | 0.25 | 67 % | 33 % |  |  |");
  assert_has(text, "| add f32 | 0 |  |  |  |  | 1 |  |");
  assert_has(text, "within 10 % of the best one in 2 of 6 cases, 33.3 %; the goal is 95 %");
  assert_has(text, "The worst 3:"); /* where the best one was chosen, nothing is bad */
  assert_has(text, "| gemm bf16 nt 64x8192x8192 | 0.25 | omp_gpu | 1000.0 | omp_gpu_mma | 250.0 | 150000 | 1200000 |");
  assert_has(text, "| gemm f16 nt 16x14336x4096 | 0.92 | omp_gpu_mma | 109.0 | omp_gpu | 100.0 | none | none |");
  assert_has(text, "- `rope bf16 rope=half 1x2048x32x128`: omp: wrong: y: element 5 is 3");
  assert_has(text, "- `softmax f32 1000x131072`: the program ended twice");
  assert_has(text, "- `rmsnorm f32 2048x4096`: no kernel supports it");
  free(text);
}

/* The goal counts the cases with a choice: 19 of 20 is 95 %. */
static void test_goal(void **state) {
  score_item items[20] = {0};
  score s = {.item = items, .count = 20, .of_kernels = true};
  (void)state;
  for (int i = 0; i < 20; i++) items[i] = (score_item){.state = SCORE_COUNTS, .ratio = i < 1 ? 0.9 : 0.92};
  assert_false(score_misses_goal(&s));
  items[1].ratio = 0.9;
  assert_true(score_misses_goal(&s));
  for (int i = 0; i < 20; i++) items[i].state = SCORE_ALONE;
  assert_false(score_misses_goal(&s));
}

static void test_refused_choices(void **state) {
#define ROW(outcome) "{\"case\": \"add 8x8\", \"device\": \"host\", \"kernel\": \"omp\", \"outcome\": \"" outcome "\""
#define LIST(...) "{\"rows\": [" ROW("ok") ", \"kernels\": " #__VA_ARGS__ "}]}"
  static const char ok[] = "{\"kernel\": \"omp\", \"outcome\": \"ok\", \"seconds\": {\"median\": 1}";
  char text[1024];
  (void)state;
  assert_refused(LIST(7), "case 'add 8x8': kernels: must be a list of at least the chosen kernel");
  assert_refused(LIST([]), "case 'add 8x8': kernels: must be a list of at least the chosen kernel");
  assert_refused(LIST([5]), "case 'add 8x8': kernels[0]: kernel: must be the name of a kernel");
  assert_refused(LIST([ {"kernel" : "omp", "outcome" : "unsupported"} ]),
                 "kernels[0]: outcome = 'unsupported': must be ok or failed");
  assert_refused(LIST([ {"kernel" : "omp", "outcome" : "ok"} ]), "kernels[0]: seconds.median = 0: must be above 0");
  assert_refused(LIST([ {"kernel" : "omp", "outcome" : "failed"} ]),
                 "kernels[0] = 'omp', failed: must be the row's kernel, 'omp', and ok");
  assert_refused(LIST([ {"kernel" : "x", "outcome" : "ok", "seconds" : {"median" : 1}} ]),
                 "kernels[0] = 'x': must be the row's kernel");
  snprintf(text, sizeof text, "{\"rows\": [" ROW("ok") ", \"kernels\": [%s}, %s, \"estimate_clocks\": \"few\"}]}]}", ok, ok);
  assert_refused(text, "kernels[1]: estimate_clocks: must be null or a number of at least 0");
  snprintf(text, sizeof text, "{\"rows\": [" ROW("ok") ", \"kernels\": [%s}]}, " ROW("ok") "}]}", ok);
  assert_refused(text, "case 'add 8x8': kernels: must be a list of at least the chosen kernel");
#undef LIST
#undef ROW
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds),   cmocka_unit_test(test_states),
                                     cmocka_unit_test(test_tables),  cmocka_unit_test(test_picture),
                                     cmocka_unit_test(test_machine), cmocka_unit_test(test_refused)};
  const struct CMUnitTest of_kernels[] = {cmocka_unit_test(test_choices), cmocka_unit_test(test_tables_of_choices),
                                          cmocka_unit_test(test_goal), cmocka_unit_test(test_refused_choices)};
  if (argc != 3) return 2;
  path = argv[1];
  choices = argv[2];
  int failed = cmocka_run_group_tests(tests, open_file, close_file);
  return cmocka_run_group_tests(of_kernels, open_choices, close_file) + failed;
}
