/* tandem-bench as a user meets it: a small case through all its outputs, and one line for everything that is wrong. No figure
 * is judged here. argv[1]: the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What -Dhost_levels has (meson.build). */
#ifdef TDM_HAS_AVX512_BF16
enum { COMPILED_AVX512_BF16 = 1 };
#else
enum { COMPILED_AVX512_BF16 = 0 };
#endif
#ifdef TDM_HAS_AMX_FP16
enum { COMPILED_AMX_FP16 = 1 };
#else
enum { COMPILED_AMX_FP16 = 0 };
#endif

enum { TEXT = 16384 };
static const char *program;
static char said[TEXT]; /* by the last run */

/* Runs the tool in the test's folder; returns its exit status. */
static int run(const char *environment, const char *arguments) {
  char command[TEXT];
  snprintf(command, sizeof command, "%s '%s' %s 2>&1", environment, program, arguments);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
  int status = pclose(pipe);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void assert_exits(int want, const char *arguments, const char *text) {
  int status = run("", arguments);
  if (status != want || strstr(said, text) == NULL)
    fail_msg("%s: exit %d, must be %d, said '%s', not '%s'", arguments, status, want, said, text);
}

static double number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  assert_true(json_is_number(value));
  return json_number_value(value);
}

static void test_json(void **state) {
  (void)state;
  assert_exits(0, "add 8x8 --repeats 3 --hot --json out.json --csv out.csv --markdown out.md", "1 measured, 0 failed, 0 unsup");
  assert_null(strchr(said, '\r')); /* in a pipe there is no progress line */
  json_error_t error;
  json_t *root = json_load_file("out.json", 0, &error);
  if (root == NULL) fail_msg("out.json: %s", error.text);
  const json_t *rows = json_object_get(root, "rows"), *ceilings = json_object_get(root, "ceilings");
  assert_int_equal(json_array_size(rows), 1);
  assert_int_equal(json_array_size(ceilings), 1);
  assert_true(number(json_array_get(ceilings, 0), "flop_per_s") > 0);
  assert_true(number(json_array_get(ceilings, 0), "copy_bytes_per_s") > 0);
  /* A host's are those of the sets that multiply pairs, if the processor has them and tandem-bench was compiled for them. */
  const char *sets = json_string_value(json_object_get(json_object_get(root, "machine"), "instructions"));
  assert_non_null(sets);
  bool f16 = COMPILED_AMX_FP16 && strstr(sets, " amx_fp16") != NULL;
  bool bf16 = COMPILED_AVX512_BF16 && strstr(sets, " avx512_bf16") != NULL;
  assert_int_equal(number(json_array_get(ceilings, 0), "matrix_f16_flop_per_s") > 0, f16);
  assert_int_equal(number(json_array_get(ceilings, 0), "matrix_bf16_flop_per_s") > 0, bf16);
  const json_t *row = json_array_get(rows, 0), *seconds = json_object_get(row, "seconds");
  assert_string_equal(json_string_value(json_object_get(row, "outcome")), "ok");
  assert_true(number(row, "flop") == 64 && number(row, "bytes") == 3 * 64 * 4);
  assert_true(number(seconds, "samples") == 3);
  assert_true(0 < number(seconds, "best") && number(seconds, "best") <= number(seconds, "p10"));
  assert_true(number(seconds, "p10") <= number(seconds, "median") && number(seconds, "median") <= number(seconds, "p90"));
  json_decref(root);
}

/* The files of the run above: a head and a row, and the command. */
static void test_csv_and_markdown(void **state) {
  (void)state;
  char line[1024];
  FILE *file = fopen("out.csv", "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  assert_memory_equal(line, "case,device,by,", 15);
  assert_non_null(fgets(line, sizeof line, file));
  assert_memory_equal(line, "\"add --dtype f32", 16);
  assert_null(fgets(line, sizeof line, file));
  fclose(file);
  file = fopen("out.md", "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  assert_non_null(fgets(line, sizeof line, file));
  assert_string_equal(line, "tandem-bench add 8x8 --repeats 3 --hot --json out.json --csv out.csv --markdown out.md\n");
  fclose(file);
}

/* Whether OpenBLAS is installed or not, its row is there and is counted. */
static void test_peer(void **state) {
  (void)state;
  assert_exits(0, "gemm 16x16x16 --repeats 5 --hot --peer openblas", "peer openblas: ");
  assert_true(strstr(said, "2 measured, 0 failed, 0 unsupported") || strstr(said, "1 measured, 0 failed, 1 unsupported"));
  assert_exits(0, "add 8x8 --repeats 2 --hot --peer openblas", "1 measured, 0 failed, 1 unsupported");
  assert_exits(0, "gemm 128x128x128 --repeats 5 --hot --peer openblas --check-time 0.001 --wide",
               "; checked: sums over every element");
  assert_exits(0, "add 128x512 --repeats 2 --hot --peer openblas --check-time 0.001 --wide", "peer unsupported: ");
  assert_non_null(strstr(said, "; checked: 8 rows"));
  /* The narrow tables say it once, below the comparison. */
  assert_exits(0, "add 128x512 --repeats 2 --hot --peer openblas --check-time 0.001", "\nn/a in 1 case: openblas");
  assert_null(strstr(said, "peer unsupported"));
  /* Note 1, or 2 where other work disturbed a ceiling: the alarm is then the first. */
  assert_true(strstr(said, "\n(1) checked: 8 rows") || strstr(said, "\n(2) checked: 8 rows"));
}

/* The standard set of gemm in f32 with an epilogue that fills more than a line: each case is still another one. */
static void test_long_titles(void **state) {
  (void)state;
  char arguments[1024] = "gemm --dtype f32 --repeats 1 --hot --check-time 0.001 --epilogue leaky_relu:0.123456";
  for (int i = 0; i < 20; i++) strcat(arguments, "+leaky_relu:0.123456");
  assert_exits(0, arguments, "5 measured, 0 failed, 0 unsupported");
  assert_non_null(strstr(said, "+leaky_relu:0.123456001 4096x4096x64"));
}

static int widest_line(void) {
  int most = 0;
  for (const char *at = said; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n')
    if ((int)strcspn(at, "\n") > most) most = (int)strcspn(at, "\n");
  return most;
}

/* Tables are as wide as the terminal, and 100 where there is none. */
static void test_width(void **state) {
  (void)state;
  for (int width = 60; width <= 120; width += 20) {
    char environment[32];
    snprintf(environment, sizeof environment, "COLUMNS=%d", width);
    assert_int_equal(
        run(environment, "attention 1x2x2x16x16x16 --set causal=1 --repeats 2 --hot --device host,host --peer openblas"), 0);
    if (widest_line() > width) fail_msg("%d wide, must be at most %d:\n%s", widest_line(), width, said);
  }
  assert_exits(0, "add 8x8 --repeats 2 --hot", "--wide shows all columns");
  assert_true(widest_line() <= 100);
  assert_exits(0, "add 8x8 --repeats 2 --hot --wide", "memory bound");
}

/* One or two cases of each op. */
static void test_brief(void **state) {
  (void)state;
  assert_exits(0, "rmsnorm --brief --repeats 1 --hot --check-time 0.001", "1 measured, 0 failed, 0 unsupported");
  assert_exits(0, "gemm --brief --repeats 1 --hot --check-time 0.001", "3 measured, 0 failed, 0 unsupported");
  assert_exits(2, "add 8x8 --brief", "--brief selects cases of the standard set");
  assert_exits(2, "add 8x8 --list --wide", "--list with --wide");
  assert_exits(2, "add 8x8 --repeats 2 --repeats 3", "--repeats: must be given once");
}

/* No result: nothing is computed or moved, however short the time. */
static void test_empty(void **state) {
  (void)state;
  const char *const cases[] = {"gemm 0x512x512", "gemm 512x0x512", "rmsnorm 0x4096"};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char arguments[128];
    snprintf(arguments, sizeof arguments, "%s --device host --repeats 5 --json empty.json", cases[i]);
    assert_exits(0, arguments, "1 measured, 0 failed, 0 unsupported");
    assert_null(strstr(said, "ALARM"));
    json_t *root = json_load_file("empty.json", 0, NULL);
    const json_t *row = json_array_get(json_object_get(root, "rows"), 0);
    assert_true(number(row, "flop") == 0 && number(row, "bytes") == 0);
    json_decref(root);
  }
}

static void test_devices(void **state) {
  (void)state;
  assert_exits(0, "add 8x8 --repeats 2 --hot --device host,host", "Side by side");
  assert_non_null(strstr(said, "2 measured, 0 failed, 0 unsupported"));
  assert_int_equal(run("TANDEM_DEVICE=mars", "add 8x8"), 2); /* --device is not given */
  assert_non_null(strstr(said, "device = 'mars'"));
  assert_int_equal(run("TANDEM_DEVICE=host,", "add 8x8"), 2);
  assert_non_null(strstr(said, "TANDEM_DEVICE = 'host,': must be 1 to 8 names"));
}

static void test_plot(void **state) {
  (void)state;
  assert_exits(0, "add 8x8 --repeats 2 --hot --plot \"it's.svg\"", "1 measured");
  assert_int_equal(access("it's.svg", R_OK), 0);
  assert_exits(1, "add 8x8 --repeats 2 --hot --plot /dev/full",
               "--plot = '/dev/full': can't be written: No space left on device");
  assert_exits(2, "add 8x8 --plot x.png", "--plot = 'x.png': pictures are SVG: the name must end in .svg");
  assert_exits(2, "add 8x8 --plot ./x.svg.gz", "--plot = './x.svg.gz': pictures are SVG");
}

static void test_bad_usage(void **state) {
  (void)state;
  assert_exits(2, "nop", "OP = 'nop': must be one of gemm|");
  assert_exits(2, "add 8", "8");
  assert_exits(2, "add 8x-1", "8x-1");
  assert_exits(2, "add 8x8 9", "'9'");
  assert_exits(2, "add 8x8 --dtype f8", "f8");
  assert_exits(2, "add 8x8 --layout nt", "--layout = 'nt': add has no such selector");
  assert_exits(2, "--layout nt", "not every op takes it");
  assert_exits(2, "add 8x8 --repeats 0", "--repeats = '0': must be a whole number from 1 to 100000");
  assert_exits(2, "add 8x8 --repeats -1", "--repeats = '-1'");
  assert_exits(2, "add 8x8 --min-time x", "--min-time = 'x': must be 0.001 to 3600 seconds");
  assert_exits(2, "add 8x8 --peer nolib", "--peer = 'nolib': must be one of openblas, hipblaslt, rocblas");
  assert_exits(2, "add 8x8 --device mars", "device = 'mars'");
  assert_exits(2, "add 8x8 --kernel none", "kernel");
  assert_exits(2, "add 8x8 --json /nowhere/x.json", "--json = '/nowhere/x.json': can't be written");
  assert_exits(2, "add 8x8 --json same --csv same", "--csv = 'same': must be another file than --json");
  assert_exits(2, "add 8x8 --markdown m.svg --plot m.svg", "--markdown = 'm.svg': must be another file than --plot");
  assert_exits(2, "add 8x8 --set lda=3", "lda = 3");
  assert_exits(2, "add 8x8 --set fill=special", "--set fill: must be real or rising");
  assert_exits(2, "add 8x8 --nope", "--nope");
  assert_exits(2, "add 8x8 --workgroups 4 --device host", "--workgroups = '4': must not be given without a simulated device");
  assert_exits(2, "add 8x8 --checks --device host", "--checks: must not be given without a simulated device");
  assert_exits(2, "add 8x8 --json left.json --device mars", "device = 'mars'");
  assert_int_equal(access("left.json", F_OK), -1);
  assert_exits(2, "add 8x8 --set pad=1 --set pad=2", "set = 'pad=1,pad=2': pad: must be given once");
  assert_exits(2, "add 8x8 --set pad=1,shift=1,pad=2", "set = 'pad=1,shift=1,pad=2': pad: must be given once");
  assert_exits(2, "gemm 8x8x8 --set batch=2,pad=4611686018427387904", "its size overflows 63 bits");
  assert_exits(2, "add 8x8 --set shift=9223372036854775807", "must be a whole number from 0 to 1048576");
  assert_exits(2, "cross_entropy 8x8 --set ignore=99999999999", "must be a whole number from -2147483648 to 2147483647");
  assert_exits(2, "add 8x8 --set inplace=x", "inplace = 'x': must be one of a b");
}

static void test_order(void **state) {
  (void)state;
  assert_exits(0, "order 1000x700x300 --window 2 --chunk 2", "4 x 3 = 12 tiles, 5 K steps");
  assert_exits(0, "order 1000x700x300 --chip gfx942,xcds=4 --dtype f32 --sets plain --exact --skew 2 --resident 2",
               "4 XCDs of 38 CUs");
  assert_exits(0, "order 1000x700x300 --window 9", "(window 9 is cut to 4: all tile rows)");
  assert_exits(0, "order 1000x700x300 --chunk 9", "(chunk 9 is cut to 2: an XCD's share)");
  assert_exits(2, "order", "needs a SHAPE");
  assert_exits(2, "order 8x8", "SHAPE = '8x8'");
  assert_exits(2, "order 8x8x8 --tile 0x8x8", "--tile = '0x8x8'");
  assert_exits(2, "order 8x8x8 --chip gfx90a", "must be gfx942 or gfx950");
  assert_exits(2, "order 8x8x8 --chunk -1", "--chunk = '-1'");
  assert_exits(2, "order 1048576x1048576x8 --tile 1x1x1", "tiles: must be at most");
  assert_exits(2, "order 8x8x8 --dtype f8", "f8");
  assert_exits(2, "order 8x8x8 --sets odd", "--sets = 'odd'");
}

int main(int argc, char **argv) {
  char folder[] = "/tmp/tandem-bench-XXXXXX", command[64];
  if (argc != 2 || mkdtemp(folder) == NULL || chdir(folder) != 0) return 2;
  program = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bad_usage), cmocka_unit_test(test_json),        cmocka_unit_test(test_csv_and_markdown),
      cmocka_unit_test(test_peer),      cmocka_unit_test(test_long_titles), cmocka_unit_test(test_width),
      cmocka_unit_test(test_brief),     cmocka_unit_test(test_devices),     cmocka_unit_test(test_plot),
      cmocka_unit_test(test_order),     cmocka_unit_test(test_empty),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command) != 0 || failed != 0;
}
