/* gnuplot as a process that reads a script. */
#include "gnuplot.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

bool bench_can_plot(char *error, size_t size) {
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

bool bench_gnuplot(const char *path, void (*script)(FILE *out, const char *path, const void *user), const void *user,
                   char *error, size_t size) {
  void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* gnuplot may end early; its exit status tells */
  FILE *pipe = popen("gnuplot", "w");
  int status = -1;
  if (pipe != NULL) {
    script(pipe, path, user);
    status = pclose(pipe);
  }
  signal(SIGPIPE, before);
  if (status == 0) return true;
  snprintf(error, size, "--plot = '%s': gnuplot failed (exit status %d)", path, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return false;
}
