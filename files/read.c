/* Only regular files. */
#define _GNU_SOURCE /* O_CLOEXEC in strict modes */
#include "read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_name(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISCHR(mode)  ? "a character device"
         : S_ISBLK(mode)  ? "a block device"
         : S_ISSOCK(mode) ? "a socket"
                          : "no file";
}

int read_open(const char *path, char *error, size_t size) {
  struct stat is;
  /* Without O_NONBLOCK the open itself waits for a pipe's writer; a regular file does not heed it. */
  int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) {
    snprintf(error, size, "can't be opened: %s", strerror(errno));
    return -1;
  }
  if (fstat(file, &is) != 0)
    snprintf(error, size, "can't be examined: %s", strerror(errno));
  else if (!S_ISREG(is.st_mode))
    snprintf(error, size, "is %s: must be a regular file", kind_name(is.st_mode));
  else
    return file;
  close(file);
  return -1;
}

FILE *read_open_stream(const char *path, char *error, size_t size) {
  int file = read_open(path, error, size);
  FILE *stream = file >= 0 ? fdopen(file, "rb") : NULL;
  if (file >= 0 && stream == NULL) {
    snprintf(error, size, "can't be opened: %s", strerror(errno));
    close(file);
  }
  return stream;
}
