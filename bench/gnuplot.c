/* gnuplot as a process that reads a script. */
#include "gnuplot.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

/* gnuplot says nothing of a disk that is full. */
static bool is_whole(const char *path) {
  char end[8] = "";
  FILE *file = fopen(path, "rb");
  if (file == NULL) return false;
  bool whole = fseek(file, -(long)strlen("</svg>\n\n"), SEEK_END) == 0 && fread(end, 1, sizeof end, file) == sizeof end;
  fclose(file);
  for (size_t i = 0; whole && i + strlen("</svg>") <= sizeof end; i++)
    if (memcmp(end + i, "</svg>", strlen("</svg>")) == 0) return true;
  return false;
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
  if (status == 0 && is_whole(path)) return true;
  if (status == 0)
    snprintf(error, size, "--plot = '%s': could not be written whole", path);
  else
    snprintf(error, size, "--plot = '%s': gnuplot failed (exit status %d)", path, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return false;
}
