/* tandem-run as a user meets it: files in, files out, and one line for everything that is wrong. argv[1]: the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first. */
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files/npy.h"

enum { TEXT = 8192 };
static const char *program;
static char said[TEXT]; /* by the last run */

/* Runs the tool in the test's folder; returns its exit status. */
static int run(const char *arguments) {
  char command[2 * TEXT];
  snprintf(command, sizeof command, "'%s' %s 2>&1", program, arguments);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  said[fread(said, 1, sizeof said - 1, pipe)] = '\0';
  int status = pclose(pipe);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void assert_runs(const char *arguments) {
  int status = run(arguments);
  if (status != 0) fail_msg("%s: exit %d: %s", arguments, status, said);
}

/* Exit status 2, one line that says why, and no output file. */
static void assert_refuses(const char *arguments, const char *why) {
  unlink("out.npy");
  int status = run(arguments);
  if (status != 2 || strstr(said, why) == NULL) fail_msg("%s: exit %d, said '%s', not '%s'", arguments, status, said, why);
  assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
  assert_int_equal(access("out.npy", F_OK), -1);
}

static void write_array(const char *path, npy_type type, int rank, const int64_t *dim, const void *data) {
  char error[TEXT];
  if (!npy_write_file(path, type, rank, dim, data, error, sizeof error)) fail_msg("%s: %s", path, error);
}

/* Reads an array of `count` elements of a type into to. */
static void read_array(const char *path, npy_type type, int64_t count, int rank, void *to) {
  char error[TEXT];
  void *bytes;
  size_t size;
  npy_array array;
  if (!npy_read_file(path, &bytes, &size, error, sizeof error) || !npy_parse(bytes, size, &array, error, sizeof error))
    fail_msg("%s: %s", path, error);
  assert_int_equal(array.type, type);
  assert_int_equal(array.count, count);
  assert_int_equal(array.rank, rank);
  memcpy(to, array.data, (size_t)count * npy_type_size(type));
  free(bytes);
}

static void assert_floats(const char *path, const float *want, int64_t count, int rank) {
  float got[64];
  read_array(path, NPY_F32, count, rank, got);
  for (int64_t i = 0; i < count; i++)
    if (!(fabsf(got[i] - want[i]) <= 1e-5f)) fail_msg("%s[%d] = %g, must be %g", path, (int)i, (double)got[i], (double)want[i]);
}

/* A = [1 2 3; 4 5 6], B = [1 0; 0 1; 1 1]: C = [4 5; 10 11] */
static const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, c[4] = {4, 5, 10, 11};

static int make_files(void **state) {
  (void)state;
  const double b64[6] = {1, 0, 0, 1, 1, 1};
  const float b_transposed[6] = {1, 0, 1, 0, 1, 1}, bias[2] = {10, 20};
  const uint16_t a16[6] = {0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0}; /* a as bfloat16 */
  const int64_t ids[3] = {2, 0, 2}, bad_ids[3] = {2, 3, 0};
  write_array("a.npy", NPY_F32, 2, (const int64_t[]){2, 3}, a);
  write_array("b.npy", NPY_F32, 2, (const int64_t[]){3, 2}, b);
  write_array("b64.npy", NPY_F64, 2, (const int64_t[]){3, 2}, b64);
  write_array("bt.npy", NPY_F32, 2, (const int64_t[]){2, 3}, b_transposed);
  write_array("a16.npy", NPY_U16, 2, (const int64_t[]){2, 3}, a16);
  write_array("bias.npy", NPY_F32, 1, (const int64_t[]){2}, bias);
  write_array("ids.npy", NPY_I64, 1, (const int64_t[]){3}, ids);
  write_array("bad-ids.npy", NPY_I64, 1, (const int64_t[]){3}, bad_ids);
  write_array("batch.npy", NPY_F32, 3, (const int64_t[]){1, 2, 3}, a);
  return 0;
}

static void test_gemm(void **state) {
  (void)state;
  const float biased[4] = {14, 25, 20, 31};
  assert_runs("gemm --a a.npy --b b.npy --out out.npy");
  assert_floats("out.npy", c, 4, 2);
  assert_runs("gemm --a a.npy --b bt.npy --layout nt --out out.npy");
  assert_floats("out.npy", c, 4, 2);
  assert_runs("gemm --a a.npy --b b.npy --bias bias.npy --out out.npy");
  assert_floats("out.npy", biased, 4, 2);
  assert_runs("gemm --a a.npy --b b64.npy --out out.npy");
  assert_non_null(strstr(said, "b: converted from f64 to f32"));
  assert_floats("out.npy", c, 4, 2);
}

/* The first line: what was computed, by which kernel, on which device, in what time, and where the result is. Nothing else is
 * printed when there is nothing else to say; --explain adds the plan. */
static void test_first_line(void **state) {
  (void)state;
  double ms;
  char kernel[64], rest[TEXT];
  const char form[] = "gemm f32 nn bias+relu alpha=2 2x2x3: %63s on host in %lf ms; %[^\n]";
  const char *options =
      "gemm --a a.npy --b b.npy --bias bias.npy --epilogue bias+relu --set alpha=2 --device host --out out.npy";
  assert_runs(options);
  if (sscanf(said, form, kernel, &ms, rest) != 3) fail_msg("the first line is %s", said);
  assert_string_equal(rest, "c f32 (2, 2) in out.npy");
  assert_true(ms > 0 && ms < 1e5);
  assert_true(strncmp(kernel, "omp", 3) == 0);
  assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
  char explained[TEXT];
  snprintf(explained, sizeof explained, "%s --explain", options);
  assert_runs(explained);
  assert_int_equal(sscanf(said, form, kernel, &ms, rest), 3);
  const char *plan = strstr(said, "\n\nplan: gemm");
  assert_non_null(plan);
  assert_non_null(strstr(plan, "kernel: "));
}

/* Several --set are one list, in which a key may be once. Other options may be given once. */
static void test_repeated_options(void **state) {
  (void)state;
  const float twice[4] = {8, 10, 20, 22}, both[4] = {12, 15, 30, 33};
  assert_runs("gemm --a a.npy --b b.npy --out c0.npy");
  assert_runs("gemm --a a.npy --b b.npy --set alpha=2 --out out.npy");
  assert_floats("out.npy", twice, 4, 2);
  assert_runs("gemm --a a.npy --b b.npy --c c0.npy --set alpha=2 --set beta=1 --out out.npy");
  assert_floats("out.npy", both, 4, 2);
  assert_runs("gemm --a a.npy --b b.npy --c c0.npy --set alpha=2,batch=1 --set=beta=1 --out out.npy");
  assert_floats("out.npy", both, 4, 2);
  assert_refuses("gemm --a a.npy --b b.npy --set alpha=2 --set alpha=3 --out out.npy", "alpha: must be given once");
  assert_refuses("gemm --a a.npy --b b.npy --set alpha=2 --set '' --out out.npy", "must be KEY=VALUE,...");
  assert_refuses("gemm --a a.npy --b b.npy --a b.npy --out out.npy", "--a: must be given once");
  assert_refuses("gemm --a a.npy --b b.npy --out=out.npy --out out.npy", "--out: must be given once");
  assert_refuses("gemm --a a.npy --b b.npy --dtype f32 --dtype=f16 --out out.npy", "--dtype: must be given once");
}

static void test_help(void **state) {
  (void)state;
  assert_runs("--help");
  assert_non_null(strstr(said, "Usage: tandem-run OP"));
  assert_non_null(strstr(said, "DEV, the device"));
  assert_runs("gemm --help");
  assert_non_null(strstr(said, "--bias=FILE.npy"));
  assert_non_null(strstr(said, "alpha "));
  assert_null(strstr(said, "--seed")); /* the data is in files */
  assert_runs("gemm --usage");
}

static void test_batch_and_beta(void **state) {
  (void)state;
  const float sum[4] = {8, 10, 20, 22};
  write_array("b1.npy", NPY_F32, 3, (const int64_t[]){1, 3, 2}, b);
  assert_runs("gemm --a batch.npy --b b1.npy --out out.npy");
  assert_runs("gemm --a a.npy --b b.npy --out c0.npy");
  assert_runs("gemm --a a.npy --b b.npy --c c0.npy --set beta=1 --out out.npy");
  assert_floats("out.npy", sum, 4, 2);
  assert_floats("c0.npy", c, 4, 2); /* an input file stays as it was */
  assert_runs("gemm --a a.npy --b b.npy --c c0.npy --set beta=1 --out c0.npy");
  assert_floats("c0.npy", sum, 4, 2);
}

static void test_bf16(void **state) {
  (void)state;
  uint16_t got[4];
  assert_refuses("gemm --a a16.npy --b b.npy --out out.npy", "--a = 'a16.npy': holds u16: must be a float type; --bf16");
  assert_refuses("gemm --a a16.npy --b b.npy --bf16 --out out.npy", "--b = 'b.npy': holds f32, but this case wants bf16");
  assert_runs("gemm --a a16.npy --b b.npy --bf16 --dtype bf16 --out out.npy");
  read_array("out.npy", NPY_U16, 4, 2, got);
  assert_int_equal(got[0], 0x4080); /* 4 */
  assert_int_equal(got[3], 0x4130); /* 11 */
}

static void test_further_outputs(void **state) {
  (void)state;
  const float sum[6] = {2, 4, 6, 8, 10, 12}, ones[3] = {1, 1, 1};
  write_array("w.npy", NPY_F32, 1, (const int64_t[]){3}, ones);
  assert_runs("rmsnorm --x a.npy --weight w.npy --residual a.npy --sum sum.npy --out out.npy");
  assert_floats("sum.npy", sum, 6, 2);
  assert_runs("rmsnorm --x a.npy --weight w.npy --residual a.npy --out out.npy");
  assert_non_null(strstr(said, "sum: not written; --sum FILE writes it"));
  assert_refuses("rmsnorm --x a.npy --weight w.npy --residual a.npy --sum out.npy --out out.npy", "another file than --out");
}

static void test_ids(void **state) {
  (void)state;
  const float rows[6] = {1, 1, 1, 0, 1, 1};
  assert_runs("embedding --table b.npy --ids ids.npy --out out.npy");
  assert_floats("out.npy", rows, 6, 2);
  assert_refuses("embedding --table b.npy --ids bad-ids.npy --out out.npy", "element 1 = 3: must be 0 .. 2");
  assert_refuses("embedding --table b.npy --ids bias.npy --out out.npy", "holds f32: must be i32 or i64");
}

static void test_two_devices(void **state) {
  (void)state;
  assert_runs("gemm --a a.npy --b b.npy --device host,host --out out.npy");
  assert_true(strncmp(said, "gemm f32 nn 2x2x3: omp", 22) == 0);
  assert_non_null(strstr(said, "\ncompared with: omp"));
  assert_non_null(strstr(said, "c: host against host: equal"));
}

static void test_bad_usage(void **state) {
  (void)state;
  assert_refuses("", "OP = ''");
  assert_refuses("gem --a a.npy", "OP = 'gem': must be first, one of");
  assert_refuses("gemm --a a.npy --b b.npy", "--out: must name");
  assert_refuses("gemm --a a.npy --out out.npy", "--b: must name the file of this input");
  assert_refuses("gemm --a none.npy --b b.npy --out out.npy", "--a = 'none.npy': can't be opened");
  assert_refuses("gemm --a /dev/null --b b.npy --out out.npy",
                 "--a = '/dev/null': is a character device: must be a regular file");
  assert_int_equal(system("test -p fifo || mkfifo fifo"), 0);
  assert_refuses("gemm --a fifo --b b.npy --out out.npy", "--a = 'fifo': is a pipe: must be a regular file");
  assert_refuses("gemm --a a.npy --b a.npy --out out.npy", "must be [batch, K, N] with K = 3, as --a says");
  assert_refuses("gemm --a a.npy --b ids.npy --out out.npy", "--b = 'ids.npy': ");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy --dtype f8", "f8");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy --layout xx", "xx");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy --epilogue nope", "nope");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy --epilogue bias", "--bias: must name");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy --set lda=8", "must not place or fill arrays");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy --set batch=2", "--set batch = 2: must be 1, as the files say");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy --device mars", "device = 'mars'");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy --device host,", "--device = 'host,'");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy --seed 1", "--seed = '1'");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy --nope", "--nope");
  assert_refuses("gemm --a a.npy --b b.npy --out out.npy more", "'more'");
  assert_refuses("gemm --a a.npy --b b.npy --c b.npy --out out.npy", "c is not read here");
  assert_refuses("add --a a.npy --b a.npy --bias bias.npy --out out.npy", "--bias");
}

/* A result that can't be written changes nothing, and the rest of its files neither. */
static void test_unwritable(void **state) {
  (void)state;
  const char text[] = "before";
  FILE *file = fopen("sum.npy", "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  write_array("w.npy", NPY_F32, 1, (const int64_t[]){3}, (const float[]){1, 1, 1});
  int status = run("rmsnorm --x a.npy --weight w.npy --residual a.npy --sum sum.npy --out none/out.npy");
  assert_int_equal(status, 1);
  assert_non_null(strstr(said, "--out = 'none/out.npy': can't be written: no new file in 'none/': No such file"));
  char got[sizeof text] = "";
  file = fopen("sum.npy", "r");
  assert_non_null(file);
  assert_non_null(fgets(got, sizeof got, file));
  fclose(file);
  assert_string_equal(got, text);
  assert_int_not_equal(system("ls -a | grep -q tandem-tmp"), 0);
  assert_int_equal(mkdir("folder", 0700), 0);
  assert_int_equal(run("rmsnorm --x a.npy --weight w.npy --out folder"), 1);
  assert_non_null(strstr(said, "--out = 'folder': can't be written: Is a directory"));
  assert_int_equal(run("rmsnorm --x a.npy --weight w.npy --residual a.npy --sum sum.npy --out /dev/full"), 1);
  assert_non_null(strstr(said, "--out = '/dev/full': can't be written: No space left on device"));
  assert_int_equal(system("grep -q before sum.npy"), 0);
  /* What can't be replaced is written to: a pipe gets the array. */
  assert_int_equal(system("rm -f whole.npy piped.npy"), 0);
  assert_int_equal(run("rmsnorm --x a.npy --weight w.npy --out whole.npy"), 0);
  assert_int_equal(mkfifo("pipe", 0600), 0);
  assert_int_equal(system("cat pipe >piped.npy &"), 0);
  assert_int_equal(run("rmsnorm --x a.npy --weight w.npy --out pipe"), 0);
  assert_int_equal(system("for i in 1 2 3 4 5 6 7 8 9; do cmp -s whole.npy piped.npy && exit 0; sleep 1; done; exit 1"), 0);
}

int main(int argc, char **argv) {
  char folder[] = "/tmp/tandem-run-XXXXXX", command[64];
  if (argc != 2 || mkdtemp(folder) == NULL || chdir(folder) != 0) return 2;
  program = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gemm),
      cmocka_unit_test(test_first_line),
      cmocka_unit_test(test_repeated_options),
      cmocka_unit_test(test_help),
      cmocka_unit_test(test_batch_and_beta),
      cmocka_unit_test(test_bf16),
      cmocka_unit_test(test_further_outputs),
      cmocka_unit_test(test_ids),
      cmocka_unit_test(test_two_devices),
      cmocka_unit_test(test_bad_usage),
      cmocka_unit_test(test_unwritable),
  };
  int failed = cmocka_run_group_tests(tests, make_files, NULL);
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command) != 0 || failed != 0;
}
