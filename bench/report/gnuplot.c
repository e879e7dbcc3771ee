/* gnuplot as a process that reads a script. */
#include "gnuplot.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "result.h"

/* Pipes and devices need no ending, but x.png would hold what its readers can't show. */
static bool is_named_svg(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
  return dot == NULL || dot == name || strcasecmp(dot, ".svg") == 0;
}

bool bench_can_plot(const char *path, char *error, size_t size) {
  if (!is_named_svg(path)) {
    snprintf(error, size, "--plot = '%s': pictures are SVG: the name must end in .svg", path);
    return false;
  }
  int status = system("command -v gnuplot >/dev/null 2>&1");
  if (status == 0) return true;
  snprintf(error, size, "--plot: there is no gnuplot: install it (Debian: apt-get install gnuplot-nox), or leave --plot out");
  return false;
}

void bench_put_quoted(FILE *out, const char *text) {
  fputc('\'', out);
  for (; *text != '\0'; text++) {
    if (*text == '\'') fputc('\'', out);
    fputc(*text, out);
  }
  fputc('\'', out);
}

static bool draw(const char *path, void (*script)(FILE *out, const char *path, const void *user), const void *user,
                 int *status) {
  void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* gnuplot may end early; its exit status tells */
  FILE *pipe = popen("gnuplot", "w");
  *status = -1;
  if (pipe != NULL) {
    script(pipe, path, user);
    *status = pclose(pipe);
  }
  signal(SIGPIPE, before);
  return *status == 0;
}

/* Reads a whole picture; the caller frees *svg. false: it is not whole, since gnuplot does not report a full disk. */
static bool read_svg(FILE *file, char **svg, size_t *bytes) {
  static const char end[] = "</svg>";
  long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  *svg = length > 0 ? malloc((size_t)length + 1) : NULL;
  if (*svg == NULL) return false;
  rewind(file);
  *bytes = fread(*svg, 1, (size_t)length, file);
  (*svg)[*bytes] = '\0';
  const char *last = *bytes > 16 ? *svg + *bytes - 16 : *svg;
  if (*bytes == (size_t)length && strstr(last, end) != NULL) return true;
  free(*svg);
  return false;
}

static bool copy(FILE *from, const char *path, char *reason, size_t size) {
  char *svg;
  size_t bytes;
  result_file to;
  if (!read_svg(from, &svg, &bytes)) {
    snprintf(reason, size, "gnuplot drew no whole picture: is the disk of TMPDIR full?");
    return false;
  }
  bool written = result_open(&to, path, reason, size);
  if (written) {
    fwrite(svg, 1, bytes, to.to);
    written = result_finish(&to, reason, size);
  }
  free(svg);
  return written;
}

/* gnuplot first draws into a temporary file: the file that --plot names may be a pipe, or on a full disk. */
bool bench_gnuplot(const char *path, void (*script)(FILE *out, const char *path, const void *user), const void *user,
                   char *error, size_t size) {
  const char *folder = getenv("TMPDIR");
  char drawn[4096], reason[512];
  if (folder == NULL || folder[0] == '\0') folder = "/tmp";
  int length = snprintf(drawn, sizeof drawn, "%s/tandem-plot-XXXXXX", folder);
  int status, number = length < (int)sizeof drawn ? mkstemp(drawn) : -1;
  FILE *file = number >= 0 ? fdopen(number, "rb") : NULL;
  if (file == NULL) {
    if (number >= 0) close(number), unlink(drawn);
    snprintf(error, size, "--plot = '%s': no file in %s to draw into (TMPDIR)", path, folder);
    return false;
  }
  bool made = draw(drawn, script, user, &status), copied = made && copy(file, path, reason, sizeof reason);
  fclose(file);
  unlink(drawn);
  if (!made)
    snprintf(error, size, "--plot = '%s': gnuplot failed (exit status %d)", path, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  else if (!copied)
    snprintf(error, size, "--plot = '%s': %s", path, reason);
  return copied;
}
