#include "plot.h"

#include <string.h>
#include <strings.h>

#include "result.h"

/* Pipes and devices need no ending, but x.png would hold what its readers can't show. */
static bool is_named_svg(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
  return dot == NULL || dot == name || strcasecmp(dot, ".svg") == 0;
}

bool bench_can_plot(const char *path, char *error, size_t size) {
  if (is_named_svg(path)) return true;
  snprintf(error, size, "--plot = '%s': pictures are SVG: the name must end in .svg", path);
  return false;
}

bool bench_plot(const char *path, void (*draw)(FILE *out, const void *user), const void *user, char *error, size_t size) {
  char reason[512];
  result_file file;
  bool written = result_open(&file, path, reason, sizeof reason);
  if (written) {
    draw(file.to, user);
    written = result_finish(&file, reason, sizeof reason);
  }
  if (!written) snprintf(error, size, "--plot = '%s': %s", path, reason);
  return written;
}
