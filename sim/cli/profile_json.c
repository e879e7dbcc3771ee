/* The counters of a launch as a file, with its instructions. */
#include <stdio.h>

#include "cli.h"
#include "files/result.h"
#include "profile.h"
#include "sim/count/counters_json.h"
#include "sim/count/counters_rows.h"

bool profile_write_json(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const char *file) {
  json_t *root = counters_json(kernel->name, c);
  if (!counters_rows_json(root, c)) {
    json_decref(root);
    return complain("profile: no memory for JSON");
  }
  result_file to;
  char error[256];
  bool good = result_open(&to, file, error, sizeof error);
  if (good && json_dumpf(root, to.to, JSON_INDENT(1)) != 0 && !ferror(to.to)) {
    result_drop(&to);
    snprintf(error, sizeof error, "no memory for the text");
    good = false;
  } else if (good) {
    good = result_finish(&to, error, sizeof error);
  }
  json_decref(root);
  return good || complain("--json %s: %s", file, error);
}
