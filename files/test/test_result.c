/* Result files: what is there after an error, a full disk, a kill; permissions, links, pipes. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../read.h"
#include "../result.h"

static char error[512];

static bool save(const char *path, const char *text) {
  result_file f;
  error[0] = '\0';
  if (!result_open(&f, path, error, sizeof error)) return false;
  fputs(text, f.to);
  return result_finish(&f, error, sizeof error);
}

static void holds(const char *path, const char *text) {
  char got[256] = "";
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  got[fread(got, 1, sizeof got - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(got, text);
}

static int leftovers(void) {
  int count = 0;
  DIR *folder = opendir(".");
  assert_non_null(folder);
  for (struct dirent *e; (e = readdir(folder)) != NULL;) count += strstr(e->d_name, ".tandem-tmp") != NULL;
  closedir(folder);
  return count;
}

static mode_t mode_of(const char *path) {
  struct stat is;
  assert_int_equal(lstat(path, &is), 0);
  return is.st_mode;
}

/* Each test in a folder of its own. */
static int setup(void **state) {
  char *folder = strdup("/tmp/tandem-result-XXXXXX");
  *state = folder;
  return folder == NULL || mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static int teardown(void **state) {
  char command[128];
  snprintf(command, sizeof command, "chmod -R u+w %s && rm -rf %s", (char *)*state, (char *)*state);
  free(*state);
  return chdir("/") != 0 || system(command) != 0;
}

static void replaces(void **state) {
  (void)state;
  mode_t mask = umask(027);
  assert_true(save("new", "one"));
  assert_int_equal(mode_of("new") & 07777, 0640);
  umask(mask);
  holds("new", "one");
  assert_int_equal(chmod("new", 0604), 0);
  assert_true(save("./new", "two"));
  holds("new", "two");
  assert_int_equal(mode_of("new") & 07777, 0604);
  assert_int_equal(leftovers(), 0);
}

static void follows_links(void **state) {
  (void)state;
  assert_int_equal(mkdir("d", 0777), 0);
  assert_int_equal(symlink("../real", "d/inner"), 0);
  assert_int_equal(symlink("d/inner", "outer"), 0);
  assert_true(save("outer", "made")); /* what it names is not there yet */
  assert_true(save("outer", "again"));
  holds("real", "again");
  assert_true(S_ISLNK(mode_of("outer")) && S_ISLNK(mode_of("d/inner")) && S_ISREG(mode_of("real")));
  assert_int_equal(symlink("loop", "loop"), 0);
  assert_false(save("loop", "x"));
  assert_non_null(strstr(error, strerror(ELOOP)));
}

static void refuses(void **state) {
  (void)state;
  const struct {
    const char *path;
    int reason;
  } bad[] = {{"/nowhere/x", ENOENT}, {"", ENOENT}, {".", EISDIR}, {"d", EISDIR}, {"d/", EISDIR}, {"file/x", ENOTDIR}};
  assert_int_equal(mkdir("d", 0777), 0);
  assert_true(save("file", "kept"));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_false(save(bad[i].path, "x"));
    if (strstr(error, strerror(bad[i].reason)) == NULL) fail_msg("'%s': %s", bad[i].path, error);
    assert_false(result_check(bad[i].path, error, sizeof error));
  }
  char longest[256], longer[257];
  memset(longest, 'n', 255), longest[255] = '\0';
  memset(longer, 'n', 256), longer[256] = '\0';
  assert_true(save(longest, "x"));
  holds(longest, "x");
  assert_false(save(longer, "x"));
  assert_int_equal(leftovers(), 0);
}

/* Root may write everywhere: as another user, in a child. */
static void read_only(void **state) {
  (void)state;
  assert_true(save("file", "kept"));
  assert_int_equal(mkdir("d", 0777), 0);
  assert_true(save("d/file", "kept"));
  assert_int_equal(chmod("file", 0444), 0);
  assert_int_equal(chmod("d", 0555), 0);
  assert_int_equal(chmod(".", 0777), 0);
  pid_t child = fork();
  if (child == 0) {
    bool ok = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
    ok = ok && !save("file", "x") && strstr(error, strerror(EACCES)) != NULL;
    ok = ok && !save("d/new", "x") && strstr(error, "no new file in 'd/'") != NULL && strstr(error, strerror(EACCES)) != NULL;
    ok = ok && !result_check("d/new", error, sizeof error) && !result_check("d/file", error, sizeof error);
    _exit(ok ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  holds("file", "kept");
  holds("d/file", "kept");
}

static void writes_directly(void **state) {
  (void)state;
  char got[16] = "";
  assert_true(save("/dev/null", "x"));
  assert_true(S_ISCHR(mode_of("/dev/null")));
  assert_false(save("/dev/full", "x"));
  assert_non_null(strstr(error, strerror(ENOSPC)));
  assert_int_equal(mkfifo("pipe", 0666), 0);
  assert_true(result_check("pipe", error, sizeof error)); /* waits for nobody */
  int from = open("pipe", O_RDONLY | O_NONBLOCK);
  assert_true(save("pipe", "through"));
  assert_int_equal(read(from, got, sizeof got), 7);
  close(from);
  assert_true(S_ISFIFO(mode_of("pipe")));

  /* A descriptor of a file: the text is appended, and the file is not replaced. */
  int file = open("log", O_RDWR | O_CREAT, 0666);
  char path[32];
  struct stat before, after;
  assert_int_equal(write(file, "first ", 6), 6);
  snprintf(path, sizeof path, "/dev/fd/%d", file);
  assert_true(fstat(file, &before) == 0 && save(path, "second"));
  holds("log", "first second");
  assert_true(stat("log", &after) == 0 && after.st_ino == before.st_ino);
  assert_int_equal(symlink(path, "link"), 0);
  assert_true(save("link", " third"));
  holds("log", "first second third");
  close(file);
  assert_false(save(path, "x"));
  assert_int_equal(leftovers(), 0);
}

/* Sizes that end in different places: in the stream's buffer, within a write, after several writes. */
static void full_disk(void **state) {
  (void)state;
  const size_t sizes[] = {2000, 100000, 1 << 20};
  assert_true(save("file", "kept"));
  struct rlimit old, now;
  getrlimit(RLIMIT_FSIZE, &old);
  now = (struct rlimit){1000, old.rlim_max};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    char *text = malloc(sizes[i] + 1);
    assert_non_null(text);
    memset(text, 'x', sizes[i]);
    text[sizes[i]] = '\0';
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
    bool saved = save("file", text), made = save("other", text);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    free(text);
    assert_false(saved || made);
    assert_non_null(strstr(error, strerror(EFBIG)));
    holds("file", "kept");
    assert_int_equal(access("other", F_OK), -1);
    assert_int_equal(leftovers(), 0);
  }
}

/* Two files that change together: after a failure of the second neither did. */
static void together(void **state) {
  (void)state;
  result_file a, b;
  assert_true(save("a", "old"));
  assert_true(result_open(&a, "a", error, sizeof error));
  fputs("new", a.to);
  assert_true(result_sync(&a, error, sizeof error));
  assert_true(result_open(&b, "/dev/full", error, sizeof error));
  fputs("new", b.to);
  assert_false(result_sync(&b, error, sizeof error));
  result_drop(&a);
  result_drop(&b);
  holds("a", "old");
  assert_int_equal(leftovers(), 0);
}

/* A writer that is killed at any moment: the file is one of the whole texts, never a part of one. */
static void killed(void **state) {
  (void)state;
  enum { KILLS = 60, LENGTH = 300000 };
  static char text[LENGTH + 1], got[LENGTH + 2];
  int most = 0;
  memset(text, 'a', LENGTH);
  assert_true(save("file", text));
  for (int i = 0; i < KILLS; i++) {
    pid_t child = fork();
    if (child == 0) {
      for (int n = 0;; n++) {
        memset(text, 'a' + n % 26, LENGTH);
        if (!save("file", text)) _exit(1);
      }
    }
    nanosleep(&(struct timespec){0, 1000000 + (long)i * 7919 % 13 * 700000}, NULL);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    int now = leftovers();
    if (now - most > 1) fail_msg("a kill left %d files", now - most);
    most = now;
    FILE *file = fopen("file", "r");
    assert_non_null(file);
    size_t bytes = fread(got, 1, sizeof got, file);
    fclose(file);
    assert_int_equal(bytes, LENGTH);
    for (size_t at = 1; at < bytes; at++)
      if (got[at] != got[0]) fail_msg("byte %zu is of another text", at);
  }
  assert_true(save("file", "last")); /* the file that was left does not disturb the next one */
  holds("file", "last");
}

static void reads_regular_files(void **state) {
  (void)state;
  assert_true(save("file", "x"));
  assert_int_equal(mkfifo("pipe", 0666), 0);
  assert_int_equal(symlink("pipe", "link"), 0);
  FILE *file = read_open_stream("file", error, sizeof error);
  assert_non_null(file);
  assert_int_equal(fgetc(file), 'x');
  fclose(file);
  const struct {
    const char *path, *words;
  } bad[] = {{"pipe", "is a pipe"},
             {"link", "is a pipe"},
             {".", "is a folder"},
             {"/dev/zero", "is a character device"},
             {"nowhere", "No such file"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(read_open(bad[i].path, error, sizeof error), -1);
    if (strstr(error, bad[i].words) == NULL) fail_msg("%s: %s", bad[i].path, error);
  }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {TEST(replaces),  TEST(follows_links),   TEST(refuses),
                                     TEST(read_only), TEST(writes_directly), TEST(full_disk),
                                     TEST(together),  TEST(killed),          TEST(reads_regular_files)};
  return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
