/* The counters of a launch as a file, with its instructions. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "profile.h"
#include "sim/count/counters_json.h"

static json_t *rows_of(const gfxsim_counters *c, count_key by) {
  int rows;
  count_row *row = count_rows(c, by, &rows);
  json_t *made = row != NULL ? json_array() : NULL;
  for (int n = 0; n < rows && made != NULL; n++)
    json_array_append_new(
        made, json_pack("{s:s%, s:I, s:I}", by == BY_MNEMONIC ? "mnemonic" : "source", row[n].key, (size_t)row[n].length,
                        "count", (json_int_t)row[n].count, "clocks", (json_int_t)row[n].clocks));
  free(row);
  return made;
}

static json_t *instructions(const gfxsim_counters *c) {
  json_t *made = json_array();
  for (int n = 0; n < c->instruction_count; n++) {
    const gfxsim_instruction *i = &c->instructions[n];
    json_array_append_new(made, json_pack("{s:I, s:s, s:s, s:s, s:I, s:I}", "pc", (json_int_t)i->pc, "text", i->text, "class",
                                          gfxsim_class_name(i->class_of), "source", i->source, "count", (json_int_t)i->count,
                                          "clocks", (json_int_t)i->clocks));
  }
  return made;
}

bool profile_write_json(const gfxsim_kernel_info *kernel, const gfxsim_counters *c, const char *file) {
  json_t *root = counters_json(kernel->name, c);
  if (json_object_set_new(root, "mnemonics", rows_of(c, BY_MNEMONIC)) != 0 ||
      json_object_set_new(root, "source_lines", rows_of(c, BY_SOURCE)) != 0 ||
      json_object_set_new(root, "instructions", instructions(c)) != 0) {
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
