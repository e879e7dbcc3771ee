/* Result files: opening, closing, JSON. */
#include "bench/report/file.h"

#include <stdio.h>

#include "bench/core/text.h"

bool bench_open_file(result_file *file, const char *path, char *error, size_t size) {
  char reason[BENCH_TEXT];
  if (result_open(file, path, reason, sizeof reason)) return true;
  snprintf(error, size, "'%s': %s", path, reason);
  return false;
}

bool bench_can_write(const char *option, const char *path, char *error, size_t size) {
  char reason[BENCH_TEXT];
  if (path == NULL || result_check(path, reason, sizeof reason)) return true;
  snprintf(error, size, "%s = '%s': %s", option, path, reason);
  return false;
}

bool bench_close_file(result_file *file, const char *path, char *error, size_t size) {
  char reason[BENCH_TEXT];
  if (result_finish(file, reason, sizeof reason)) return true;
  snprintf(error, size, "'%s': %s", path, reason);
  return false;
}

bool bench_write_root(const char *path, json_t *root, char *error, size_t size) {
  if (root == NULL) {
    snprintf(error, size, "'%s': no memory for the JSON text, or a text in it is not UTF-8", path);
    return false;
  }
  result_file file;
  bool ok = bench_open_file(&file, path, error, size);
  if (ok && json_dumpf(root, file.to, JSON_INDENT(2)) != 0 && !ferror(file.to)) {
    result_drop(&file);
    snprintf(error, size, "'%s': no memory for the JSON text", path);
    ok = false;
  } else if (ok) {
    fputc('\n', file.to);
    ok = bench_close_file(&file, path, error, size);
  }
  json_decref(root);
  return ok;
}
