/* Checks standard output at exit. */
#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name;
static pid_t owner;

static void finish(void) {
  if (getpid() != owner) return; /* a child that left by exit() */
  bool pending = __fpending(stdout) > 0, failed = ferror(stdout) != 0;
  errno = 0;
  bool closed = fclose(stdout) == 0;
  /* Closed before the tool began, and nothing was printed: with EBADF nothing is lost. */
  if (!failed && (closed || (errno == EBADF && !pending))) return;
  fprintf(stderr, "%s: standard output: can't be written: %s\n", name,
          errno != 0 ? strerror(errno) : "an earlier write failed");
  _exit(1);
}

void output_begin(const char *tool) {
  name = tool;
  owner = getpid();
  /* A descriptor that is closed would be given to the next file that is opened, and printed text would go there. */
  for (int d = STDIN_FILENO; d <= STDERR_FILENO; d++)
    if (fcntl(d, F_GETFD) < 0 && errno == EBADF && open("/dev/null", d == STDIN_FILENO ? O_WRONLY : O_RDONLY) != d) _exit(1);
  if (atexit(finish) != 0) {
    fprintf(stderr, "%s: no memory to watch standard output\n", tool);
    _exit(1);
  }
}
